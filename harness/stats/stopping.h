// When to stop: the number of launches, and the warm-up before timing. Both are told the time, so a
// fake clock tests them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "harness/stats/estimate.h"

namespace pairmark {

struct StopRule {
  int min_launches = 3;
  int max_launches = 10;
  double target_half_width = 0.02;  // of each interval, as a share of its value
  double budget_s = 600;            // for all launches together
};

struct StopDecision {
  bool stop;
  std::string reason;  // one sentence
};

// Decides after each launch whether another one is worth it. Stopping when the intervals happen to
// be narrow costs some coverage: 93 % are held where 95 % are meant, from 3 launches on
// (calibration_full_test.cpp); do not set min_launches below 3.
class SequentialStop {
 public:
  explicit SequentialStop(
      const StopRule& rule);  // throws UsageError for a rule that can never be met

  // `launches` done so far, one estimate for each figure watched, seconds since the start and the
  // expected seconds of one more launch. The budget is never passed on purpose, even before
  // min_launches.
  StopDecision decide(const std::vector<Estimate>& estimates, int launches, double elapsed_s,
                      double next_launch_s) const;

 private:
  StopRule rule_;
};

struct SteadyRule {
  double min_seconds = 3;
  double max_seconds = 30;
  double tolerance = 0.01;  // of the median and of the clock, between successive windows
};

// One stretch of warm-up operations.
struct WarmWindow {
  double elapsed_s;             // since the warm-up started, at the end of the window
  double median_s;              // of its operations
  double standard_error_s = 0;  // of that median (median_standard_error); 0 when not known
  std::optional<double> clock_mhz = std::nullopt;  // mean in the window
};

enum class Warmth { kWarming, kSteady, kGaveUp };

// Steady: in two successive steps the median moved by less than max(tolerance, 2 standard errors of
// the step) and the clock, where known, by less than tolerance. Two steps, because one quiet step
// happens by chance on the way.
class SteadyState {
 public:
  explicit SteadyState(const SteadyRule& rule) : rule_(rule) {}

  // kGaveUp when max_seconds passed first. Once it answered kSteady or kGaveUp it repeats that
  // answer.
  Warmth feed(const WarmWindow& window);

  const std::string& reason() const { return reason_; }  // why the last answer was given

 private:
  bool agrees(const WarmWindow& before, const WarmWindow& now);

  SteadyRule rule_;
  std::optional<WarmWindow> last_;
  int quiet_steps_ = 0;
  Warmth state_ = Warmth::kWarming;
  std::string moved_ = "only one window was measured";
  std::string reason_ = "warming up";
};

}  // namespace pairmark
