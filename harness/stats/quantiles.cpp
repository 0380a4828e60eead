#include <algorithm>
#include <cmath>
#include <numbers>

#include "harness/base/error.h"
#include "harness/stats/estimate.h"

namespace pairmark {

double quantile(std::vector<double> samples, double p) {
  check(!samples.empty(), "there are no samples to take a quantile of; measure first");
  check(p >= 0 && p <= 1, "a quantile is asked for at {}; give a number from 0 to 1", p);
  const double at = p * static_cast<double>(samples.size() - 1);
  const auto below = static_cast<std::ptrdiff_t>(at);
  std::nth_element(samples.begin(), samples.begin() + below, samples.end());
  const double low = samples[static_cast<std::size_t>(below)];
  const double part = at - static_cast<double>(below);
  if (part == 0) return low;
  const double high = *std::min_element(samples.begin() + below + 1, samples.end());
  return low + part * (high - low);
}

double median(const std::vector<double>& samples) {
  return quantile(samples, 0.5);
}

namespace {

std::vector<double> pool(const Launches& launches) {
  std::vector<double> all;
  for (const auto& launch : launches) all.insert(all.end(), launch.begin(), launch.end());
  return all;
}

}  // namespace

double median(const Launches& launches) {
  return median(pool(launches));
}

double mad(const std::vector<double>& samples) {
  const double center = median(samples);
  std::vector<double> distances;
  distances.reserve(samples.size());
  for (double sample : samples) distances.push_back(std::abs(sample - center));
  return median(distances);
}

double median_standard_error(const std::vector<double>& samples) {
  // sqrt(pi / 2) is the standard error of a normal sample's median over that of its mean; 1.4826
  // MAD estimates sigma.
  return std::sqrt(std::numbers::pi / 2) * 1.4826 * mad(samples) /
         std::sqrt(static_cast<double>(samples.size()));
}

Summary summarize(const Launches& launches) {
  const std::vector<double> all = pool(launches);
  const auto filled =
      std::count_if(launches.begin(), launches.end(), [](const auto& l) { return !l.empty(); });
  return {.median = median(all),
          .q1 = quantile(all, 0.25),
          .q3 = quantile(all, 0.75),
          .min = quantile(all, 0),
          .max = quantile(all, 1),
          .mad = mad(all),
          .n = all.size(),
          .launches = static_cast<std::size_t>(filled)};
}

// With x = sqrt(df) tan(angle) the density becomes proportional to cos(angle)^(df - 1): a bounded
// integrand on a bounded range, summed (Simpson) from 0 until the wanted area is reached.
double student_t_quantile(double p, double df) {
  check(p > 0.5 && p < 1 && df >= 1,
        "Student's t is asked for at p={}, df={}; give 0.5 < p < 1 and df >= 1", p, df);
  constexpr int kSteps = 500;
  df = std::min(df, 1e4);  // beyond, the normal limit is reached to 4 digits
  const double top = std::min(std::numbers::pi / 2, 10 / std::sqrt(df));
  const double step = top / kSteps;
  auto density = [&](double angle) { return std::pow(std::max(0.0, std::cos(angle)), df - 1); };
  auto cell = [&](int i) {
    return step / 6 * (density(i * step) + 4 * density((i + 0.5) * step) + density((i + 1) * step));
  };
  const double half =
      std::sqrt(std::numbers::pi) / 2 * std::exp(std::lgamma(df / 2) - std::lgamma((df + 1) / 2));
  double missing = (2 * p - 1) * half;
  int i = 0;
  for (; i < kSteps - 1 && cell(i) <= missing; ++i) missing -= cell(i);
  return std::sqrt(df) * std::tan((i + std::min(1.0, missing / cell(i))) * step);
}

}  // namespace pairmark
