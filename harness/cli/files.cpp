#include "harness/cli/files.h"

#include "harness/base/error.h"

namespace pairmark {

std::filesystem::path shared_file(const std::string& installed, const std::string& in_source) {
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  const auto beside = self.parent_path().parent_path() / "share" / "pairmark" / installed;
  if (!error && std::filesystem::exists(beside, error)) return beside;
  const auto source = std::filesystem::path(PAIRMARK_SOURCE_DIR) / in_source;
  if (std::filesystem::exists(source, error)) return source;
  throw Error(
      fmt::format("a file of pairmark is missing: neither {} nor {} is there; install it again",
                  beside.string(), source.string()));
}

std::string result_path(const std::string& given) {
  const std::filesystem::path path = given;
  return std::filesystem::is_directory(path) ? (path / "result.json").string() : given;
}

}  // namespace pairmark
