// pairmark as a user runs it, on two real cpu ranks, with the fault suite (harness/run/testing) and
// the gemm suite.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <set>
#include <thread>

#include "harness/base/build_info.h"
#include "harness/base/json.h"
#include "harness/base/rng.h"
#include "harness/report/schema_check.h"
#include "harness/run/journal.h"
#include "harness/run/process.h"

namespace pairmark {
namespace {

namespace fs = std::filesystem;
using Strings = std::vector<std::string>;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

class EndToEnd : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/pairmark_e2e_XXXXXX";
    folder_ = mkdtemp(name);
    ::setenv("PAIRMARK_SUITE_DIR", PAIRMARK_FAULT_SUITES, 1);
    ::setenv("PAIRMARK_PLAN_CACHE", (folder_ / "plans.json").c_str(), 1);
    ::unsetenv("PAIRMARK_TEST_ABSENT_RANK");
  }
  void TearDown() override { fs::remove_all(folder_); }

  Finished pairmark(Strings arguments, double timeout_s = 110) {
    arguments.insert(arguments.begin(), PAIRMARK_PROGRAM);
    return run_to_end(arguments, timeout_s);
  }
  // Runs the fault suite with these faults as cases.
  Finished run_faults(const std::string& faults, Strings more = {}) {
    Strings arguments = {
        "run",    "--profile",       "quick",        "--device", "cpu",
        "--axis", "fault=" + faults, "--launches=1", "-o",       result_folder().string()};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return pairmark(arguments);
  }
  fs::path result_folder() const { return folder_ / "run"; }
  Json result() const {
    Json json = read_json_file(result_folder() / "result.json");
    for (const auto& error : schema_errors(json, PAIRMARK_SCHEMA)) ADD_FAILURE() << error;
    return json;
  }
  // The row of a fault in an arm, e.g. "wrong/apart[0,1]".
  static Json row(const Json& result, const std::string& fault, const std::string& arm) {
    for (const Json& row : result.at("rows")) {
      if (row.at("id") == "faults/faults/fault=" + fault + "/" + arm) return row;
    }
    ADD_FAILURE() << "no row " << fault << " " << arm;
    return nullptr;
  }

  fs::path folder_;
};

TEST_F(EndToEnd, EveryFaultGetsItsNameAndTheOthersStillRun) {
  const auto done = run_faults(
      "none,wrong,late_wrong,nan,inf,overrun,throw,memory,too_fast,unsupported,flood,exit,crash,"
      "none2");
  EXPECT_EQ(done.exit_code, 3) << done.output;
  const Json all = result();
  for (const char* fine : {"none", "none2", "flood"}) {
    for (const char* arm : {"solo[0]", "solo[1]", "apart[0,1]"}) {
      const Json good = row(all, fine, arm);
      EXPECT_TRUE(good["outcome"] == "ok" || good["outcome"] == "unstable") << good;
      EXPECT_GE(good["time_s"]["median"].get<double>(), 200e-6);
    }
  }
  const std::map<std::string, std::pair<std::string, std::string>> expected = {
      {"wrong", {"incorrect", "element 777: expected 778, got 779"}},
      {"late_wrong", {"incorrect", "element 3"}},
      {"nan", {"incorrect", "element 5: expected 6, got nan"}},
      {"inf", {"incorrect", "element 6: expected 7, got inf"}},
      {"overrun", {"incorrect", ""}},
      {"throw", {"error", "made to fail"}},
      {"memory", {"error", "out of memory"}},
      {"too_fast", {"invalid", "peak"}},
      {"unsupported", {"unsupported", "made to be unsupported"}},
      {"exit", {"error", "exit code 0"}},
      {"crash", {"error", "signal 6"}}};
  for (const auto& [fault, what] : expected) {
    const Json bad = row(all, fault, "apart[0,1]");
    EXPECT_EQ(bad["outcome"], what.first) << bad;
    EXPECT_NE(bad["reason"].get<std::string>().find(what.second), std::string::npos)
        << bad["reason"];
    EXPECT_TRUE(bad["time_s"].is_null() && bad["rate"].is_null()) << fault;
  }
  EXPECT_EQ(row(all, "late_wrong", "solo[0]")["phase"],
            "recheck");  // found on the buffers that were timed
  EXPECT_LT(fs::file_size(result_folder() / "log"), 9u << 20);
}

