// By hand, a suite is an ordinary Google Benchmark program on one device: --benchmark_filter,
// --benchmark_list_tests,
// --benchmark_out and the rest work, and compare.py reads its output. Here Google Benchmark chooses
// the iterations: with one process there is no collective to dead-lock.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstring>
#include <iostream>
#include <optional>
#include <string_view>

#include "harness/base/build_info.h"
#include "harness/base/error.h"
#include "harness/machine/devices.h"
#include "harness/run/measure.h"
#include "harness/run/plan_cache.h"
#include "harness/run/worker.h"
#include "harness/timing/stopwatch.h"

namespace pairmark {
namespace {

constexpr const char* kHelp =
    "  by hand, besides Google Benchmark's own options:\n"
    "  --device=auto|cpu|cuda   what to measure on (default: auto)\n"
    "  --profile=quick|standard|full   which cases exist (default: standard)\n";

struct HandOptions {
  std::string device = "auto";
  Profile profile = Profile::kStandard;
};

// Takes our own options out of argv; the rest is Google Benchmark's.
HandOptions take_options(int& argc, char** argv) {
  HandOptions options;
  int kept = 1;
  for (int i = 1; i < argc; ++i) {
    std::string_view arg = argv[i];
    if (arg.starts_with("--device=")) {
      options.device = arg.substr(std::strlen("--device="));
    } else if (arg.starts_with("--profile=")) {
      options.profile = profile_from_string(arg.substr(std::strlen("--profile=")));
    } else {
      argv[kept++] = argv[i];
    }
  }
  argc = kept;
  return options;
}

std::unique_ptr<Device> open_device(const std::string& wanted) {
  DeviceRequest request;
  request.device = wanted;
  request.build_has_cuda = built_with_cuda();
  request.gpus = {1};
  const auto selection = select_devices(request);
  const DeviceRef& ref = selection.devices.at(0);
  return ref.kind == "cpu" ? open_cpu_device(ref.index, ref.cores)
                           : open_cuda_device(ref.index, ref.uuid.value());
}

// One case under Google Benchmark: prepared and verified once, at its first call.
class HandCase {
 public:
  HandCase(const Benchmark& benchmark, Case c, Device& device, Stream& stream, bool& failed)
      : benchmark_(benchmark),
        case_(std::move(c)),
        stream_(stream),
        failed_(failed),
        watch_(device, stream),
        rank_{0,          1,
              Arm::kSolo, device,
              stream,     *group_,
              telemetry_, [this]() -> Communicator& { return *communicator_; },
              1,          plan_cache_file(std::filesystem::temp_directory_path()),
              5.0} {}

  void run(benchmark::State& state) {
    try {
      if (std::string reason = benchmark_.unsupported(case_, rank_.device); !reason.empty()) {
        state.SkipWithError(("unsupported: " + reason).c_str());
        return;
      }
      if (!trial_) prepare();
      for (int i = 0; i < 3; ++i) watch_.time(1, [&] { trial_->enqueue(); });
      for (auto _ : state) state.SetIterationTime(watch_.time(1, [&] { trial_->enqueue(); }));
      require(trial_->verify());
      report(state);
    } catch (const std::exception& error) {
      failed_ = true;
      state.SkipWithError(error.what());
    }
  }
  void release() { trial_.reset(); }

 private:
  void prepare() {
    trial_ = benchmark_.prepare(case_, rank_);
    trial_->reset();
    trial_->enqueue();
    stream_.synchronize();
    require(trial_->verify());
  }
  static void require(const Verdict& verdict) {
    check(verdict.passed, "the result is wrong ({}): {}", verdict.method, verdict.detail);
  }
  void report(benchmark::State& state) const {
    const Info info = benchmark_.info();
    const Work work = trial_->work();
    const double amount = info.rate_work == "flops"   ? work.flops
                          : info.rate_work == "bytes" ? work.bytes
                                                      : work.items;
    state.counters[info.rate_unit] =
        benchmark::Counter(amount * info.rate_scale, benchmark::Counter::kIsIterationInvariantRate);
    state.SetLabel("verified");
  }

  const Benchmark& benchmark_;
  Case case_;
  Stream& stream_;
  bool& failed_;
  Stopwatch watch_;
  std::shared_ptr<Group> group_ = Group::join({});
  std::unique_ptr<Communicator> communicator_ = make_gloo_communicator(*group_);
  GpuTelemetry telemetry_ = GpuTelemetry::for_cpu();  // not used by hand
  Rank rank_;
  std::unique_ptr<Trial> trial_;
};

int run_by_hand(const Suite& suite, int argc, char** argv) {
  const HandOptions options = take_options(argc, argv);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) {
    std::cerr << kHelp;
    return kExitUsage;
  }
  auto device = open_device(options.device);
  auto stream = device->make_stream();
  benchmark::AddCustomContext("device", device->id() + " " + device->name());
  bool failed = false;
  std::vector<std::unique_ptr<HandCase>> cases;
  HandCase* last = nullptr;
  for (const auto& benchmark : suite.benchmarks) {
    const Space space = benchmark->space();
    const auto profiles = space.cases.find(std::string(to_string(device->kind())));
    if (profiles == space.cases.end()) continue;
    for (const Case& c : profiles->second.at(options.profile)) {
      cases.push_back(std::make_unique<HandCase>(*benchmark, c, *device, *stream, failed));
      HandCase* one = cases.back().get();
      benchmark::RegisterBenchmark((benchmark->info().id + "/" + c.text()).c_str(),
                                   [one, &last](benchmark::State& state) {
                                     if (last != nullptr && last != one) last->release();
                                     last = one;
                                     one->run(state);
                                   })
          ->UseManualTime()
          ->Unit(benchmark::kMicrosecond);
    }
  }
  const std::size_t ran = benchmark::RunSpecifiedBenchmarks();
  if (failed) return kExitBad;
  return ran == 0 ? kExitNothingRan : kExitOk;
}

}  // namespace

int suite_main(const Suite& suite, int argc, char** argv) {
  try {
    for (int i = 1; i < argc; ++i) {
      const std::string_view arg = argv[i];
      if (arg == kDescribeFlag) {
        std::cout << to_text(describe_suite(suite)) << "\n";
        return kExitOk;
      }
      if (arg.starts_with(kWorkerFlag)) {
        return run_worker(suite, worker_spec_from_json(parse_json(
                                     arg.substr(std::strlen(kWorkerFlag)), kWorkerFlag)));
      }
    }
    return run_by_hand(suite, argc, argv);
  } catch (const UsageError& error) {
    std::cerr << "pairmark-" << suite.name << ": " << error.what() << "\n";
    return kExitUsage;
  } catch (const std::exception& error) {
    std::cerr << "pairmark-" << suite.name << ": " << error.what() << "\n";
    return kExitError;
  }
}

}  // namespace pairmark
