#include "harness/run/suites.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "harness/base/error.h"
#include "harness/base/units.h"
#include "harness/run/process.h"
#include "harness/run/protocol.h"

namespace pairmark {
namespace {

constexpr const char* kPrefix = "pairmark-";
constexpr double kDescribeTimeoutS = 30;

std::vector<std::string> names_in(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with(kPrefix) && ::access(entry.path().c_str(), X_OK) == 0 &&
        !entry.is_directory()) {
      names.push_back(name.substr(std::char_traits<char>::length(kPrefix)));
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

std::string one_line(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  while (!text.empty() && text.back() == ' ') text.pop_back();
  return text.substr(0, 400);
}

}  // namespace

SuiteSet find_suites(const std::filesystem::path& folder, const std::vector<std::string>& wanted) {
  const auto names = names_in(folder);
  if (names.empty()) {
    throw UsageError(
        fmt::format("no suite program {}* in {}; build the project or set PAIRMARK_SUITE_DIR",
                    kPrefix, folder.string()));
  }
  for (const auto& name : wanted) {
    if (std::find(names.begin(), names.end(), name) != names.end()) continue;
    const std::string near = nearest_match(name, names);
    throw UsageError(fmt::format("there is no suite '{}'{}; known: {}", name,
                                 near.empty() ? "" : fmt::format(" (did you mean {}?)", near),
                                 fmt::join(names, ", ")));
  }
  SuiteSet set;
  for (const auto& name : names) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end()) continue;
    const std::string program = (folder / (kPrefix + name)).string();
    try {
      const Finished told = run_to_end({program, kDescribeFlag}, kDescribeTimeoutS);
      if (told.exit_code != 0) {
        set.broken.push_back(
            {"suite " + name, fmt::format("{} ({})", one_line(told.output), told.status)});
        continue;
      }
      set.suites.push_back(suite_from_json(parse_json(told.output, program), program));
    } catch (const Error& error) {
      set.broken.push_back({"suite " + name, error.what()});
    }
  }
  return set;
}

std::filesystem::path suite_folder() {
  if (const char* folder = std::getenv("PAIRMARK_SUITE_DIR"); folder != nullptr && *folder != '\0')
    return folder;
  std::error_code error;
  const auto self = std::filesystem::read_symlink("/proc/self/exe", error);
  return error ? std::filesystem::path(".") : self.parent_path();
}

}  // namespace pairmark
