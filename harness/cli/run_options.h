// The options of `pairmark run`, as given and as kept in the journal so that --resume can go on
// with the same ones.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "harness/machine/devices.h"
#include "harness/run/plan.h"
#include "harness/run/protocol.h"

namespace pairmark {

struct RunOptions {
  std::string profile = "standard";
  std::vector<std::string> suites;
  std::string filter;
  std::string device = "auto";
  std::vector<int> gpus = {1, 2};
  std::vector<std::string> devices;
  std::vector<std::string> axes;  // "m=8192" or "dtype=bf16,fp16"
  std::vector<std::string> arms = {"solo", "apart", "together"};
  std::vector<std::string> scaling = {"weak", "strong"};
  int launches = 0;  // 0: of the profile
  std::uint64_t seed = 1;
  std::string timeout;  // "": of the profile
  std::string resume;
  std::string output;
  std::string junit, gbench;
  bool include_host_name = false;
};

std::shared_ptr<RunOptions> declare_run_options(CLI::App& app);

// What a run measures and how, as it is kept in the journal's header.
Json to_json(const RunOptions& options);
RunOptions run_options_from_json(const Json& json);

TimingSpec timing_of(Profile profile);
int launches_of(const RunOptions& options);
double phase_timeout_s(const RunOptions& options);

// Throws UsageError for values that cannot be.
PlanRequest plan_request(const RunOptions& options, const DeviceSelection& selection);

// The command that measures one row again on the same devices.
std::string repeat_command(const RunOptions& options, const DeviceSelection& selection,
                           const Item& item);

}  // namespace pairmark
