// The worker processes of one suite, one a device, and the watch over them.
#pragma once

#include <array>
#include <atomic>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "harness/run/process.h"
#include "harness/run/protocol.h"
#include "harness/run/session.h"

namespace pairmark {

struct PoolOptions {
  std::map<std::string, std::string> programs;  // suite -> program
  std::vector<WorkerSpec> workers;              // one a rank; folder is filled in per set
  TimingSpec timing;
  double phase_timeout_s = 60;  // of every phase; warm-up and timing get their own length on top
  double join_timeout_s = 30;
  std::uint64_t seed = 1;
  std::filesystem::path log;  // what workers print goes here, at most 8 MiB
  const std::atomic<bool>* stop = nullptr;
};

class WorkerPool final : public Executor {
 public:
  explicit WorkerPool(PoolOptions options);
  ~WorkerPool() override;
  void begin_launch(const std::string& suite) override;
  ItemResult run(const Item& item) override;

  // Facts the workers told about their devices, by rank; filled once a set has joined.
  const std::map<int, Json>& hellos() const { return hellos_; }

 private:
  struct Worker;
  bool start(std::string& failure, Outcome& outcome);
  void stop_workers();
  void pump(int wait_ms);
  void read_output(Worker& worker);
  void read_events(Worker& worker);
  void handle(Worker& worker, const Json& event);
  double allowance_s(const std::string& phase) const;
  // Waits until every rank is done with `item` (-1: joined). Fills failure and outcome and returns
  // false when not.
  bool await(int item, std::string& failure, Outcome& outcome, std::string& phase);

  PoolOptions options_;
  std::string suite_;
  std::filesystem::path folder_;
  std::vector<std::unique_ptr<Worker>> workers_;
  std::map<int, Json> hellos_;
  std::size_t logged_ = 0;
};

}  // namespace pairmark
