#include "harness/machine/telemetry.h"

#include <strings.h>

#include <algorithm>
#include <condition_variable>
#include <optional>

#include "harness/base/error.h"

namespace pairmark {
namespace {

constexpr double kLeastEnergyWindow = 0.5;  // seconds
constexpr double kLeastCounterSpan =
    0.2;  // seconds between the changes of the counter that are used

double seconds(std::chrono::steady_clock::duration time) {
  return std::chrono::duration<double>(time).count();
}

}  // namespace

GpuTelemetry::GpuTelemetry(std::shared_ptr<GpuQueries> queries, const std::string& uuid,
                           std::string no_queries_reason, std::chrono::milliseconds period)
    : queries_(std::move(queries)), period_(period) {
  if (queries_ == nullptr) {
    missing_ = std::move(no_queries_reason);
    return;
  }
  missing_ = "NVML lists no GPU " + uuid;
  for (const GpuIdentity& gpu : queries_->gpus()) {
    if (strcasecmp(gpu.uuid.c_str(), uuid.c_str()) != 0) continue;
    gpu_ = gpu;
    missing_.clear();
  }
}

GpuTelemetry::~GpuTelemetry() = default;  // the thread is asked to stop and joined

void GpuTelemetry::take() {
  const auto before = std::chrono::steady_clock::now();
  GpuSample sample = queries_->sample(gpu_);
  // The middle of the queries: they take up to milliseconds.
  readings_.push_back(
      {before + (std::chrono::steady_clock::now() - before) / 2, std::move(sample)});
}

void GpuTelemetry::start() {
  check(!running_, "telemetry is running already");
  running_ = true;
  readings_.clear();
  if (!missing_.empty()) return;
  take();
  thread_ = std::jthread([this](std::stop_token stop) {
    std::mutex mutex;
    std::condition_variable_any wake;
    std::unique_lock lock(mutex);
    auto next = std::chrono::steady_clock::now() + period_;
    while (!wake.wait_until(lock, stop, next, [] { return false; }) && !stop.stop_requested()) {
      take();
      next = std::max(next + period_, std::chrono::steady_clock::now());
    }
  });
}

TelemetryResult GpuTelemetry::stop() {
  check(running_, "telemetry is stopped before it was started");
  running_ = false;
  if (!missing_.empty()) return summarize();
  thread_.request_stop();
  thread_.join();
  take();
  return summarize();
}

namespace {

struct Range {
  Known<double> mean, least, most;
};

// Over the samples that have a value; the reason of the last one without when none has.
template <typename Get, typename Readings>
Range range_of(const Readings& readings, Get get) {
  double sum = 0, least = 0, most = 0;
  int n = 0;
  std::string reason = "no sample";
  for (const auto& reading : readings) {
    const Known<double>& known = get(reading.sample);
    if (!known.value) {
      reason = known.reason;
      continue;
    }
    least = n == 0 ? *known.value : std::min(least, *known.value);
    most = n == 0 ? *known.value : std::max(most, *known.value);
    sum += *known.value;
    ++n;
  }
  if (n == 0)
    return {Known<double>::missing(reason), Known<double>::missing(reason),
            Known<double>::missing(reason)};
  return {Known<double>::of(sum / n), Known<double>::of(least), Known<double>::of(most)};
}

template <typename Readings>
Known<double> energy_of(const Readings& readings, double window) {
  if (readings.empty()) return Known<double>::missing("no sample");
  if (!readings.back().sample.energy_j.value)
    return Known<double>::missing(readings.back().sample.energy_j.reason);
  if (window < kLeastEnergyWindow)
    return Known<double>::missing(fmt::format(
        "the energy counter is too coarse for a window of {:.2f} s (0.5 s is the least)", window));
  std::optional<std::pair<double, double>> first, last;  // time of a change, counter
  std::optional<double> previous;
  for (const auto& reading : readings) {
    if (!reading.sample.energy_j.value) continue;
    const double joules = *reading.sample.energy_j.value;
    if (previous && joules < *previous)
      return Known<double>::missing("the energy counter went backwards");
    if (previous && joules > *previous) {
      last = {seconds(reading.at.time_since_epoch()), joules};
      if (!first) first = last;
    }
    previous = joules;
  }
  if (!first || last->first - first->first < kLeastCounterSpan)
    return Known<double>::missing("the energy counter did not move often enough");
  return Known<double>::of((last->second - first->second) / (last->first - first->first) * window);
}

}  // namespace

TelemetryResult GpuTelemetry::summarize() const {
  TelemetryResult out;
  if (!missing_.empty()) {
    out.clock_mhz = out.clock_min_mhz = out.clock_max_mhz = out.power_w = out.temperature_c =
        out.energy_j = Known<double>::missing(missing_);
    return out;
  }
  out.samples = static_cast<int>(readings_.size());
  out.window_s = seconds(readings_.back().at - readings_.front().at);
  const Range clock = range_of(
      readings_, [](const GpuSample& s) -> const Known<double>& { return s.sm_clock_mhz; });
  out.clock_mhz = clock.mean;
  out.clock_min_mhz = clock.least;
  out.clock_max_mhz = clock.most;
  out.power_w = range_of(readings_, [](const GpuSample& s) -> const Known<double>& {
                  return s.power_w;
                }).mean;
  out.temperature_c = range_of(readings_, [](const GpuSample& s) -> const Known<double>& {
                        return s.temperature_c;
                      }).most;
  out.energy_j = energy_of(readings_, out.window_s);
  std::uint64_t bits = 0;
  for (const Reading& reading : readings_) bits |= reading.sample.throttle_bits.value.value_or(0);
  out.throttle = throttle_names(limiting_throttle_bits(bits));
  return out;
}

Json TelemetryResult::to_json() const {
  Json out = {{"samples", samples}, {"window_s", window_s}};
  put(out, "clock_mhz", clock_mhz);
  put(out, "clock_min_mhz", clock_min_mhz);
  put(out, "clock_max_mhz", clock_max_mhz);
  put(out, "power_w", power_w);
  put(out, "temperature_c", temperature_c);
  put(out, "energy_j", energy_j);
  out["throttle"] = throttle;
  return out;
}

}  // namespace pairmark
