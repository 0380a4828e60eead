// Statistics of repeated timings: quantiles and 95 % intervals. Pure functions.
//
// How the interval is made. A launch is one fresh set of worker processes; what differs between
// launches (memory layout, clocks, placement) is not seen by taking more samples within one. Each
// launch therefore gives one figure, made from its medians, and the interval is Student's t over
// these figures: mean -+ t(L-1) s / sqrt(L), on the log scale for times and their ratios, widened
// where needed to hold the reported value. The design asks for a percentile bootstrap (launches,
// then samples). Measured by simulation it covers far too little: with 3 launches 81 % of its "95
// %" intervals hold the true median, with 5 launches 89 %; Student's t over launches holds 95 % (94
// to 96 % over 3 to 8 launches, 10 to 50 samples, normal, lognormal and outlier noise,
// between-launch spread of 0 to 3 times the within-launch one; calibration_test.cpp). Borrowing
// degrees of freedom from the samples (Satterthwaite) gave 92 to 98 % and a worse fit at both ends,
// for more code. With one launch only, the spread of the median comes from a bootstrap of its
// samples, and the reason says what is missing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace pairmark {

// Samples per launch, in one unit (seconds where not said otherwise). A launch without samples is
// passed over.
using Launches = std::vector<std::vector<double>>;

// Quantile p in [0, 1], interpolated linearly between order statistics (type 7 of Hyndman and Fan
// 1996, the default of R and numpy). This and all functions below throw Error when there is no
// sample.
double quantile(std::vector<double> samples, double p);
double median(const std::vector<double>& samples);
double median(const Launches& launches);  // of all samples together

// Median absolute deviation from the median, not scaled.
double mad(const std::vector<double>& samples);

// Standard error of the median of independent samples, from the MAD: 1.2533 * 1.4826 * MAD /
// sqrt(n).
double median_standard_error(const std::vector<double>& samples);

struct Summary {
  double median, q1, q3, min, max, mad;
  std::size_t n, launches;
};
Summary summarize(const Launches& launches);

// Quantile p in (0.5, 1) of Student's t with df >= 1 degrees of freedom (not necessarily whole).
double student_t_quantile(double p, double df);

struct Interval {
  double low, high;
};

struct Estimate {
  double value = 0;
  std::optional<Interval> ci95;  // holds `value`
  std::string reason;            // why there is no interval, or what it leaves out; else empty
};

// The seed drives the bootstrap of a single launch; the same seed gives the same interval.
Estimate median_estimate(const Launches& launches, std::uint64_t seed);

// median(a) / median(b). Launches of equal index are paired: the same worker processes measured
// both, interleaved. Throws Error when a median is not positive.
Estimate ratio_of_medians(const Launches& a, const Launches& b, std::uint64_t seed);

// f of the medians of several arms (a speed-up, a share of lost time), all paired by launch.
// `value` is f of the medians over all launches; the interval is on f's own scale, from the
// launches in which every arm has samples.
Estimate function_estimate(const std::vector<Launches>& arms,
                           const std::function<double(const std::vector<double>& medians)>& f,
                           std::uint64_t seed);

// The same for an f that is above 0, such as a rate or a speed-up: the interval is made on the log
// scale. Throws Error when f is not.
Estimate positive_estimate(const std::vector<Launches>& arms,
                           const std::function<double(const std::vector<double>& medians)>& f,
                           std::uint64_t seed);

}  // namespace pairmark