TEST_F(EndToEnd, AHangIsNamedWithinItsDeadlineAndLaterCasesRun) {
  const double start = now();
  const auto done = run_faults("hang,none", {"--timeout", "3s"});
  EXPECT_LT(now() - start, 60);
  EXPECT_EQ(done.exit_code, 3);
  const Json all = result();
  EXPECT_EQ(row(all, "hang", "apart[0,1]")["outcome"], "hang");
  const std::string reason = row(all, "hang", "apart[0,1]")["reason"];
  EXPECT_NE(reason.find("rank 1"), std::string::npos) << reason;
  EXPECT_TRUE(row(all, "none", "apart[0,1]")["time_s"].is_object());
}

TEST_F(EndToEnd, ARankThatNeverJoinsIsNamed) {
  ::setenv("PAIRMARK_TEST_ABSENT_RANK", "1", 1);
  const auto done = run_faults("none", {"--timeout", "2s"});
  EXPECT_EQ(done.exit_code, 3) << done.output;
  const Json all = result();
  const std::string reason = row(all, "none", "solo[0]")["reason"];
  EXPECT_NE(reason.find("rank 1"), std::string::npos) << reason;
  EXPECT_EQ(all["summary"]["ran"], 0);
}

TEST_F(EndToEnd, OneDeviceIsMeasuredAndTheRestSkippedWithTheReason) {
  const auto done = run_faults("none", {"--devices", "0"});
  EXPECT_EQ(done.exit_code, 0) << done.output;
  const Json all = result();
  EXPECT_EQ(all["rows"].size(), 1u);
  ASSERT_FALSE(all["skipped"].empty());
  EXPECT_NE(all["skipped"][0]["reason"].get<std::string>().find("1 cpu device"), std::string::npos);
}

TEST_F(EndToEnd, EmptyCaseOverheadIsUnderTwoSeconds) {
  if (!build_info()["sanitize"].is_null()) GTEST_SKIP() << "sanitizers slow it down";
  const double start = now();
  ASSERT_EQ(run_faults("none", {"--arms", "solo", "--gpus", "1", "--devices", "0"}).exit_code, 0);
  const double all_s = now() - start;
  const Json item = read_journal(result_folder() / "journal.jsonl").at(1);
  EXPECT_LT(all_s - item["wall_s"].get<double>(), 2);
}

TEST_F(EndToEnd, StartsInFiftyMilliseconds) {
  if (!build_info()["sanitize"].is_null()) GTEST_SKIP() << "sanitizers slow it down";
  double best = 1;
  for (int i = 0; i < 10; ++i) {
    const double start = now();
    ASSERT_EQ(pairmark({"--version"}).exit_code, 0);
    best = std::min(best, now() - start);
  }
  EXPECT_LT(best, 0.05 + 0.02);  // run_to_end() looks every 20 ms
}

TEST_F(EndToEnd, BadInputIsOneSentenceAndExitCodeTwo) {
  const std::vector<std::pair<Strings, std::string>> cases = {
      {{"rum"}, "did you mean run?"},
      {{"run", "--profil", "quick"}, "did you mean --profile?"},
      {{"run", "--profile", "quik"}, "did you mean quick?"},
      {{"run", "--suite", "fault"}, "did you mean faults?"},
      {{"run", "--axis", "falt=none"}, "did you mean fault?"},
      {{"run", "--axis", "fault=nome"}, "did you mean none?"},
      {{"run", "--axis", "fault"}, "not name=value"},
      {{"run", "--arms", "appart"}, "did you mean apart?"},
      {{"run", "--scaling", "week"}, "did you mean weak?"},
      {{"run", "--device", "gpu"}, "auto, cpu"},
      {{"run", "--device", "cpu", "--devices", "0,0"}, "0"},
      {{"run", "--device", "cpu", "--devices", "7"}, "7"},
      {{"run", "--device", "cpu", "--gpus", "0"}, "0"},
      {{"run", "--gpus", "two"}, "two"},
      {{"run", "--launches", "-1"}, "--launches"},
      {{"run", "--timeout", "soon"}, "not a time"},
      {{"run", "--filter", "("}, "regular expression"},
      {{"run", "--filter", "no such case"}, "nothing to run"},
      {{"run", "--resume", "/nonexistent"}, "cannot read"},
      {{"run", "-o", "/proc/x"}, "/proc/x"},
      {{"list", "--suite", "gemn"}, "there is no suite"},
      {{"compare", "/nonexistent.json", "/nonexistent.json"}, "cannot read"},
      {{"report", "/nonexistent.json", "-o", (folder_ / "r").string()}, "/nonexistent.json"}};
  for (const auto& [arguments, expected] : cases) {
    const auto done = pairmark(arguments);
    EXPECT_EQ(done.exit_code, 2) << arguments.back() << ": " << done.output;
    EXPECT_NE(done.output.find(expected), std::string::npos)
        << arguments.back() << ": " << done.output;
    EXPECT_LE(std::count(done.output.begin(), done.output.end(), '\n'), 2) << done.output;
  }
}

