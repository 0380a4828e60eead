#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>

#include "harness/base/build_info.h"
#include "harness/base/error.h"
#include "harness/cli/commands.h"
#include "harness/cli/files.h"

namespace pairmark {

// The report is drawn by a Python package; this only finds the interpreter and the package and
// becomes them.
Command add_report(CLI::App& app) {
  auto results = std::make_shared<std::vector<std::string>>();
  auto folder = std::make_shared<std::string>();
  app.add_option("result", *results, "result.json, or the folder of a run")->required();
  app.add_option("-o,--output", *folder, "folder for report.html, report.md and pictures")
      ->required();
  return [results, folder]() -> int {
    const std::filesystem::path package =
        shared_file("python/pairmark_report/__main__.py", "reports/pairmark_report/__main__.py");
    const char* chosen = std::getenv("PAIRMARK_PYTHON");
    std::vector<std::string> command = {
        chosen != nullptr && *chosen != '\0' ? chosen : default_python(), "-m", "pairmark_report"};
    for (const auto& result : *results) command.push_back(result_path(result));
    command.insert(command.end(), {"-o", *folder});
    ::setenv("PYTHONPATH", package.parent_path().parent_path().c_str(), 1);
    std::vector<char*> argv;
    for (auto& word : command) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    throw UsageError(fmt::format(
        "cannot start {}: {}; set PAIRMARK_PYTHON to a Python 3 with matplotlib and jinja2",
        command[0], std::strerror(errno)));
  };
}

}  // namespace pairmark
