#include "harness/stats/stats.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "harness/base/error.h"
#include "harness/base/rng.h"
#include "harness/base/units.h"

namespace pairmark {
namespace {

constexpr std::size_t kLeastSamples = 3;
constexpr int kResamples = 500;
constexpr double kTwoSided95 = 0.975;

using Function = std::function<double(const std::vector<double>&)>;

struct Spread {
  double mean = 0;
  double variance_of_mean = 0;
  double df = 0;
};

// Mean of independent figures, the variance of that mean, and the degrees of freedom it is known
// with.
Spread spread_of(const std::vector<double>& figures) {
  const auto n = static_cast<double>(figures.size());
  Spread spread{.df = n - 1};
  for (double figure : figures) spread.mean += figure / n;
  for (double figure : figures) {
    spread.variance_of_mean += (figure - spread.mean) * (figure - spread.mean) / (n - 1) / n;
  }
  return spread;
}

Interval interval_around(const Spread& spread, double p, double value) {
  const double half = student_t_quantile(p, spread.df) * std::sqrt(spread.variance_of_mean);
  return {std::min(spread.mean - half, value), std::max(spread.mean + half, value)};
}

std::vector<std::size_t> shared_launches(const std::vector<Launches>& arms) {
  std::vector<std::size_t> shared;
  for (std::size_t l = 0; l < arms.front().size(); ++l) {
    if (std::all_of(arms.begin(), arms.end(),
                    [&](const Launches& a) { return l < a.size() && !a[l].empty(); })) {
      shared.push_back(l);
    }
  }
  return shared;
}

// Standard deviation of f over resamples of the samples of one launch.
double bootstrap_deviation(const std::vector<const std::vector<double>*>& arms, const Function& f,
                           std::uint64_t seed) {
  std::vector<double> figures;
  std::uint64_t draw = 0;
  for (int i = 0; i < kResamples; ++i) {
    std::vector<double> medians;
    for (const auto* samples : arms) {
      std::vector<double> again(samples->size());
      for (double& sample : again) sample = (*samples)[random_bits(seed, draw++) % samples->size()];
      medians.push_back(median(again));
    }
    figures.push_back(f(medians));
  }
  return std::sqrt(spread_of(figures).variance_of_mean * kResamples);
}

Estimate one_launch_estimate(const std::vector<Launches>& arms, std::size_t launch,
                             const Function& f, double value, std::uint64_t seed) {
  std::vector<const std::vector<double>*> samples;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const Launches& arm : arms) {
    samples.push_back(&arm[launch]);
    least = std::min(least, arm[launch].size());
  }
  if (least < kLeastSamples) return {value, std::nullopt, "fewer than 3 samples: no interval"};
  const double half = student_t_quantile(kTwoSided95, static_cast<double>(least - 1)) *
                      bootstrap_deviation(samples, f, seed);
  if (!std::isfinite(half))
    return {value, std::nullopt, "the figure is not finite for some resamples: no interval"};
  return {value, Interval{value - half, value + half},
          "one launch: variation between launches is not in this interval"};
}

double log_of(double figure) {
  check(figure > 0 && std::isfinite(figure),
        "a time or rate is {}; it must be above 0, measure again", figure);
  return std::log(figure);
}

std::vector<double> log_medians(const Launches& launches) {
  std::vector<double> logs;
  for (const auto& launch : launches) {
    if (!launch.empty()) logs.push_back(log_of(median(launch)));
  }
  return logs;
}

std::optional<Spread> paired_spread(const Launches& base, const Launches& candidate) {
  std::vector<double> differences;
  for (std::size_t l : shared_launches({base, candidate})) {
    differences.push_back(log_of(median(candidate[l])) - log_of(median(base[l])));
  }
  if (differences.size() < 2) return std::nullopt;
  return spread_of(differences);
}

// Welch 1947: the two runs need not have the same spread.
std::optional<Spread> unpaired_spread(const Launches& base, const Launches& candidate) {
  const auto a = log_medians(base);
  const auto b = log_medians(candidate);
  if (a.size() < 2 || b.size() < 2) return std::nullopt;
  const Spread sa = spread_of(a);
  const Spread sb = spread_of(b);
  const double va = sa.variance_of_mean;
  const double vb = sb.variance_of_mean;
  const double most = sa.df + sb.df;
  const double df =
      va + vb > 0 ? (va + vb) * (va + vb) / (va * va / sa.df + vb * vb / sb.df) : most;
  return Spread{sb.mean - sa.mean, va + vb, std::clamp(df, 1.0, most)};
}

CompareVerdict verdict_of(double ratio, const Interval& interval, double min_effect) {
  if (interval.high < 1 && ratio <= 1 - min_effect) return CompareVerdict::kFaster;
  if (interval.low > 1 && ratio >= 1 + min_effect) return CompareVerdict::kSlower;
  if (interval.low > 1 - min_effect && interval.high < 1 + min_effect) return CompareVerdict::kSame;
  return CompareVerdict::kUndecided;
}

}  // namespace

