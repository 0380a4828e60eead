#include "harness/report/result.h"

#include <gtest/gtest.h>

#include "harness/base/error.h"
#include "harness/report/journal_testing.h"
#include "harness/report/schema_check.h"

namespace pairmark {
namespace {

using namespace testing;

// Built, and checked against the schema and strict JSON.
Json checked(const std::vector<Json>& journal) {
  const Json result = build_result(journal);
  for (const std::string& error : schema_errors(result, PAIRMARK_SCHEMA)) ADD_FAILURE() << error;
  EXPECT_EQ(parse_json(to_text(result), "result"), result);
  return result;
}

bool contains(const Json& text, const std::string& part) {
  return text.get<std::string>().find(part) != std::string::npos;
}

Json skip(const std::string& what, const std::string& reason) {
  return {{"type", "skip"}, {"what", what}, {"reason", reason}, {"outcome", "skipped"}};
}

TEST(Schema, FindsWhatIsWrong) {
  Json result = build_result(pair_journal(1, 1, 1.25));
  EXPECT_TRUE(schema_errors(result, PAIRMARK_SCHEMA).empty());
  result["rows"][0]["outcome"] = "passed";
  EXPECT_FALSE(schema_errors(result, PAIRMARK_SCHEMA).empty());
  result = build_result(pair_journal(1, 1, 1.25));
  result.erase("summary");
  EXPECT_FALSE(schema_errors(result, PAIRMARK_SCHEMA).empty());
  EXPECT_THROW(schema_errors(result, "no/such/schema.json"), UsageError);
}

TEST(Result, CompleteRunOnTwoDevices) {
  const Json result = checked(pair_journal(1, 1, 1.25));
  EXPECT_EQ(result["run"]["complete"], true);
  EXPECT_TRUE(result["run"]["incomplete_reason"].is_null());
  EXPECT_EQ(result["run"]["duration_s"], 12.5);
  EXPECT_EQ(result["summary"]["ran"], 3);
  EXPECT_EQ(result["summary"]["exit_code"], 0);
  EXPECT_TRUE(contains(result["summary"]["headline"],
                       "Two cpu devices do 1.60x the work of one on gemm m=8 (weak scaling"))
      << result["summary"]["headline"];
  EXPECT_TRUE(contains(result["summary"]["headline"], "3 rows measured, 0 skipped, 0 failed."));
}

TEST(Result, HeadlineOfSeveralCasesNamesCountAndRange) {
  std::vector<Json> journal{header()};
  for (double seconds : {1.0, 1.25, 2.5}) {
    for (Json it : pair_journal(1, 1, seconds)) {
      if (it["type"] != "item") continue;
      it["case"] = fmt::format("m={}", seconds);
      journal.push_back(it);
    }
  }
  journal.push_back(end());
  EXPECT_TRUE(contains(checked(journal)["summary"]["headline"],
                       "Two cpu devices do 1.60x the work of one on gemm (median of 3 cases, "
                       "0.800x to 2.00x; weak scaling, "
                       "95 % interval of each in the table)"))
      << build_result(journal)["summary"]["headline"];
}

TEST(Result, HeadlineOfOneDeviceSaysWhatWasSkipped) {
  const Json result = checked(
      {header(), item({.peak = 4}), item({.samples_s = {{2, 2, 2}}, .case_text = "m=4", .peak = 4}),
       skip("gemm/gemm/*/apart[0,1]", "this machine has one device"), end()});
  EXPECT_EQ(result["summary"]["headline"],
            "One cpu device reaches 1.00 TFLOPS at best on gemm (m=8, 25.0 % of its peak); nothing "
            "was compared with more "
            "devices; 2 rows measured, 1 skipped (this machine has one device), 0 failed.");
  EXPECT_EQ(result["summary"]["exit_code"], 0);
  EXPECT_EQ(result["skipped"].size(), 1u);
}

TEST(Result, FailuresAreCountedNamedAndChangeTheExitCode) {
  auto journal = pair_journal(1, 1, 1.25);
  journal[3] =
      failed_item({.arm = "apart", .ranks = {0, 1}}, "incorrect", "3 elements differ", "verify");
  Json result = checked(journal);
  EXPECT_EQ(result["summary"]["exit_code"], 1);
  EXPECT_EQ(result["summary"]["failed"], 1);
  EXPECT_EQ(result["summary"]["outcomes"]["incorrect"], 1);
  EXPECT_TRUE(
      contains(result["summary"]["headline"], "1 failed (gemm/gemm/m=8/apart[0,1] is incorrect)"));

  journal[3]["outcome"] = "hang";
  EXPECT_EQ(checked(journal)["summary"]["exit_code"], 3);
}

TEST(Result, WithoutAnEndRecordTheRunIsIncomplete) {
  auto journal = pair_journal(1, 1, 1.25);
  journal.pop_back();
  const Json result = checked(journal);
  EXPECT_EQ(result["run"]["complete"], false);
  EXPECT_TRUE(contains(result["run"]["incomplete_reason"], "--resume"));
  EXPECT_TRUE(result["run"]["ended_utc"].is_null());
  EXPECT_EQ(result["run"]["duration_s"], 3.0);  // wall time of the items
  EXPECT_NE(result["summary"]["exit_code"], 0);
  EXPECT_TRUE(
      contains(result["summary"]["headline"], "Incomplete run (the journal has no end record"));
}

TEST(Result, AStoppedRunSaysWhyAndAResumedOneCounts) {
  auto journal = pair_journal(1, 1, 1.25);
  journal.back() = end(false, "stopped by Ctrl-C");
  EXPECT_EQ(checked(journal)["run"]["incomplete_reason"], "stopped by Ctrl-C");
  EXPECT_EQ(checked(journal)["summary"]["exit_code"], 3);

  journal.push_back({{"type", "resume"}, {"utc", "2026-01-01T01:00:00Z"}});
  EXPECT_EQ(checked(journal)["run"]["complete"], false);  // resumed, and not ended since
  journal.push_back(end());
  const Json result = checked(journal);
  EXPECT_EQ(result["run"]["complete"], true);
  EXPECT_EQ(result["run"]["resumed"], 1);
  EXPECT_EQ(result["run"]["duration_s"], 25.0);
}

TEST(Result, NothingRanIsNotAPass) {
  Json result = checked({header(), end()});
  EXPECT_EQ(result["summary"]["exit_code"], 4);
  EXPECT_TRUE(contains(result["summary"]["headline"], "No result"));
  result = checked({header(), skip("gemm", "no device"), end()});
  EXPECT_EQ(result["summary"]["exit_code"], 4);
  EXPECT_EQ(result["summary"]["skipped"], 1);
  EXPECT_EQ(checked({header()})["summary"]["exit_code"], 3);
}

// 16 of 16 devices faulty, and no worker left to report.
TEST(Result, AllFailedIsNotAPass) {
  std::vector<Json> journal{header()};
  for (int i = 0; i < 16; ++i) {
    journal.push_back(
        failed_item({.case_text = fmt::format("m={}", i)}, "error", "the worker died", "time"));
  }
  journal.push_back(end());
  const Json result = checked(journal);
  EXPECT_EQ(result["summary"]["exit_code"], 3);
  EXPECT_EQ(result["summary"]["failed"], 16);
  EXPECT_EQ(result["summary"]["ran"], 0);
  EXPECT_TRUE(contains(result["summary"]["headline"], "No result"));
}

TEST(Result, FaultyRowsStillMatchTheSchema) {
  Json torn = item({.arm = "apart", .ranks = {0, 1}, .samples_s = {{1, 1}, {1, 1}}});
  torn["per_rank"].erase(1);
  checked({header(), torn, end()});
  Json bare = failed_item({}, "error", "the worker died", "join");
  for (const char* key : {"per_rank", "rate_unit", "reason", "phase"}) bare.erase(key);
  checked({header(), bare, end()});
  Json missing = item({});
  missing["per_rank"][0]["samples_s"][0] = nullptr;
  checked({header(), missing, end()});
}

TEST(Result, DamagedJournalsAreRefusedByRecord) {
  EXPECT_THROW(build_result({}), UsageError);
  EXPECT_THROW(build_result({item({}), end()}), UsageError);
  Json damaged = item({});
  damaged.erase("launch");
  try {
    build_result({header(), damaged});
    FAIL() << "accepted";
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("record 2"), std::string::npos) << error.what();
  }
  damaged = item({});
  damaged.erase("arm");
  EXPECT_THROW(build_result({header(), damaged}), UsageError);
  EXPECT_NO_THROW(build_result({header(), {{"type", "from a later version"}}, end()}));
}

TEST(Result, QuickProfileStaysUnderOneMegabyte) {
  std::vector<Json> journal{header(3)};
  for (int launch = 0; launch < 3; ++launch) {
    for (int row = 0; row < 60; ++row) {
      std::vector<double> samples;
      for (int i = 0; i < 30; ++i) samples.push_back(1e-3 * (1 + 0.0123456789012 * i + 0.1 * row));
      journal.push_back(
          item({.launch = launch, .samples_s = {samples}, .case_text = fmt::format("m={}", row)}));
    }
  }
  journal.push_back(end());
  const Json result = checked(journal);
  EXPECT_EQ(result["rows"].size(), 60u);
  EXPECT_LT(to_text(result, 1).size(), 1'000'000u);
}

}  // namespace
}  // namespace pairmark
