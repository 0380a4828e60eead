#include "harness/run/plan.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <regex>
#include <set>

#include "harness/base/error.h"
#include "harness/base/rng.h"
#include "harness/base/units.h"

namespace pairmark {
namespace {

void require_known(const std::string& given, const std::vector<std::string>& known,
                   const char* what) {
  if (std::find(known.begin(), known.end(), given) != known.end()) return;
  const std::string near = nearest_match(given, known);
  throw UsageError(fmt::format("there is no {} '{}'{}; known: {}", what, given,
                               near.empty() ? "" : fmt::format(" (did you mean {}?)", near),
                               fmt::join(known, ", ")));
}

void check_axes(const std::vector<SuiteFacts>& suites, const PlanRequest& request) {
  std::set<std::string> known;
  for (const auto& suite : suites) {
    for (const auto& benchmark : suite.benchmarks) {
      for (const auto& axis : benchmark.axes) known.insert(axis.name);
    }
  }
  for (const auto& [axis, values] : request.axes) {
    require_known(axis, {known.begin(), known.end()}, "axis");
  }
}

struct ArmOfRanks {
  std::string arm;
  std::vector<int> ranks;
};

std::vector<int> first_ranks(int n) {
  std::vector<int> ranks(static_cast<std::size_t>(n));
  std::iota(ranks.begin(), ranks.end(), 0);
  return ranks;
}

bool contains(const std::vector<std::string>& list, const std::string& word) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

// solo on each device that some count needs, then apart and together for each count above one.
std::vector<ArmOfRanks> arms_of(const BenchmarkFacts& benchmark, const PlanRequest& request) {
  std::vector<ArmOfRanks> arms;
  int widest = 1;
  for (int n : request.counts) {
    if (n <= request.devices) widest = std::max(widest, n);
  }
  if (contains(request.arms, "solo")) {
    for (int rank = 0; rank < widest; ++rank) arms.push_back({"solo", {rank}});
  }
  for (int n : request.counts) {
    if (n < 2 || n > request.devices) continue;
    if (contains(request.arms, "apart")) arms.push_back({"apart", first_ranks(n)});
    if (contains(request.arms, "together") && benchmark.communicates)
      arms.push_back({"together", first_ranks(n)});
  }
  return arms;
}

std::vector<Case> cases_of(const BenchmarkFacts& benchmark, const PlanRequest& request) {
  auto device = benchmark.cases.find(request.device);
  if (device == benchmark.cases.end()) return {};
  auto profile = device->second.find(request.profile);
  if (profile == device->second.end()) return {};
  // A benchmark without one of the axes given was not meant.
  for (const auto& [name, values] : request.axes) {
    if (std::none_of(benchmark.axes.begin(), benchmark.axes.end(),
                     [&](const Axis& a) { return a.name == name; })) {
      return {};
    }
  }
  std::vector<Case> cases = with_axes(benchmark.axes, profile->second, request.axes);
  if (!request.filter) return cases;
  if (request.filter->size() > 500) throw UsageError("--filter is longer than 500 characters");
  try {
    const std::regex pattern(*request.filter);
    std::erase_if(cases, [&](const Case& c) {
      return !std::regex_search(fmt::format("{}/{}/{}", benchmark.suite, benchmark.id, c.text()),
                                pattern);
    });
  } catch (const std::regex_error&) {
    throw UsageError(fmt::format("--filter '{}' is not a regular expression", *request.filter));
  }
  return cases;
}

template <typename T>
void seeded_shuffle(std::vector<T>& list, std::uint64_t seed) {
  for (std::size_t i = list.size(); i > 1; --i)
    std::swap(list[i - 1], list[random_bits(seed, i) % i]);
}

}  // namespace

SuiteFacts suite_from_json(const Json& json, const std::string& program) {
  SuiteFacts suite{json.at("suite"), json.at("summary"), program, {}};
  for (const Json& one : json.at("benchmarks")) {
    BenchmarkFacts facts;
    facts.suite = suite.name;
    facts.id = one.at("id");
    facts.summary = one.at("summary");
    facts.scaling = one.at("scaling");
    facts.communicates = one.at("communicates");
    facts.rate_unit = one.at("rate_unit");
    facts.rate_scale = one.at("rate_scale");
    facts.rate_work = one.at("rate_work");
    facts.direction = one.at("direction");
    for (const Json& axis : one.at("axes")) facts.axes.push_back(axis_from_json(axis));
    for (const auto& [device, profiles] : one.at("cases").items()) {
      for (const auto& [profile, texts] : profiles.items()) {
        auto& list = facts.cases[device][profile_from_string(profile)];
        for (const Json& text : texts) list.push_back(Case::parse(text.get<std::string>()));
      }
    }
    suite.benchmarks.push_back(std::move(facts));
  }
  return suite;
}

std::string Item::row_id() const {
  return fmt::format("{}/{}/{}/{}[{}]", suite, benchmark, c.text(), arm, fmt::join(ranks, ","));
}

Plan make_plan(const std::vector<SuiteFacts>& suites, const PlanRequest& request) {
  check_axes(suites, request);
  for (const auto& arm : request.arms) require_known(arm, {"solo", "apart", "together"}, "arm");
  for (const auto& scaling : request.scaling) require_known(scaling, {"weak", "strong"}, "scaling");
  Plan plan;
  for (int n : request.counts) {
    if (n > request.devices) {
      plan.skips.push_back({fmt::format("all arms on {} devices", n),
                            fmt::format("{} {} device{} here", request.devices, request.device,
                                        request.devices == 1 ? "" : "s")});
    }
  }
  for (int launch = 0; launch < request.launches; ++launch) {
    for (const auto& suite : suites) {
      struct Pair {
        const BenchmarkFacts* benchmark;
        Case c;
      };
      std::vector<Pair> pairs;
      for (const auto& benchmark : suite.benchmarks) {
        if (!contains(request.scaling, benchmark.scaling)) continue;
        for (Case& c : cases_of(benchmark, request)) pairs.push_back({&benchmark, std::move(c)});
      }
      seeded_shuffle(pairs, request.seed * 1000 + static_cast<std::uint64_t>(launch));
      for (const auto& [benchmark, c] : pairs) {
        auto arms = arms_of(*benchmark, request);
        if (launch % 2 == 1) std::reverse(arms.begin(), arms.end());
        for (auto& [arm, ranks] : arms) {
          plan.items.push_back({static_cast<int>(plan.items.size()), launch, suite.name,
                                benchmark->id, c, arm, ranks});
        }
      }
    }
  }
  if (plan.items.empty() && plan.skips.empty()) {
    throw UsageError(
        "nothing to run: no case matches what was asked; pairmark list shows what there is");
  }
  return plan;
}

}  // namespace pairmark
