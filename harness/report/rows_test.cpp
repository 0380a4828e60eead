// Merging over launches, and the detectors: every fault is put in by hand and must be found.
#include <gtest/gtest.h>

#include <limits>

#include "harness/report/journal_testing.h"
#include "harness/report/result.h"
#include "harness/report/rows.h"

namespace pairmark {
namespace {

using namespace testing;

Json row_of(const std::vector<Json>& items, int launches = 1) {
  std::vector<Json> journal{header(launches)};
  journal.insert(journal.end(), items.begin(), items.end());
  journal.push_back(end());
  const Json result = build_result(journal);
  EXPECT_EQ(result["rows"].size(), 1u);
  return result["rows"][0];
}

void expect_withheld(const Json& row, const std::string& outcome, const std::string& reason_part) {
  EXPECT_EQ(row["outcome"], outcome);
  ASSERT_TRUE(row["reason"].is_string());
  EXPECT_NE(row["reason"].get<std::string>().find(reason_part), std::string::npos) << row["reason"];
  EXPECT_TRUE(row["time_s"].is_null());
  EXPECT_TRUE(row["rate"].is_null());
  EXPECT_TRUE(row["energy_per_op_j"].is_null());
  EXPECT_TRUE(row["peak"]["boost_share"].is_null());
  EXPECT_TRUE(row["samples_s"].empty());
  for (const Json& rank : row["per_rank"]) EXPECT_TRUE(rank["median_s"].is_null());
}

TEST(Rows, MergesLaunchesAndTakesTheSlowestRank) {
  const Json row = row_of({item({.arm = "apart",
                                 .ranks = {0, 1},
                                 .launch = 0,
                                 .samples_s = {{1, 2, 3}, {2, 1, 4}},
                                 .peak = 2}),
                           item({.arm = "apart",
                                 .ranks = {0, 1},
                                 .launch = 1,
                                 .samples_s = {{2, 2}, {1, 1}},
                                 .peak = 2})},
                          2);
  EXPECT_EQ(row["id"], "gemm/gemm/m=8/apart[0,1]");
  EXPECT_EQ(row["outcome"], "ok");
  EXPECT_EQ(row["samples_s"], Json::parse("[[2.0,2.0,4.0],[2.0,2.0]]"));
  EXPECT_EQ(row["time_s"]["median"], 2.0);
  EXPECT_EQ(row["time_s"]["n"], 5);
  EXPECT_EQ(row["time_s"]["launches"], 2);
  EXPECT_EQ(row["rate"]["value"], 1.0);  // 2 ranks of 1e12 flops in 2 s
  EXPECT_EQ(row["rate"]["unit"], "TFLOPS");
  EXPECT_EQ(row["work"]["flops"], 2e12);
  EXPECT_EQ(row["peak"]["boost"], 4.0);
  EXPECT_EQ(row["peak"]["boost_share"], 0.25);
  EXPECT_EQ(row["power_w"], 100.0);
  EXPECT_EQ(row["energy_per_op_j"], 10.0);
  EXPECT_EQ(row["clock_mhz"], 2000.0);
  EXPECT_EQ(row["temperature_c"], 41.0);
  EXPECT_EQ(row["verify"]["elements"], 256);
  EXPECT_EQ(row["per_rank"][1]["median_s"], 1.0);
  EXPECT_EQ(row["batch"], 10);
  EXPECT_TRUE(row["notes"].empty());
}

TEST(Rows, IncorrectOnOneLaunchOnlyWithholdsTheFigure) {
  const Json row =
      row_of({item({.launch = 0}),
              failed_item({.launch = 1}, "incorrect", "3 of 64 elements differ", "verify"),
              item({.launch = 2})},
             3);
  expect_withheld(row, "incorrect", "launch 2 of 3: 3 of 64 elements differ");
  EXPECT_EQ(row["phase"], "verify");
}

TEST(Rows, WorstOutcomeOverLaunches) {
  auto outcome = [](const std::string& a, const std::string& b) {
    auto make = [](const std::string& o, int launch) {
      Json it = item({.launch = launch});
      it["outcome"] = o;
      it["reason"] = "because";
      return it;
    };
    return row_of({make(a, 0), make(b, 1)}, 2)["outcome"].get<std::string>();
  };
  EXPECT_EQ(outcome("ok", "ok"), "ok");
  EXPECT_EQ(outcome("ok", "unstable"), "unstable");
  EXPECT_EQ(outcome("unstable", "incorrect"), "incorrect");
  EXPECT_EQ(outcome("incorrect", "hang"), "hang");
  EXPECT_EQ(outcome("error", "invalid"), "error");
  EXPECT_EQ(outcome("wonderful", "ok"), "error");
}

TEST(Rows, UnstableKeepsItsFigure) {
  Json it = item({});
  it["outcome"] = "unstable";
  it["reason"] = "warm-up never became steady";
  const Json row = row_of({it});
  EXPECT_EQ(row["outcome"], "unstable");
  EXPECT_EQ(row["time_s"]["median"], 1.0);
  EXPECT_EQ(row["reason"], "warm-up never became steady");
}

TEST(Rows, TimesMustBePositiveAndFinite) {
  expect_withheld(row_of({item({.samples_s = {{1, -2e-5, 1}}})}), "invalid",
                  "sample 1 of rank 0 is -2e-05 s");
  expect_withheld(row_of({item({.samples_s = {{1, 1, 0}}})}), "invalid",
                  "sample 2 of rank 0 is 0.0 s");
  Json not_a_number = item({});
  not_a_number["per_rank"][0]["samples_s"][1] = nullptr;
  expect_withheld(row_of({not_a_number}), "invalid", "sample 1 of rank 0 is not a finite number");
  not_a_number["per_rank"][0]["samples_s"][1] = std::numeric_limits<double>::infinity();
  expect_withheld(row_of({not_a_number}), "invalid", "not a finite number");
}

// m=2048 n=512 k=256, 101 products in 1.001 ms on a card of 11 TFLOPS.
TEST(Rows, AboveThePhysicalPeakIsInvalid) {
  const double seconds = 1.001e-3 / 101;
  ItemSpec spec{
      .samples_s = {{seconds, seconds, seconds}}, .flops = 2.0 * 2048 * 512 * 256, .peak = 11};
  expect_withheld(row_of({item(spec)}), "invalid",
                  "54.2 TFLOPS is above the physical peak of 11.0 TFLOPS");

  spec.peak = 54.17 / 1.005;  // half a percent above: within the margin
  EXPECT_EQ(row_of({item(spec)})["outcome"], "ok");
  spec.peak = 54.17 / 1.02;
  EXPECT_EQ(row_of({item(spec)})["outcome"], "invalid");
}

TEST(Rows, OneLaunchAboveThePeakIsEnough) {
  const Json row = row_of({item({.launch = 0, .peak = 2}),
                           item({.launch = 1, .samples_s = {{0.1, 0.1, 0.1}}, .peak = 2}),
                           item({.launch = 2, .peak = 2})},
                          3);
  expect_withheld(row, "invalid", "launch 2");
}

TEST(Rows, FailedVerificationOfAnOkItemIsIncorrect) {
  Json it = item({});
  it["per_rank"][0]["verify"]["passed"] = false;
  it["per_rank"][0]["verify"]["max_error"] = 7.0;
  const Json row = row_of({item({.launch = 1}), it}, 2);
  expect_withheld(row, "incorrect", "failed its check");
  EXPECT_EQ(row["verify"]["passed"], false);
  EXPECT_EQ(row["verify"]["max_error"], 7.0);
}

TEST(Rows, MissingLaunchIsNoted) {
  const Json row = row_of({item({.launch = 0}), item({.launch = 2})}, 3);
  EXPECT_EQ(row["outcome"], "ok");
  EXPECT_EQ(row["time_s"]["launches"], 2);
  EXPECT_EQ(row["samples_s"].size(), 3u);  // the index is the launch
  EXPECT_TRUE(row["samples_s"][1].empty());
  EXPECT_EQ(row["notes"], Json::parse(R"(["launch 2 of 3 is missing"])"));
}

TEST(Rows, TornRankListsAreErrors) {
  Json missing = item({.arm = "apart", .ranks = {0, 1}, .samples_s = {{1, 1}, {1, 1}}});
  missing["per_rank"].erase(1);
  expect_withheld(row_of({missing}), "error", "ranks [0,1] were to report and ranks [0] did");
  const Json uneven = item({.arm = "apart", .ranks = {0, 1}, .samples_s = {{1, 1}, {1}}});
  expect_withheld(row_of({uneven}), "error", "rank 0 recorded 2 samples and rank 1 1");
  expect_withheld(row_of({item({.samples_s = {{}}})}), "error", "no sample was recorded");
}

TEST(Rows, LaunchesMustDoTheSameWork) {
  expect_withheld(row_of({item({.launch = 0}), item({.launch = 1, .flops = 2e12})}, 2), "invalid",
                  "differ in the work");
}

TEST(Rows, UnknownTelemetryIsNullWithAReason) {
  Json it = item({.arm = "apart", .ranks = {0, 1}, .samples_s = {{1, 1, 1}, {1, 1, 1}}});
  it["per_rank"][1]["power_w"] = nullptr;
  it["per_rank"][1]["power_w_reason"] = "no power sensor";
  const Json row = row_of({it});
  EXPECT_TRUE(row["power_w"].is_null());
  EXPECT_EQ(row["power_w_reason"], "no power sensor");
  EXPECT_EQ(row["per_rank"][0]["power_w"], 50.0);
  EXPECT_TRUE(row["peak"]["boost"].is_null());
  EXPECT_EQ(row["peak"]["reason"], "no peak was recorded");
}

TEST(Rows, RepeatedLaunchOfAResumedRunReplacesSamplesButNotAFailure) {
  EXPECT_EQ(row_of({item({.samples_s = {{9, 9, 9}}}), item({})})["time_s"]["median"], 1.0);
  EXPECT_EQ(row_of({failed_item({}, "incorrect", "wrong", "verify"), item({})})["outcome"],
            "incorrect");
}

TEST(Rows, SevenSignificantDigits) {
  EXPECT_EQ(rounded(0.00123456789), 0.001234568);
  EXPECT_EQ(rounded(-2e-5), -2e-5);
  EXPECT_EQ(row_of({item({.samples_s = {{1.23456789, 1.23456789}}})})["samples_s"].dump(),
            "[[1.234568,1.234568]]");
}

}  // namespace
}  // namespace pairmark
