#include <unistd.h>

#include <iostream>

#include "harness/base/error.h"
#include "harness/cli/commands.h"
#include "harness/cli/files.h"
#include "harness/cli/progress.h"
#include "harness/compare/compare.h"
#include "harness/compare/figures.h"
#include "harness/compare/import.h"

namespace pairmark {
namespace {

// A list of figures with units, from JSON or CSV (columns gpus, value, unit, batch_per_gpu or
// samples).
Json read_figures(const std::string& path) {
  const std::string text = read_file(path);
  std::vector<ImportNote> notes;
  Json figures = Json::array();
  if (path.ends_with(".csv")) {
    ImportedCsv csv = import_csv(text, path);
    for (const auto& row : csv.rows) {
      Json figure = Json::object();
      for (std::size_t i = 0; i < row.size(); ++i) figure[csv.header[i]] = row[i].value;
      figures.push_back(figure);
    }
    notes = csv.notes;
  } else {
    ImportedJson json = import_json(text, path);
    figures = json.value;
    notes = json.notes;
  }
  for (const auto& note : notes)
    std::cerr << fmt::format("{}:{}:{}: {}\n", path, note.line, note.column, note.text);
  return figures;
}

int judge_figures(const std::string& path, bool json) {
  const Json judged = scaling_from_figures(read_figures(path), path);
  if (json) {
    std::cout << to_text(judged, 2) << "\n";
    return kExitOk;
  }
  for (const Json& one : judged.at("scaling"))
    std::cout << one.at("text").get<std::string>() << "\n";
  return kExitOk;
}

}  // namespace

Command add_compare(CLI::App& app) {
  auto files = std::make_shared<std::vector<std::string>>();
  auto across = std::make_shared<bool>(false);
  auto json = std::make_shared<bool>(false);
  app.add_option("results", *files,
                 "the older and the newer result.json or folder; or one file of figures with units")
      ->required()
      ->expected(1, 2);
  app.add_flag("--across-machines", *across, "compare although the devices differ");
  app.add_flag("--json", *json, "JSON on standard output");
  return [=]() -> int {
    if (files->size() == 1) return judge_figures(files->front(), *json);
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