std::string_view to_string(CompareVerdict verdict) {
  constexpr std::array<std::string_view, 4> kNames{"faster", "slower", "same", "undecided"};
  return kNames.at(static_cast<std::size_t>(verdict));
}

Estimate function_estimate(const std::vector<Launches>& arms, const Function& f,
                           std::uint64_t seed) {
  check(!arms.empty(), "an estimate needs at least one arm; measure first");
  std::vector<double> medians;
  for (const Launches& arm : arms) medians.push_back(median(arm));
  const double value = f(medians);
  if (!std::isfinite(value)) return {value, std::nullopt, "the figure is not finite: no interval"};
  const auto shared = shared_launches(arms);
  if (shared.empty()) return {value, std::nullopt, "no launch measured all arms: no interval"};
  if (shared.size() == 1) return one_launch_estimate(arms, shared.front(), f, value, seed);
  std::vector<double> figures;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const Launches& arm : arms) {
    std::size_t samples = 0;
    for (std::size_t l : shared) samples += arm[l].size();
    least = std::min(least, samples);
  }
  if (least < kLeastSamples) return {value, std::nullopt, "fewer than 3 samples: no interval"};
  for (std::size_t l : shared) {
    std::vector<double> of_launch;
    for (const Launches& arm : arms) of_launch.push_back(median(arm[l]));
    figures.push_back(f(of_launch));
    if (!std::isfinite(figures.back()))
      return {value, std::nullopt, "the figure is not finite in a launch: no interval"};
  }
  return {value, interval_around(spread_of(figures), kTwoSided95, value), ""};
}

Estimate positive_estimate(const std::vector<Launches>& arms, const Function& f,
                           std::uint64_t seed) {
  auto log_of_f = [&](const std::vector<double>& medians) { return log_of(f(medians)); };
  Estimate estimate = function_estimate(arms, log_of_f, seed);
  estimate.value = std::exp(estimate.value);
  if (estimate.ci95)
    estimate.ci95 = Interval{std::exp(estimate.ci95->low), std::exp(estimate.ci95->high)};
  return estimate;
}

Estimate median_estimate(const Launches& launches, std::uint64_t seed) {
  return positive_estimate(
      {launches}, [](const std::vector<double>& m) { return m[0]; }, seed);
}

Estimate ratio_of_medians(const Launches& a, const Launches& b, std::uint64_t seed) {
  return positive_estimate(
      {a, b}, [](const std::vector<double>& m) { return m[0] / m[1]; }, seed);
}

Comparison compare(const Launches& base, const Launches& candidate, const CompareOptions& options) {
  const double ratio = median(candidate) / median(base);
  const auto spread =
      options.paired ? paired_spread(base, candidate) : unpaired_spread(base, candidate);
  if (!spread) {
    return {CompareVerdict::kUndecided, ratio, std::nullopt,
            "undecided: each side needs at least 2 launches; use --launches 3"};
  }
  const Interval logs = interval_around(*spread, 1 - (1 - options.confidence) / 2, std::log(ratio));
  const Interval interval{std::exp(logs.low), std::exp(logs.high)};
  const CompareVerdict verdict = verdict_of(ratio, interval, options.min_effect);
  return {verdict, ratio, interval,
          fmt::format(
              "{}: {} times the time, {} % interval {} to {}, smallest difference that counts {} %",
              to_string(verdict), format_significant(ratio, 4),
              format_significant(options.confidence * 100), format_significant(interval.low, 4),
              format_significant(interval.high, 4), format_significant(options.min_effect * 100))};
}

}  // namespace pairmark
