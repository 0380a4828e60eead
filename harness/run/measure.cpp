#include "harness/run/measure.h"

#include <benchmark/benchmark.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <exception>

#include "harness/base/error.h"
#include "harness/stats/estimate.h"
#include "harness/stats/stopping.h"
#include "harness/timing/cpu_clock.h"
#include "harness/timing/stopwatch.h"

namespace pairmark {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// Swallows what Google Benchmark would print: the parent prints.
class SilentReporter final : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>&) override {}
};

Json peak_json(const Benchmark& benchmark, const Case& c, const Json& device,
               std::optional<double> boost_mhz, std::optional<double> clock_mhz) {
  Json json = {{"boost", nullptr}, {"at_clock", nullptr}, {"source", nullptr}, {"reason", nullptr}};
  if (!boost_mhz) {
    json["reason"] = "the boost clock is not known";
    return json;
  }
  Peak peak = benchmark.peak(c, device, *boost_mhz);
  if (!peak.reason.empty()) {
    json["reason"] = peak.reason;
    return json;
  }
  json["boost"] = peak.value;
  json["source"] = peak.source;
  if (clock_mhz) {
    json["at_clock"] = benchmark.peak(c, device, *clock_mhz).value;
  } else {
    json["reason"] = "the clock during the run is not known";
  }
  return json;
}

}  // namespace

void agree(Group& group, const std::function<void()>& work) {
  std::exception_ptr own;
  Json status = {{"ok", true}};
  try {
    work();
  } catch (const Error& error) {
    own = std::current_exception();
    status = {{"ok", false}, {"outcome", to_string(error.outcome())}, {"reason", error.what()}};
  } catch (const std::exception& error) {
    own = std::current_exception();
    status = {{"ok", false}, {"outcome", "error"}, {"reason", error.what()}};
  }
  if (group.size() > 1) {
    const auto all = group.gather(to_text(status));
    for (int rank = 0; rank < group.size() && !own; ++rank) {
      Json other = parse_json(all[static_cast<std::size_t>(rank)], "status of another rank");
      if (other.at("ok").get<bool>()) continue;
      throw Error(
          fmt::format("rank {}: {}", rank, other.at("reason").get<std::string>()),
          outcome_from_string(other.at("outcome").get<std::string>()).value_or(Outcome::kError));
    }
  }
  if (own) std::rethrow_exception(own);
}

std::vector<double> run_google_benchmark(const std::string& name, int n,
                                         const std::function<double()>& sample) {
  std::vector<double> samples;
  std::exception_ptr failure;
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark(name.c_str(),
                               [&](benchmark::State& state) {
                                 for (auto _ : state) {
                                   try {
                                     samples.push_back(sample());
                                   } catch (...) {
                                     failure = std::current_exception();
                                     state.SkipWithError("failed");
                                     break;
                                   }
                                   state.SetIterationTime(samples.back());
                                 }
                               })
      ->UseManualTime()
      ->Iterations(n);
  SilentReporter reporter;
  benchmark::RunSpecifiedBenchmarks(&reporter, ".");
  benchmark::ClearRegisteredBenchmarks();
  if (failure) std::rethrow_exception(failure);
  check(samples.size() == static_cast<std::size_t>(n), "{} of {} samples were taken",
        samples.size(), n);
  return samples;
}

Meter::Meter(const Benchmark& benchmark, const Case& c, Rank& rank, Trial& trial,
             const TimingSpec& spec, PhaseSink phase)
    : benchmark_(benchmark),
      case_(c),
      rank_(rank),
      trial_(trial),
      spec_(spec),
      phase_(std::move(phase)) {}

Verdict Meter::verified(const char* phase) {
  phase_(phase);
  Verdict verdict;
  agree(rank_.group, [&] {
    verdict = trial_.verify();
    if (!verdict.passed) {
      throw Error(fmt::format("the result is wrong ({}): {}", verdict.method, verdict.detail),
                  Outcome::kIncorrect);
    }
  });
  return verdict;
}

double Meter::sample(int batch) {
  if (rank_.world_size > 1) rank_.group.barrier();
  Stopwatch watch(rank_.device, rank_.stream);
  return watch.time(batch, [this] { trial_.enqueue(); });
}

