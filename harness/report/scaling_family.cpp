#include "harness/report/scaling_family.h"

#include <algorithm>
#include <numeric>

namespace pairmark {

std::vector<const Row*> Family::all() const {
  std::vector<const Row*> rows = solos;
  if (apart != nullptr) rows.push_back(apart);
  if (together != nullptr) rows.push_back(together);
  return rows;
}

Figures::Figures(const Family& family, std::uint64_t seed) : family_(family), seed_(seed) {
  for (const Row* solo : family.solos) arms_.push_back(solo->samples);
  if (family.apart != nullptr) {
    arms_.push_back(family.apart->samples);
    for (const Launches& rank : family.apart->rank_samples) arms_.push_back(rank);
  }
  if (family.together != nullptr) arms_.push_back(family.together->samples);
  for (const Launches& arm : arms_) medians_.push_back(median(arm));
  const auto rates = solo_rates(medians_);
  alike_ = *std::max_element(rates.begin(), rates.end()) <=
           kAlike * *std::min_element(rates.begin(), rates.end());
}

std::vector<double> Figures::solo_rates(const Medians& m) const {
  std::vector<double> rates;
  for (std::size_t i = 0; i < n(); ++i) rates.push_back(family_.solos[i]->rate_times_s() / m[i]);
  return rates;
}

double Figures::ideal(const Medians& m) const {
  const auto rates = solo_rates(m);
  return std::accumulate(rates.begin(), rates.end(), 0.0);
}

double Figures::baseline(const Medians& m) const {
  const auto rates = solo_rates(m);
  return alike_ ? ideal(m) / static_cast<double>(n())
                : *std::max_element(rates.begin(), rates.end());
}

double Figures::apart(const Medians& m) const {
  return family_.apart->rate_times_s() / m[n()];
}

double Figures::unhindered(const Medians& m) const {
  double rate = 0;
  for (std::size_t i = 0; i < n(); ++i) {
    rate += family_.apart->rate_scale * family_.apart->rank_work[i] / m[n() + 1 + i];
  }
  return rate;
}

double Figures::compared(const Medians& m) const {
  return family_.compared().rate_times_s() / (family_.together != nullptr ? m.back() : m[n()]);
}

Estimate Figures::speedup() const {
  return positive_estimate(
      arms_, [this](const Medians& m) { return compared(m) / baseline(m); }, seed_);
}

Estimate Figures::efficiency() const {
  return positive_estimate(
      arms_, [this](const Medians& m) { return compared(m) / ideal(m); }, seed_);
}

Estimate Figures::loss(const std::function<double(const Medians&)>& lost_rate) const {
  return function_estimate(
      arms_, [&](const Medians& m) { return lost_rate(m) / ideal(m); }, seed_);
}

}  // namespace pairmark
