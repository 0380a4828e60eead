#include <unistd.h>

#include <filesystem>
#include <iostream>

#include "harness/base/error.h"
#include "harness/cli/commands.h"
#include "harness/cli/progress.h"
#include "harness/compare/compare.h"
#include "harness/compare/import.h"

namespace pairmark {
namespace {

std::string result_path(const std::string& given) {
  const std::filesystem::path path = given;
  return std::filesystem::is_directory(path) ? (path / "result.json").string() : given;
}

}  // namespace

Command add_compare(CLI::App& app) {
  auto files = std::make_shared<std::vector<std::string>>();
  auto across = std::make_shared<bool>(false);
  auto json = std::make_shared<bool>(false);
  app.add_option("results", *files,
                 "the older and the newer result.json, or the folders of the runs")
      ->required()
      ->expected(2);
  app.add_flag("--across-machines", *across, "compare although the devices differ");
  app.add_flag("--json", *json, "JSON on standard output");
  return [=]() -> int {
    ResultCompareOptions options;
    options.across_machines = *across;
    options.name_a = result_path((*files)[0]);
    options.name_b = result_path((*files)[1]);
    const Json comparison =
        compare_results(read_json_file(options.name_a), read_json_file(options.name_b), options);
    if (*json) {
      std::cout << to_text(comparison, 2) << "\n";
    } else {
      ConsoleOptions console;
      console.width = terminal_columns();
      console.color = ::isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
      std::cout << comparison_text(comparison, console);
    }
    return comparison.at("exit_code");
  };
}

}  // namespace pairmark
