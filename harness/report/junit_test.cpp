#include "harness/report/junit.h"

#include <gtest/gtest.h>

#include <regex>

#include "harness/report/sample_result.h"

namespace pairmark {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

int count(const std::string& text, const std::string& part) {
  int total = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++total;
  return total;
}

Json one_of_each() {
  Json result = sample_pair_result();
  for (const char* outcome :
       {"incorrect", "invalid", "error", "hang", "unsupported", "skipped", "unstable"}) {
    SampleRow row;
    row.name = std::string("kind=") + outcome;
    add_sample_row(result, failed_sample_row(row, outcome, std::string("because ") + outcome));
  }
  result["skipped"].push_back({{"what", "links/p2p/size=1MiB/together[0,1]"},
                               {"reason", "one GPU"},
                               {"outcome", "skipped"}});
  return result;
}

TEST(Junit, OutcomesBecomeTheRightElements) {
  const std::string xml = junit_xml(one_of_each());
  EXPECT_EQ(count(xml, "<testcase "), 11);
  EXPECT_EQ(count(xml, "<failure type="), 2);
  EXPECT_EQ(count(xml, "<error type="), 2);
  EXPECT_EQ(count(xml, "<skipped message="), 3);
  EXPECT_TRUE(has(xml, "<failure type=\"incorrect\" message=\"because incorrect\">"));
  EXPECT_TRUE(has(xml, "<error type=\"hang\" message=\"because hang\">"));
  EXPECT_TRUE(has(xml, "<skipped message=\"skipped: one GPU\"/>"));
  EXPECT_TRUE(has(xml, "<system-out>unstable: because unstable</system-out>"));
  EXPECT_TRUE(has(xml, "repeat: pairmark run"));
}

TEST(Junit, CountsAddUp) {
  const std::string xml = junit_xml(one_of_each());
  EXPECT_TRUE(has(
      xml, "<testsuites name=\"pairmark\" tests=\"11\" failures=\"2\" errors=\"2\" skipped=\"3\""));
  EXPECT_TRUE(
      has(xml, "<testsuite name=\"gemm\" tests=\"10\" failures=\"2\" errors=\"2\" skipped=\"2\""));
  EXPECT_TRUE(
      has(xml, "<testsuite name=\"links\" tests=\"1\" failures=\"0\" errors=\"0\" skipped=\"1\""));
}

TEST(Junit, WhatIsMissingIsNotAPass) {
  EXPECT_TRUE(has(junit_xml(sample_result()), "<error type=\"nothing-ran\""));
  Json result = sample_pair_result();
  EXPECT_FALSE(has(junit_xml(result), "<error"));
  result["run"]["complete"] = false;
  result["run"]["incomplete_reason"] = "killed";
  EXPECT_TRUE(has(junit_xml(result), "message=\"the run was stopped early: killed\""));
}

TEST(Junit, EscapesEverything) {
  Json result = sample_result();
  add_sample_row(result,
                 failed_sample_row({}, "error", "a<b & \"c\" > d\n\x1B[31m \xEF\xBF\xBE \xFF end"));
  const std::string xml = junit_xml(result);
  EXPECT_TRUE(
      has(xml, "message=\"a&lt;b &amp; &quot;c&quot; &gt; d&#10;?[31m ? \xEF\xBF\xBD end\""));
}

TEST(Junit, TimeIsThatOfTheSamples) {
  Json result = sample_result();
  add_sample_row(result, sample_row({}));
  EXPECT_TRUE(has(junit_xml(result), "time=\"0.240000\""));  // 12 samples of 10 operations of 2 ms
}

}  // namespace
}  // namespace pairmark
