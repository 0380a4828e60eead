#include "harness/report/gbench_json.h"

#include <gtest/gtest.h>

#include <set>

#include "harness/report/fields.h"
#include "harness/report/sample_result.h"

namespace pairmark {
namespace {

TEST(GoogleBenchmarkJson, OneEntryALaunchAndAggregates) {
  Json result = sample_result();
  Json row = sample_row({});
  row["samples_s"] = {{1e-3, 2e-3, 3e-3}, {4e-3, 4e-3}, {6e-3}};
  row["time_s"]["median"] = 3.5e-3;
  row["rate"]["value"] = 100.0;
  add_sample_row(result, row);
  const Json list = google_benchmark_json(result)["benchmarks"];
  ASSERT_EQ(list.size(), 6u);
  const std::string id = row["id"];
  for (int i = 0; i < 3; ++i) {
    EXPECT_EQ(list[i]["name"], id);
    EXPECT_EQ(list[i]["run_name"], id);
    EXPECT_EQ(list[i]["run_type"], "iteration");
    EXPECT_EQ(list[i]["repetitions"], 3);
    EXPECT_EQ(list[i]["repetition_index"], i);
    EXPECT_EQ(list[i]["time_unit"], "ns");
    EXPECT_DOUBLE_EQ(list[i]["real_time"], 2e6 * (i + 1));
    EXPECT_DOUBLE_EQ(list[i]["TFLOPS"], 100.0 * 3.5 / (2 * (i + 1)));
  }
  EXPECT_EQ(list[0]["iterations"], 30);
  EXPECT_EQ(list[3]["name"], id + "_mean");
  EXPECT_DOUBLE_EQ(list[3]["real_time"], 4e6);
  EXPECT_DOUBLE_EQ(list[4]["real_time"], 4e6);
  EXPECT_EQ(list[5]["aggregate_name"], "stddev");
  EXPECT_DOUBLE_EQ(list[5]["real_time"], 2e6);
  EXPECT_FALSE(list[5].contains("TFLOPS"));
}

TEST(GoogleBenchmarkJson, OneLaunchHasNoAggregates) {
  Json result = sample_result();
  Json row = sample_row({});
  row["samples_s"] = {{2e-3, 2e-3}};
  add_sample_row(result, row);
  EXPECT_EQ(google_benchmark_json(result)["benchmarks"].size(), 1u);
}

TEST(GoogleBenchmarkJson, FailedRowsCarryTheErrorAndNoTime) {
  Json result = sample_result();
  Json row = sample_row({});  // samples are in the file, and withheld
  row["outcome"] = "invalid";
  row["reason"] = "above the peak";
  add_sample_row(result, row);
  const Json list = google_benchmark_json(result)["benchmarks"];
  ASSERT_EQ(list.size(), 1u);
  EXPECT_EQ(list[0]["error_occurred"], true);
  EXPECT_EQ(list[0]["error_message"], "invalid: above the peak");
  EXPECT_EQ(list[0]["run_type"], "aggregate");
  EXPECT_FALSE(list[0].contains("real_time"));
  EXPECT_NE(list[0]["name"], row["id"]);
}

TEST(GoogleBenchmarkJson, ContextNamesNoHost) {
  const Json context = google_benchmark_json(sample_pair_result())["context"];
  EXPECT_FALSE(context.contains("host_name"));
  EXPECT_EQ(context["num_cpus"], 4);
  EXPECT_EQ(context["date"], "2026-01-02T03:04:05Z");
}

}  // namespace
}  // namespace pairmark
