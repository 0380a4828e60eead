#include "harness/cli/run_options.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "harness/base/error.h"
#include "harness/base/units.h"

namespace pairmark {

std::shared_ptr<RunOptions> declare_run_options(CLI::App& app) {
  auto o = std::make_shared<RunOptions>();
  app.add_option("--profile", o->profile,
                 "quick (a first answer), standard (to decide on), full (every axis)")
      ->capture_default_str();
  app.add_option("--suite", o->suites, "only these suites")->delimiter(',');
  app.add_option("--filter", o->filter,
                 "only cases whose suite/benchmark/case matches this regular expression");
  app.add_option("--device", o->device, "auto, cpu or cuda")->capture_default_str();
  app.add_option("--gpus", o->gpus, "device counts to compare, e.g. 1,2,4")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--devices", o->devices,
                 "these devices: numbers, UUIDs (or unique beginnings) or bus ids")
      ->delimiter(',');
  app.add_option("--axis", o->axes,
                 "set an axis of every case, e.g. m=8192 or dtype=bf16,fp16; repeatable");
  app.add_option("--arms", o->arms,
                 "solo (each device alone), apart (all at once), together (with communication)")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--scaling", o->scaling, "weak (same work on each device), strong (same total)")
      ->delimiter(',')
      ->capture_default_str();
  app.add_option("--launches", o->launches, "fresh sets of worker processes (default: 3; full: 5)")
      ->check(CLI::Range(1, 1000));
  app.add_option("--seed", o->seed, "of the data and the order")->capture_default_str();
  app.add_option("--timeout", o->timeout,
                 "longest time of one phase of one case, e.g. 90s (default: 60s; full: 300s)");
  app.add_option("--resume", o->resume, "go on with the run in this folder");
  app.add_option(
      "-o,--output", o->output,
      "folder for result.json, journal.jsonl and log (default: pairmark-results/<UTC time>)");
  app.add_option("--junit", o->junit, "also write JUnit XML to this file");
  app.add_option("--gbench", o->gbench, "also write Google Benchmark JSON to this file");
  app.add_flag("--include-host-name", o->include_host_name, "keep the host name in the result");
  return o;
}

Json to_json(const RunOptions& o) {
  return {{"profile", o.profile},   {"suites", o.suites}, {"filter", o.filter},
          {"device", o.device},     {"gpus", o.gpus},     {"devices", o.devices},
          {"axes", o.axes},         {"arms", o.arms},     {"scaling", o.scaling},
          {"launches", o.launches}, {"seed", o.seed},     {"timeout", o.timeout}};
}

RunOptions run_options_from_json(const Json& json) {
  RunOptions o;
  o.profile = json.at("profile");
  o.suites = json.at("suites").get<std::vector<std::string>>();
  o.filter = json.at("filter");
  o.device = json.at("device");
  o.gpus = json.at("gpus").get<std::vector<int>>();
  o.devices = json.at("devices").get<std::vector<std::string>>();
  o.axes = json.at("axes").get<std::vector<std::string>>();
  o.arms = json.at("arms").get<std::vector<std::string>>();
  o.scaling = json.at("scaling").get<std::vector<std::string>>();
  o.launches = json.at("launches");
  o.seed = json.at("seed");
  o.timeout = json.at("timeout");
  return o;
}

TimingSpec timing_of(Profile profile) {
  TimingSpec t;
  switch (profile) {
    case Profile::kQuick:
      return {0.3, 1.5, 0.02, 12, 0.6, 3};
    case Profile::kStandard:
      return {3, 30, 0.05, 30, 3, 10};
    case Profile::kFull:
      return {3, 30, 0.05, 50, 5, 20};
  }
  return t;
}

int launches_of(const RunOptions& o) {
  if (o.launches < 0 || o.launches > 1000)
    throw UsageError(fmt::format("--launches {} is not from 1 to 1000", o.launches));
  if (o.launches > 0) return o.launches;
  return profile_from_string(o.profile) == Profile::kFull ? 5 : 3;
}

double phase_timeout_s(const RunOptions& o) {
  if (o.timeout.empty()) return profile_from_string(o.profile) == Profile::kFull ? 300 : 60;
  const double seconds = parse_seconds(o.timeout);
  if (seconds < 1)
    throw UsageError(fmt::format("--timeout {} is too short; give at least 1s", o.timeout));
  return seconds;
}

PlanRequest plan_request(const RunOptions& o, const DeviceSelection& selection) {
  PlanRequest request;
  request.device = selection.kind;
  request.devices = static_cast<int>(selection.devices.size());
  request.counts = o.gpus;
  std::sort(request.counts.begin(), request.counts.end());
  request.counts.erase(std::unique(request.counts.begin(), request.counts.end()),
                       request.counts.end());
  request.profile = profile_from_string(o.profile);
  request.launches = launches_of(o);
  request.seed = o.seed;
  if (!o.filter.empty()) request.filter = o.filter;
  request.arms = o.arms;
  request.scaling = o.scaling;
  std::string last;
  for (const auto& text : o.axes) {
    const std::size_t equals = text.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw UsageError(fmt::format("--axis {} is not name=value", text));
    auto& values = request.axes[text.substr(0, equals)];
    std::string_view rest = std::string_view(text).substr(equals + 1);
    while (true) {
      const std::string_view value = rest.substr(0, rest.find(','));
      if (value.empty()) throw UsageError(fmt::format("--axis {} has an empty value", text));
      values.emplace_back(value);
      if (value.size() == rest.size()) break;
      rest.remove_prefix(value.size() + 1);
    }
  }
  return request;
}

std::string repeat_command(const RunOptions& o, const DeviceSelection& selection,
                           const Item& item) {
  std::string command =
      fmt::format("pairmark run --profile {} --suite {} --filter '/{}/' --device {}", o.profile,
                  item.suite, item.benchmark, selection.kind);
  // The counts of this run, not only the row's: on cpu they decide how the cores are divided.
  command += fmt::format(" --gpus {}", fmt::join(o.gpus, ","));
  if (!o.timeout.empty()) command += fmt::format(" --timeout {}", o.timeout);
  if (!o.devices.empty()) command += fmt::format(" --devices {}", fmt::join(o.devices, ","));
  const Json axes = item.c.axes();  // named: items() does not keep a temporary alive
  for (const auto& [axis, value] : axes.items()) {
    command += fmt::format(" --axis {}={}", axis,
                           value.is_string() ? value.get<std::string>() : value.dump());
  }
  command += fmt::format(" --arms {} --seed {}", item.arm, o.seed);
  if (o.launches > 0) command += fmt::format(" --launches {}", o.launches);
  return command;
}

}  // namespace pairmark
