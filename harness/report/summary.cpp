#include "harness/report/summary.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/error.h"
#include "harness/base/outcome.h"
#include "harness/base/units.h"
#include "harness/stats/estimate.h"

namespace pairmark {
namespace {

using Counts = std::map<Outcome, int>;

int count(const Counts& counts, std::initializer_list<Outcome> outcomes) {
  int sum = 0;
  for (Outcome outcome : outcomes) {
    if (auto found = counts.find(outcome); found != counts.end()) sum += found->second;
  }
  return sum;
}

Outcome outcome_of(const Json& entry) {
  return outcome_from_string(entry["outcome"].get<std::string>()).value_or(Outcome::kError);
}

std::string number_word(int n) {
  constexpr std::array kWords{"", "One", "Two", "Three", "Four", "Five", "Six", "Seven", "Eight"};
  return n >= 1 && n < static_cast<int>(kWords.size()) ? kWords.at(static_cast<std::size_t>(n))
                                                       : std::to_string(n);
}

std::string times(double value) {
  return format_significant(value) + "x";
}

// "gemm (median of 4 cases, 1.62x to 1.93x; weak scaling, ...)" of the entries of one benchmark and
// scaling.
std::string scaling_clause(const std::vector<const Json*>& entries) {
  std::vector<double> values;
  for (const Json* entry : entries) values.push_back((*entry)["speedup"]["value"].get<double>());
  const Json& first = *entries.front();
  const std::string benchmark = first["benchmark"].get<std::string>();
  const std::string scaling = first["scaling"].get<std::string>() + " scaling";
  if (entries.size() == 1) {
    const Json& ci = first["speedup"]["ci95"];
    const std::string interval =
        ci.is_array() ? fmt::format("95 % interval {} to {}", times(ci[0].get<double>()),
                                    times(ci[1].get<double>()))
                      : "no interval";
    return fmt::format("{} the work of one on {} {} ({}, {})", times(values[0]), benchmark,
                       first["case"].get<std::string>(), scaling, interval);
  }
  return fmt::format(
      "{} the work of one on {} (median of {} cases, {} to {}; {}, 95 % interval of each in the "
      "table)",
      times(median(values)), benchmark, values.size(),
      times(*std::min_element(values.begin(), values.end())),
      times(*std::max_element(values.begin(), values.end())), scaling);
}

// Of the smallest number of devices: that is where a further one is decided on.
std::optional<std::string> scaling_sentence(const Json& result) {
  int n = 0;
  for (const Json& entry : result["scaling"]) {
    if (entry["speedup"].is_null()) continue;
    const int size = entry["world_size"].get<int>();
    n = n == 0 ? size : std::min(n, size);
  }
  if (n == 0) return std::nullopt;
  std::vector<std::pair<std::string, std::vector<const Json*>>> groups;
  for (const Json& entry : result["scaling"]) {
    if (entry["speedup"].is_null() || entry["world_size"].get<int>() != n) continue;
    const std::string key =
        entry["benchmark"].get<std::string>() + " " + entry["scaling"].get<std::string>();
    auto group =
        std::find_if(groups.begin(), groups.end(), [&](const auto& g) { return g.first == key; });
    if (group == groups.end()) group = groups.insert(groups.end(), {key, {}});
    group->second.push_back(&entry);
  }
  std::string text =
      number_word(n) + " " + result["run"]["device"].get<std::string>() + " devices do ";
  for (std::size_t g = 0; g < groups.size(); ++g)
    text += (g == 0 ? "" : ", ") + scaling_clause(groups[g].second);
  return text;
}

std::optional<std::string> single_sentence(const Json& result) {
  const Json* best = nullptr;
  for (const Json& row : result["rows"]) {
    if (row["rate"].is_null() || row["ranks"].size() != 1) continue;
    if (best == nullptr) best = &row;
    const bool same_kind =
        row["benchmark"] == (*best)["benchmark"] && row["rate"]["unit"] == (*best)["rate"]["unit"];
    if (same_kind && row["rate"]["value"].get<double>() > (*best)["rate"]["value"].get<double>())
      best = &row;
  }
  if (best == nullptr) return std::nullopt;
  std::string text = fmt::format(
      "One {} device reaches {} {} at best on {} ({}", result["run"]["device"].get<std::string>(),
      format_significant((*best)["rate"]["value"].get<double>()),
      (*best)["rate"]["unit"].get<std::string>(), (*best)["benchmark"].get<std::string>(),
      (*best)["case"].get<std::string>());
  const Json& share = (*best)["peak"]["boost_share"];
  text += share.is_null()
              ? ", share of its peak not known)"
              : fmt::format(", {} % of its peak)", format_significant(100 * share.get<double>()));
  return text;
}

std::string listed(int number, const std::string& word, const std::vector<std::string>& reasons) {
  std::string text = std::to_string(number) + " " + word;
  if (!reasons.empty())
    text += " (" + reasons.front() + (reasons.size() > 1 ? "; and others)" : ")");
  return text;
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (std::find(list.begin(), list.end(), text) == list.end()) list.push_back(text);
}

// "12 rows measured, 2 skipped (only one GPU), 1 failed (gemm/... is incorrect)".
std::string counts_clause(const Json& result, int ran, int skipped, int failed) {
  std::vector<std::string> why_skipped, why_failed;
  for (const Json& skip : result["skipped"])
    add_once(why_skipped, skip["reason"].get<std::string>());
  for (const Json& row : result["rows"]) {
    const Outcome outcome = outcome_of(row);
    if (has_figure(outcome)) continue;
    if (outcome == Outcome::kSkipped || outcome == Outcome::kUnsupported) {
      add_once(why_skipped, row["reason"].is_string() ? row["reason"].get<std::string>()
                                                      : "no reason was recorded");
    } else {
      add_once(why_failed,
               row["id"].get<std::string>() + " is " + row["outcome"].get<std::string>());
    }
  }
  return fmt::format("{} {} measured, {}, {}", ran, ran == 1 ? "row" : "rows",
                     listed(skipped, "skipped", why_skipped), listed(failed, "failed", why_failed));
}

std::string headline(const Json& result, int ran, int skipped, int failed) {
  std::string text;
  if (!result["run"]["complete"].get<bool>()) {
    text = "Incomplete run (" + result["run"]["incomplete_reason"].get<std::string>() + "): ";
  }
  if (ran == 0) {
    text += "No result";
  } else if (const auto scaling = scaling_sentence(result)) {
    text += *scaling;
  } else if (const auto single = single_sentence(result)) {
    text += *single + "; nothing was compared with more devices";
  } else {
    text += "No case has a speed-up to show";
  }
  return text + "; " + counts_clause(result, ran, skipped, failed) + ".";
}

}  // namespace

Json build_summary(const Json& result) {
  Counts counts;
  for (const Json& row : result["rows"]) ++counts[outcome_of(row)];
  for (const Json& skip : result["skipped"]) ++counts[outcome_of(skip)];
  const int ran = count(counts, {Outcome::kOk, Outcome::kUnstable});
  const int skipped = count(counts, {Outcome::kSkipped, Outcome::kUnsupported});
  const int failed =
      count(counts, {Outcome::kIncorrect, Outcome::kInvalid, Outcome::kError, Outcome::kHang});
  int code = exit_code(counts);
  for (const Json& entry : result["scaling"]) {
    // A comparison can be invalid although its rows are not: units or work differ.
    if (code == kExitOk && outcome_of(entry) == Outcome::kInvalid) code = kExitBad;
  }
  // Rows that are missing are not a pass.
  if (!result["run"]["complete"].get<bool>() && (code == kExitOk || code == kExitNothingRan))
    code = kExitError;
  Json outcomes = Json::object();
  for (const auto& [outcome, number] : counts) outcomes[std::string(to_string(outcome))] = number;
  return {{"headline", headline(result, ran, skipped, failed)},
          {"ran", ran},
          {"skipped", skipped},
          {"failed", failed},
          {"outcomes", outcomes},
          {"exit_code", code}};
}

}  // namespace pairmark
