#include "harness/run/pool.h"

#include <fcntl.h>
#include <fmt/ranges.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <fstream>
#include <optional>

#include "harness/base/error.h"

namespace pairmark {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kTailBytes = 2048;            // of a worker's output, kept for messages
constexpr std::size_t kLogBytes = 8u << 20;         // of all output together
constexpr std::size_t kEventLineBytes = 64u << 20;  // a longer event line is a fault of the worker
constexpr double kGraceS = 5;  // the others have this long to end after one rank failed

double seconds_until(Clock::time_point when) {
  return std::chrono::duration<double>(when - Clock::now()).count();
}

Clock::time_point in_seconds(double seconds) {
  return Clock::now() +
         std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
}

// The last lines of what a worker printed, on one line.
std::string last_words(const std::string& tail) {
  std::string text = tail.size() > 300 ? tail.substr(tail.size() - 300) : tail;
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text.empty() ? "it printed nothing" : "it printed last: " + text;
}

}  // namespace

struct WorkerPool::Worker {
  int rank;
  std::unique_ptr<Process> process;
  std::string phase = "start";
  Clock::time_point phase_began = Clock::now();
  bool joined = false, events_closed = false;
  Json done;               // the last "done" event, null before
  std::string failed;      // reason of a "failed" event
  std::string event_text;  // not yet a whole line
  std::string tail;
};

WorkerPool::WorkerPool(PoolOptions options) : options_(std::move(options)) {}

WorkerPool::~WorkerPool() {
  stop_workers();
}

void WorkerPool::begin_launch(const std::string& suite) {
  stop_workers();
  suite_ = suite;
}

bool WorkerPool::start(std::string& failure, Outcome& outcome) {
  char name[] = "/tmp/pairmark-ranks-XXXXXX";
  check(::mkdtemp(name) != nullptr, "cannot make a folder in /tmp: {}", std::strerror(errno));
  folder_ = name;
  try {
    for (WorkerSpec spec : options_.workers) {
      spec.folder = folder_;
      spec.join_timeout_s = options_.join_timeout_s;
      const TimingSpec& t = options_.timing;
      spec.timeout_s =
          2 * options_.phase_timeout_s + t.plan_budget_s + t.warm_max_s + t.time_budget_s;
      auto worker = std::make_unique<Worker>();
      worker->rank = spec.rank;
      std::vector<std::string> environment = {"CUDA_MODULE_LOADING=EAGER"};
      if (!spec.cores.empty())
        environment.push_back(fmt::format("OMP_NUM_THREADS={}", spec.cores.size()));
      worker->process =
          std::make_unique<Process>(std::vector<std::string>{options_.programs.at(suite_),
                                                             kWorkerFlag + to_text(to_json(spec))},
                                    environment);
      workers_.push_back(std::move(worker));
    }
  } catch (const Error& error) {
    failure = error.what();
    outcome = Outcome::kError;
    return false;
  }
  std::string phase;
  return await(-1, failure, outcome, phase);
}

void WorkerPool::stop_workers() {
  for (auto& worker : workers_) worker->process->send(R"({"cmd":"exit"})");
  const auto deadline = in_seconds(workers_.empty() ? 0 : 2);
  auto running = [&] {
    return std::any_of(workers_.begin(), workers_.end(),
                       [](auto& worker) { return !worker->process->ended(); });
  };
  while (running() && seconds_until(deadline) > 0 && !(options_.stop && *options_.stop)) pump(10);
  workers_.clear();  // kills what is left
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
  folder_.clear();
}

double WorkerPool::allowance_s(const std::string& phase) const {
  if (phase == "start" || phase == "join")
    return options_.join_timeout_s + 5;  // the group's own time-out comes first
  double extra = 0;
  if (phase == "prepare") extra = options_.timing.plan_budget_s;
  if (phase == "warmup") extra = options_.timing.warm_max_s;
  if (phase == "time") extra = options_.timing.time_budget_s;
  return options_.phase_timeout_s + extra;
}

void WorkerPool::pump(int wait_ms) {
  std::vector<pollfd> waiting;
  for (auto& worker : workers_) {
    waiting.push_back({worker->events_closed ? -1 : worker->process->event_fd(), POLLIN, 0});
    waiting.push_back({worker->process->output_fd(), POLLIN, 0});
  }
  ::poll(waiting.data(), waiting.size(), wait_ms);
  for (auto& worker : workers_) {
    read_output(*worker);
    read_events(*worker);
  }
}

void WorkerPool::read_output(Worker& worker) {
  std::array<char, 65536> chunk;
  // One chunk a turn: a worker that floods cannot keep this loop from its deadlines.
  ssize_t n = ::read(worker.process->output_fd(), chunk.data(), chunk.size());
  if (n <= 0) return;
  worker.tail.append(chunk.data(), static_cast<std::size_t>(n));
  if (worker.tail.size() > kTailBytes) worker.tail.erase(0, worker.tail.size() - kTailBytes);
  if (options_.log.empty() || logged_ >= kLogBytes) return;
  std::ofstream log(options_.log, std::ios::app | std::ios::binary);
  log.write(chunk.data(), n);
  logged_ += static_cast<std::size_t>(n);
  if (logged_ >= kLogBytes) log << "\n[the log is full: the rest is dropped]\n";
}

