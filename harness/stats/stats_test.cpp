#include "harness/stats/stats.h"

#include <gtest/gtest.h>

#include <cmath>

#include "harness/base/error.h"

namespace pairmark {
namespace {

TEST(Quantile, KnownValues) {
  const std::vector<double> x{15, 20, 35, 40, 50};  // numpy.quantile(x, p)
  EXPECT_DOUBLE_EQ(quantile(x, 0), 15);
  EXPECT_DOUBLE_EQ(quantile(x, 0.25), 20);
  EXPECT_DOUBLE_EQ(quantile(x, 0.4), 29);
  EXPECT_DOUBLE_EQ(quantile(x, 0.9), 46);
  EXPECT_DOUBLE_EQ(quantile(x, 1), 50);
  EXPECT_DOUBLE_EQ(median({4, 1, 3, 2}), 2.5);
  EXPECT_DOUBLE_EQ(mad({1, 1, 2, 2, 4, 6, 9}), 1);
  EXPECT_DOUBLE_EQ(quantile({7}, 0.3), 7);
}

TEST(Quantile, EmptyInputThrows) {
  EXPECT_THROW(quantile({}, 0.5), Error);
  EXPECT_THROW(mad({}), Error);
  EXPECT_THROW(summarize({}), Error);
  EXPECT_THROW(summarize({{}, {}}), Error);
  EXPECT_THROW(median_estimate({{}}, 1), Error);
  EXPECT_THROW(quantile({1}, 1.5), Error);
}

TEST(Summarize, PoolsLaunchesAndPassesOverEmptyOnes) {
  const Summary s = summarize({{1, 2}, {}, {3, 4, 10}});
  EXPECT_EQ(s.n, 5u);
  EXPECT_EQ(s.launches, 2u);
  EXPECT_DOUBLE_EQ(s.median, 3);
  EXPECT_DOUBLE_EQ(s.q1, 2);
  EXPECT_DOUBLE_EQ(s.q3, 4);
  EXPECT_DOUBLE_EQ(s.min, 1);
  EXPECT_DOUBLE_EQ(s.max, 10);
  EXPECT_DOUBLE_EQ(s.mad, 1);
}

TEST(StudentT, TableValues) {
  EXPECT_NEAR(student_t_quantile(0.975, 1), 12.7062, 0.005);
  EXPECT_NEAR(student_t_quantile(0.975, 2), 4.30265, 0.001);
  EXPECT_NEAR(student_t_quantile(0.975, 7), 2.36462, 0.001);
  EXPECT_NEAR(student_t_quantile(0.995, 2), 9.92484, 0.005);
  EXPECT_NEAR(student_t_quantile(0.9975, 4), 5.59757, 0.003);
  EXPECT_NEAR(student_t_quantile(0.975, 1e9), 1.95996, 0.001);
  EXPECT_THROW(student_t_quantile(0.5, 2), Error);
  EXPECT_THROW(student_t_quantile(0.9, 0.5), Error);
}

TEST(MedianEstimate, IsStudentsTOverLogMediansOfLaunches) {
  const Estimate e = median_estimate(
      {{1, 1, 1}, {std::exp(0.1), std::exp(0.1), std::exp(0.1)}, {std::exp(0.2)}}, 1);
  const double half = 4.30265 * 0.1 / std::sqrt(3);
  ASSERT_TRUE(e.ci95);
  EXPECT_NEAR(e.ci95->low, std::exp(0.1 - half), 1e-3);
  EXPECT_NEAR(e.ci95->high, std::exp(0.1 + half), 1e-3);
  EXPECT_EQ(e.reason, "");
}

TEST(MedianEstimate, HoldsItsValueAndSaysWhatIsMissing) {
  const Estimate one = median_estimate({{1.0, 1.1, 1.2, 0.9, 1.05}}, 1);
  ASSERT_TRUE(one.ci95);
  EXPECT_LT(one.ci95->low, one.value);
  EXPECT_GT(one.ci95->high, one.value);
  EXPECT_EQ(one.reason, "one launch: variation between launches is not in this interval");

  const Estimate few = median_estimate({{1.0, 1.1}}, 1);
  EXPECT_FALSE(few.ci95);
  EXPECT_NE(few.reason.find("fewer than 3 samples"), std::string::npos);
  EXPECT_DOUBLE_EQ(few.value, 1.05);

  // The pooled median lies far from the mean of the launch medians: the interval stretches to it.
  const Launches lopsided{{1, 1, 1, 1, 1, 1, 1}, {2}, {2}, {2}, {2}};
  const Estimate e = median_estimate(lopsided, 1);
  ASSERT_TRUE(e.ci95);
  EXPECT_LE(e.ci95->low, e.value);
  EXPECT_THROW(median_estimate({{-1, -1, -1}}, 1), Error);
}

TEST(Estimates, SameSeedSameInterval) {
  const Launches one{{1.0, 1.1, 1.2, 0.9, 1.05, 1.3}};
  const auto a = median_estimate(one, 5).ci95;
  const auto b = median_estimate(one, 5).ci95;
  const auto c = median_estimate(one, 6).ci95;
  EXPECT_EQ(a->low, b->low);
  EXPECT_EQ(a->high, b->high);
  EXPECT_NE(a->low, c->low);
}

TEST(RatioOfMedians, PairsLaunches) {
  // Launches differ threefold, the ratio within each is 2: a paired interval is a point.
  const Estimate e =
      ratio_of_medians({{2, 2, 2}, {4, 4, 4}, {6, 6, 6}}, {{1, 1, 1}, {2, 2, 2}, {3, 3, 3}}, 1);
  EXPECT_NEAR(e.value, 2, 1e-12);
  EXPECT_NEAR(e.ci95->low, 2, 1e-9);
  EXPECT_NEAR(e.ci95->high, 2, 1e-9);
}

TEST(FunctionEstimate, UsesLaunchesThatAllArmsShare) {
  const auto share = [](const std::vector<double>& m) { return 1 - m[0] / m[1]; };
  const Estimate e = function_estimate({{{1, 1}, {1, 1}, {}}, {{2, 2}, {2, 2}, {2, 2}}}, share, 1);
  EXPECT_DOUBLE_EQ(e.value, 0.5);
  ASSERT_TRUE(e.ci95);
  const Estimate none = function_estimate({{{1, 1, 1}, {}}, {{}, {2, 2, 2}}}, share, 1);
  EXPECT_DOUBLE_EQ(none.value, 0.5);
  EXPECT_FALSE(none.ci95);
  EXPECT_NE(none.reason, "");
  EXPECT_THROW(function_estimate({}, share, 1), Error);
}

TEST(Compare, Verdicts) {
  const Launches base{{1.00, 1.01, 0.99}, {1.001, 1.01, 0.99}, {0.999, 1.01, 0.99}};
  auto scaled = [&](double factor) {
    Launches out = base;
    for (auto& launch : out) {
      for (double& sample : launch) sample *= factor;
    }
    return out;
  };
  EXPECT_EQ(compare(base, scaled(0.8)).verdict, CompareVerdict::kFaster);
  EXPECT_EQ(compare(base, scaled(1.2)).verdict, CompareVerdict::kSlower);
  EXPECT_EQ(compare(base, scaled(1.002)).verdict, CompareVerdict::kSame);
  EXPECT_EQ(compare(base, {{1.0, 1.0}, {1.3, 1.3}, {0.9, 0.9}}).verdict,
            CompareVerdict::kUndecided);
  const Comparison one = compare(base, {{0.5, 0.5, 0.5}});
  EXPECT_EQ(one.verdict, CompareVerdict::kUndecided);
  EXPECT_NE(one.reason.find("at least 2 launches"), std::string::npos);
  EXPECT_NE(compare(base, scaled(0.8)).reason.find("faster: 0.8"), std::string::npos)
      << compare(base, scaled(0.8)).reason;
}

}  // namespace
}  // namespace pairmark
