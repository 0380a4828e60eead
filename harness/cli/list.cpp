#include <fmt/ranges.h>

#include <iostream>

#include "harness/base/error.h"
#include "harness/cli/commands.h"
#include "harness/run/suites.h"

namespace pairmark {
namespace {

Json to_json(const BenchmarkFacts& b) {
  Json axes = Json::array(), cases = Json::object();
  for (const Axis& axis : b.axes) axes.push_back(to_json(axis));
  for (const auto& [device, profiles] : b.cases) {
    for (const auto& [profile, list] : profiles) {
      for (const Case& c : list) cases[device][std::string(to_string(profile))].push_back(c.text());
    }
  }
  return {{"id", b.id},
          {"summary", b.summary},
          {"scaling", b.scaling},
          {"communicates", b.communicates},
          {"rate_unit", b.rate_unit},
          {"axes", axes},
          {"cases", cases}};
}

void print(const BenchmarkFacts& b) {
  std::cout << fmt::format("  {:<12} {}\n", b.id, b.summary);
  std::cout << fmt::format("    {} scaling; arms solo, apart{}; figure in {}\n", b.scaling,
                           b.communicates ? ", together" : "", b.rate_unit);
  for (const Axis& axis : b.axes) {
    std::cout << fmt::format("    --axis {}={:<24} {}\n", axis.name,
                             axis.words.empty() ? fmt::format("{}..{}", axis.min, axis.max)
                                                : fmt::format("{}", fmt::join(axis.words, "|")),
                             axis.help);
  }
  for (const auto& [device, profiles] : b.cases) {
    for (const auto& [profile, list] : profiles) {
      std::cout << fmt::format("    {} {}: {} cases\n", device, to_string(profile), list.size());
      if (profile == Profile::kFull) continue;
      for (const Case& c : list) std::cout << "      " << c.text() << "\n";
    }
  }
}

}  // namespace

Command add_list(CLI::App& app) {
  auto suites = std::make_shared<std::vector<std::string>>();
  auto json = std::make_shared<bool>(false);
  app.add_option("--suite", *suites, "only these suites")->delimiter(',');
  app.add_flag("--json", *json, "JSON on standard output");
  return [suites, json] {
    const SuiteSet set = find_suites(suite_folder(), *suites);
    if (*json) {
      Json out = Json::array();
      for (const auto& suite : set.suites) {
        Json benchmarks = Json::array();
        for (const auto& b : suite.benchmarks) benchmarks.push_back(to_json(b));
        out.push_back(
            {{"suite", suite.name}, {"summary", suite.summary}, {"benchmarks", benchmarks}});
      }
      std::cout << to_text(out, 2) << "\n";
    } else {
      for (const auto& suite : set.suites) {
        std::cout << fmt::format("{}: {}\n", suite.name, suite.summary);
        for (const auto& b : suite.benchmarks) print(b);
      }
    }
    for (const Skip& skip : set.broken)
      std::cerr << fmt::format("{} is skipped: {}\n", skip.what, skip.reason);
    return set.suites.empty() ? kExitNothingRan : kExitOk;
  };
}

}  // namespace pairmark