TEST_F(EndToEnd, FiguresWithUnitsAreJudgedAndOnesWithoutRefused) {
  const fs::path json = folder_ / "a.json", csv = folder_ / "b.csv", bare = folder_ / "c.json";
  {
    std::ofstream(json) << R"([{"gpus":1,"value":2.61,"unit":"it/s","batch_per_gpu":1},
                               {"gpus":2,"value":2.59,"unit":"s/it","batch_per_gpu":1}])";
  }
  { std::ofstream(csv) << "gpus,value,unit,batch_per_gpu\n1,2.61,it/s,1\n2,2.59,s/it,1\n"; }
  { std::ofstream(bare) << R"([{"gpus":1,"value":2.61},{"gpus":2,"value":2.59}])"; }
  for (const auto& file : {json, csv}) {
    const auto done = pairmark({"compare", file.string()});
    EXPECT_EQ(done.exit_code, 0) << done.output;
    EXPECT_NE(done.output.find("0.30"), std::string::npos) << done.output;
    EXPECT_NE(done.output.find("15"), std::string::npos) << done.output;
  }
  EXPECT_EQ(pairmark({"compare", bare.string()}).exit_code, 2);
}

TEST_F(EndToEnd, AUsedFolderIsRefusedAndResumeOfAFinishedRunChangesNothing) {
  ASSERT_EQ(run_faults("none").exit_code, 0);
  const Json first = result();
  EXPECT_EQ(run_faults("none").exit_code, 2);
  EXPECT_EQ(pairmark({"run", "--resume", result_folder().string()}).exit_code, 0);
  EXPECT_EQ(result()["rows"], first["rows"]);
}

