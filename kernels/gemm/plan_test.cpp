#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fstream>
#include <vector>

#include "harness/base/error.h"
#include "harness/base/rng.h"
#include "kernels/fill/fill.h"
#include "kernels/gemm/gemm.h"
#include "kernels/gemm/plan_cache.h"
#include "kernels/gemm/tournament.h"

namespace pairmark {
namespace {

// --- run_tournament() against candidates whose times are known

// A device whose clock sags to 75 % within the first second of load, with 2 % of noise.
struct SaggingDevice {
  std::vector<double> seconds;  // per run of each candidate, when cool; 0: it fails
  double now = 0;
  std::uint64_t draws = 0;
  std::optional<double> run(std::size_t candidate, int repeats) {
    if (seconds[candidate] == 0) return std::nullopt;
    double total = 0;
    for (int i = 0; i < repeats; ++i) {
      const double speed = 1 - 0.25 * std::min(now, 1.0),
                   noise = 1 + 0.02 * random_uniform(5, draws++);
      const double one = seconds[candidate] / speed * noise;
      total += one;
      now += one;
    }
    return total / repeats;
  }
  TournamentResult play(double budget_s) {
    return run_tournament(
        seconds.size(), budget_s, [this](std::size_t c, int r) { return run(c, r); },
        [this] { return now; });
  }
};

TEST(Tournament, FindsTheBestOnASaggingClockWhereverItStands) {
  for (std::size_t place : {0u, 1u, 57u, 99u}) {
    SaggingDevice device;
    for (std::size_t i = 0; i < 100; ++i)
      device.seconds.push_back(1e-3 * (1.05 + 0.03 * static_cast<double>(i % 40)));
    device.seconds[place] = 1e-3;
    const auto result = device.play(10);
    EXPECT_EQ(result.best, place);
    EXPECT_EQ(result.measured, 100u);
    ASSERT_TRUE(result.first_s.has_value());
    EXPECT_GE(*result.first_s, result.best_s);
  }
}

// Candidate 1 is 5 % faster for the first 100 ms and 5 % slower afterwards: what a GPU at its power
// limit does to an algorithm that draws more power.
TEST(Tournament, TheSpeedThatLastsWins) {
  double now = 0, held = 0;
  std::size_t last = 0;
  const auto time = [&](std::size_t candidate, int repeats) -> std::optional<double> {
    if (candidate != last) held = 0;
    last = candidate;
    double total = 0;
    for (int i = 0; i < repeats; ++i) {
      const double one = candidate == 0 ? 1e-3 : held < 0.1 ? 0.95e-3 : 1.05e-3;
      held += one;
      total += one;
    }
    now += total;
    return total / repeats;
  };
  const auto result = run_tournament(2, 5, time, [&] { return now; });
  EXPECT_EQ(result.best, 0u);
  EXPECT_NEAR(result.best_s, 1e-3, 1e-6);
  EXPECT_LT(now, 6);
}

TEST(Tournament, FailuresAreDroppedAndCounted) {
  SaggingDevice device{.seconds = {0, 2e-3, 0, 1e-3}};
  const auto result = device.play(1);
  EXPECT_EQ(result.best, 3u);
  EXPECT_EQ(result.failed, 2u);
  EXPECT_FALSE(result.first_s.has_value());
  SaggingDevice broken{.seconds = {0, 0}};
  EXPECT_THROW(broken.play(1), Error);
}

TEST(Tournament, KeepsToItsBudget) {
  SaggingDevice device;
  for (std::size_t i = 0; i < 5000; ++i)
    device.seconds.push_back(5e-3 + 1e-6 * static_cast<double>(i));
  const auto result = device.play(2);
  EXPECT_LT(device.now, 2.3);
  EXPECT_LT(result.measured, 5000u);
  SaggingDevice hopeless{.seconds = {1e-3, 5.0, 5.0, 1.1e-3}};
  EXPECT_EQ(hopeless.play(30).best, 0u);
  EXPECT_LT(hopeless.now, 15);  // each slow one ran once, not three times
}

TEST(Tournament, OneCandidateAndNoBudgetStillGiveAnAnswer) {
  SaggingDevice device{.seconds = {3e-3}};
  const auto result = device.play(0);
  EXPECT_EQ(result.best, 0u);
  EXPECT_NEAR(result.best_s, 3e-3, 0.5e-3);
}

// --- the cache

class PlanCacheTest : public testing::Test {
 protected:
  PlanCacheTest()
      : folder_(std::filesystem::temp_directory_path() / fmt::format("plan_cache_{}", getpid())) {
    std::filesystem::remove_all(folder_);
  }
  ~PlanCacheTest() override { std::filesystem::remove_all(folder_); }

  Json choose(const std::string& key, bool refuse_cached = false) {
    return choose_with_cache(
        file_, key,
        [&](const Json& plan) {
          if (refuse_cached && plan["value"] == "old") throw Error("not for this product");
        },
        [&] {
          ++measured_;
          return Json{{"value", measured_ == 1 ? "old" : "new"}};
        });
  }

