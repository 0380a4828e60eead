#include "harness/run/worker.h"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>

#include "harness/base/error.h"
#include "harness/machine/nvml.h"
#include "harness/run/measure.h"

namespace pairmark {
namespace {

// One write per event, below PIPE_BUF or not: there is one reader and one writer per pipe.
void send_event(const Json& event) {
  const std::string line = to_text(event) + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    ssize_t n = ::write(kEventFd, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw Error("the parent is gone");
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
}

void send_phase(int item, const std::string& phase) {
  send_event({{"ev", "phase"}, {"item", item}, {"phase", phase}});
}

Arm arm_from_string(const std::string& text) {
  for (Arm arm : {Arm::kSolo, Arm::kApart, Arm::kTogether}) {
    if (to_string(arm) == text) return arm;
  }
  throw Error("no arm " + text);
}

// Makes groups and communicators for the arms as they are first needed, and keeps them.
class Worker {
 public:
  Worker(const Suite& suite, const WorkerSpec& spec, Device& device, GpuTelemetry& telemetry)
      : suite_(suite),
        spec_(spec),
        device_(device),
        telemetry_(telemetry),
        stream_(device.make_stream()) {}

  void run(const Json& command) {
    const int item = command.at("item");
    const auto ranks = command.at("ranks").get<std::vector<int>>();
    Json done = {{"ev", "done"},
                 {"item", item},
                 {"outcome", "ok"},
                 {"reason", nullptr},
                 {"per_rank", nullptr}};
    if (std::find(ranks.begin(), ranks.end(), spec_.rank) == ranks.end()) return send_event(done);
    try {
      Measured measured = measure(command, item, ranks);
      done["outcome"] = to_string(measured.outcome);
      if (!measured.reason.empty()) done["reason"] = measured.reason;
      done["per_rank"] = std::move(measured.per_rank);
    } catch (const std::exception& error) {
      trial_.reset();
      trial_key_.clear();
      const auto* own = dynamic_cast<const Error*>(&error);
      done["outcome"] = to_string(own ? own->outcome() : Outcome::kError);
      done["reason"] = error.what();
    }
    send_event(done);
  }

 private:
  Measured measure(const Json& command, int item, const std::vector<int>& ranks) {
    send_phase(item, "prepare");
    const Benchmark& benchmark = find(command.at("benchmark"));
    const Case c = Case::parse(command.at("case").get<std::string>());
    const TimingSpec timing = timing_from_json(command.at("timing"));
    const Arm arm = arm_from_string(command.at("arm"));
    const std::string reason = benchmark.unsupported(c, device_);
    if (!reason.empty()) throw UnsupportedError(reason);

    Group& group = group_of(ranks);
    Rank rank{spec_.rank,
              static_cast<int>(ranks.size()),
              arm,
              device_,
              *stream_,
              group,
              telemetry_,
              [this, &group]() -> Communicator& { return communicator_of(group); },
              command.at("seed"),
              spec_.plan_cache,
              timing.plan_budget_s};
    agree(group, [&] { prepare(benchmark, c, rank); });
    Meter meter(benchmark, c, rank, *trial_, timing,
                [item](const std::string& phase) { send_phase(item, phase); });
    return meter.run(fmt::format("{}/{}/{}[{}]", benchmark.info().id, c.text(), to_string(arm),
                                 fmt::join(ranks, ",")));
  }

  // Arms that do the same work on this rank share one trial: weak-scaling arms without
  // communication.
  void prepare(const Benchmark& benchmark, const Case& c, Rank& rank) {
    const bool shared_work = benchmark.info().scaling == "strong";
    const std::string key = fmt::format(
        "{}/{}/{}/{}", benchmark.info().id, c.text(), shared_work ? rank.world_size : 0,
        rank.arm == Arm::kTogether ? fmt::format("together{}", rank.world_size) : "alone");
    // Only where all ranks still have it: one that was restarted must not prepare alone.
    const auto have = rank.group.gather(key == trial_key_ ? "yes" : "no");
    if (std::find(have.begin(), have.end(), "no") == have.end()) return;
    trial_.reset();  // frees the memory of the last case first
    trial_key_.clear();
    trial_ = benchmark.prepare(c, rank);
    trial_key_ = key;
  }

  const Benchmark& find(const std::string& id) const {
    for (const auto& benchmark : suite_.benchmarks) {
      if (benchmark->info().id == id) return *benchmark;
    }
    throw Error(fmt::format("suite {} has no benchmark {}", suite_.name, id));
  }

  Group& group_of(const std::vector<int>& ranks) {
    auto& group = groups_[ranks];
    if (!group) {
      GroupSpec spec;
      spec.rank =
          static_cast<int>(std::find(ranks.begin(), ranks.end(), spec_.rank) - ranks.begin());
      spec.size = static_cast<int>(ranks.size());
      spec.folder = spec_.folder;
      spec.name = fmt::format("ranks-{}", fmt::join(ranks, "-"));
      spec.join_timeout_s = spec_.join_timeout_s;
      spec.timeout_s = spec_.timeout_s;
      group = Group::join(spec);
    }
    return *group;
  }

  Communicator& communicator_of(Group& group) {
    auto& communicator = communicators_[&group];
    if (!communicator) communicator = make_communicator(group, device_);
    return *communicator;
  }

  const Suite& suite_;
  const WorkerSpec& spec_;
  Device& device_;
  GpuTelemetry& telemetry_;
  std::unique_ptr<Stream> stream_;
  std::map<std::vector<int>, std::shared_ptr<Group>> groups_;
  std::map<Group*, std::unique_ptr<Communicator>> communicators_;
  std::string trial_key_;
  std::unique_ptr<Trial> trial_;  // last: its memory goes first
};

}  // namespace

std::string_view to_string(Arm arm) {
  switch (arm) {
    case Arm::kSolo:
      return "solo";
    case Arm::kApart:
      return "apart";
    case Arm::kTogether:
      return "together";
  }
  return "solo";
}

Json describe_suite(const Suite& suite) {
  Json benchmarks = Json::array();
  for (const auto& benchmark : suite.benchmarks) {
    const Info info = benchmark->info();
    const Space space = benchmark->space();
    Json axes = Json::array(), cases = Json::object();
    for (const Axis& axis : space.axes) axes.push_back(to_json(axis));
    for (const auto& [device, profiles] : space.cases) {
      for (const auto& [profile, list] : profiles) {
        Json texts = Json::array();
        for (const Case& c : list) texts.push_back(c.text());
        cases[device][std::string(to_string(profile))] = texts;
      }
    }
    benchmarks.push_back({{"id", info.id},
                          {"summary", info.summary},
                          {"scaling", info.scaling},
                          {"communicates", info.communicates},
                          {"rate_unit", info.rate_unit},
                          {"rate_scale", info.rate_scale},
                          {"rate_work", info.rate_work},
                          {"direction", info.direction},
                          {"axes", axes},
                          {"cases", cases}});
  }
  return {{"suite", suite.name}, {"summary", suite.summary}, {"benchmarks", benchmarks}};
}

int run_worker(const Suite& suite, const WorkerSpec& spec) {
  try {
    send_phase(-1, "start");
    const bool cpu = spec.device.starts_with("cpu");
    const int index = std::stoi(spec.device.substr(spec.device.find(':') + 1));
    auto device = cpu ? open_cpu_device(index, spec.cores) : open_cuda_device(index, spec.uuid);
    send_phase(-1, "join");
    auto world = Group::join(
        {spec.rank, spec.world_size, spec.folder, "world", spec.join_timeout_s, spec.timeout_s});
    Json description = device->describe();
    description["name"] = device->name();
    description["libraries"].update(communication_libraries());
    if (suite.libraries) description["libraries"].update(suite.libraries(*device));
    send_event({{"ev", "hello"},
                {"rank", spec.rank},
                {"device", description},
                {"address", world->address()}});
    const NvmlResult nvml = cpu ? NvmlResult{} : Nvml::open_within(20);
    auto telemetry =
        cpu ? GpuTelemetry::for_cpu() : GpuTelemetry(nvml.nvml, spec.uuid, nvml.reason);
    Worker worker(suite, spec, *device, telemetry);
    std::string line;
    while (std::getline(std::cin, line)) {
      Json command = parse_json(line, "command");
      if (command.at("cmd") == "exit") break;
      worker.run(command);
    }
    return kExitOk;
  } catch (const std::exception& error) {
    try {
      send_event({{"ev", "failed"}, {"reason", error.what()}});
    } catch (const std::exception&) {
      std::cerr << error.what() << "\n";
    }
    return kExitError;
  }
}

}  // namespace pairmark
