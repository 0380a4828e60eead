#include "harness/machine/nvml.h"

#include <fmt/format.h>

#include "harness/base/error.h"
#include "harness/machine/files.h"

namespace pairmark {
namespace {

constexpr double kSlowSeconds = 2.0;

std::string compute_mode_name(unsigned mode) {
  switch (mode) {
    case 0:
      return "default";
    case 1:
      return "exclusive thread";
    case 2:
      return "prohibited";
    case 3:
      return "exclusive process";
    default:
      return fmt::format("unknown({})", mode);
  }
}

template <typename T, typename F>
auto converted(const Known<T>& known, F convert) -> Known<decltype(convert(*known.value))> {
  if (!known.value) return {std::nullopt, known.reason};
  return {convert(*known.value), ""};
}

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

Nvml::~Nvml() {
  if (initialized_) call("nvmlShutdown");
  dlclose(library_);
}

void Nvml::note_time(const char* name, double seconds) {
  if (seconds <= kSlowSeconds) return;
  const std::lock_guard lock(mutex_);
  slow_.push_back({name, seconds});
}

std::vector<SlowQuery> Nvml::slow_queries() const {
  const std::lock_guard lock(mutex_);
  return slow_;
}

std::string Nvml::explain(const Status& status) {
  switch (status.code) {
    case nvml_abi::kNotSupported:
      return "not supported by this GPU, driver or virtual machine";
    case nvml_abi::kDeprecated:
      return "no longer offered by this driver";
    case nvml_abi::kNoPermission:
      return "needs more rights than this user has";
    case nvml_abi::kFunctionNotFound:
      return "this driver's NVML has no " + status.name;
    default:
      break;
  }
  const char* words = nullptr;
  if (auto error_string =
          reinterpret_cast<const char* (*)(int)>(dlsym(library_, "nvmlErrorString")))
    words = error_string(status.code);
  return fmt::format("{} failed: {} (code {})", status.name, words ? words : "no text",
                     status.code);
}

void* Nvml::handle(int nvml_index) {
  {
    const std::lock_guard lock(mutex_);
    if (auto found = handles_.find(nvml_index); found != handles_.end()) return found->second;
  }
  void* device = nullptr;
  const Status status =
      call("nvmlDeviceGetHandleByIndex_v2", static_cast<unsigned>(nvml_index), &device);
  if (status.code != nvml_abi::kSuccess) return nullptr;
  const std::lock_guard lock(mutex_);
  return handles_[nvml_index] = device;
}

template <typename T>
Known<T> Nvml::known(const Status& status, T value) {
  if (status.code == nvml_abi::kSuccess) return Known<T>::of(std::move(value));
  return Known<T>::missing(explain(status));
}

Known<std::string> Nvml::text(const char* function, void* device) {
  char buffer[128] = "";
  const Status status = call(function, device, buffer + 0, static_cast<unsigned>(sizeof buffer));
  buffer[sizeof buffer - 1] = '\0';
  std::string answer = trimmed(buffer);
  if (status.code == nvml_abi::kSuccess && (answer.empty() || answer == "N/A" || answer == "[N/A]"))
    return Known<std::string>::missing("the driver answered '" + answer + "'");
  return known(status, std::move(answer));
}

Known<unsigned> Nvml::count(const char* function, void* device) {
  unsigned value = 0;
  const Status status = call(function, device, &value);
  return known(status, value);
}

Known<double> Nvml::milli(const char* function, void* device) {
  return converted(count(function, device), [](unsigned value) { return value / 1e3; });
}

Known<double> Nvml::clock(const char* function, void* device, unsigned type) {
  unsigned mhz = 0;
  const Status status = call(function, device, type, &mhz);
  return known(status, static_cast<double>(mhz));
}

// The field is the power of this instant; the older call is a mean over a second on recent GPUs.
Known<double> Nvml::power_now(void* device) {
  nvml_abi::FieldValue field{};
  field.field_id = nvml_abi::kFieldPowerInstant;
  if (call("nvmlDeviceGetFieldValues", device, 1, &field).code == nvml_abi::kSuccess &&
      field.code == nvml_abi::kSuccess && field.value_type == 1)
    return Known<double>::of(field.value.as_unsigned / 1e3);
  return milli("nvmlDeviceGetPowerUsage", device);
}

Known<double> Nvml::temperature(void* device) {
  unsigned celsius = 0;
  const Status status =
      call("nvmlDeviceGetTemperature", device, nvml_abi::kTemperatureGpu, &celsius);
  return known(status, static_cast<double>(celsius));
}

Known<double> Nvml::energy(void* device) {
  unsigned long long millijoules = 0;
  const Status status = call("nvmlDeviceGetTotalEnergyConsumption", device, &millijoules);
  return known(status, static_cast<double>(millijoules) / 1e3);
}

// Renamed in driver 535; either name may be the only one.
Known<std::uint64_t> Nvml::throttle_bits(void* device) {
  unsigned long long bits = 0;
  Status status = call("nvmlDeviceGetCurrentClocksEventReasons", device, &bits);
  if (status.code == nvml_abi::kFunctionNotFound)
    status = call("nvmlDeviceGetCurrentClocksThrottleReasons", device, &bits);
  return known(status, std::uint64_t{bits});
}

GpuIdentity Nvml::identity(int nvml_index) {
  GpuIdentity gpu;
  gpu.nvml_index = nvml_index;
  void* device = handle(nvml_index);
  if (device == nullptr) return gpu;
  gpu.uuid = text("nvmlDeviceGetUUID", device).value.value_or("");
  gpu.name = text("nvmlDeviceGetName", device).value.value_or("GPU of unknown name");
  nvml_abi::PciInfo pci{};
  if (call("nvmlDeviceGetPciInfo_v3", device, &pci).code == nvml_abi::kSuccess) {
    pci.bus_id[sizeof pci.bus_id - 1] = '\0';
    gpu.bus_id = normal_bus_id(pci.bus_id);
  }
  int major = 0, minor = 0;
  if (call("nvmlDeviceGetCudaComputeCapability", device, &major, &minor).code == nvml_abi::kSuccess)
    gpu.compute_capability = fmt::format("{}.{}", major, minor);
  nvml_abi::Memory memory{};
  if (call("nvmlDeviceGetMemoryInfo", device, &memory).code == nvml_abi::kSuccess)
    gpu.memory_bytes = memory.total;
  unsigned current = 0, pending = 0;
  gpu.mig = call("nvmlDeviceGetMigMode", device, &current, &pending).code == nvml_abi::kSuccess &&
            current == 1;
  if (auto mode = count("nvmlDeviceGetComputeMode", device); mode.value)
    gpu.compute_mode = compute_mode_name(*mode.value);
  return gpu;
}

// A GPU that does not even give its handle stays in the list, without UUID: it must not vanish from
// a report.
std::vector<GpuIdentity> Nvml::gpus() {
  unsigned count = 0;
  const Status status = call("nvmlDeviceGetCount_v2", &count);
  if (status.code != nvml_abi::kSuccess)
    throw Error("the GPUs cannot be counted: " + explain(status));
  std::vector<GpuIdentity> list;
  for (unsigned i = 0; i < count; ++i) list.push_back(identity(static_cast<int>(i)));
  return list;
}

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

GpuSample Nvml::sample(const GpuIdentity& gpu) {
  GpuSample out;
  void* device = handle(gpu.nvml_index);
  if (device == nullptr) {
    const std::string why = "the GPU gives no NVML handle";
    out.sm_clock_mhz = out.power_w = out.temperature_c = out.energy_j = Known<double>::missing(why);
    out.throttle_bits = Known<std::uint64_t>::missing(why);
    return out;
  }
  out.sm_clock_mhz = clock("nvmlDeviceGetClockInfo", device, nvml_abi::kClockSm);
  out.power_w = power_now(device);
  out.temperature_c = temperature(device);
  out.throttle_bits = throttle_bits(device);
  out.energy_j = energy(device);
  return out;
}

}  // namespace pairmark
