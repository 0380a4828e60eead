#include "harness/stats/stopping.h"

#include <algorithm>
#include <cmath>

#include "harness/base/error.h"
#include "harness/base/units.h"

namespace pairmark {
namespace {

constexpr int kQuietSteps = 2;

std::string percent(double share) {
  return format_significant(100 * share) + " %";
}

// Half the width of the interval as a share of the value; infinite without an interval.
double relative_half_width(const Estimate& estimate) {
  if (!estimate.ci95 || estimate.value == 0) return HUGE_VAL;
  return (estimate.ci95->high - estimate.ci95->low) / 2 / std::abs(estimate.value);
}

}  // namespace

SequentialStop::SequentialStop(const StopRule& rule) : rule_(rule) {
  if (rule.min_launches < 1 || rule.max_launches < rule.min_launches) {
    throw UsageError(fmt::format("launches from {} to {} make no sense; give 1 <= least <= most",
                                 rule.min_launches, rule.max_launches));
  }
  if (!(rule.target_half_width > 0) || !(rule.budget_s > 0)) {
    throw UsageError("the wanted interval width and the time budget must be above 0");
  }
}

StopDecision SequentialStop::decide(const std::vector<Estimate>& estimates, int launches,
                                    double elapsed_s, double next_launch_s) const {
  if (launches >= rule_.max_launches)
    return {true, fmt::format("all {} launches are done", launches)};
  if (elapsed_s + next_launch_s > rule_.budget_s) {
    return {true, fmt::format("the time budget of {} leaves no room for another launch of {}",
                              format_seconds(rule_.budget_s), format_seconds(next_launch_s))};
  }
  if (launches < rule_.min_launches) {
    return {false,
            fmt::format("{} of at least {} launches are done", launches, rule_.min_launches)};
  }
  double widest = estimates.empty() ? HUGE_VAL : 0;
  for (const Estimate& estimate : estimates)
    widest = std::max(widest, relative_half_width(estimate));
  if (widest <= rule_.target_half_width) {
    return {true, fmt::format("every interval is within {} of its value",
                              percent(rule_.target_half_width))};
  }
  if (std::isinf(widest)) return {false, "a figure has no interval yet"};
  return {false, fmt::format("the widest interval is {} of its value, wanted are {}",
                             percent(widest), percent(rule_.target_half_width))};
}

bool SteadyState::agrees(const WarmWindow& before, const WarmWindow& now) {
  const double step = std::abs(now.median_s - before.median_s);
  const double noise = std::hypot(now.standard_error_s, before.standard_error_s);
  moved_ = fmt::format("the median still moved by {}", percent(step / before.median_s));
  const bool median_ok = step < std::max(rule_.tolerance * before.median_s, 2 * noise);
  if (!now.clock_mhz || !before.clock_mhz) return median_ok;
  const double clock_step = std::abs(*now.clock_mhz - *before.clock_mhz);
  moved_ += fmt::format(" and the clock by {}", percent(clock_step / *before.clock_mhz));
  return median_ok && clock_step < rule_.tolerance * *before.clock_mhz;
}

Warmth SteadyState::feed(const WarmWindow& window) {
  if (state_ != Warmth::kWarming) return state_;
  if (last_) quiet_steps_ = agrees(*last_, window) ? quiet_steps_ + 1 : 0;
  last_ = window;
  if (quiet_steps_ >= kQuietSteps && window.elapsed_s >= rule_.min_seconds) {
    state_ = Warmth::kSteady;
    reason_ = fmt::format("steady after {}", format_seconds(window.elapsed_s));
  } else if (window.elapsed_s >= rule_.max_seconds) {
    state_ = Warmth::kGaveUp;
    reason_ = fmt::format("not steady after {}: {}", format_seconds(window.elapsed_s), moved_);
  }
  return state_;
}

}  // namespace pairmark
