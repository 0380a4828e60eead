#include "harness/report/console.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "harness/base/outcome.h"
#include "harness/base/units.h"
#include "harness/report/fields.h"

namespace pairmark {
namespace {

constexpr double kSmallestLoss = 0.005;  // half a point: smaller stages are left out of the line

std::string percent(std::optional<double> share) {
  return share ? fmt::format("{:.0f} %", *share * 100) : "";
}

std::string section(const std::string& title, const ConsoleOptions& options) {
  return fmt::format("\n{}\n", paint(title, Style::kBold, options));
}

std::string case_of(const Json& object, const ConsoleOptions& options) {
  return plain(fmt::format("{}/{}  {}", text_of(object, "suite"), text_of(object, "benchmark"),
                           text_of(object, "case")),
               options);
}

// A time and its interval in one unit, so that they can be read against each other.
struct TimeText {
  std::string median, interval;
};
TimeText time_text(const Json& time) {
  const auto median = number_of(time, "median");
  if (!median) return {};
  const auto [scale, unit] = std::fabs(*median) >= 1      ? std::pair(1.0, "s")
                             : std::fabs(*median) >= 1e-3 ? std::pair(1e3, "ms")
                             : std::fabs(*median) >= 1e-6 ? std::pair(1e6, "us")
                                                          : std::pair(1e9, "ns");
  TimeText text{format_significant(*median * scale, 4) + " " + unit, "no interval"};
  if (auto ci = bounds_of(time)) {
    text.interval = fmt::format("{} to {}", format_significant(ci->low * scale, 4),
                                format_significant(ci->high * scale, 4));
  }
  return text;
}

std::string arm_text(const Json& row) {
  std::string ranks;
  for (const Json& rank : list_of(row, "ranks")) {
    if (auto number = number_of(rank))
      ranks += fmt::format("{}{:.0f}", ranks.empty() ? "" : ",", *number);
  }
  return fmt::format("{}[{}]", text_of(row, "arm"), ranks);
}

std::string loss_text(const Json& scaling) {
  std::vector<std::pair<double, std::string>> parts;
  for (const Json& stage : list_of(scaling, "waterfall")) {
    const auto loss = number_of(stage, "loss");
    const std::string name = text_of(stage, "stage");
    if (!loss) {
      parts.emplace_back(-1, fmt::format("{}: not known", name));
    } else if (std::fabs(*loss) >= kSmallestLoss) {
      auto ci = bounds_of(stage);
      const bool unsure = ci && ci->low <= 0 && ci->high >= 0;
      parts.emplace_back(*loss, fmt::format("{} {}{:.1f} %{}", name, *loss < 0 ? "gains " : "",
                                            std::fabs(*loss) * 100, unsure ? " (may be 0)" : ""));
    }
  }
  std::stable_sort(parts.begin(), parts.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  std::string text;
  for (const auto& [loss, words] : parts) text += (text.empty() ? "" : "; ") + words;
  return text.empty() ? "no loss above 0.5 %" : text;
}

std::string head(const Json& result, const ConsoleOptions& options) {
  const Json& summary = member(result, "summary");
  const Json& run = member(result, "run");
  std::string headline = text_of(summary, "headline", "This result has no headline.");
  std::string out = wrap(plain(headline, options), options);
  out.pop_back();
  out = paint(out, Style::kBold, options) + "\n";
  std::map<std::string, int> names;
  for (const Json& rank : list_of(result, "ranks"))
    ++names[text_of(rank, "name", "unnamed device")];
  std::string devices;
  for (const auto& [name, count] : names)
    devices += fmt::format("{}{} x {}", devices.empty() ? "" : ", ", count, name);
  const bool cpu = text_of(run, "device") == "cpu";
  out += wrap(plain(fmt::format("Device: {}{}; {}; profile {}, {:.0f} launches",
                                text_of(run, "device", "not stated"),
                                cpu ? " (cpu figures, not GPU figures)" : "",
                                devices.empty() ? "no device listed" : devices,
                                text_of(run, "profile"), number_of(run, "launches").value_or(0)),
                    options),
              options);
  return out;
}

// "2 incorrect, 1 hang" of the rows that failed.
std::string failure_kinds(const Json& result) {
  std::map<std::string, int> kinds;
  for (const Json& row : list_of(result, "rows")) {
    const Outcome outcome = outcome_of(row);
    if (!has_figure(outcome) && outcome != Outcome::kSkipped && outcome != Outcome::kUnsupported)
      ++kinds[std::string(to_string(outcome))];
  }
  std::string text;
  for (const auto& [kind, count] : kinds)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, kind);
  return text;
}

// The reasons of skips, most frequent first; at most three are named.
std::string skip_reasons(const Json& result) {
  std::map<std::string, int> counts;
  for (const Json& skip : list_of(result, "skipped"))
    ++counts[text_of(skip, "reason", "no reason given")];
  for (const Json& row : list_of(result, "rows")) {
    const Outcome outcome = outcome_of(row);
    if (outcome == Outcome::kSkipped || outcome == Outcome::kUnsupported)
      ++counts[text_of(row, "reason", "no reason given")];
  }
  std::vector<std::pair<int, std::string>> order;
  for (const auto& [reason, count] : counts) order.emplace_back(-count, reason);
  std::sort(order.begin(), order.end());
  std::string text;
  for (std::size_t i = 0; i < order.size() && i < 3; ++i) {
    text += fmt::format("{}{} x {}", i ? "; " : "", -order[i].first, order[i].second);
  }
  return order.size() > 3 ? fmt::format("{}; {} other reasons", text, order.size() - 3) : text;
}

std::string counts(const Json& result, const ConsoleOptions& options) {
  const Json& summary = member(result, "summary");
  auto count = [&](const char* key) { return number_of(summary, key).value_or(0); };
  const std::string why = skip_reasons(result), kinds = failure_kinds(result);
  std::string line = fmt::format("Ran {:.0f}, skipped {:.0f}{}, failed {:.0f}{}.", count("ran"),
                                 count("skipped"), why.empty() ? "" : " (" + why + ")",
                                 count("failed"), kinds.empty() ? "" : " (" + kinds + ")");
  std::string out = wrap(plain(line, options), options);
  const Json& run = member(result, "run");
  if (!flag_of(run, "complete", true)) {
    std::string text =
        "INCOMPLETE: " + text_of(run, "incomplete_reason", "the run was stopped before its end");
    out +=
        paint("INCOMPLETE", Style::kWarn, options) + wrap(plain(text, options), options).substr(10);
  }
  return out;
}

std::string findings(const Json& result, const ConsoleOptions& options) {
  std::string out;
  for (const char* severity : {"fail", "warn"}) {
    for (const Json& finding : list_of(result, "findings")) {
      if (text_of(finding, "severity") != severity) continue;
      const std::string next = text_of(finding, "next_step");
      const std::string label = std::string(severity) == "fail" ? "  FAIL  " : "  WARN  ";
      std::string text =
          wrap(plain(text_of(finding, "text") + (next.empty() ? "" : " Next: " + next), options),
               options, 8, label);
      out +=
          paint(label, label == "  FAIL  " ? Style::kBad : Style::kWarn, options) + text.substr(8);
    }
  }
  return out.empty() ? "" : section("What to know about this machine and run", options) + out;
}

void add_scaling(Table& table, const Json& entry, const ConsoleOptions& options) {
  const std::string who = fmt::format("{:.0f}, {}", number_of(entry, "world_size").value_or(0),
                                      text_of(entry, "scaling"));
  const Json& speedup = member(entry, "speedup");
  const auto value = number_of(speedup, "value");
  if (!has_figure(outcome_of(entry)) || !value) {
    const std::string reason =
        text_of(entry, "reason", text_of(speedup, "reason", "no reason given"));
    table.row({who, "withheld", "", "",
               plain(fmt::format("{}: {}", to_string(outcome_of(entry)), reason), options)});
    return;
  }
  const auto ci = bounds_of(speedup);
  table.row({who, fmt::format("{:.2f}x", *value),
             ci ? fmt::format("{:.2f} to {:.2f}", ci->low, ci->high) : "no interval",
             percent(number_of(member(entry, "efficiency"), "value")),
             plain(loss_text(entry), options)});
  if (auto verdict = text_of(entry, "verdict"); !verdict.empty())
    table.note(plain(verdict, options));
  for (const Json& flag : list_of(entry, "flags")) {
    if (flag.is_string()) table.note("! " + plain(flag.get<std::string>(), options));
  }
}

std::string scaling_table(const Json& result, const ConsoleOptions& options) {
  const Json& entries = list_of(result, "scaling");
  if (entries.empty()) return "";
  const std::string device =
      text_of(member(result, "run"), "device") == "cpu" ? "cpu devices" : "devices";
  Table table({{device},
               {"speed-up", true},
               {"95 % interval", true},
               {"efficiency", true},
               {"where the loss goes"}});
  std::string last;
  std::size_t shown = 0;
  for (const Json& entry : entries) {
    if (shown == static_cast<std::size_t>(options.max_rows)) break;
    if (std::string name = case_of(entry, options); name != last) table.heading(last = name);
    add_scaling(table, entry, options);
    ++shown;
  }
  return section(fmt::format("Scaling: several {} against one", device), options) +
         table.text(options) + more_rows(entries.size() - shown, options);
}

void add_case(Table& table, const Json& row, const ConsoleOptions& options) {
  const Json& time = member(row, "time_s");
  const Json& rate = member(row, "rate");
  const Json& peak = member(row, "peak");
  const TimeText text = time_text(time);
  const auto value = number_of(rate, "value"), power = number_of(row, "power_w"),
             energy = number_of(row, "energy_per_op_j"), n = number_of(time, "n");
  table.row({arm_text(row), text.median, text.interval,
             value ? format_significant(*value) + " " + plain(text_of(rate, "unit"), options) : "",
             percent(number_of(peak, "boost_share")), percent(number_of(peak, "at_clock_share")),
             power ? format_significant(*power) + " W" : "",
             energy ? format_significant(*energy) + " J" : "", n ? fmt::format("{:.0f}", *n) : ""});
  if (outcome_of(row) == Outcome::kUnstable) {
    table.note(
        plain("unstable, read with care: " + text_of(row, "reason", "warm-up never became steady"),
              options));
  }
  std::string limits;
  for (const Json& limit : list_of(row, "throttle")) {
    if (limit.is_string()) limits += (limits.empty() ? "" : ", ") + limit.get<std::string>();
  }
  if (!limits.empty()) table.note(plain("clock limited by: " + limits, options));
}

std::string case_table(const Json& result, const ConsoleOptions& options) {
  Table table({{"arm"},
               {"median", true},
               {"95 % interval", true},
               {"rate", true},
               {"of peak", true},
               {"at clock", true, 3},
               {"power", true, 1},
               {"energy", true, 2},
               {"n", true}});
  const std::string device = text_of(member(result, "run"), "device") == "cpu" ? " (cpu)" : "";
  std::string last;
  std::size_t shown = 0, all = 0;
  for (const Json& row : list_of(result, "rows")) {
    if (!has_figure(outcome_of(row)) || !number_of(member(row, "time_s"), "median")) continue;
    ++all;
    if (shown == static_cast<std::size_t>(options.max_rows)) continue;
    if (std::string name = case_of(row, options); name != last) table.heading(last = name);
    add_case(table, row, options);
    ++shown;
  }
  if (all == 0) return "";
  return section(fmt::format("Cases{}: time of one operation, the slowest device of each sample",
                             device),
                 options) +
         table.text(options) + more_rows(all - shown, options);
}

// "  incorrect  gemm/..., solo[0]" and what lies under it.
std::string failed_row(const Json& row, const ConsoleOptions& options) {
  const std::string label = fmt::format("  {}  ", to_string(outcome_of(row)));
  std::string out = paint(label, Style::kBad, options) +
                    wrap(plain(text_of(row, "id", "row without id"), options), options, 4, label)
                        .substr(label.size());
  const std::string phase = text_of(row, "phase");
  out += wrap(plain((phase.empty() ? "" : "in phase " + phase + ": ") +
                        text_of(row, "reason", "no reason given"),
                    options),
              options, 4);
  // Not wrapped: a command must survive being copied.
  if (auto repeat = text_of(row, "repeat"); !repeat.empty())
    out += "    repeat: " + plain(repeat, options) + "\n";
  return out;
}

std::string not_run(const Json& result, const ConsoleOptions& options) {
  std::vector<std::string> skips, failures;
  for (const Json& skip : list_of(result, "skipped")) {
    skips.push_back(wrap(
        plain(text_of(skip, "what") + ": " + text_of(skip, "reason", "no reason given"), options),
        options, 4, "  " + text_of(skip, "outcome", "skipped") + "  "));
  }
  for (const Json& row : list_of(result, "rows")) {
    const Outcome outcome = outcome_of(row);
    if (has_figure(outcome)) continue;
    if (outcome == Outcome::kSkipped || outcome == Outcome::kUnsupported) {
      skips.push_back(wrap(
          plain(text_of(row, "id") + ": " + text_of(row, "reason", "no reason given"), options),
          options, 4, fmt::format("  {}  ", to_string(outcome))));
    } else {
      failures.push_back(failed_row(row, options));
    }
  }
  std::string out;
  for (const auto& [title, list] :
       {std::pair("Skipped", &skips), std::pair("Failed: figures withheld", &failures)}) {
    if (list->empty()) continue;
    out += section(title, options);
    const std::size_t shown = std::min(list->size(), static_cast<std::size_t>(options.max_rows));
    for (std::size_t i = 0; i < shown; ++i) out += (*list)[i];
    out += more_rows(list->size() - shown, options);
  }
  return out;
}

}  // namespace

std::string console_summary(const Json& result, const ConsoleOptions& options) {
  std::string out = head(result, options) + counts(result, options) + findings(result, options) +
                    scaling_table(result, options) + case_table(result, options) +
                    not_run(result, options);
  if (!options.folder.empty()) {
    out += section("Files", options);
    for (const char* name : {"result.json", "journal.jsonl"})
      out += fmt::format("  {}/{}\n", plain(options.folder, options), name);
  }
  return out;
}

}  // namespace pairmark
