#include "harness/base/json.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>

#include "harness/base/error.h"

namespace pairmark {
namespace {

void require_finite(const Json& value) {
  if (value.is_number_float() && !std::isfinite(value.get<double>())) {
    throw Error("internal error: a non-finite number was about to be written to JSON");
  }
  if (value.is_structured()) {
    for (const auto& child : value) require_finite(child);
  }
}

class File {
 public:
  File(const std::string& path, int flags) : fd_(::open(path.c_str(), flags, 0644)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  bool ok() const { return fd_ >= 0; }
  bool write_all(std::string_view content) {
    while (!content.empty()) {
      ssize_t n = ::write(fd_, content.data(), content.size());
      if (n < 0 && errno == EINTR) continue;
      if (n <= 0) return false;
      content.remove_prefix(static_cast<std::size_t>(n));
    }
    return ::fsync(fd_) == 0;
  }

 private:
  int fd_;
};

}  // namespace

Json number_or_null(double value) {
  return std::isfinite(value) ? Json(value) : Json(nullptr);
}

std::string to_text(const Json& value, int indent) {
  require_finite(value);
  return value.dump(indent, ' ', false, Json::error_handler_t::replace);
}

Json parse_json(std::string_view text, const std::string& name) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    std::size_t at = std::min<std::size_t>(error.byte == 0 ? 0 : error.byte - 1, text.size());
    std::size_t line =
        1 + static_cast<std::size_t>(std::count(text.begin(), text.begin() + at, '\n'));
    std::size_t start = text.substr(0, at).rfind('\n');
    std::size_t column = start == std::string_view::npos ? at + 1 : at - start;
    throw UsageError(fmt::format(
        "{}: line {}, column {}: not valid JSON; the file may be cut off or not a JSON file", name,
        line, column));
  } catch (const Json::exception&) {
    throw UsageError(fmt::format("{}: not valid JSON (a number is out of range)", name));
  }
}

Json read_json_file(const std::filesystem::path& path) {
  return parse_json(read_file(path), path.string());
}

void write_file_atomic(const std::filesystem::path& path, std::string_view content) {
  std::error_code unknown;
  if (std::filesystem::exists(path, unknown) && !std::filesystem::is_regular_file(path, unknown)) {
    throw Error(fmt::format("cannot write {}: it is there and is not a file", path.string()));
  }
  const std::string temporary = fmt::format("{}.{}.tmp", path.string(), ::getpid());
  {
    File file(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC);
    if (!file.ok() || !file.write_all(content)) {
      const std::string cause = std::strerror(errno);
      ::unlink(temporary.c_str());
      throw Error(fmt::format("cannot write {}: {}", path.string(), cause));
    }
  }
  if (::rename(temporary.c_str(), path.c_str()) != 0) {
    const std::string cause = std::strerror(errno);
    ::unlink(temporary.c_str());
    throw Error(fmt::format("cannot write {}: {}", path.string(), cause));
  }
}

std::string read_file(const std::filesystem::path& path) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    throw UsageError(fmt::format("cannot read {}: it is a folder; name a file", path.string()));
  }
  std::ifstream in(path, std::ios::binary);
  if (!in) throw UsageError(fmt::format("cannot read {}: {}", path.string(), std::strerror(errno)));
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace pairmark