void WorkerPool::read_events(Worker& worker) {
  std::array<char, 65536> chunk;
  ssize_t n;
  while ((n = ::read(worker.process->event_fd(), chunk.data(), chunk.size())) > 0) {
    worker.event_text.append(chunk.data(), static_cast<std::size_t>(n));
    if (worker.event_text.size() > kEventLineBytes) break;
  }
  if (n == 0) worker.events_closed = true;
  std::size_t newline;
  while ((newline = worker.event_text.find('\n')) != std::string::npos) {
    const std::string line = worker.event_text.substr(0, newline);
    worker.event_text.erase(0, newline + 1);
    try {
      handle(worker, Json::parse(line));
    } catch (const Json::exception&) {
      worker.failed = "it sent an event that is not understood: " + line.substr(0, 200);
    }
  }
}

void WorkerPool::handle(Worker& worker, const Json& event) {
  const std::string kind = event.at("ev");
  if (kind == "phase") {
    worker.phase = event.at("phase");
    worker.phase_began = Clock::now();
  } else if (kind == "hello") {
    worker.joined = true;
    hellos_[worker.rank] = event;
  } else if (kind == "done") {
    worker.done = event;
  } else if (kind == "failed") {
    worker.failed = event.at("reason");
  }
}

bool WorkerPool::await(int item, std::string& failure, Outcome& outcome, std::string& phase) {
  auto finished = [&](const Worker& worker) {
    return item < 0 ? worker.joined : !worker.done.is_null() && worker.done.at("item") == item;
  };
  std::optional<Clock::time_point> grace;
  while (true) {
    pump(50);
    if (options_.stop && *options_.stop) {
      failure = "stopped";
      outcome = Outcome::kSkipped;
      return false;
    }
    bool all = true, hang = false;
    std::string late;
    for (auto& worker : workers_) {
      if (finished(*worker)) {
        const bool bad =
            item >= 0 &&
            !has_figure(*outcome_from_string(worker->done.at("outcome").get<std::string>()));
        if (bad && !grace) grace = in_seconds(kGraceS);
        continue;
      }
      all = false;
      phase = worker->phase;
      if (!worker->failed.empty()) {
        failure = fmt::format("rank {}: {}", worker->rank, worker->failed);
        outcome = Outcome::kError;
        return false;
      }
      if (worker->process->ended()) {
        pump(0);
        if (finished(*worker)) continue;
        failure = !worker->failed.empty()
                      ? fmt::format("rank {}: {}", worker->rank, worker->failed)
                      : fmt::format("rank {} ended with {} in phase {}; {}", worker->rank,
                                    worker->process->status_text(), worker->phase,
                                    last_words(worker->tail));
        outcome = Outcome::kError;
        return false;
      }
      const double spent = -seconds_until(worker->phase_began);
      late += fmt::format("{}rank {} has been in phase {} for {:.0f} s", late.empty() ? "" : ", ",
                          worker->rank, worker->phase, spent);
      hang = hang || spent > allowance_s(worker->phase);
    }
    if (hang) {
      // A rank that waits for a stuck one looks the same from outside, so all that are not done are
      // named.
      failure = fmt::format("{}; {:.0f} s are allowed; the processes were killed", late,
                            allowance_s(phase));
      outcome = Outcome::kHang;
      return false;
    }
    if (all) return true;
    if (grace && seconds_until(*grace) < 0)
      return true;  // the failure that started the grace is what counts
  }
}

ItemResult WorkerPool::run(const Item& item) {
  ItemResult result;
  if (workers_.empty() && !start(result.reason, result.outcome)) {
    result.phase = "join";
    result.workers_started = false;
    stop_workers();
    return result;
  }
  const Json command = {{"cmd", "run"},
                        {"item", item.id},
                        {"benchmark", item.benchmark},
                        {"case", item.c.text()},
                        {"arm", item.arm},
                        {"ranks", item.ranks},
                        {"seed", options_.seed},
                        {"timing", to_json(options_.timing)}};
  for (auto& worker : workers_) {
    worker->done = nullptr;
    worker->phase = "prepare";
    worker->phase_began = Clock::now();
    worker->process->send(to_text(command));  // a worker that is gone shows in await()
  }
  if (!await(item.id, result.reason, result.outcome, result.phase)) {
    workers_.clear();
    stop_workers();
    return result;
  }
  bool all_done = true;
  for (auto& worker : workers_) {
    if (worker->done.is_null()) {
      all_done = false;
      continue;
    }
    const Outcome outcome = *outcome_from_string(worker->done.at("outcome").get<std::string>());
    // The first failure in rank order speaks; "unstable" only where nothing worse was said.
    const bool worse = !has_figure(outcome)
                           ? has_figure(result.outcome)
                           : outcome != Outcome::kOk && result.outcome == Outcome::kOk;
    if (worse) {
      result.outcome = outcome;
      result.reason = worker->done.at("reason").get<std::string>();
      result.phase = has_figure(outcome) ? "" : worker->phase;
    }
    if (worker->done.at("per_rank").is_object())
      result.per_rank.push_back(worker->done.at("per_rank"));
  }
  if (!has_figure(result.outcome)) result.per_rank.clear();
  if (!all_done) {
    workers_.clear();
    stop_workers();
  }
  return result;
}

}  // namespace pairmark
