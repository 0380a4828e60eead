#include "harness/compare/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <optional>

#include "harness/base/error.h"
#include "harness/base/units.h"
#include "harness/compare/run_view.h"
#include "harness/report/fields.h"
#include "harness/stats/stats.h"

namespace pairmark {
namespace {

constexpr int kMinor = 0;           // of the schema, the newest known
constexpr double kSameWork = 1e-9;  // relative

// A row that both, or only one, of the results have.
struct Pair {
  const Json* a = nullptr;
  const Json* b = nullptr;
};

std::string case_key(const Json& row) {
  return fmt::format("{}/{}/{} {}", text_of(row, "suite"), text_of(row, "benchmark"),
                     text_of(row, "case"), text_of(row, "scaling"));
}

using Key = std::function<std::string(const RunView&, const Json&)>;

// From the strictest to the loosest: the same devices; devices of the same names; as many devices.
std::vector<Key> keys() {
  auto base = [](const Json& row) { return case_key(row) + " " + text_of(row, "arm"); };
  return {[=](const RunView& run, const Json& row) {
            std::string key = base(row);
            for (const ViewedDevice* device : run.devices_of(row)) key += "|" + device->identity;
            return key;
          },
          [=](const RunView& run, const Json& row) {
            std::vector<std::string> names;
            for (const ViewedDevice* device : run.devices_of(row)) names.push_back(device->name);
            std::sort(names.begin(), names.end());
            std::string key = base(row);
            for (const std::string& name : names) key += "|" + name;
            return key;
          },
          [=](const RunView&, const Json& row) {
            return fmt::format("{}|{}", base(row), list_of(row, "ranks").size());
          }};
}

// All rows of b in their order, then those that only a has.
std::vector<Pair> match(const RunView& a, const RunView& b) {
  const Json &rows_a = list_of(a.json(), "rows"), &rows_b = list_of(b.json(), "rows");
  std::vector<const Json*> partner(rows_b.size(), nullptr);
  std::vector<bool> taken(rows_a.size(), false);
  for (const Key& key : keys()) {
    std::map<std::string, std::vector<std::size_t>> open;  // of a, last first
    for (std::size_t i = rows_a.size(); i-- > 0;) {
      if (!taken[i]) open[key(a, rows_a[i])].push_back(i);
    }
    for (std::size_t i = 0; i < rows_b.size(); ++i) {
      if (partner[i] != nullptr) continue;
      auto found = open.find(key(b, rows_b[i]));
      if (found == open.end() || found->second.empty()) continue;
      partner[i] = &rows_a[found->second.back()];
      taken[found->second.back()] = true;
      found->second.pop_back();
    }
  }
  std::vector<Pair> out;
  for (std::size_t i = 0; i < rows_b.size(); ++i) out.push_back({partner[i], &rows_b[i]});
  for (std::size_t i = 0; i < rows_a.size(); ++i) {
    if (!taken[i]) out.push_back({&rows_a[i], nullptr});
  }
  return out;
}

Json to_json(const std::vector<Difference>& differences) {
  Json out = Json::array();
  for (const Difference& each : differences)
    out.push_back({{"what", each.what}, {"a", each.a}, {"b", each.b}});
  return out;
}

std::string in_words(const std::vector<Difference>& differences,
                     const ResultCompareOptions& options) {
  std::string out;
  for (const Difference& each : differences) {
    out += fmt::format("{}{}: {} in {}, {} in {}", out.empty() ? "" : "; ", each.what, each.a,
                       options.name_a, each.b, options.name_b);
  }
  return out;
}

// Why the row has no figure that can be compared, or "".
std::string missing_figure(const Json& row) {
  const Outcome outcome = outcome_of(row);
  if (!has_figure(outcome))
    return fmt::format("{}: {}", to_string(outcome), text_of(row, "reason", "no reason given"));
  const auto time = number_of(member(row, "time_s"), "median");
  if (!time) return "there is no time";
  if (*time <= 0) return fmt::format("the time is {}, which cannot be", format_significant(*time));
  const Json& rate = member(row, "rate");
  if (const auto value = number_of(rate, "value"); rate.is_object() && (!value || *value <= 0)) {
    return fmt::format("the rate is {}, which cannot be",
                       value ? format_significant(*value) : "missing");
  }
  return "";
}

// "ms in A, s in B" when the figures are in different units or count in different directions, else
// "".
std::string unit_mismatch(const Json& a, const Json& b, const ResultCompareOptions& options) {
  const Json &rate_a = member(a, "rate"), &rate_b = member(b, "rate");
  for (const char* key : {"unit", "direction"}) {
    const std::string one = text_of(rate_a, key), two = text_of(rate_b, key);
    const bool optional = std::string(key) == "direction" && (one.empty() || two.empty());
    if (one != two && !optional) {
      return fmt::format("{}: '{}' in {}, '{}' in {}", key, one, options.name_a, two,
                         options.name_b);
    }
  }
  return "";
}

std::vector<Difference> work_differences(const Json& a, const Json& b) {
  std::vector<Difference> out;
  for (const char* key : {"flops", "bytes", "items"}) {
    const auto one = number_of(member(a, "work"), key), two = number_of(member(b, "work"), key);
    if (one && two &&
        std::fabs(*one - *two) > kSameWork * std::max(std::fabs(*one), std::fabs(*two))) {
      out.push_back({fmt::format("work of one operation in {}", key), fmt::format("{}", *one),
                     fmt::format("{}", *two)});
    }
  }
  return out;
}

Launches launches_of(const Json& row) {
  Launches out;
  for (const Json& raw : list_of(row, "samples_s")) {
    std::vector<double> samples;
    if (raw.is_array()) {
      for (const Json& sample : raw) {
        if (auto seconds = number_of(sample); seconds && *seconds > 0) samples.push_back(*seconds);
      }
    }
    if (!samples.empty()) out.push_back(std::move(samples));
  }
  return out;
}

void set(Json& out, const char* status, const std::string& reason) {
  out["status"] = status;
  out["reason"] = reason;
}

void decide(Json& out, const Json& a, const Json& b, const ResultCompareOptions& options) {
  const Launches base = launches_of(a), candidate = launches_of(b);
  if (base.empty() || candidate.empty())
    return set(out, "UNDECIDED", "the raw samples are missing, so there is nothing to decide from");
  CompareOptions how;
  how.min_effect = options.min_effect;
  Comparison result = compare(base, candidate, how);
  using Decision = decltype(result.verdict);
  static const std::map<Decision, const char*> kStatus{{Decision::kFaster, "FASTER"},
                                                       {Decision::kSlower, "SLOWER"},
                                                       {Decision::kSame, "SAME"},
                                                       {Decision::kUndecided, "UNDECIDED"}};
  set(out, kStatus.at(result.verdict), result.reason);
  out["speed_ratio"] = number_or_null(1 / result.time_ratio);
  if (result.decided_by && result.decided_by->low > 0) {
    out["speed_ratio_interval"] = {number_or_null(1 / result.decided_by->high),
                                   number_or_null(1 / result.decided_by->low)};
    out["confidence"] = how.confidence;
  }
}

Json absent_row(const Pair& pair, const RunView& a, const RunView& b) {
  const bool is_new = pair.a == nullptr;
  const Json& row = is_new ? *pair.b : *pair.a;
  const RunView& other = is_new ? a : b;
  const std::string id = text_of(row, "id"), why = other.skip_reason(id);
  return {{"id", id},
          {"id_a", is_new ? Json(nullptr) : Json(id)},
          {"status", is_new ? "NEW" : "GONE"},
          {"reason", fmt::format("not in {}{}", other.name(),
                                 why.empty() ? "" : ", where it was skipped: " + why)}};
}

Json compare_pair(const Pair& pair, const RunView& run_a, const RunView& run_b,
                  const std::vector<Difference>& general, const ResultCompareOptions& options) {
  const Json &a = *pair.a, &b = *pair.b;
  Json out = {
      {"id", text_of(b, "id")}, {"id_a", text_of(a, "id")}, {"status", ""},
      {"reason", ""},           {"rate_a", nullptr},        {"rate_b", nullptr},
      {"unit", nullptr},        {"speed_ratio", nullptr},   {"speed_ratio_interval", nullptr},
      {"confidence", nullptr}};
  std::vector<Difference> differences = general;
  for (Difference& each : device_differences(run_a.devices_of(a), run_b.devices_of(b)))
    differences.push_back(std::move(each));
  out["differences"] = to_json(differences);
  if (options.across_machines) differences.clear();
  // Other work makes times incomparable on any machine.
  for (Difference& each : work_differences(a, b)) differences.push_back(std::move(each));
  if (!differences.empty()) {
    set(out, "NOT-COMPARABLE", in_words(differences, options));
  } else if (std::string why = missing_figure(a); !why.empty()) {
    set(out, "INVALID-BASELINE", fmt::format("no figure in {}: {}", options.name_a, why));
  } else if (why = missing_figure(b); !why.empty()) {
    const std::string outcome = text_of(b, "outcome");
    const bool failed = outcome != "skipped" && outcome != "unsupported";
    set(out, failed ? "BROKEN" : "GONE", fmt::format("no figure in {}: {}", options.name_b, why));
  } else if (why = unit_mismatch(a, b, options); !why.empty()) {
    set(out, "UNIT-MISMATCH", why);
  } else {
    out["rate_a"] = member(member(a, "rate"), "value");
    out["rate_b"] = member(member(b, "rate"), "value");
    out["unit"] = member(member(a, "rate"), "unit");
    decide(out, a, b, options);
  }
  return out;
}

// The row with the highest rate of one case among those with the fewest devices.
const Json* best_of_fewest(const RunView& run, const std::string& key) {
  const Json* best = nullptr;
  for (const Json& row : list_of(run.json(), "rows")) {
    if (case_key(row) != key || !missing_figure(row).empty() ||
        !number_of(member(row, "rate"), "value"))
      continue;
    auto rank_of = [](const Json& each) {
      return std::pair(list_of(each, "ranks").size(), -*number_of(member(each, "rate"), "value"));
    };
    if (best == nullptr || rank_of(row) < rank_of(*best)) best = &row;
  }
  return best;
}

// A row that only `more` has, on more devices than any row of its case in `fewer`: what the devices
// added bring.
std::optional<Json> scaling_of(const Json& row, const RunView& more, const RunView& fewer,
                               bool more_is_b, const ResultCompareOptions& options) {
  const Json* base = best_of_fewest(fewer, case_key(row));
  if (base == nullptr || !missing_figure(row).empty() || !number_of(member(row, "rate"), "value"))
    return std::nullopt;
  const std::size_t one = list_of(*base, "ranks").size(), many = list_of(row, "ranks").size();
  if (one == 0 || one >= many || !unit_mismatch(*base, row, options).empty()) return std::nullopt;
  if (!options.across_machines) {
    for (const ViewedDevice* device : more.devices_of(row)) {
      if (device->name != fewer.devices_of(*base)[0]->name) return std::nullopt;
    }
  }
  const Json &rate = member(row, "rate"), &rate_base = member(*base, "rate");
  const double speedup = *number_of(rate, "value") / *number_of(rate_base, "value");
  const double efficiency = speedup * static_cast<double>(one) / static_cast<double>(many);
  Json ci = nullptr;  // of two separate runs: the widest that their intervals allow
  const auto top = bounds_of(rate), bottom = bounds_of(rate_base);
  if (top && bottom && bottom->low > 0) ci = {top->low / bottom->high, top->high / bottom->low};
  return Json{
      {"case", text_of(row, "id")},
      {"devices_a", more_is_b ? one : many},
      {"devices_b", more_is_b ? many : one},
      {"speedup", speedup},
      {"ci95", ci},
      {"efficiency", efficiency},
      {"text",
       fmt::format("{} devices in {} against {} in {}: speed-up {:.2f}, efficiency {:.0f} %", many,
                   more.name(), one, fewer.name(), speedup, efficiency * 100)}};
}

void add_rows(Json& out, const RunView& a, const RunView& b, const ResultCompareOptions& options) {
  const std::vector<Difference> general = run_differences(a, b);
  std::vector<std::string> known;
  for (const Difference& each : general) known.push_back(each.what + each.a + each.b);
  out["differences"] = to_json(general);
  for (const Pair& pair : match(a, b)) {
    if (pair.a != nullptr && pair.b != nullptr) {
      Json row = compare_pair(pair, a, b, general, options);
      for (const Json& each : list_of(row, "differences")) {
        const std::string key = text_of(each, "what") + text_of(each, "a") + text_of(each, "b");
        if (std::find(known.begin(), known.end(), key) != known.end()) continue;
        known.push_back(key);
        out["differences"].push_back(each);
      }
      row.erase("differences");
      out["rows"].push_back(std::move(row));
      continue;
    }
    Json row = absent_row(pair, a, b);
    const bool is_new = pair.a == nullptr;
    const bool comparable = general.empty() || options.across_machines;
    auto scaling = comparable ? scaling_of(is_new ? *pair.b : *pair.a, is_new ? b : a,
                                           is_new ? a : b, is_new, options)
                              : std::nullopt;
    if (scaling) {
      row["reason"] = "scaling, not a change: " + text_of(*scaling, "text");
      out["scaling"].push_back(std::move(*scaling));
    }
    out["rows"].push_back(std::move(row));
  }
}

void summarize_rows(Json& out) {
  Json counts = Json::object();
  for (const char* status : {"FASTER", "SLOWER", "SAME", "UNDECIDED", "NEW", "GONE", "BROKEN",
                             "NOT-COMPARABLE", "INVALID-BASELINE", "UNIT-MISMATCH"})
    counts[status] = 0;
  for (const Json& row : out["rows"])
    counts[text_of(row, "status")] = counts[text_of(row, "status")].get<int>() + 1;
  auto count = [&](const char* status) { return counts[status].get<int>(); };
  const int compared = count("FASTER") + count("SLOWER") + count("SAME") + count("UNDECIDED");
  std::string text = fmt::format("{} {} compared: {} slower, {} faster, {} the same, {} undecided.",
                                 compared, compared == 1 ? "row" : "rows", count("SLOWER"),
                                 count("FASTER"), count("SAME"), count("UNDECIDED"));
  std::string rest;
  for (const auto& [status, words] :
       {std::pair("NEW", "new"), std::pair("GONE", "gone"), std::pair("BROKEN", "broken"),
        std::pair("NOT-COMPARABLE", "not comparable"),
        std::pair("INVALID-BASELINE", "without valid baseline"),
        std::pair("UNIT-MISMATCH", "in different units")}) {
    if (count(status) > 0)
      rest += fmt::format("{}{} {}", rest.empty() ? "" : ", ", count(status), words);
  }
  out["summary"] = rest.empty() ? text : fmt::format("{} Not compared: {}.", text, rest);
  out["exit_code"] = count("SLOWER") + count("BROKEN") > 0     ? kExitBad
                     : compared == 0 && out["scaling"].empty() ? kExitNothingRan
                                                               : kExitOk;
  out["counts"] = std::move(counts);
}

Json side(const RunView& run) {
  const Json& about = member(run.json(), "run");
  return {{"name", run.name()},
          {"started_utc", text_of(about, "started_utc")},
          {"device", run.device_kind()},
          {"devices", run.device_list()},
          {"profile", text_of(about, "profile")}};
}

}  // namespace

Json compare_results(const Json& a, const Json& b, const ResultCompareOptions& options) {
  const RunView run_a(a, options.name_a), run_b(b, options.name_b);
  Json out = {{"a", side(run_a)},
              {"b", side(run_b)},
              {"banner", nullptr},
              {"differences", Json::array()},
              {"changes", to_json(run_changes(run_a, run_b))},
              {"notes", Json::array()},
              {"rows", Json::array()},
              {"scaling", Json::array()}};
  add_rows(out, run_a, run_b, options);
  if (options.across_machines && !out["differences"].empty()) {
    out["banner"] =
        "ACROSS MACHINES: devices or data differ, so this compares machines, not versions of "
        "software.";
  }
  for (const RunView* run : {&run_a, &run_b}) {
    if (auto minor = number_of(member(run->json(), "schema"), "minor"); minor && *minor > kMinor) {
      out["notes"].push_back(
          fmt::format("{} was written by a newer pairmark (schema 1.{:.0f}); what is unknown here "
                      "is passed over",
                      run->name(), *minor));
    }
    if (!flag_of(member(run->json(), "run"), "complete", true)) {
      out["notes"].push_back(
          fmt::format("{} is incomplete: {}", run->name(),
                      text_of(member(run->json(), "run"), "incomplete_reason", "no reason given")));
    }
  }
  summarize_rows(out);
  return out;
}

}  // namespace pairmark
