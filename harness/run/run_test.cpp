// Plan, session, journal and resume with a fake executor and a fake clock; processes with real
// children.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <set>

#include "harness/base/error.h"
#include "harness/base/rng.h"
#include "harness/run/plan.h"
#include "harness/run/process.h"
#include "harness/run/session.h"

namespace pairmark {
namespace {

SuiteFacts two_benchmarks() {
  BenchmarkFacts weak{
      "s",     "weak",   "", "weak", "X",
      "items", "higher", 1,  false,  {{"m", "", {}, 1, 100}, {"t", "", {"a", "b"}, 0, 0}},
      {}};
  BenchmarkFacts strong = weak;
  strong.id = "strong";
  strong.scaling = "strong";
  strong.communicates = true;
  for (BenchmarkFacts* b : {&weak, &strong}) {
    b->cases["cpu"][Profile::kQuick] = {Case{{"m", "1"}, {"t", "a"}}, Case{{"m", "2"}, {"t", "a"}}};
  }
  return {"s", "", "/bin/false", {weak, strong}};
}

PlanRequest two_devices() {
  PlanRequest request;
  request.devices = 2;
  return request;
}

std::vector<std::string> rows(const Plan& plan, int launch) {
  std::vector<std::string> result;
  for (const auto& item : plan.items) {
    if (item.launch == launch) result.push_back(item.row_id());
  }
  return result;
}

TEST(Case, ParsesBackAndNamesBadInput) {
  Case c{{"m", "8"}, {"dtype", "bf16"}};
  EXPECT_EQ(Case::parse(c.text()), c);
  EXPECT_EQ(to_text(c.axes()), R"({"m":8,"dtype":"bf16"})");
  for (const char* bad : {"m", "m=", "=8", "m=1,,n=2"})
    EXPECT_THROW(Case::parse(bad), UsageError) << bad;
  const auto axes = two_benchmarks().benchmarks[0].axes;
  const std::vector<Case> cases = {Case{{"m", "1"}, {"t", "a"}}, Case{{"m", "2"}, {"t", "a"}}};
  auto changed = with_axes(axes, cases, {{"m", {"7"}}, {"t", {"a", "b"}}});
  ASSERT_EQ(changed.size(), 2u);
  EXPECT_EQ(changed[1].text(), "m=7,t=b");
  for (const char* bad : {"0", "101", "-1", "x", "1.5", "1,5", "99999999999999999999"}) {
    EXPECT_THROW(with_axes(axes, cases, {{"m", {bad}}}), UsageError) << bad;
  }
  EXPECT_THROW(with_axes(axes, cases, {{"t", {"c"}}}), UsageError);
}

TEST(Plan, ArmsStandTogetherForwardThenBackward) {
  Plan plan = make_plan({two_benchmarks()}, two_devices());
  EXPECT_EQ(plan.items.size(), 3u * (2 * 3 + 2 * 4));
  auto first = rows(plan, 0), second = rows(plan, 1);
  EXPECT_EQ(std::set<std::string>(first.begin(), first.end()),
            std::set<std::string>(second.begin(), second.end()));
  auto arms = [](const std::vector<std::string>& list, const std::string& id) {
    std::string text;
    for (const auto& row : list) {
      if (row.find(id) != std::string::npos) text += row.substr(row.rfind('/') + 1) + " ";
    }
    return text;
  };
  EXPECT_EQ(arms(first, "strong/m=1"), "solo[0] solo[1] apart[0,1] together[0,1] ");
  EXPECT_EQ(arms(second, "strong/m=1"), "together[0,1] apart[0,1] solo[1] solo[0] ");
  EXPECT_EQ(arms(first, "weak/m=2"), "solo[0] solo[1] apart[0,1] ");
  EXPECT_EQ(rows(make_plan({two_benchmarks()}, two_devices()), 2), rows(plan, 2));  // seeded
}

TEST(Plan, CountsThatDoNotExistAreSkippedWithTheReason) {
  PlanRequest request = two_devices();
  request.devices = 1;
  request.counts = {1, 2, 4};
  Plan plan = make_plan({two_benchmarks()}, request);
  for (const auto& item : plan.items) EXPECT_EQ(item.arm, "solo");
  ASSERT_EQ(plan.skips.size(), 2u);
  EXPECT_EQ(plan.skips[1].what, "all arms on 4 devices");
  EXPECT_EQ(plan.skips[1].reason, "1 cpu device here");
}

TEST(Plan, BadRequestsAreOneSentence) {
  auto message = [](const std::function<void(PlanRequest&)>& change) {
    PlanRequest request = two_devices();
    change(request);
    try {
      make_plan({two_benchmarks()}, request);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(message([](auto& r) { r.arms = {"sol"}; }),
            "there is no arm 'sol' (did you mean solo?); known: solo, apart, together");
  EXPECT_EQ(message([](auto& r) {
              r.axes = {{"mm", {"1"}}};
            }),
            "there is no axis 'mm' (did you mean m?); known: m, t");
  EXPECT_NE(message([](auto& r) { r.filter = "nothing-like-it"; }).find("nothing to run"),
            std::string::npos);
  EXPECT_NE(message([](auto& r) { r.filter = "("; }).find("not a regular expression"),
            std::string::npos);
}

class FakeExecutor final : public Executor {
 public:
  void begin_launch(const std::string&) override { ++launches; }
  ItemResult run(const Item& item) override {
    ran.push_back(item);
    clock += 1;
    ItemResult result = answer ? answer(item) : ItemResult{};
    return result;
  }
  std::function<ItemResult(const Item&)> answer;
  std::vector<Item> ran;
  int launches = 0;
  double clock = 0;
};

class SessionTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/pairmark_session_XXXXXX";
    folder_ = mkdtemp(name);
    file_ = folder_ / "journal.jsonl";
    plan_ = make_plan({two_benchmarks()}, two_devices());
    options_.facts = [](const Item&) { return Json{{"repeat", "again"}}; };
    options_.now = [this] { return executor_.clock; };
    options_.progress = [this](const Progress& p) { progress_.push_back(p.left_s); };
    options_.finished = [](const Item&, const ItemResult&) {};
    options_.stop = &stop_;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  bool run(bool fresh) {
    std::vector<Json> earlier;
    if (!fresh) earlier = read_journal(file_);
    Journal journal(file_, fresh);
    return run_session(plan_.items, earlier, executor_, journal, options_);
  }

  std::filesystem::path folder_, file_;
  Plan plan_;
  FakeExecutor executor_;
  SessionOptions options_;
  std::atomic<bool> stop_{false};
  std::vector<double> progress_;
};

TEST_F(SessionTest, RunsAllAndTellsTheTimeLeft) {
  EXPECT_TRUE(run(true));
  EXPECT_EQ(executor_.ran.size(), plan_.items.size());
  EXPECT_EQ(executor_.launches, 3);
  EXPECT_EQ(read_journal(file_).size(), plan_.items.size());
  EXPECT_LT(progress_[0], 0);
  EXPECT_DOUBLE_EQ(progress_[2], static_cast<double>(plan_.items.size() - 2));
  EXPECT_EQ(read_journal(file_)[0]["repeat"], "again");
}

TEST_F(SessionTest, AFailedRowIsNotTriedInLaterLaunches) {
  const std::string bad = plan_.items[3].row_id();
  executor_.answer = [&](const Item& item) {
    return item.row_id() == bad ? ItemResult{Outcome::kHang, "stuck", "time", {}, true, 0}
                                : ItemResult{};
  };
  EXPECT_TRUE(run(true));
  EXPECT_EQ(std::count_if(executor_.ran.begin(), executor_.ran.end(),
                          [&](auto& i) { return i.row_id() == bad; }),
            1);
  EXPECT_EQ(executor_.ran.size(), plan_.items.size() - 2);
}

TEST_F(SessionTest, WorkersThatNeverStartAreTriedTwiceOnly) {
  executor_.answer = [](const Item&) {
    return ItemResult{Outcome::kError, "no workers", "join", {}, false, 0};
  };
  EXPECT_TRUE(run(true));
  EXPECT_EQ(executor_.ran.size(), 2u);
  auto records = read_journal(file_);
  EXPECT_EQ(records.size(), plan_.items.size() / 3);  // each row once, none forgotten
  EXPECT_EQ(records.back()["reason"], "not tried: no workers");
}

TEST_F(SessionTest, StopKeepsWhatIsFinishedAndResumeGoesOn) {
  executor_.answer = [&](const Item&) {
    if (executor_.ran.size() == 6) {
      stop_ = true;
      return ItemResult{Outcome::kError, "killed by the stop", "time", {}, true, 0};
    }
    return ItemResult{};
  };
  EXPECT_FALSE(run(true));
  EXPECT_EQ(read_journal(file_).size(), 5u);
  stop_ = false;
  executor_.answer = nullptr;
  EXPECT_TRUE(run(false));
  EXPECT_EQ(executor_.ran.size(), plan_.items.size() + 1);
  EXPECT_EQ(read_journal(file_).size(), plan_.items.size());
}

TEST_F(SessionTest, JournalCutAtAnyByteLosesOnlyTheTornLine) {
  EXPECT_TRUE(run(true));
  const std::string whole = read_file(file_);
  const std::size_t lines = plan_.items.size();
  for (int trial = 0; trial < 40; ++trial) {
    const std::size_t cut = random_bits(5, static_cast<std::uint64_t>(trial)) % whole.size();
    const auto complete = static_cast<std::size_t>(
        std::count(whole.begin(), whole.begin() + static_cast<long>(cut), '\n'));
    { std::ofstream(file_, std::ios::binary) << whole.substr(0, cut); }
    ASSERT_EQ(read_journal(file_).size(), complete);
    executor_.ran.clear();
    ASSERT_TRUE(run(false));
    ASSERT_EQ(executor_.ran.size(), lines - complete);
    ASSERT_EQ(read_journal(file_).size(), lines);
  }
}

TEST_F(SessionTest, JournalRefusesASecondWriterAndAUsedFolder) {
  Journal first(file_, true);
  EXPECT_THROW(Journal(file_, true), UsageError);
  EXPECT_THROW(Journal(file_, false), UsageError);
  first.append({{"type", "x"}});
  { std::ofstream(file_, std::ios::app) << "garbage\n{\"type\":\"y\"}\n"; }
  EXPECT_THROW(read_journal(file_), UsageError);
}

TEST(Process, OutputStatusAndMissingProgram) {
  auto done = run_to_end({"/bin/sh", "-c", "echo out; echo err >&2; exit 7"}, 10);
  EXPECT_EQ(done.exit_code, 7);
  EXPECT_NE(done.output.find("out"), std::string::npos);
  EXPECT_NE(done.output.find("err"), std::string::npos);
  done = run_to_end({"/nonexistent/program"}, 10);
  EXPECT_EQ(done.exit_code, 127);
  EXPECT_NE(done.output.find("No such file"), std::string::npos);
  done = run_to_end({"/bin/sh", "-c", "kill -SEGV $$"}, 10);
  EXPECT_EQ(done.exit_code, -1);
  EXPECT_NE(done.status.find("signal 11"), std::string::npos);
}

TEST(Process, AFloodIsReadToTheEndWithinBounds) {
  auto done = run_to_end({"/bin/sh", "-c", "yes | head -c 20000000"}, 60);
  EXPECT_EQ(done.exit_code, 0);
  EXPECT_LE(done.output.size(), (4u << 20) + 65536);
}

TEST(Process, TimeoutKillsTheWholeGroup) {
  EXPECT_THROW(
      run_to_end({"/bin/sh", "-c", "sleep 100 & echo $! > /tmp/pairmark_sleeper; wait"}, 0.5),
      Error);
  std::ifstream in("/tmp/pairmark_sleeper");
  pid_t sleeper = 0;
  in >> sleeper;
  ASSERT_GT(sleeper, 0);
  for (int i = 0; i < 100 && ::kill(sleeper, 0) == 0; ++i) ::usleep(10'000);
  std::ifstream state("/proc/" + std::to_string(sleeper) + "/stat");
  std::string text;
  std::getline(state, text);
  EXPECT_TRUE(text.empty() || text.find(" Z ") != std::string::npos) << text;
}

TEST(Process, DiesWithItsParent) {
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  pid_t parent = ::fork();
  if (parent == 0) {
    Process child({"/bin/sleep", "100"}, {});
    pid_t pid = child.pid();
    if (::write(ends[1], &pid, sizeof pid) < 0) ::_exit(1);
    ::pause();
  }
  pid_t child = 0;
  ASSERT_EQ(::read(ends[0], &child, sizeof child), static_cast<ssize_t>(sizeof child));
  ::kill(parent, SIGKILL);
  ::waitpid(parent, nullptr, 0);
  bool gone = false;
  for (int i = 0; i < 200 && !gone; ++i) {
    std::ifstream state("/proc/" + std::to_string(child) + "/stat");
    std::string text;
    std::getline(state, text);
    gone = text.empty() || text.find(" Z ") != std::string::npos;
    if (!gone) ::usleep(10'000);
  }
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace pairmark
