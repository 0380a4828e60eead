// The run itself: takes the items of a plan one after another through workers, and writes each to
// the journal.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "harness/base/outcome.h"
#include "harness/run/journal.h"
#include "harness/run/plan.h"

namespace pairmark {

struct ItemResult {
  Outcome outcome = Outcome::kOk;
  std::string reason;           // of anything but ok
  std::string phase;            // where it failed
  std::vector<Json> per_rank;   // see journal.h of this folder and result.schema.json
  bool workers_started = true;  // false: no worker set came up for it
  double wall_s = 0;
};

// Runs items on worker processes; a fake one stands in for it in tests.
class Executor {
 public:
  virtual ~Executor() = default;
  virtual void begin_launch(const std::string& suite) = 0;  // the next item gets fresh workers
  virtual ItemResult run(
      const Item& item) = 0;  // within its deadlines; does not throw for a failing worker
};

struct Progress {
  const Item* item;  // about to start; nullptr: all done
  int done, total;
  double elapsed_s, left_s;  // left_s < 0: not known yet
};

struct SessionOptions {
  std::function<Json(const Item&)>
      facts;                    // fields every item record carries (rate unit, repeat command, ...)
  std::function<double()> now;  // seconds of a steady clock
  std::function<void(const Progress&)> progress;
  std::function<void(const Item&, const ItemResult&)> finished;
  const std::atomic<bool>* stop;  // set by a signal: ends after the item in hand
};

// Runs every item that `done` (records of earlier attempts) does not hold. A row that failed once
// is not tried in later launches. Returns false when stopped early.
bool run_session(const std::vector<Item>& items, const std::vector<Json>& done, Executor& executor,
                 Journal& journal, const SessionOptions& options);

}  // namespace pairmark