TEST_F(EndToEnd, CtrlCLeavesNoChildrenAndAnIncompleteResult) {
  Process run({PAIRMARK_PROGRAM, "run", "--profile", "quick", "--device", "cpu", "-o",
               result_folder().string()},
              {});
  for (int i = 0; i < 600 && (!fs::exists(result_folder() / "journal.jsonl") ||
                              read_journal(result_folder() / "journal.jsonl").size() < 4);
       ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  }
  ::kill(run.pid(), SIGINT);
  for (int i = 0; i < 400 && !run.ended(); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
  ASSERT_TRUE(run.ended());
  EXPECT_EQ(run.exit_code(), 3);
  const Json all = result();
  EXPECT_EQ(all["run"]["complete"], false);
  EXPECT_NE(all["run"]["incomplete_reason"].get<std::string>().find("stopped"), std::string::npos);
  const auto left = run_to_end(
      {"/bin/sh", "-c", "pgrep -f '" PAIRMARK_FAULT_SUITES "/pairmark-faults' | wc -l"}, 10);
  EXPECT_LE(std::atoi(left.output.c_str()), 1)
      << left.output;  // the sh of this line matches itself
}

// kill -9 at random moments, then --resume, until the run is whole: no finished item is ever lost
// or repeated.
TEST_F(EndToEnd, KillNineLosesNothingFinished) {
  const fs::path journal = result_folder() / "journal.jsonl";
  const Strings begin = {PAIRMARK_PROGRAM, "run", "--profile",  "quick",
                         "--device",       "cpu", "--launches", "40",
                         "--gpus",         "1,2", "-o",         result_folder().string()};
  const Strings resume = {PAIRMARK_PROGRAM, "run", "--resume", result_folder().string()};
  std::size_t finished = 0;
  for (int kill_number = 0; kill_number < 50; ++kill_number) {
    Process run(fs::exists(journal) && !read_journal(journal).empty() ? resume : begin, {});
    const auto wait_ms = 20 + random_bits(11, static_cast<std::uint64_t>(kill_number)) % 1500;
    std::this_thread::sleep_for(std::chrono::milliseconds(wait_ms));
    ::kill(run.pid(), SIGKILL);
    run.kill();
    if (!fs::exists(journal)) continue;
    if (read_journal(journal).empty()) {
      fs::remove(journal);  // killed before the header was whole: nothing was finished
      continue;
    }
    std::set<std::string> items;
    std::size_t count = 0;
    for (const Json& record : read_journal(journal)) {
      if (record["type"] != "item") continue;
      items.insert(std::to_string(record["launch"].get<int>()) + record["arm"].get<std::string>() +
                   record["ranks"].dump());
      ++count;
    }
    ASSERT_EQ(items.size(), count) << "an item was measured twice";
    ASSERT_GE(count, finished) << "a finished item was lost";
    finished = count;
  }
  EXPECT_GT(finished, 0u);
  const auto done = pairmark({"run", "--resume", result_folder().string()}, 300);
  EXPECT_EQ(done.exit_code, 0) << done.output;
  const Json all = result();
  EXPECT_EQ(all["run"]["complete"], true);
  for (const Json& one : all["rows"]) EXPECT_EQ(one["time_s"]["launches"], 40);
}

TEST_F(EndToEnd, GemmOnTwoRanksIsVerifiedAndReported) {
  ::unsetenv("PAIRMARK_SUITE_DIR");
  const fs::path junit = folder_ / "junit.xml", gbench = folder_ / "gbench.json";
  const auto done =
      pairmark({"run",     "--profile",    "quick",        "--device",     "cpu",
                "--suite", "gemm",         "--axis",       "m=96",         "--axis",
                "n=64",    "--axis",       "k=80",         "--axis",       "dtype=fp32",
                "--axis",  "layout=nn",    "--launches=2", "-o",           result_folder().string(),
                "--junit", junit.string(), "--gbench",     gbench.string()});
  ASSERT_EQ(done.exit_code, 0) << done.output;
  const Json all = result();
  EXPECT_EQ(all["rows"].size(), 3u + 2 * 4);
  for (const Json& one : all["rows"]) {
    EXPECT_TRUE(one["verify"]["passed"].get<bool>());
    EXPECT_EQ(one["verify"]["elements"].get<int>() % (96 * 32), 0);
    EXPECT_EQ(one["samples_s"].size(), 2u);
  }
  EXPECT_EQ(all["scaling"].size(), 3u);
  EXPECT_NE(read_file(junit).find("<testsuite"), std::string::npos);
  EXPECT_TRUE(read_json_file(gbench)["benchmarks"].size() > 0);
  EXPECT_NE(done.output.find("cpu"), std::string::npos);
  const auto again = pairmark({"compare", result_folder().string(), result_folder().string()});
  EXPECT_EQ(again.exit_code, 0) << again.output;
}

TEST_F(EndToEnd, TheSuiteIsAGoogleBenchmarkProgramByHand) {
  const std::string program = PAIRMARK_GEMM;
  auto done = run_to_end({program, "--device=cpu", "--benchmark_list_tests"}, 60);
  EXPECT_EQ(done.exit_code, 0) << done.output;
  EXPECT_NE(done.output.find("gemm/m=1024,n=1024,k=1024,dtype=fp32,layout=nn"), std::string::npos);
  const std::string out = (folder_ / "gb.json").string();
  done = run_to_end(
      {program, "--device=cpu", "--profile=quick", "--benchmark_filter=gemm/m=512",
       "--benchmark_min_time=0.1", "--benchmark_out=" + out, "--benchmark_out_format=json"},
      100);
  EXPECT_EQ(done.exit_code, 0) << done.output;
  const Json json = read_json_file(out);
  ASSERT_EQ(json["benchmarks"].size(), 1u);
  EXPECT_GT(json["benchmarks"][0]["TFLOPS"].get<double>(), 0);
  EXPECT_EQ(run_to_end({program, "--benchmark_filtre=x"}, 60).exit_code, 2);
}

TEST_F(EndToEnd, ASuiteWithoutItsLibraryIsSkippedWithTheLoadersReason) {
  const fs::path broken = folder_ / "suites";
  fs::create_directories(broken);
  fs::create_symlink(fs::path(PAIRMARK_FAULT_SUITES) / "pairmark-faults",
                     broken / "pairmark-faults");
  {
    std::ofstream script(broken / "pairmark-broken");
    script << "#!/bin/sh\necho 'error while loading shared libraries: libx.so.1: cannot open "
              "shared object file' >&2\nexit 127\n";
  }
  fs::permissions(broken / "pairmark-broken", fs::perms::owner_all);
  ::setenv("PAIRMARK_SUITE_DIR", broken.c_str(), 1);
  EXPECT_EQ(run_faults("none", {"--arms", "solo"}).exit_code, 0);
  const Json all = result();
  bool told = false;
  for (const Json& skip : all["skipped"])
    told = told || skip["reason"].get<std::string>().find("libx.so.1") != std::string::npos;
  EXPECT_TRUE(told) << all["skipped"];
}

}  // namespace
}  // namespace pairmark
