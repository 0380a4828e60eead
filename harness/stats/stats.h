// All of the statistics: quantiles and intervals (estimate.h), and is one thing faster than
// another.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "harness/stats/estimate.h"

namespace pairmark {

enum class CompareVerdict { kFaster, kSlower, kSame, kUndecided };
std::string_view to_string(CompareVerdict verdict);  // faster slower same undecided

struct CompareOptions {
  double min_effect = 0.01;  // smaller differences are "same", however certain
  double confidence =
      0.995;  // of the interval that decides: keeps false alarms of one A/A comparison under 1 %
  bool paired = false;  // launches of equal index belong together (one run); false for two runs
};

struct Comparison {
  CompareVerdict verdict;
  double time_ratio;                   // median time of candidate / base: below 1 is faster
  std::optional<Interval> decided_by;  // interval of time_ratio at `confidence`
  std::string reason;                  // one sentence with the figures
};

// Is `candidate` faster than `base` (both in seconds)? faster/slower: the interval excludes 1 and
// the difference is at least min_effect; same: the interval lies within 1 -+ min_effect; else
// undecided. Two launches each are the least it decides on: the spread between launches is unknown
// from one. The false alarm rate is that of one look: who repeats it with more launches until it
// decides shares (1 - confidence) out over the looks.
Comparison compare(const Launches& base, const Launches& candidate,
                   const CompareOptions& options = {});

}  // namespace pairmark
