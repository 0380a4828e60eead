#include "harness/stats/stopping.h"

#include <gtest/gtest.h>

#include "harness/base/error.h"

namespace pairmark {
namespace {

Estimate with_half_width(double share) {
  return {2.0, Interval{2.0 * (1 - share), 2.0 * (1 + share)}, ""};
}

const StopRule kRule{
    .min_launches = 3, .max_launches = 6, .target_half_width = 0.02, .budget_s = 100};

TEST(SequentialStop, StopsWhenEveryIntervalIsNarrow) {
  const SequentialStop rule(kRule);
  EXPECT_FALSE(rule.decide({with_half_width(0.01)}, 2, 10, 5).stop);  // below min_launches
  EXPECT_TRUE(rule.decide({with_half_width(0.01)}, 3, 10, 5).stop);
  const StopDecision wide = rule.decide({with_half_width(0.01), with_half_width(0.05)}, 3, 10, 5);
  EXPECT_FALSE(wide.stop);
  EXPECT_EQ(wide.reason, "the widest interval is 5.00 % of its value, wanted are 2.00 %");
  EXPECT_FALSE(rule.decide({{2.0, std::nullopt, "no interval"}}, 3, 10, 5).stop);
  EXPECT_FALSE(rule.decide({}, 3, 10, 5).stop);
}

TEST(SequentialStop, StopsAtMostLaunchesAndBudget) {
  const SequentialStop rule(kRule);
  EXPECT_TRUE(rule.decide({with_half_width(0.5)}, 6, 10, 5).stop);
  EXPECT_FALSE(rule.decide({with_half_width(0.5)}, 4, 95, 5).stop);
  const StopDecision late = rule.decide({with_half_width(0.5)}, 2, 96, 5);
  EXPECT_TRUE(late.stop);
  EXPECT_NE(late.reason.find("budget"), std::string::npos);
}

TEST(SequentialStop, RefusesSenselessRules) {
  EXPECT_THROW(SequentialStop({.min_launches = 0}), UsageError);
  EXPECT_THROW(SequentialStop({.min_launches = 5, .max_launches = 4}), UsageError);
  EXPECT_THROW(SequentialStop({.target_half_width = 0}), UsageError);
}

TEST(SteadyState, NeedsTwoQuietStepsAndMinSeconds) {
  SteadyState steady({.min_seconds = 3, .max_seconds = 30});
  EXPECT_EQ(steady.feed({1, 1.00}), Warmth::kWarming);
  EXPECT_EQ(steady.feed({2, 1.001}), Warmth::kWarming);
  EXPECT_EQ(steady.feed({2.9, 1.002}), Warmth::kWarming);  // quiet, but too early
  EXPECT_EQ(steady.feed({3.1, 1.001}), Warmth::kSteady);
  EXPECT_EQ(steady.feed({4, 9.0}), Warmth::kSteady);  // the answer stands
  EXPECT_EQ(steady.reason(), "steady after 3.10 s");
}

TEST(SteadyState, OneQuietStepIsNotEnough) {
  SteadyState steady({.min_seconds = 0, .max_seconds = 30});
  EXPECT_EQ(steady.feed({1, 1.2}), Warmth::kWarming);
  EXPECT_EQ(steady.feed({2, 1.2}), Warmth::kWarming);
  EXPECT_EQ(steady.feed({3, 1.1}), Warmth::kWarming);
  EXPECT_EQ(steady.feed({4, 1.1}), Warmth::kWarming);
  EXPECT_EQ(steady.feed({5, 1.1}), Warmth::kSteady);
}

TEST(SteadyState, DriftGivesUpWithAReason) {
  SteadyState steady({.min_seconds = 3, .max_seconds = 10});
  double time = 1;
  Warmth warmth = Warmth::kWarming;
  for (int second = 1; second <= 10; ++second) {
    EXPECT_EQ(warmth, Warmth::kWarming) << second;
    warmth = steady.feed({static_cast<double>(second), time *= 1.03});
  }
  EXPECT_EQ(warmth, Warmth::kGaveUp);
  EXPECT_EQ(steady.reason(), "not steady after 10.0 s: the median still moved by 3.00 %");
}

TEST(SteadyState, AMovingClockKeepsItWarming) {
  SteadyState steady({.min_seconds = 0, .max_seconds = 4});
  EXPECT_EQ(steady.feed({1, 1.0, 0, 1500.0}), Warmth::kWarming);
  EXPECT_EQ(steady.feed({2, 1.0, 0, 1600.0}), Warmth::kWarming);
  EXPECT_EQ(steady.feed({3, 1.0, 0, 1700.0}), Warmth::kWarming);
  EXPECT_EQ(steady.feed({4, 1.0, 0, 1800.0}), Warmth::kGaveUp);
  EXPECT_NE(steady.reason().find("clock by 5.88 %"), std::string::npos) << steady.reason();
}

TEST(SteadyState, NoiseOfTheWindowsIsNotDrift) {
  SteadyState noisy({.min_seconds = 0, .max_seconds = 30});
  noisy.feed({1, 1.00, 0.02});
  noisy.feed({2, 1.04, 0.02});
  EXPECT_EQ(noisy.feed({3, 1.00, 0.02}), Warmth::kSteady);
  SteadyState exact({.min_seconds = 0, .max_seconds = 30});
  exact.feed({1, 1.00, 0.001});
  exact.feed({2, 1.04, 0.001});
  EXPECT_EQ(exact.feed({3, 1.00, 0.001}), Warmth::kWarming);
}

}  // namespace
}  // namespace pairmark
