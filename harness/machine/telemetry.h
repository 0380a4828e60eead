// Clock, power, temperature and clock limits of one GPU while it works, sampled by a thread of its
// own.
#pragma once

#include <atomic>
#include <chrono>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "harness/machine/gpu_queries.h"

namespace pairmark {

struct TelemetryResult {
  int samples = 0;
  double window_s = 0;
  Known<double> clock_mhz, clock_min_mhz, clock_max_mhz;  // SM clock: mean, least, most
  Known<double> power_w;                                  // mean of the samples
  Known<double> temperature_c;                            // highest
  // Energy of the window, from the card's counter: its mean power between the first and the last
  // change of the counter, times the window, since the counter moves only every 20 to 100 ms (100
  // on an H200). Null for windows under 0.5 s.
  Known<double> energy_j;
  std::vector<std::string>
      throttle;  // reasons that limited the clocks at some sample; idle and fixed clocks left out
  Json to_json() const;
};

class GpuTelemetry {
 public:
  // Samples the GPU with this UUID (compared without case). Without it there, or with `queries`
  // null, every figure is null with `no_queries_reason`, or the reason that the GPU is not there.
  GpuTelemetry(std::shared_ptr<GpuQueries> queries, const std::string& uuid,
               std::string no_queries_reason = "no NVML",
               std::chrono::milliseconds period = std::chrono::milliseconds(20));
  // For a cpu device: figures are null, "cpu device: no NVML".
  static GpuTelemetry for_cpu() { return GpuTelemetry(nullptr, "", "cpu device: no NVML"); }
  ~GpuTelemetry();
  GpuTelemetry(const GpuTelemetry&) = delete;
  GpuTelemetry& operator=(const GpuTelemetry&) = delete;

  // The first and last samples are taken in these calls, in the caller's thread: keep them outside
  // timed parts.
  void start();
  // Throws Error when not started.
  TelemetryResult stop();

 private:
  struct Reading {
    std::chrono::steady_clock::time_point at;
    GpuSample sample;
  };
  void take();
  TelemetryResult summarize() const;

  std::shared_ptr<GpuQueries> queries_;
  GpuIdentity gpu_;
  std::string missing_;  // why there is nothing to sample; empty when there is
  std::chrono::milliseconds period_;
  std::vector<Reading> readings_;  // of the thread while it runs
  std::jthread thread_;
  bool running_ = false;
};

}  // namespace pairmark
