// A suite whose cases go wrong in every way that a real one might: the tests of the pipeline run
// it. The operation adds 1 to each of 1000 floats and keeps the core busy for 200 us.
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <iostream>
#include <limits>
#include <thread>

#include "harness/base/error.h"
#include "harness/run/benchmark.h"
#include "harness/run/protocol.h"
#include "harness/timing/spin.h"

namespace pairmark {
namespace {

constexpr std::size_t kCount = 1000;
constexpr double kSpinS = 200e-6;

class FaultTrial final : public Trial {
 public:
  FaultTrial(const std::string& fault, const Rank& rank)
      : fault_(fault), rank_(rank), out_(rank.device, kCount * sizeof(float)) {
    if (fault == "throw") throw Error("made to fail");
    if (fault == "memory") Buffer(rank.device, std::size_t{1} << 60);
  }
  Work work() const override {
    return {fault_ == "too_fast" ? 1e15 : 1e3, 8.0 * kCount, 1, "one addition an element", ""};
  }
  void reset() override { out_.poison(rank_.stream); }
  void enqueue() override {
    ++operations_;
    run_on(rank_.stream, [this] { operate(); });
  }
  Verdict verify() override {
    Verdict verdict;
    verdict.method = "every element against its known value";
    verdict.bound = "0: exact";
    verdict.elements = kCount;
    if (auto damage = out_.damage(rank_.stream)) {
      verdict.detail = *damage;
      return verdict;
    }
    const float* values = static_cast<const float*>(out_.data());
    for (std::size_t i = 0; i < kCount; ++i) {
      if (values[i] == static_cast<float>(i) + 1) continue;
      verdict.max_error = std::numeric_limits<double>::infinity();
      verdict.detail = fmt::format("element {}: expected {}, got {}", i, i + 1, values[i]);
      return verdict;
    }
    verdict.passed = true;
    return verdict;
  }

 private:
  void operate() {
    float* values = static_cast<float*>(out_.data());
    for (std::size_t i = 0; i < kCount; ++i) values[i] = static_cast<float>(i) + 1;
    const bool second = rank_.rank == 1, timing = operations_ > 20;
    if (fault_ == "wrong") values[777] += 1;
    if (fault_ == "late_wrong" && timing) values[3] = 0;
    if (fault_ == "nan") values[5] = std::nanf("");
    if (fault_ == "inf") values[6] = std::numeric_limits<float>::infinity();
    if (fault_ == "overrun") values[kCount] = 0;
    if (fault_ == "crash" && second && timing) std::abort();
    if (fault_ == "hang" && second && timing) std::this_thread::sleep_for(std::chrono::hours(1));
    if (fault_ == "flood") std::cout << std::string(10000, 'x') << "\n";
    if (fault_ == "exit" && timing) ::_exit(0);
    spin(rank_.device, kSpinS, rank_.stream);
  }
  std::string fault_;
  Rank rank_;
  GuardedBuffer out_;
  int operations_ = 0;
};

class Faults final : public Benchmark {
 public:
  Info info() const override {
    return {"faults", "what the harness must notice", "weak", false, "TFLOPS", 1e-12, "flops"};
  }
  Space space() const override {
    Space space;
    space.axes = {{"fault",
                   "what goes wrong",
                   {"none", "none2", "none3", "wrong", "late_wrong", "nan", "inf", "overrun",
                    "crash", "hang", "flood", "exit", "throw", "memory", "too_fast", "unsupported"},
                   0,
                   0}};
    for (Profile profile : {Profile::kQuick, Profile::kStandard, Profile::kFull}) {
      space.cases["cpu"][profile] = {Case{{"fault", "none"}}};
    }
    return space;
  }
  std::string unsupported(const Case& c, Device&) const override {
    return c.word("fault") == "unsupported" ? "made to be unsupported" : "";
  }
  std::unique_ptr<Trial> prepare(const Case& c, Rank& rank) const override {
    return std::make_unique<FaultTrial>(c.word("fault"), rank);
  }
  Peak peak(const Case&, const Json&, double) const override {
    return {1.0, "made up for this test", ""};
  }
};

}  // namespace
}  // namespace pairmark

int main(int argc, char** argv) {
  using namespace pairmark;
  const char* absent = std::getenv("PAIRMARK_TEST_ABSENT_RANK");
  for (int i = 1; i < argc && absent != nullptr; ++i) {
    if (std::strncmp(argv[i], kWorkerFlag, std::strlen(kWorkerFlag)) != 0) continue;
    if (worker_spec_from_json(Json::parse(argv[i] + std::strlen(kWorkerFlag))).rank ==
        std::atoi(absent))
      ::pause();
  }
  Suite suite{"faults", "for tests", {}};
  suite.benchmarks.push_back(std::make_unique<Faults>());
  return suite_main(suite, argc, argv);
}
