// Formulas. Rate of a row = work of all ranks / median time of the slowest rank. Ideal = sum of the
// solo rates. Baseline = mean of the solo rates, or the fastest where they differ by more than 5 %.
// Speed-up = rate / baseline; efficiency = rate / ideal. The waterfall splits 1 - efficiency into
// shares of the ideal that telescope: ideal -> each rank at its own median while all run apart ->
// all at the pace of the slowest rank -> with communication.
#include "harness/report/scaling.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/base/error.h"
#include "harness/report/scaling_family.h"

namespace pairmark {
namespace {

constexpr double kWorkTolerance = 0.01;  // of the global work against what the scaling says

Json quantity(const Estimate& estimate, const std::string& unit) {
  return {{"value", rounded_or_null(estimate.value)},
          {"unit", unit},
          {"ci95", interval_json(estimate.ci95)},
          {"reason", estimate.reason.empty() ? Json(nullptr) : Json(estimate.reason)},
          {"direction", "higher"}};
}

Json stage(const std::string& name, const Estimate& loss) {
  return {{"stage", name},
          {"loss", rounded_or_null(loss.value)},
          {"ci95", interval_json(loss.ci95)},
          {"reason", loss.reason.empty() ? Json(nullptr) : Json(loss.reason)}};
}

Json waterfall(const Family& family, const Figures& figures) {
  using Medians = std::vector<double>;
  Json out = Json::array();
  if (family.apart == nullptr) {
    out.push_back(stage("unexplained", figures.loss([&](const Medians& m) {
      return figures.ideal(m) - figures.compared(m);
    })));
    return out;
  }
  const std::string shared = "shared host, power and heat";
  out.push_back(stage(
      family.apart->scaling == "strong" ? "smaller pieces, " + shared : shared,
      figures.loss([&](const Medians& m) { return figures.ideal(m) - figures.unhindered(m); })));
  out.push_back(stage("imbalance", figures.loss([&](const Medians& m) {
    return figures.unhindered(m) - figures.apart(m);
  })));
  if (family.together != nullptr) {
    out.push_back(stage("exposed communication", figures.loss([&](const Medians& m) {
      return figures.apart(m) - figures.compared(m);
    })));
  }
  return out;
}

// Work that is not what the scaling promises would make every figure below it wrong.
std::optional<std::string> mismatch(const Family& family) {
  const Row& first = *family.solos.front();
  for (const Row* row : family.all()) {
    if (row->rate_unit != first.rate_unit || row->rate_scale != first.rate_scale ||
        row->rate_work != first.rate_work) {
      return fmt::format("units differ: {} in {} and {} in {}", first.rate_unit, first.id,
                         row->rate_unit, row->id);
    }
    if (!row->has_rate()) return fmt::format("{} has no rate", row->id);
    const bool grows = row->scaling == "weak" && row->ranks.size() > 1;
    const double expected =
        first.total_work * (grows ? static_cast<double>(family.solos.size()) : 1);
    if (std::abs(row->total_work - expected) > kWorkTolerance * expected) {
      return fmt::format("{} did {} per operation where its scaling ({}) asks for {}", row->id,
                         work_text(row->total_work, row->rate_work), row->scaling,
                         work_text(expected, row->rate_work));
    }
  }
  return std::nullopt;
}

Json entry_without_figures(const Family& family, int n) {
  const Row& row = family.compared();
  Json ids = Json::array();
  for (const Row* used : family.all()) ids.push_back(used->id);
  return {{"suite", row.suite},     {"benchmark", row.benchmark},
          {"case", row.case_text},  {"scaling", row.scaling},
          {"world_size", n},        {"arm", row.arm},
          {"outcome", "ok"},        {"reason", nullptr},
          {"baseline", "none"},     {"global_work", row.scaling + " scaling"},
          {"speedup", nullptr},     {"efficiency", nullptr},
          {"verdict", nullptr},     {"waterfall", Json::array()},
          {"flags", Json::array()}, {"rows", ids}};
}

// Why no figure can be made, or nothing.
std::optional<std::pair<Outcome, std::string>> obstacle(const Family& family, int n) {
  if (family.solos.size() != static_cast<std::size_t>(n)) {
    return std::pair(Outcome::kSkipped,
                     std::string("a device was not measured alone: there is no baseline"));
  }
  for (const Row* row : family.all()) {
    if (!has_figure(row->outcome)) {
      return std::pair(row->outcome,
                       fmt::format("{} is {}: {}", row->id, to_string(row->outcome), row->reason));
    }
  }
  if (auto reason = mismatch(family)) return std::pair(Outcome::kInvalid, *reason);
  return std::nullopt;
}

Json scaling_entry(const Family& family, int n, const Json& ranks, std::uint64_t seed) {
  Json entry = entry_without_figures(family, n);
  if (const auto found = obstacle(family, n)) {
    entry["outcome"] = to_string(found->first);
    entry["reason"] = found->second;
    return entry;
  }
  const Figures figures(family, seed);
  const Estimate speedup = figures.speedup();
  const Estimate efficiency = figures.efficiency();
  for (const Row* row : family.all()) {
    if (row->outcome == Outcome::kUnstable) entry["outcome"] = "unstable";
  }
  entry["baseline"] = baseline_of(family, figures, ranks);
  entry["global_work"] = global_work_of(family);
  entry["speedup"] = quantity(speedup, "x");
  entry["efficiency"] = quantity(efficiency, "1");
  entry["waterfall"] = waterfall(family, figures);
  entry["verdict"] = verdict_of(speedup, n, entry["waterfall"]);
  entry["flags"] = flags_of(family, figures, efficiency, ranks);
  return entry;
}

bool same_case(const Row& a, const Row& b) {
  return a.suite == b.suite && a.benchmark == b.benchmark && a.case_text == b.case_text;
}

// One device does the same work in both scalings, so a solo arm of the other scaling serves too.
const Row* solo_of(const std::vector<Row>& rows, const Row& many, int rank) {
  const Row* found = nullptr;
  for (const Row& row : rows) {
    if (row.arm != "solo" || row.ranks != std::vector<int>{rank} || !same_case(row, many)) continue;
    if (found == nullptr || row.scaling == many.scaling) found = &row;
  }
  return found;
}

}  // namespace

std::vector<Json> build_scaling(const std::vector<Row>& rows, const Json& ranks,
                                std::uint64_t seed) {
  std::vector<Json> entries;
  std::set<std::string> with_solo;
  for (const Row& row : rows) {
    if (row.arm == "solo") with_solo.insert(row.suite + "/" + row.benchmark);
  }
  std::set<const Row*> done;
  for (const Row& row : rows) {
    if (row.arm == "solo" || row.ranks.size() < 2 || done.contains(&row)) continue;
    if (!with_solo.contains(row.suite + "/" + row.benchmark)) continue;
    Family family;
    for (const Row& other : rows) {
      if (!same_case(row, other) || other.ranks != row.ranks || other.scaling != row.scaling)
        continue;
      (other.arm == "together" ? family.together : family.apart) = &other;
      done.insert(&other);
    }
    for (int rank : row.ranks) {
      if (const Row* solo = solo_of(rows, row, rank)) family.solos.push_back(solo);
    }
    entries.push_back(scaling_entry(family, static_cast<int>(row.ranks.size()), ranks, seed));
  }
  return entries;
}

}  // namespace pairmark
