// Rows of a result: the journal's items of one case in one arm, merged over launches and checked.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/base/outcome.h"
#include "harness/stats/estimate.h"

namespace pairmark {

struct Row {
  std::string id, suite, benchmark, case_text, scaling, arm;
  std::vector<int> ranks;
  std::vector<Json> records;  // of the launches, in the order in which they were written

  Outcome outcome = Outcome::kOk;
  std::string reason;  // of the outcome; empty when ok
  std::string phase;   // where it failed; else empty

  std::string rate_unit, rate_work;
  double rate_scale = 0;
  std::vector<double>
      rank_work;  // by position in `ranks`: work[rate_work] of one operation; empty without figures
  double total_work = 0;

  // Seconds, by launch; empty when the outcome has no figure.
  Launches samples;                    // slowest rank of each sample
  std::vector<Launches> rank_samples;  // by position in `ranks`
  std::vector<std::string> notes;

  // rate_scale * total_work: divided by a time, this is the rate. 0 when there is no rate to show.
  double rate_times_s() const { return rate_scale * total_work; }
  bool has_rate() const { return has_figure(outcome) && rate_times_s() > 0; }
};

// Items in, rows out, in the order of their first record. `launches` is how many were planned.
std::vector<Row> build_rows(const std::vector<Json>& items, int launches);

// The row as the schema wants it.
Json row_json(const Row& row, std::uint64_t seed);

// The sum over ranks of a rank's peak ("boost" or "at_clock") in the unit of rate, median over
// launches; nothing when a rank does not know it.
std::optional<double> peak_of(const Row& row, const std::string& which);

// 7 significant digits: what a result keeps.
double rounded(double value);
Json rounded_or_null(double value);
Json interval_json(const std::optional<Interval>& interval);

}  // namespace pairmark
