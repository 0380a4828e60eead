#include "harness/stats/calibration.h"

#include <cmath>
#include <numbers>

#include "harness/base/error.h"

namespace pairmark::calibration {
namespace {

constexpr double kSigma = 0.02;

double log_normal(double sigma, Random& random) {
  return std::exp(std::normal_distribution<double>(0, sigma)(random));
}

// Spread of the median of one launch, from a fixed draw.
double median_deviation(const Setting& setting) {
  Random random(7);
  double sum = 0, squares = 0;
  constexpr int kDraws = 2000;
  for (int i = 0; i < kDraws; ++i) {
    std::vector<double> launch;
    for (int s = 0; s < setting.samples; ++s) launch.push_back(draw_sample(setting.noise, random));
    const double m = std::log(median(launch));
    sum += m;
    squares += m * m;
  }
  return std::sqrt(squares / kDraws - sum / kDraws * sum / kDraws);
}

}  // namespace

std::string Setting::name() const {
  constexpr const char* kNames[] = {"normal", "delays", "outliers"};
  return fmt::format("{} launches x {} samples, between {}, {}", launches, samples, between,
                     kNames[static_cast<int>(noise)]);
}

double draw_sample(Noise noise, Random& random) {
  switch (noise) {
    case Noise::kNormal:
      return log_normal(kSigma, random);
    case Noise::kDelays:  // a floor and a skewed delay on top of it
      return 1 + 0.05 * log_normal(0.8, random);
    case Noise::kOutliers: {  // one sample in 20 is disturbed, by half its time on average
      const bool disturbed = std::uniform_real_distribution<double>(0, 1)(random) < 0.05;
      return log_normal(kSigma, random) +
             (disturbed ? std::exponential_distribution<double>(2)(random) : 0);
    }
  }
  return 0;
}

Launches draw_launches(const Setting& setting, Random& random) {
  thread_local std::pair<std::string, double> known;
  if (known.first != setting.name()) known = {setting.name(), median_deviation(setting)};
  Launches launches;
  for (int l = 0; l < setting.launches; ++l) {
    const double factor =
        setting.between > 0 ? log_normal(setting.between * known.second, random) : 1;
    auto& launch = launches.emplace_back();
    for (int s = 0; s < setting.samples; ++s)
      launch.push_back(factor * draw_sample(setting.noise, random));
  }
  return launches;
}

double true_median(const Setting& setting) {
  Random random(11);
  const double deviation = median_deviation(setting);
  std::vector<double> samples(500000);
  for (double& sample : samples) {
    const double factor = setting.between > 0 ? log_normal(setting.between * deviation, random) : 1;
    sample = factor * draw_sample(setting.noise, random);
  }
  return median(samples);
}

double coverage(const Setting& setting, int trials, double truth,
                const std::function<std::optional<Interval>(const Launches&, Random&)>& interval) {
  Random random(12345);
  int held = 0;
  for (int trial = 0; trial < trials; ++trial) {
    const auto found = interval(draw_launches(setting, random), random);
    held += found && found->low <= truth && truth <= found->high;
  }
  return static_cast<double>(held) / trials;
}

double median_coverage(const Setting& setting, int trials) {
  return coverage(setting, trials, true_median(setting),
                  [](const Launches& launches, Random& random) {
                    return median_estimate(launches, random()).ci95;
                  });
}

Interval percentile_bootstrap(const Launches& launches, Random& random) {
  std::vector<double> medians;
  for (int i = 0; i < 300; ++i) {
    std::vector<double> pooled;
    for (std::size_t l = 0; l < launches.size(); ++l) {
      const auto& launch = launches[random() % launches.size()];
      for (std::size_t s = 0; s < launch.size(); ++s)
        pooled.push_back(launch[random() % launch.size()]);
    }
    medians.push_back(median(pooled));
  }
  return {quantile(medians, 0.025), quantile(medians, 0.975)};
}

}  // namespace pairmark::calibration
