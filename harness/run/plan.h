// What a run will do, item by item, before anything starts.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/run/case.h"

namespace pairmark {

// A benchmark as its suite program described it (worker.h: describe_suite).
struct BenchmarkFacts {
  std::string suite, id, summary, scaling, rate_unit, rate_work, direction;
  double rate_scale = 1;
  bool communicates = false;
  std::vector<Axis> axes;
  std::map<std::string, std::map<Profile, std::vector<Case>>> cases;  // by device kind and profile
};

struct SuiteFacts {
  std::string name, summary, program;
  std::vector<BenchmarkFacts> benchmarks;
};
SuiteFacts suite_from_json(const Json& description, const std::string& program);

struct PlanRequest {
  std::string device = "cpu";  // cpu or cuda
  int devices = 1;             // ranks there are
  std::vector<int> counts = {1, 2};
  Profile profile = Profile::kQuick;
  int launches = 3;
  std::uint64_t seed = 1;
  std::optional<std::string> filter;  // regular expression on suite/benchmark/case
  std::map<std::string, std::vector<std::string>> axes;
  std::vector<std::string> arms = {"solo", "apart", "together"};
  std::vector<std::string> scaling = {"weak", "strong"};
};

// One case in one arm in one launch.
struct Item {
  int id = 0;
  int launch = 0;
  std::string suite, benchmark;
  Case c;
  std::string arm;
  std::vector<int> ranks;
  std::string row_id() const;  // "gemm/gemm/m=..,dtype=fp32/apart[0,1]", the same in every launch
};

struct Skip {
  std::string what, reason;
};

struct Plan {
  std::vector<Item> items;  // by launch; inside, the arms of a case stand together
  std::vector<Skip> skips;
};

// In each launch the cases come in a seeded order and the arms of a case directly after one
// another, forward in even launches and backward in odd ones (ABBA), so that drift falls on all
// arms alike. Throws UsageError for an unknown axis, value, arm, scaling or a filter that matches
// nothing, with the nearest match.
Plan make_plan(const std::vector<SuiteFacts>& suites, const PlanRequest& request);

}  // namespace pairmark
