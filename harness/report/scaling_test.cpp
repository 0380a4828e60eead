// Speed-up, efficiency, waterfall and verdict of hand-made journals with known answers.
#include "harness/report/scaling.h"

#include <gtest/gtest.h>

#include "harness/report/journal_testing.h"
#include "harness/report/result.h"

namespace pairmark {
namespace {

using namespace testing;

std::vector<double> three(double s) {
  return {s, s, s};
}

Json only_entry(const std::vector<Json>& journal) {
  const Json result = build_result(journal);
  EXPECT_EQ(result["scaling"].size(), 1u);
  return result["scaling"][0];
}

bool contains(const Json& text, const std::string& part) {
  return text.is_string() && text.get<std::string>().find(part) != std::string::npos;
}

TEST(Scaling, SpeedupEfficiencyAndGlobalWork) {
  const Json entry = only_entry(pair_journal(1, 1, 1.25));
  EXPECT_EQ(entry["world_size"], 2);
  EXPECT_EQ(entry["arm"], "apart");
  EXPECT_EQ(entry["speedup"]["value"], 1.6);
  EXPECT_EQ(entry["speedup"]["unit"], "x");
  EXPECT_EQ(entry["efficiency"]["value"], 0.8);
  EXPECT_EQ(entry["efficiency"]["unit"], "1");
  EXPECT_EQ(entry["baseline"], "1.00 TFLOPS, the mean of the 2 solo arms");
  EXPECT_TRUE(contains(entry["global_work"], "weak scaling")) << entry["global_work"];
  EXPECT_TRUE(
      contains(entry["global_work"], "global work doubled from 1e+12 flops to 2e+12 flops"));
  EXPECT_EQ(entry["verdict"], "worth it: 1.60 times one device");
  EXPECT_EQ(entry["rows"].size(), 3u);
}

// 197 s on one card, 286 s for the same work on two: strong scaling, speed-up 0.69.
TEST(Scaling, HarmfulSecondDevice) {
  const Json entry =
      only_entry({header(), item({.samples_s = {three(197)}, .scaling = "strong"}),
                  item({.ranks = {1}, .samples_s = {three(197)}, .scaling = "strong"}),
                  item({.arm = "apart",
                        .ranks = {0, 1},
                        .samples_s = {three(120), three(120)},
                        .flops = 0.5e12,
                        .scaling = "strong"}),
                  item({.arm = "together",
                        .ranks = {0, 1},
                        .samples_s = {three(286), three(286)},
                        .flops = 0.5e12,
                        .scaling = "strong"}),
                  end()});
  EXPECT_NEAR(entry["speedup"]["value"].get<double>(), 0.689, 0.001);
  EXPECT_NEAR(entry["efficiency"]["value"].get<double>(), 0.344, 0.001);
  EXPECT_TRUE(
      contains(entry["verdict"],
               "the second device is harmful for this workload: 0.689 times one device, most of it "
               "lost to exposed communication"))
      << entry["verdict"];
  EXPECT_TRUE(contains(entry["global_work"], "strong scaling: the same global work"))
      << entry["global_work"];
  EXPECT_EQ(entry["waterfall"][0]["stage"], "smaller pieces, shared host, power and heat");
}

// 1.34 it/s of batch 8 against 1.38 s/it of batch 16: the work doubled, speed-up 1.08.
TEST(Scaling, WeakScalingIsNamed) {
  const Json entry = only_entry(pair_journal(1 / 1.34, 1 / 1.34, 1.38));
  EXPECT_NEAR(entry["speedup"]["value"].get<double>(), 1.08, 0.005);
  EXPECT_NEAR(entry["efficiency"]["value"].get<double>(), 0.54, 0.005);
  EXPECT_TRUE(contains(entry["global_work"], "doubled"));
  EXPECT_TRUE(contains(entry["verdict"], "not worth it for this workload"));
}

// A fast card at 80 tokens/s, a slow one added: 20 tokens/s. 1x is the fast card.
TEST(Scaling, SlowerDeviceIsNamedAndFastestIsTheBaseline) {
  const Json entry = only_entry(pair_journal(1.0 / 80, 2.7 / 80, 2.0 / 20));
  EXPECT_EQ(entry["speedup"]["value"], 0.25);
  EXPECT_TRUE(contains(entry["baseline"], "the fastest device cpu:0 (4090) alone"))
      << entry["baseline"];
  EXPECT_TRUE(contains(entry["flags"][0], "cpu:1 (3090) alone is 2.70x slower than cpu:0 (4090)"))
      << entry["flags"];
  EXPECT_TRUE(contains(entry["verdict"], "harmful"));
}

TEST(Scaling, SoloRatesWithinFivePercentAreAveraged) {
  EXPECT_TRUE(contains(only_entry(pair_journal(1, 1.04, 1))["baseline"], "mean"));
  EXPECT_TRUE(contains(only_entry(pair_journal(1, 1.06, 1))["baseline"], "fastest"));
}

TEST(Scaling, WaterfallTelescopes) {
  // Solo 1 TFLOPS each. Apart: rank 0 in 1.25 s (0.8), rank 1 in 2 s (0.5): 1.3 of 2
  // unhindered, 1.0 at the slowest; 0.8 with communication.
  const Json entry = only_entry(
      {header(), item({}), item({.ranks = {1}}),
       item({.arm = "apart", .ranks = {0, 1}, .samples_s = {three(1.25), three(2)}}),
       item({.arm = "together", .ranks = {0, 1}, .samples_s = {three(2.5), three(2.5)}}), end()});
  const Json& stages = entry["waterfall"];
  ASSERT_EQ(stages.size(), 3u);
  EXPECT_EQ(stages[0]["stage"], "shared host, power and heat");
  EXPECT_NEAR(stages[0]["loss"].get<double>(), 0.35, 1e-6);
  EXPECT_EQ(stages[1]["stage"], "imbalance");
  EXPECT_NEAR(stages[1]["loss"].get<double>(), 0.15, 1e-6);
  EXPECT_EQ(stages[2]["stage"], "exposed communication");
  EXPECT_NEAR(stages[2]["loss"].get<double>(), 0.1, 1e-6);
  double sum = entry["efficiency"]["value"].get<double>();
  for (const Json& stage : stages) sum += stage["loss"].get<double>();
  EXPECT_NEAR(sum, 1, 1e-6);
  EXPECT_EQ(entry["arm"], "together");
  EXPECT_TRUE(contains(entry["flags"][0], "1.60x slower")) << entry["flags"];
}

TEST(Scaling, WithoutApartArmTheLossIsUnexplained) {
  const Json entry = only_entry(pair_journal(1, 1, 1.25, "together"));
  ASSERT_EQ(entry["waterfall"].size(), 1u);
  EXPECT_EQ(entry["waterfall"][0]["stage"], "unexplained");
  EXPECT_NEAR(entry["waterfall"][0]["loss"].get<double>(), 0.2, 1e-6);
}

TEST(Scaling, IntervalIsPairedByLaunch) {
  std::vector<Json> journal{header(3)};
  for (int launch = 0; launch < 3; ++launch) {
    const double drift = 1 + launch;  // launches differ threefold, the speed-up does not
    journal.push_back(item({.launch = launch, .samples_s = {three(drift)}}));
    journal.push_back(item({.ranks = {1}, .launch = launch, .samples_s = {three(drift)}}));
    journal.push_back(item({.arm = "apart",
                            .ranks = {0, 1},
                            .launch = launch,
                            .samples_s = {three(1.25 * drift), three(1.25 * drift)}}));
  }
  journal.push_back(end());
  const Json entry = only_entry(journal);
  EXPECT_NEAR(entry["speedup"]["ci95"][0].get<double>(), 1.6, 1e-5);
  EXPECT_NEAR(entry["speedup"]["ci95"][1].get<double>(), 1.6, 1e-5);
}

std::vector<Json> noisy_pair(const std::vector<double>& both) {
  std::vector<Json> journal{header(static_cast<int>(both.size()))};
  for (int launch = 0; launch < static_cast<int>(both.size()); ++launch) {
    const double s = both[static_cast<std::size_t>(launch)];
    journal.push_back(item({.launch = launch}));
    journal.push_back(item({.ranks = {1}, .launch = launch}));
    journal.push_back(item(
        {.arm = "apart", .ranks = {0, 1}, .launch = launch, .samples_s = {three(s), three(s)}}));
  }
  journal.push_back(end());
  return journal;
}

TEST(Scaling, VerdictSaysWhenTheIntervalCannotDecide) {
  EXPECT_EQ(
      only_entry(noisy_pair({1.2, 1.6, 2.2}))["verdict"],
      "undecided: 1.25 times one device, but the 95 % interval includes 1; use more launches");
  EXPECT_EQ(
      only_entry(noisy_pair({1.5, 2.1, 2.6}))["verdict"],
      "undecided: 0.952 times one device, but the 95 % interval includes 1; use more launches");
  EXPECT_TRUE(contains(only_entry(noisy_pair({1.70, 1.72, 1.80}))["verdict"],
                       "worth it: 1.16 times one device (the interval "
                       "reaches down to"));
  EXPECT_EQ(only_entry(noisy_pair({1.0, 1.01, 1.02}))["verdict"],
            "worth it: 1.98 times one device");
}

TEST(Scaling, SuperLinearIsFlaggedNotHidden) {
  const Json entry = only_entry(pair_journal(1, 1, 0.8));
  EXPECT_EQ(entry["outcome"], "ok");
  EXPECT_TRUE(contains(entry["flags"][0], "super-linear")) << entry["flags"];
  EXPECT_TRUE(only_entry(pair_journal(1, 1, 1.01))["flags"].empty());
}

TEST(Scaling, AFailedRowWithholdsTheSpeedup) {
  auto journal = pair_journal(1, 1, 1.25);
  journal[3] =
      failed_item({.arm = "apart", .ranks = {0, 1}}, "hang", "rank 1 passed its deadline", "time");
  const Json entry = only_entry(journal);
  EXPECT_EQ(entry["outcome"], "hang");
  EXPECT_TRUE(contains(entry["reason"], "apart[0,1] is hang: rank 1 passed its deadline"))
      << entry["reason"];
  for (const char* key : {"speedup", "efficiency", "verdict"})
    EXPECT_TRUE(entry[key].is_null()) << key;
}

TEST(Scaling, MissingBaselineIsSaid) {
  auto journal = pair_journal(1, 1, 1.25);
  journal.erase(journal.begin() + 2);
  const Json entry = only_entry(journal);
  EXPECT_EQ(entry["outcome"], "skipped");
  EXPECT_TRUE(entry["speedup"].is_null());
}

TEST(Scaling, MixedUnitsAndWrongWorkAreRefused) {
  auto journal = pair_journal(1, 1, 1.25);
  journal[3]["rate_unit"] = "s/it";
  EXPECT_EQ(only_entry(journal)["outcome"], "invalid");
  EXPECT_TRUE(contains(only_entry(journal)["reason"], "units differ"));

  journal = pair_journal(1, 1, 1.25);
  journal[3]["scaling"] = "strong";  // but both ranks did the whole work
  const Json entry = only_entry(journal);
  EXPECT_EQ(entry["outcome"], "invalid");
  EXPECT_TRUE(contains(entry["reason"], "asks for 1e+12 flops")) << entry["reason"];
  EXPECT_EQ(build_result(journal)["summary"]["exit_code"], 1);
}

TEST(Scaling, BothScalingsOfOneCaseStayApart) {
  auto journal = pair_journal(1, 1, 1.25);
  journal.push_back(item({.arm = "apart",
                          .ranks = {0, 1},
                          .samples_s = {three(0.625), three(0.625)},
                          .flops = 0.5e12,
                          .scaling = "strong"}));
  const Json result = build_result(journal);
  ASSERT_EQ(result["scaling"].size(), 2u);
  EXPECT_EQ(result["scaling"][0]["scaling"], "weak");
  EXPECT_EQ(result["scaling"][1]["scaling"], "strong");
  EXPECT_EQ(result["scaling"][1]["speedup"]["value"], 1.6);
  EXPECT_EQ(result["rows"][3]["id"], "gemm/gemm/m=8/apart[0,1]/strong");
}

}  // namespace
}  // namespace pairmark
