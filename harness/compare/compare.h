// Two results side by side: what became faster, slower, or cannot be compared, and why.
#pragma once

#include <string>

#include "harness/base/json.h"
#include "harness/report/console_table.h"

namespace pairmark {

struct ResultCompareOptions {
  // Compare although device or data differ (which GPU to buy); the output then carries a banner.
  bool across_machines = false;
  double min_effect = 0.01;  // smaller differences are SAME, however certain
  std::string name_a = "A", name_b = "B";
};

// a is the baseline, b the candidate; both follow the result schema. Rows are matched by case and
// arm and by the identity of their devices (UUID, or name where there is none), never by index.
// Returns {a, b: {name, started_utc, device, devices, profile}, banner, differences [{what, a, b}],
// changes [{what, a, b}], notes [text],
//  rows [{id, id_a, status, reason, rate_a, rate_b, unit, speed_ratio, speed_ratio_interval,
//  confidence}], scaling [{case, devices_a, devices_b, speedup, ci95, efficiency, text}], counts
//  {status: n}, summary, exit_code}.
// status: FASTER, SLOWER, SAME, UNDECIDED (by harness/stats, from the raw samples), NEW, GONE,
// BROKEN (had a figure, now fails), NOT-COMPARABLE, INVALID-BASELINE, UNIT-MISMATCH. speed_ratio =
// speed of b / speed of a, 1.05 = 5 % faster. differences stand in the way of a comparison; changes
// (commit, libraries, profile) are what a comparison may be about. A case on one device in one
// result and on several in the other is scaling, not a change. exit_code: 1 when a row is SLOWER or
// BROKEN, 4 when nothing could be compared, else 0. Throws UsageError when a or b is not a result
// or its schema is of another major version.
Json compare_results(const Json& a, const Json& b, const ResultCompareOptions& options = {});

// The same for a person. `comparison` is what compare_results returned.
std::string comparison_text(const Json& comparison, const ConsoleOptions& options);

}  // namespace pairmark
