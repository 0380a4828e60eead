// The whole grid of launches, samples, spreads and noises that the interval is promised for. Takes
// about a minute.
#include <gtest/gtest.h>

#include <algorithm>

#include "harness/stats/calibration.h"
#include "harness/stats/stopping.h"

namespace pairmark::calibration {
namespace {

TEST(CalibrationGrid, MedianCoverage) {
  double least = 1, most = 0;
  for (int launches : {3, 4, 5, 8}) {
    for (int samples : {10, 20, 50}) {
      for (double between : {0.0, 0.5, 1.0, 3.0}) {
        for (Noise noise : {Noise::kNormal, Noise::kDelays, Noise::kOutliers}) {
          const Setting setting{launches, samples, between, noise};
          const double share = median_coverage(setting, 4000);
          EXPECT_GE(share, 0.93) << setting.name();
          EXPECT_LE(share, 0.97) << setting.name();
          least = std::min(least, share);
          most = std::max(most, share);
        }
      }
    }
  }
  std::printf("coverage of the 95 %% interval: %.3f to %.3f\n", least, most);
}

TEST(CalibrationGrid, PercentileBootstrapForTheRecord) {
  for (int launches : {3, 5, 8}) {
    const Setting setting{launches, 20, 3, Noise::kNormal};
    const double share = coverage(setting, 4000, true_median(setting), percentile_bootstrap);
    std::printf("percentile bootstrap, %s: %.3f\n", setting.name().c_str(), share);
    EXPECT_LT(share, 0.94) << setting.name();
  }
}

// Stopping when the interval happens to be narrow costs coverage; how much is bounded here.
TEST(CalibrationGrid, CoverageAfterSequentialStop) {
  const Setting setting{10, 20, 3, Noise::kNormal};
  const double truth = true_median(setting);
  const SequentialStop rule({.min_launches = 3, .max_launches = 10, .target_half_width = 0.02});
  const double share = coverage(setting, 4000, truth, [&](const Launches& all, Random&) {
    Launches seen(all.begin(), all.begin() + 2);
    Estimate estimate;
    do {
      seen.push_back(all[seen.size()]);
      estimate = median_estimate(seen, 1);
    } while (!rule.decide({estimate}, static_cast<int>(seen.size()), 0, 1).stop);
    return estimate.ci95;
  });
  std::printf("coverage after stopping at +-2 %%: %.3f\n", share);
  EXPECT_GE(share, 0.88);
}

}  // namespace
}  // namespace pairmark::calibration
