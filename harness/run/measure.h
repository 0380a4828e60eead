// The measuring of one prepared trial on one rank: verify, warm up, time, verify again. The ranks
// of an arm go through it together; a failure of one ends it on all.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "harness/base/outcome.h"
#include "harness/run/benchmark.h"
#include "harness/run/protocol.h"

namespace pairmark {

using PhaseSink = std::function<void(const std::string& phase)>;

// The per_rank object of a journal item (see journal.h). Throws Error with the outcome for anything
// but a figure; an unsteady warm-up is a note and Outcome::kUnstable in `outcome`.
struct Measured {
  Outcome outcome = Outcome::kOk;
  std::string reason;
  Json per_rank;
};

class Meter {
 public:
  Meter(const Benchmark& benchmark, const Case& c, Rank& rank, Trial& trial, const TimingSpec& spec,
        PhaseSink phase);
  Measured run(const std::string& name);

 private:
  struct Pace {
    int batch = 1;
    int samples = 1;
    bool steady = false;
    std::string reason;
  };
  Verdict verified(const char* phase);
  Pace warm_up();
  double sample(int batch);

  const Benchmark& benchmark_;
  const Case& case_;
  Rank& rank_;
  Trial& trial_;
  const TimingSpec& spec_;
  PhaseSink phase_;
};

// Runs `work` on every rank of the group and makes sure all succeeded; throws this rank's own
// failure, or an Error that names the rank that failed and carries its outcome.
void agree(Group& group, const std::function<void()>& work);

// `n` samples under Google Benchmark with manual time and a fixed iteration count; each call of
// `sample` is one iteration.
std::vector<double> run_google_benchmark(const std::string& name, int n,
                                         const std::function<double()>& sample);

}  // namespace pairmark