  std::filesystem::path folder_, file_ = folder_ / "sub" / "plans.json";
  int measured_ = 0;
};

TEST_F(PlanCacheTest, MeasuresOnceThenTakesTheStoredPlan) {
  EXPECT_EQ(choose("a")["chosen_by"], "measurement");
  EXPECT_EQ(choose("a")["chosen_by"], "cache");
  EXPECT_EQ(measured_, 1);
  EXPECT_EQ(choose("b")["chosen_by"], "measurement");
  EXPECT_EQ(choose("a")["chosen_by"], "cache");
}

TEST_F(PlanCacheTest, BrokenOrForeignFilesAreIgnoredWithANoteAndRewritten) {
  std::filesystem::create_directories(file_.parent_path());
  for (const char* content : {"", "{", "[1,2]", "{\"plans\": 3}",
                              "{\"pairmark_gemm_plans\": 2, \"plans\": {}}", "\x80\xff"}) {
    std::ofstream(file_) << content;
    Json plan = choose("a");
    EXPECT_EQ(plan["chosen_by"], "measurement") << content;
    EXPECT_FALSE(plan.value("cache_note", "").empty()) << content;
    EXPECT_EQ(choose("a")["chosen_by"], "cache") << content;
  }
}

TEST_F(PlanCacheTest, APlanThatTheLibraryRefusesIsMeasuredAgain) {
  choose("a");
  Json plan = choose("a", true);
  EXPECT_EQ(plan["value"], "new");
  EXPECT_NE(plan.value("cache_note", "").find("not for this product"), std::string::npos);
  EXPECT_EQ(choose("a", true)["chosen_by"], "cache");
}

TEST_F(PlanCacheTest, AFolderThatCannotBeWrittenIsOnlyANote) {
  file_ = "/proc/no/such/plans.json";
  EXPECT_FALSE(choose("a").value("cache_note", "").empty());
}

TEST_F(PlanCacheTest, RacingProcessesLeaveAValidFile) {
  std::vector<pid_t> children;
  for (int child = 0; child < 4; ++child) {
    const pid_t pid = fork();
    if (pid == 0) {
      for (int i = 0; i < 25; ++i) choose(fmt::format("{}-{}", child, i));
      _exit(0);
    }
    children.push_back(pid);
  }
  for (pid_t pid : children) {
    int status = 0;
    ASSERT_EQ(waitpid(pid, &status, 0), pid);
    EXPECT_EQ(status, 0);
  }
  EXPECT_GE(read_json_file(file_)["plans"].size(), 25u);
}

TEST_F(PlanCacheTest, OneDnnPlansTravelAndForeignOnesAreRefused) {
  auto device = open_cpu_device(0, {sched_getcpu()});
  auto stream = device->make_stream();
  const GemmShape shape{33, 17, 65, DType::kFp32, "nn"};
  std::vector<float> a(33 * 65), b(65 * 17), d(33 * 17), again(33 * 17);
  fill_uniform(*device, DType::kFp32, a.data(), a.size(), 1, *stream);
  fill_uniform(*device, DType::kFp32, b.data(), b.size(), 2, *stream);
  auto first = make_gemm(*device, shape), second = make_gemm(*device, shape);
  const Json plan = first->choose_plan(a.data(), b.data(), d.data(), *stream, 0.05, file_);
  for (const char* key : {"library", "version", "workspace_bytes", "candidates", "failed",
                          "first_choice_s", "best_s", "chosen_by"}) {
    EXPECT_TRUE(plan.contains(key)) << key;
  }
  second->use_plan(parse_json(to_text(plan), "plan"));
  first->enqueue(a.data(), b.data(), d.data(), *stream);
  second->enqueue(a.data(), b.data(), again.data(), *stream);
  EXPECT_EQ(d, again);
  EXPECT_EQ(first->choose_plan(a.data(), b.data(), d.data(), *stream, 0.05, file_)["chosen_by"],
            "cache");
  Json foreign = plan;
  foreign["version"] = "0.0.1";
  EXPECT_THROW(second->use_plan(foreign), Error);
  foreign = plan;
  foreign["implementation"] = "none:such";
  EXPECT_THROW(second->use_plan(foreign), Error);
  EXPECT_THROW(second->use_plan(Json::object()), Error);
}

TEST(PlanKey, AlignmentIsTheLargestCommonPowerOfTwo) {
  auto at = [](std::uintptr_t address) { return reinterpret_cast<const void*>(address); };
  EXPECT_EQ(common_alignment({at(4096), at(512)}), 256u);
  EXPECT_EQ(common_alignment({at(4096), at(48)}), 16u);
  EXPECT_EQ(common_alignment({at(4095)}), 1u);
}

}  // namespace
}  // namespace pairmark
