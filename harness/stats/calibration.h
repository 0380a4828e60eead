// For tests: timings with a known true median, and how often an interval holds it.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <random>
#include <string>

#include "harness/stats/stats.h"

namespace pairmark::calibration {

enum class Noise { kNormal, kDelays, kOutliers };

// A timing model: launches differ by a lognormal factor whose spread is `between` times the
// standard error of the median of one launch; samples within a launch follow `noise`.
struct Setting {
  int launches;
  int samples;
  double between;
  Noise noise;
  std::string name() const;
};

using Random = std::mt19937_64;

double draw_sample(Noise noise, Random& random);
Launches draw_launches(const Setting& setting, Random& random);

// The median of the model's samples over all launches, from a large draw.
double true_median(const Setting& setting);

// Share of trials whose interval holds `truth`; a missing interval counts as a miss.
double coverage(const Setting& setting, int trials, double truth,
                const std::function<std::optional<Interval>(const Launches&, Random&)>& interval);

// Coverage of median_estimate for the model's true median.
double median_coverage(const Setting& setting, int trials);

// The 2.5 % and 97.5 % quantiles of the median over resamples of launches and of samples within:
// the textbook interval.
Interval percentile_bootstrap(const Launches& launches, Random& random);

}  // namespace pairmark::calibration
