#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "harness/base/units.h"
#include "harness/compare/compare.h"
#include "harness/report/fields.h"

namespace pairmark {
namespace {

Style status_style(const std::string& status) {
  if (status == "SLOWER") return Style::kBad;
  if (status == "FASTER") return Style::kGood;
  return status == "SAME" || status == "NEW" ? Style::kPlain : Style::kWarn;
}

std::string section(const std::string& title, const ConsoleOptions& options) {
  return fmt::format("\n{}\n", paint(title, Style::kBold, options));
}

std::string side_text(const Json& side, const ConsoleOptions& options) {
  const std::string device = text_of(side, "device", "not stated");
  return wrap(plain(fmt::format("{}: {}, profile {}, {}{}", text_of(side, "devices"), device,
                                text_of(side, "profile"), text_of(side, "started_utc"),
                                device == "cpu" ? " (cpu figures, not GPU figures)" : ""),
                    options),
              options, 4, "  " + plain(text_of(side, "name"), options) + "  ");
}

std::string list_text(const Json& differences, const std::string& title,
                      const ConsoleOptions& options) {
  if (differences.empty()) return "";
  Table table({{"what"}, {"baseline"}, {"candidate"}});
  for (const Json& each : differences)
    table.row({plain(text_of(each, "what"), options), plain(text_of(each, "a"), options),
               plain(text_of(each, "b"), options)});
  return section(title, options) + table.text(options);
}

std::string figure(const Json& row, const char* key) {
  const auto value = number_of(row, key);
  return value ? format_significant(*value) + " " + text_of(row, "unit") : "";
}

void add_row(Table& table, const Json& row, const ConsoleOptions& options) {
  const auto ratio = number_of(row, "speed_ratio");
  const Json& interval = list_of(row, "speed_ratio_interval");
  const bool bounded = interval.size() == 2 && number_of(interval[0]) && number_of(interval[1]);
  table.row({text_of(row, "status"), ratio ? fmt::format("{:.3f}x", *ratio) : "",
             bounded
                 ? fmt::format("{:.3f} to {:.3f}", *number_of(interval[0]), *number_of(interval[1]))
             : ratio ? "no interval"
                     : "",
             plain(figure(row, "rate_a"), options), plain(figure(row, "rate_b"), options)});
  table.note(plain(text_of(row, "id"), options));
  if (text_of(row, "id_a") != text_of(row, "id") && row.contains("id_a") && row["id_a"].is_string())
    table.note("baseline: " + plain(text_of(row, "id_a"), options));
  const std::string status = text_of(row, "status");
  if (status != "SAME" && status != "FASTER" && status != "SLOWER")
    table.note(plain(text_of(row, "reason"), options));
}

std::string rows_text(const Json& comparison, const ConsoleOptions& options) {
  // What needs action first.
  static constexpr std::array<const char*, 10> kOrder{"SLOWER",        "GONE",
                                                      "BROKEN",        "INVALID-BASELINE",
                                                      "UNIT-MISMATCH", "NOT-COMPARABLE",
                                                      "UNDECIDED",     "FASTER",
                                                      "NEW",           "SAME"};
  Table table({{"status", false, 0, status_style},
               {"speed", true},
               {"99.5 % interval", true},
               {"baseline", true, 1},
               {"candidate", true, 1}});
  std::size_t shown = 0, all = 0;
  for (const char* status : kOrder) {
    for (const Json& row : list_of(comparison, "rows")) {
      if (text_of(row, "status") != status) continue;
      if (++all > static_cast<std::size_t>(options.max_rows)) continue;
      add_row(table, row, options);
      ++shown;
    }
  }
  if (all == 0) return "";
  std::string more;
  if (all > shown)
    more = fmt::format("  {} {} more rows; --json lists all\n", options.unicode ? "…" : "...",
                       all - shown);
  return section("Rows (speed: candidate / baseline, above 1 is faster)", options) +
         table.text(options) + more;
}

}  // namespace

std::string comparison_text(const Json& comparison, const ConsoleOptions& options) {
  std::string out;
  if (auto banner = text_of(comparison, "banner"); !banner.empty()) {
    std::string line = wrap("*** " + banner + " ***", options);
    line.pop_back();
    out += paint(line, Style::kWarn, options) + "\n";
  }
  out += wrap(plain(text_of(comparison, "summary"), options), options);
  out += side_text(member(comparison, "a"), options) + side_text(member(comparison, "b"), options);
  for (const Json& note : list_of(comparison, "notes")) {
    if (note.is_string()) out += wrap(plain(note.get<std::string>(), options), options, 2, "! ");
  }
  out +=
      list_text(list_of(comparison, "differences"), "What differs between the machines", options);
  out += list_text(list_of(comparison, "changes"), "What changed", options);
  if (const Json& scaling = list_of(comparison, "scaling"); !scaling.empty()) {
    out += section("Scaling between the results (not a regression)", options);
    for (const Json& each : scaling)
      out += wrap(plain(text_of(each, "case") + ": " + text_of(each, "text"), options), options, 4,
                  "  ");
  }
  return out + rows_text(comparison, options);
}

}  // namespace pairmark
