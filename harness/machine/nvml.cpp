#include "harness/machine/nvml.h"

#include <fmt/format.h>

#include "harness/base/error.h"
#include "harness/machine/files.h"

namespace pairmark {
namespace {

constexpr double kSlowSeconds = 2.0;

}  // namespace

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
