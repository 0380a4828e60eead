#include "kernels/gemm/tournament.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "harness/base/error.h"

namespace pairmark {
namespace {

constexpr double kKeep = 1.3;
constexpr std::size_t kSecondStage = 24, kMostFinalists = 16;
constexpr double kHopeless = 10, kHopelessSeconds = 0.05;
constexpr double kLongRun = 2e-3;  // a warm-up run of this length is a timing by itself
// Stage 3: a GPU at its power limit sets its clock by what has run for some 100 ms, so that a
// hungry algorithm is fast in a short run and slow in a long one. Each finalist runs alone for the
// lead, untimed, and is then timed.
constexpr double kLead = 0.15, kTimed = 0.1;

double median(std::vector<double> values) {
  auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

class Tournament {
 public:
  Tournament(std::size_t candidates, double budget_s, const TimeCandidate& time,
             const std::function<double()>& now)
      : budget_(budget_s), time_(time), now_(now), start_(now()), runners_(candidates) {
    for (std::size_t i = 0; i < candidates; ++i) runners_[i].index = i;
  }

  TournamentResult run() {
    const std::size_t all = runners_.size();
    first_stage();
    keep(kSecondStage, kKeep);
    forget();  // stage 1 met each candidate at another clock
    for (int round = 0; round < 3 && (round == 0 || elapsed() < 0.5 * budget_); ++round)
      play_round(round, [](double) { return 2; });
    const double turns = (budget_ - elapsed()) / (2 * (kLead + kTimed));
    keep(static_cast<std::size_t>(std::clamp(turns, 2.0, double{kMostFinalists})),
         std::numeric_limits<double>::infinity());
    if (runners_.size() > 1) last_stage();
    keep(kMostFinalists, std::numeric_limits<double>::infinity());
    check(!runners_.empty(), "none of the library's {} algorithms ran", all);
    TournamentResult result{runners_[0].index, runners_[0].time(), std::nullopt, measured_,
                            failed_};
    for (const auto& runner : runners_) {
      if (runner.index == 0) result.first_s = runner.time();
    }
    return result;
  }

 private:
  struct Runner {
    std::size_t index = 0;
    std::vector<double> times;
    bool failed = false;
    double time() const { return median(times); }
  };

  void forget() {
    for (auto& runner : runners_) runner.times.clear();
  }

  double elapsed() const { return now_() - start_; }

  void first_stage() {
    double best = std::numeric_limits<double>::infinity();
    for (auto& runner : runners_) {
      if (measured_ > 0 && elapsed() > 0.4 * budget_) break;
      const auto warm = time_(runner.index, 1);
      ++measured_;
      if (!warm) {
        runner.failed = true;
        ++failed_;
        continue;
      }
      if (*warm > kLongRun || *warm > kHopeless * best + kHopelessSeconds) {
        runner.times = {*warm};
        best = std::min(best, *warm);
        continue;
      }
      record(runner, 2);
      if (!runner.failed) best = std::min(best, runner.times.back());
    }
  }

  void record(Runner& runner, int repeats) {
    if (const auto seconds = time_(runner.index, repeats)) {
      runner.times.push_back(*seconds);
    } else {
      runner.failed = true;
      ++failed_;
    }
  }

  template <typename Repeats>
  void play_round(int round, const Repeats& repeats) {
    for (std::size_t i = 0; i < runners_.size(); ++i) {
      Runner& runner = runners_[round % 2 == 0 ? i : runners_.size() - 1 - i];
      if (!runner.failed) record(runner, repeats(runner.times.empty() ? 0 : runner.times.back()));
    }
  }

  void last_stage() {
    std::vector<double> typical;
    for (const auto& runner : runners_) typical.push_back(std::max(runner.time(), 1e-7));
    const double one = median(typical);
    const auto repeats = [one](double seconds) {
      return static_cast<int>(std::clamp(std::ceil(seconds / one), 1.0, 1e5));
    };
    forget();
    double round_s = 0;
    for (int round = 0; round == 0 || elapsed() + round_s < budget_; ++round) {
      const double began = elapsed();
      for (std::size_t i = 0; i < runners_.size(); ++i) {
        Runner& runner = runners_[round % 2 == 0 ? i : runners_.size() - 1 - i];
        if (!runner.failed && time_(runner.index, repeats(kLead))) record(runner, repeats(kTimed));
      }
      round_s = elapsed() - began;
    }
  }

  // Drops what failed or was never timed, sorts by median and keeps the best `count` within
  // `factor` of the best, and candidate 0 in any case.
  void keep(std::size_t count, double factor) {
    std::erase_if(runners_,
                  [](const Runner& runner) { return runner.failed || runner.times.empty(); });
    std::stable_sort(runners_.begin(), runners_.end(),
                     [](const Runner& a, const Runner& b) { return a.time() < b.time(); });
    if (runners_.empty()) return;
    const double limit = factor * runners_[0].time();
    std::vector<Runner> kept;
    std::size_t place = 0;
    for (auto& runner : runners_) {
      if ((place++ < count && runner.time() <= limit) || runner.index == 0)
        kept.push_back(std::move(runner));
    }
    runners_ = std::move(kept);
  }

  double budget_;
  const TimeCandidate& time_;
  const std::function<double()>& now_;
  double start_;
  std::vector<Runner> runners_;
  std::size_t measured_ = 0, failed_ = 0;
};

}  // namespace

TournamentResult run_tournament(std::size_t candidates, double budget_s, const TimeCandidate& time,
                                const std::function<double()>& now) {
  return Tournament(candidates, budget_s, time, now).run();
}

}  // namespace pairmark
