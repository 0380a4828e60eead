#include "harness/health/findings.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "harness/base/units.h"

namespace pairmark {
namespace {

using Findings = std::vector<Finding>;

// NCCL's shared memory transport takes segments of about 9.2 MiB, several for each pair of ranks
// and channel.
constexpr double kShmSegmentBytes = 9637888;
constexpr double kShmEnoughBytes = kGiB;

std::optional<double> number(const Json& object, const char* key) {
  if (!object.is_object() || !object.contains(key) || !object[key].is_number()) return std::nullopt;
  return object[key].get<double>();
}

std::string text(const Json& object, const char* key) {
  return object.is_object() && object.contains(key) && object[key].is_string()
             ? object[key].get<std::string>()
             : "";
}

bool is(const Json& object, const char* key, bool wanted) {
  return object.is_object() && object.contains(key) && object[key].is_boolean() &&
         object[key].get<bool>() == wanted;
}

const Json& part(const Json& snapshot, const char* key) {
  static const Json kNothing;
  return snapshot.is_object() && snapshot.contains(key) ? snapshot[key] : kNothing;
}

std::string label(const Json& gpu) {
  const std::string bus = text(gpu, "bus_id"), name = text(gpu, "name");
  return fmt::format("{} at {}", name.empty() ? "GPU" : name,
                     bus.empty() ? "an unknown bus id" : bus);
}

void shm(const Json& snapshot, Findings& out) {
  const Json& shm = part(snapshot, "shm");
  const auto free = number(shm, "free_bytes"), size = number(shm, "size_bytes");
  if (!free || !size || *free >= kShmEnoughBytes) return;
  out.push_back(
      {Severity::kWarn,
       fmt::format("/dev/shm has {} free: only {:.0f} segments of 9.2 MiB fit, and ranks without "
                   "peer access need several each",
                   format_bytes(*free), std::floor(*free / kShmSegmentBytes)),
       fmt::format("{} of {} free", format_bytes(*free), format_bytes(*size)),
       "in a container: --shm-size=1g or --ipc=host; else remove stale files from /dev/shm"});
}

void driver(const Json& snapshot, Findings& out) {
  const Json& driver = part(snapshot, "driver");
  const std::string state = text(driver, "state"), reason = text(driver, "reason");
  if (state == "version mismatch" || state == "unknown error" || state == "no answer" ||
      state == "error" || state == "no permission") {
    out.push_back({Severity::kFail, "the GPUs cannot be asked: " + reason, state, ""});
  } else if (state == "driver not loaded") {
    out.push_back({Severity::kWarn, "an NVIDIA library is installed but " + reason, state, ""});
  }
  const std::string version = text(driver, "version"), module = text(driver, "kernel_module");
  if (!version.empty() && !module.empty() && version != module)
    out.push_back(
        {Severity::kWarn,
         fmt::format("the driver library says {} and the kernel module {}", version, module), "",
         "reboot, or take the driver out of the container image"});
  for (const Json& slow : part(snapshot, "slow_queries"))
    out.push_back(
        {Severity::kWarn,
         fmt::format("the driver took {:.3g} s for {}: a GPU or an NVLink bridge may be sick",
                     number(slow, "seconds").value_or(0), text(slow, "name")),
         "", "look for NVRM and Xid lines in the kernel log; reseat cards and bridges"});
}

void throttling(const Json& gpu, Findings& out) {
  const Json& reasons = part(gpu, "throttle_reasons");
  if (!reasons.is_array()) return;
  const auto active = [&](const char* name) {
    return std::find(reasons.begin(), reasons.end(), name) != reasons.end();
  };
  if (active("hw_slowdown") || active("hw_power_brake") || active("hw_thermal_slowdown"))
    out.push_back({Severity::kFail, label(gpu) + " is slowed down by its hardware", reasons.dump(),
                   "check power supply and cables, cooling and the slowdown temperature; figures "
                   "of this GPU are too low"});
  else if (active("sw_thermal_slowdown"))
    out.push_back(
        {Severity::kWarn, label(gpu) + " is slowed down by heat", reasons.dump(), "check cooling"});
}

void power(const Json& gpu, Findings& out) {
  const auto limit = number(gpu, "power_limit_w"), usual = number(gpu, "power_limit_default_w");
  if (!limit || !usual || *limit >= *usual - 0.5) return;
  out.push_back({Severity::kInfo,
                 fmt::format("{}: user cap {:.0f} of {:.0f} W", label(gpu), *limit, *usual),
                 fmt::format("limit {:.0f} W, default {:.0f} W", *limit, *usual),
                 "compare only with runs under the same cap"});
}

void memory_errors(const Json& gpu, Findings& out) {
  const Json& rows = part(gpu, "remapped_rows");
  if (is(rows, "failed", true))
    out.push_back({Severity::kFail, label(gpu) + " could not remap a bad memory row", rows.dump(),
                   "replace the card"});
  else if (is(rows, "pending", true))
    out.push_back({Severity::kWarn, label(gpu) + " has a memory row waiting to be remapped",
                   rows.dump(), "reset the GPU or reboot, then test again"});
  if (const auto errors = number(gpu, "ecc_uncorrected"); errors && *errors > 0)
    out.push_back(
        {Severity::kFail,
         fmt::format("{} had {:.0f} uncorrected memory errors since the driver was loaded",
                     label(gpu), *errors),
         "", "reset the GPU and test again; replace it if they come back"});
  if (gpu.contains("ecc") && gpu["ecc"].is_boolean() &&
      is(gpu, "ecc_pending", !gpu["ecc"].get<bool>()))
    out.push_back({Severity::kWarn, label(gpu) + ": a change of ECC waits for a restart", "",
                   "reboot, then measure"});
}

void modes(const Json& gpu, Findings& out) {
  if (is(gpu, "persistence", false))
    out.push_back(
        {Severity::kInfo,
         label(gpu) + ": persistence mode is off, so that the first use after idling takes seconds",
         "", "'nvidia-smi -pm 1' or the service nvidia-persistenced"});
  if (is(gpu, "mig", true))
    out.push_back({Severity::kWarn, label(gpu) + " is divided by MIG; whole GPUs are measured here",
                   "", "'nvidia-smi -mig 0'"});
  if (const auto others = number(gpu, "processes"); others && *others > 0)
    out.push_back({Severity::kWarn,
                   fmt::format("{}: {:.0f} other process(es) use it, and figures will be too low",
                               label(gpu), *others),
                   "", "end them ('nvidia-smi' lists them) and run again"});
  const auto links = number(gpu, "nvlink_links"), up = number(gpu, "nvlink_links_up");
  if (links && up && *links > 0 && *up < *links)
    out.push_back(
        {*up == 0 ? Severity::kFail : Severity::kWarn,
         fmt::format("{}: {:.0f} of {:.0f} NVLink links are up", label(gpu), *up, *links), "",
         "check bridge, baseboard and fabric manager; traffic between GPUs takes another way"});
  for (const Json& error : part(gpu, "query_errors"))
    out.push_back({Severity::kFail, label(gpu) + " failed to answer its driver",
                   error.is_string() ? error.get<std::string>() : "",
                   "look for Xid lines in the kernel log; reset the GPU or reboot"});
}

void twins(const Json& gpus, Findings& out) {
  const auto differ = [&](const char* key, double tolerance) {
    std::vector<double> values;
    for (const Json& gpu : gpus)
      if (const auto value = number(gpu, key)) values.push_back(*value);
    const auto [least, most] = std::minmax_element(values.begin(), values.end());
    return values.size() > 1 && *most - *least > tolerance
               ? fmt::format("{}", fmt::join(values, " / "))
               : std::string();
  };
  for (const Json& gpu : gpus)
    if (text(gpu, "name") != text(gpus.front(), "name")) {
      out.push_back({Severity::kWarn,
                     fmt::format("the GPUs differ: {} and {}; the slower one sets the pace",
                                 label(gpus.front()), label(gpu)),
                     "", ""});
      return;
    }
  if (const std::string limits = differ("power_limit_w", 0.5); !limits.empty())
    out.push_back({Severity::kWarn, "GPUs of the same kind have different power limits",
                   limits + " W", "set the same limit with 'nvidia-smi -pl'"});
  if (const std::string widths = differ("pcie_width", 0.5); !widths.empty())
    out.push_back(
        {Severity::kWarn, "GPUs of the same kind have PCIe links of different width", "x" + widths,
         "check slots and the board's lane table; the narrow one sets the pace of an exchange"});
}

void cpu(const Json& snapshot, Findings& out) {
  const Json& cpu = part(snapshot, "cpu");
  const auto quota = number(cpu, "quota_cpus"), cpus = number(cpu, "logical_cpus_allowed");
  if (quota && cpus && *quota < *cpus)
    out.push_back({Severity::kWarn,
                   fmt::format("the control group allows {:.3g} CPUs' worth of time on {:.0f} "
                               "CPUs: threads will be stopped for parts of each period",
                               *quota, *cpus),
                   "", "use fewer threads or raise the quota (docker --cpus, Kubernetes limits)"});
}

void environment(const Json& snapshot, Findings& out) {
  const Json& variables = part(snapshot, "environment");
  if (!variables.is_object()) return;
  std::vector<std::string> set;
  for (const auto& [name, value] : variables.items())
    if (name.starts_with("NCCL_") && !name.ends_with("_reason"))
      set.push_back(value.is_string() ? name + "=" + value.get<std::string>() : name);
  if (set.empty()) return;
  // These take the fast ways between GPUs away.
  const bool harmful = std::any_of(set.begin(), set.end(), [](const std::string& entry) {
    return entry == "NCCL_P2P_DISABLE=1" || entry == "NCCL_SHM_DISABLE=1" ||
           entry.starts_with("NCCL_P2P_LEVEL=");
  });
  out.push_back({harmful ? Severity::kWarn : Severity::kInfo,
                 "NCCL variables are set and change how GPUs talk to each other",
                 fmt::format("{}", fmt::join(set, " ")), "unset them unless they are meant"});
}

}  // namespace

Findings find_findings(const Json& snapshot) {
  Findings out;
  driver(snapshot, out);
  const Json& gpus = part(snapshot, "gpus");
  if (gpus.is_array() && !gpus.empty()) {
    for (const Json& gpu : gpus) {
      throttling(gpu, out);
      power(gpu, out);
      memory_errors(gpu, out);
      modes(gpu, out);
    }
    twins(gpus, out);
  }
  shm(snapshot, out);
  cpu(snapshot, out);
  environment(snapshot, out);
  std::stable_sort(out.begin(), out.end(),
                   [](const Finding& a, const Finding& b) { return a.severity > b.severity; });
  return out;
}

Json to_json(const Finding& finding) {
  const auto or_null = [](const std::string& value) {
    return value.empty() ? Json(nullptr) : Json(value);
  };
  const char* severity = finding.severity == Severity::kFail   ? "fail"
                         : finding.severity == Severity::kWarn ? "warn"
                                                               : "info";
  return {{"severity", severity},
          {"text", finding.text},
          {"evidence", or_null(finding.evidence)},
          {"next_step", or_null(finding.next_step)}};
}

Json to_json(const Findings& findings) {
  Json out = Json::array();
  for (const Finding& finding : findings) out.push_back(to_json(finding));
  return out;
}

}  // namespace pairmark