// Rank 0 watches its own times and decides for all: equal numbers of operations on every rank, or
// collectives would wait for ever.
Meter::Pace Meter::warm_up() {
  constexpr int kWindowSamples = 4;
  SteadyState steady({spec_.warm_min_s, spec_.warm_max_s, 0.01});
  const auto start = Clock::now();
  Pace pace;
  while (true) {
    rank_.telemetry.start();
    std::vector<double> times;
    for (int i = 0; i < kWindowSamples; ++i) times.push_back(sample(pace.batch));
    const TelemetryResult seen = rank_.telemetry.stop();
    const double one = median(times);
    WarmWindow window{seconds_since(start), one, median_standard_error(times),
                      seen.clock_mhz.value};
    Warmth warmth = steady.feed(window);
    const bool batch_settled =
        pace.batch * one > spec_.sample_s / 2 || pace.batch * one > spec_.time_budget_s / 5;
    pace.batch = std::clamp(static_cast<int>(std::lround(spec_.sample_s / std::max(one, 1e-9))), 1,
                            1'000'000);
    pace.samples =
        std::clamp(static_cast<int>(spec_.time_budget_s / (pace.batch * std::max(one, 1e-9))),
                   std::min(5, spec_.samples), spec_.samples);
    pace.steady = warmth == Warmth::kSteady;
    pace.reason = steady.reason();
    const Json mine = {{"go_on", warmth == Warmth::kWarming || !batch_settled},
                       {"batch", pace.batch},
                       {"samples", pace.samples},
                       {"steady", pace.steady},
                       {"reason", pace.reason}};
    const Json agreed = parse_json(rank_.group.broadcast(to_text(mine), 0), "pace from rank 0");
    pace = {agreed.at("batch"), agreed.at("samples"), agreed.at("steady"), agreed.at("reason")};
    if (!agreed.at("go_on").get<bool>()) return pace;
  }
}

Measured Meter::run(const std::string& name) {
  phase_("verify");
  agree(rank_.group, [&] {
    trial_.reset();
    trial_.enqueue();
    rank_.stream.synchronize();
  });
  verified("verify");

  phase_("warmup");
  const Pace pace = warm_up();

  phase_("time");
  trial_.reset();  // what is verified afterwards was written by timed operations
  rank_.stream.synchronize();
  const Json device = rank_.device.describe();
  const bool cpu = rank_.device.kind() == DeviceKind::kCpu;
  const double clock_before = cpu ? measure_cpu_clock_mhz() : 0;
  rank_.telemetry.start();
  std::vector<double> samples =
      run_google_benchmark(name, pace.samples, [&] { return sample(pace.batch); });
  const TelemetryResult seen = rank_.telemetry.stop();
  const double clock_after = cpu ? measure_cpu_clock_mhz() : 0;

  const Verdict verdict = verified("recheck");

  Known<double> clock = seen.clock_mhz, energy = seen.energy_j;
  std::optional<double> boost;
  if (cpu) {
    clock = Known<double>::of((clock_before + clock_after) / 2);
    boost = std::max(clock_before, clock_after);
  } else if (device.at("boost_mhz").is_number()) {
    boost = device.at("boost_mhz").get<double>();
  }
  const Work work = trial_.work();
  Measured result;
  result.per_rank = {{"rank", rank_.rank},
                     {"samples_s", samples},
                     {"batch", pace.batch},
                     {"work",
                      {{"flops", work.flops},
                       {"bytes", work.bytes},
                       {"items", work.items},
                       {"formula", work.formula},
                       {"rate_unit", work.rate_unit}}},
                     {"verify", to_json(verdict)},
                     {"peak", peak_json(benchmark_, case_, device, boost, clock.value)},
                     {"throttle", seen.throttle},
                     {"plan", trial_.plan()},
                     {"notes", Json::array()}};
  if (energy.value) *energy.value /= static_cast<double>(pace.samples) * pace.batch;
  put(result.per_rank, "clock_mhz", clock);
  put(result.per_rank, "power_w", seen.power_w);
  put(result.per_rank, "energy_per_op_j", energy);
  put(result.per_rank, "temperature_c", seen.temperature_c);
  if (!pace.steady) {
    result.outcome = Outcome::kUnstable;
    result.reason = "warm-up did not become steady: " + pace.reason;
    result.per_rank["notes"].push_back(result.reason);
  }
  return result;
}

}  // namespace pairmark
