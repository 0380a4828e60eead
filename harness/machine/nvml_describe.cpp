// The facts of one GPU and of the driver as the snapshot has them.
#include <fmt/format.h>

#include "harness/machine/files.h"
#include "harness/machine/nvml.h"

namespace pairmark {
namespace {

// Answers that were failures read "<function> failed: ..."; "not supported" and "no permission" are
// not failures.
Json query_errors(const Json& gpu) {
  Json errors = Json::array();
  for (const auto& [key, value] : gpu.items())
    if (key.ends_with("_reason") && value.is_string() &&
        value.get<std::string>().find(" failed: ") != std::string::npos)
      errors.push_back(value);
  return errors;
}

}  // namespace

Json Nvml::describe_driver() {
  Json out;
  const auto system_text = [&](const char* function) {
    char buffer[96] = "";
    const Status status = call(function, buffer + 0, static_cast<unsigned>(sizeof buffer));
    buffer[sizeof buffer - 1] = '\0';
    return known(status, std::string(buffer));
  };
  put(out, "version", system_text("nvmlSystemGetDriverVersion"));
  int cuda = 0;
  const Status status = call("nvmlSystemGetCudaDriverVersion_v2", &cuda);
  put(out, "cuda_driver", known(status, fmt::format("{}.{}", cuda / 1000, cuda % 1000 / 10)));
  put(out, "nvml_library", system_text("nvmlSystemGetNVMLVersion"));
  return out;
}

Json Nvml::describe_gpu(const GpuIdentity& gpu) {
  Json out;
  const auto or_null = [](const std::string& value) {
    return value.empty() ? Json(nullptr) : Json(value);
  };
  out["nvml_index"] = gpu.nvml_index;
  out["uuid"] = or_null(gpu.uuid);
  out["name"] = gpu.name;
  out["bus_id"] = or_null(gpu.bus_id);
  out["compute_capability"] = or_null(gpu.compute_capability);
  void* device = nullptr;
  const Status status =
      call("nvmlDeviceGetHandleByIndex_v2", static_cast<unsigned>(gpu.nvml_index), &device);
  if (status.code != nvml_abi::kSuccess) {
    out["query_errors"] = Json::array({explain(status)});
    return out;
  }
  put(out, "cuda_cores", count("nvmlDeviceGetNumGpuCores", device));
  describe_memory(device, out);
  describe_link(device, out);
  put(out, "sm_clock_mhz", clock("nvmlDeviceGetClockInfo", device, nvml_abi::kClockSm));
  put(out, "sm_clock_max_mhz", clock("nvmlDeviceGetMaxClockInfo", device, nvml_abi::kClockSm));
  put(out, "memory_clock_mhz", clock("nvmlDeviceGetClockInfo", device, nvml_abi::kClockMemory));
  put(out, "memory_clock_max_mhz",
      clock("nvmlDeviceGetMaxClockInfo", device, nvml_abi::kClockMemory));
  describe_power(device, out);
  put(out, "temperature_c", temperature(device));
  put(out, "throttle_reasons", converted(throttle_bits(device), throttle_names));
  describe_ecc(device, out);
  describe_modes(device, out);
  describe_nvlink(device, out);
  describe_affinity(device, out);
  out["query_errors"] = query_errors(out);
  return out;
}

void Nvml::describe_memory(void* device, Json& out) {
  nvml_abi::Memory memory{};
  const Status status = call("nvmlDeviceGetMemoryInfo", device, &memory);
  put(out, "memory_total_bytes", known(status, std::uint64_t{memory.total}));
  put(out, "memory_free_bytes", known(status, std::uint64_t{memory.free}));
  put(out, "memory_bus_bits", count("nvmlDeviceGetMemoryBusWidth", device));
}

void Nvml::describe_link(void* device, Json& out) {
  put(out, "pcie_generation", count("nvmlDeviceGetCurrPcieLinkGeneration", device));
  put(out, "pcie_generation_max", count("nvmlDeviceGetMaxPcieLinkGeneration", device));
  put(out, "pcie_width", count("nvmlDeviceGetCurrPcieLinkWidth", device));
  put(out, "pcie_width_max", count("nvmlDeviceGetMaxPcieLinkWidth", device));
}

void Nvml::describe_power(void* device, Json& out) {
  put(out, "power_draw_w", power_now(device));
  put(out, "power_limit_w", milli("nvmlDeviceGetEnforcedPowerLimit", device));
  put(out, "power_limit_set_w", milli("nvmlDeviceGetPowerManagementLimit", device));
  put(out, "power_limit_default_w", milli("nvmlDeviceGetPowerManagementDefaultLimit", device));
  unsigned least = 0, most = 0;
  const Status status = call("nvmlDeviceGetPowerManagementLimitConstraints", device, &least, &most);
  put(out, "power_limit_min_w", known(status, least / 1e3));
  put(out, "power_limit_max_w", known(status, most / 1e3));
  put(out, "energy_counter_j", energy(device));
}

void Nvml::describe_ecc(void* device, Json& out) {
  unsigned current = 0, pending = 0;
  Status status = call("nvmlDeviceGetEccMode", device, &current, &pending);
  put(out, "ecc", known(status, current == 1));
  put(out, "ecc_pending", known(status, pending == 1));
  const auto errors = [&](unsigned type) {
    unsigned long long total = 0;
    const Status answer =
        call("nvmlDeviceGetTotalEccErrors", device, type, nvml_abi::kEccVolatile, &total);
    return known(answer, std::uint64_t{total});
  };
  put(out, "ecc_corrected", errors(nvml_abi::kEccCorrected));
  put(out, "ecc_uncorrected", errors(nvml_abi::kEccUncorrected));
  unsigned corrected = 0, uncorrected = 0, waiting = 0, failed = 0;
  status = call("nvmlDeviceGetRemappedRows", device, &corrected, &uncorrected, &waiting, &failed);
  const Json rows = {{"corrected", corrected},
                     {"uncorrected", uncorrected},
                     {"pending", waiting != 0},
                     {"failed", failed != 0}};
  put(out, "remapped_rows", known(status, rows));
}

void Nvml::describe_modes(void* device, Json& out) {
  put(out, "persistence", converted(count("nvmlDeviceGetPersistenceMode", device), [](unsigned on) {
        return on == 1;
      }));
  unsigned current = 0, pending = 0;
  Status status = call("nvmlDeviceGetMigMode", device, &current, &pending);
  put(out, "mig", known(status, current == 1));
  put(out, "compute_mode", converted(count("nvmlDeviceGetComputeMode", device), compute_mode_name));
  unsigned processes = 0;  // room for none: the answer "too small" comes with the number
  for (const char* function :
       {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"}) {
    processes = 0;
    status = call(function, device, &processes, static_cast<void*>(nullptr));
    if (status.code != nvml_abi::kFunctionNotFound) break;
  }
  if (status.code == nvml_abi::kInsufficientSize) status.code = nvml_abi::kSuccess;
  put(out, "processes", known(status, processes));
}

void Nvml::describe_nvlink(void* device, Json& out) {
  unsigned links = 0, up = 0;
  Status status;
  for (unsigned link = 0; link < nvml_abi::kMaxNvLinks; ++link) {
    unsigned active = 0;
    status = call("nvmlDeviceGetNvLinkState", device, link, &active);
    if (status.code != nvml_abi::kSuccess) break;
    ++links;
    up += active == 1;
  }
  // Asking for a link beyond the last one is how the number of links is found out.
  if (links > 0 || status.code == nvml_abi::kInvalidArgument) status.code = nvml_abi::kSuccess;
  put(out, "nvlink_links", known(status, links));
  put(out, "nvlink_links_up", known(status, up));
}

void Nvml::describe_affinity(void* device, Json& out) {
  unsigned node = 0;
  Status status = call("nvmlDeviceGetNumaNodeId", device, &node);
  put(out, "gpu_numa_node",
      known(status, node));  // the node that GPU memory is, on coherent systems
  constexpr unsigned kWords = 16;
  unsigned long words[kWords] = {};
  status = call("nvmlDeviceGetCpuAffinity", device, kWords, words + 0);
  std::vector<int> cpus;
  for (unsigned bit = 0; bit < kWords * 64; ++bit)
    if (words[bit / 64] >> (bit % 64) & 1) cpus.push_back(static_cast<int>(bit));
  put(out, "cpu_affinity", known(status, format_cpu_list(cpus)));
}

}  // namespace pairmark
