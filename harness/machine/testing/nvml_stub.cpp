// A stand-in for libnvidia-ml.so.1, for tests of the real way in: dlopen, symbols, codes. Its
// values are those of one H200. Environment: STUB_INIT code of nvmlInit_v2; STUB_GPUS number of
// GPUs (2); STUB_UNSUPPORTED "all" or names of functions that answer 3; STUB_FAIL "function:code";
// STUB_SLOW "function:milliseconds". With STUB_OLD defined, newer functions are absent.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

#include "harness/machine/nvml_abi.h"

namespace {

std::string env(const char* name, const char* otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? value : otherwise;
}

// The number after "function:" in a variable of that form, or -1.
int number_for(const char* variable, const char* function) {
  const std::string value = env(variable, "");
  const auto colon = value.find(':');
  return colon != std::string::npos && value.substr(0, colon) == function
             ? std::atoi(value.c_str() + colon + 1)
             : -1;
}

int outcome(const char* function) {
  if (const int wait = number_for("STUB_SLOW", function); wait > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(wait));
  if (const int code = number_for("STUB_FAIL", function); code >= 0) return code;
  const std::string unsupported = env("STUB_UNSUPPORTED", "");
  const bool refused =
      unsupported == "all" ||
      (',' + unsupported + ',').find(std::string(",") + function + ',') != std::string::npos;
  return refused ? pairmark::nvml_abi::kNotSupported : 0;
}

int gpu_count() {
  return std::atoi(env("STUB_GPUS", "2").c_str());
}

// Handles are 1 + index.
int index_of(void* device) {
  return static_cast<int>(reinterpret_cast<std::uintptr_t>(device)) - 1;
}

template <typename T, typename V>
int give(const char* function, T* out, V value) {
  const int code = outcome(function);
  if (code == 0) *out = static_cast<T>(value);
  return code;
}

int give_text(const char* function, char* out, unsigned size, const char* text) {
  const int code = outcome(function);
  if (code == 0) std::snprintf(out, size, "%s", text);
  return code;
}

}  // namespace

#define GIVE(name, value)           \
  int name(void*, unsigned* out) {  \
    return give(#name, out, value); \
  }

extern "C" {

int nvmlInit_v2() {
  outcome("nvmlInit_v2");
  return std::atoi(env("STUB_INIT", "0").c_str());
}
int nvmlShutdown() {
  return 0;
}
const char* nvmlErrorString(int code) {
  return code == 15 ? "GPU is lost" : "Unknown Error";
}
int nvmlSystemGetDriverVersion(char* out, unsigned size) {
  return give_text("nvmlSystemGetDriverVersion", out, size, "580.159.04");
}
int nvmlSystemGetNVMLVersion(char* out, unsigned size) {
  return give_text("nvmlSystemGetNVMLVersion", out, size, "13.580.159.04");
}
int nvmlSystemGetCudaDriverVersion_v2(int* out) {
  return give("nvmlSystemGetCudaDriverVersion_v2", out, 13000);
}
int nvmlDeviceGetCount_v2(unsigned* out) {
  return give("nvmlDeviceGetCount_v2", out, gpu_count());
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void** out) {
  const int code = outcome("nvmlDeviceGetHandleByIndex_v2");
  if (code != 0) return code;
  if (static_cast<int>(index) >= gpu_count()) return 2;
  *out = reinterpret_cast<void*>(static_cast<std::uintptr_t>(index) + 1);
  return 0;
}

int nvmlDeviceGetUUID(void* device, char* out, unsigned size) {
  const std::string uuid =
      "GPU-" + std::to_string(index_of(device)) + "0000000-1111-2222-3333-444444444444";
  return give_text("nvmlDeviceGetUUID", out, size, uuid.c_str());
}
int nvmlDeviceGetName(void*, char* out, unsigned size) {
  return give_text("nvmlDeviceGetName", out, size, env("STUB_NAME", "NVIDIA H200").c_str());
}
int nvmlDeviceGetPciInfo_v3(void* device, pairmark::nvml_abi::PciInfo* out) {
  const int code = outcome("nvmlDeviceGetPciInfo_v3");
  if (code != 0) return code;
  std::memset(out, 0, sizeof *out);
  out->bus = 0;
  out->device = static_cast<unsigned>(6 + index_of(device));
  std::snprintf(out->bus_id, sizeof out->bus_id, "00000000:00:%02X.0", out->device);
  return 0;
}
int nvmlDeviceGetCudaComputeCapability(void*, int* major, int* minor) {
  *minor = 0;
  return give("nvmlDeviceGetCudaComputeCapability", major, 9);
}
int nvmlDeviceGetMemoryInfo(void*, pairmark::nvml_abi::Memory* out) {
  return give("nvmlDeviceGetMemoryInfo", out,
              pairmark::nvml_abi::Memory{143771ull << 20, 143156ull << 20, 0});
}
GIVE(nvmlDeviceGetNumGpuCores, 16896)
GIVE(nvmlDeviceGetCurrPcieLinkGeneration, 5)
GIVE(nvmlDeviceGetMaxPcieLinkGeneration, 5)
GIVE(nvmlDeviceGetCurrPcieLinkWidth, 16)
GIVE(nvmlDeviceGetMaxPcieLinkWidth, 16)
GIVE(nvmlDeviceGetPowerUsage, 128860)
GIVE(nvmlDeviceGetEnforcedPowerLimit, std::atoi(env("STUB_POWER_LIMIT_MW", "700000").c_str()))
GIVE(nvmlDeviceGetPowerManagementLimit, 700000)
GIVE(nvmlDeviceGetPowerManagementDefaultLimit, 700000)
GIVE(nvmlDeviceGetPersistenceMode, 1)
GIVE(nvmlDeviceGetComputeMode, 0)
int nvmlDeviceGetPowerManagementLimitConstraints(void*, unsigned* least, unsigned* most) {
  *least = 200000;
  return give("nvmlDeviceGetPowerManagementLimitConstraints", most, 700000);
}
int nvmlDeviceGetClockInfo(void*, unsigned type, unsigned* out) {
  return give("nvmlDeviceGetClockInfo", out, type == 1 ? 1980 : 3201);
}
int nvmlDeviceGetMaxClockInfo(void*, unsigned type, unsigned* out) {
  return give("nvmlDeviceGetMaxClockInfo", out, type == 1 ? 1980 : 3201);
}
int nvmlDeviceGetTemperature(void*, unsigned, unsigned* out) {
  return give("nvmlDeviceGetTemperature", out, 39);
}
int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* out) {
  return give("nvmlDeviceGetCurrentClocksThrottleReasons", out,
              std::strtoull(env("STUB_THROTTLE", "0").c_str(), nullptr, 0));
}
int nvmlDeviceGetEccMode(void*, unsigned* current, unsigned* pending) {
  *pending = 1;
  return give("nvmlDeviceGetEccMode", current, 1);
}
int nvmlDeviceGetTotalEccErrors(void*, unsigned, unsigned, unsigned long long* out) {
  return give("nvmlDeviceGetTotalEccErrors", out, 0);
}
int nvmlDeviceGetMigMode(void*, unsigned* current, unsigned* pending) {
  *pending = 0;
  return give("nvmlDeviceGetMigMode", current, std::atoi(env("STUB_MIG", "0").c_str()));
}
int nvmlDeviceGetNvLinkState(void*, unsigned link, unsigned* out) {
  return link < 18 ? give("nvmlDeviceGetNvLinkState", out, link != 3) : 2;
}
int nvmlDeviceGetCpuAffinity(void*, unsigned words, unsigned long* out) {
  std::memset(out, 0, words * sizeof *out);
  return give("nvmlDeviceGetCpuAffinity", out, 0xffff);
}

#ifndef STUB_OLD
int nvmlDeviceGetCurrentClocksEventReasons(void*, unsigned long long* out) {
  return give("nvmlDeviceGetCurrentClocksEventReasons", out,
              std::strtoull(env("STUB_THROTTLE", "0").c_str(), nullptr, 0));
}
int nvmlDeviceGetTotalEnergyConsumption(void*, unsigned long long* out) {
  return give("nvmlDeviceGetTotalEnergyConsumption", out, 5000);
}
int nvmlDeviceGetFieldValues(void*, int count, pairmark::nvml_abi::FieldValue* out) {
  const int code = outcome("nvmlDeviceGetFieldValues");
  for (int i = 0; i < count && code == 0; ++i) {
    out[i].code = out[i].field_id == pairmark::nvml_abi::kFieldPowerInstant ? 0 : 3;
    out[i].value_type = 1;
    out[i].value.as_unsigned = 152800;
  }
  return code;
}
int nvmlDeviceGetRemappedRows(void*, unsigned* corrected, unsigned* uncorrected, unsigned* pending,
                              unsigned* failed) {
  *corrected = *uncorrected = *failed = 0;
  return give("nvmlDeviceGetRemappedRows", pending,
              std::atoi(env("STUB_REMAP_PENDING", "0").c_str()));
}
// Two processes, told as the driver does when there is room for none.
int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void*) {
  const int code = outcome("nvmlDeviceGetComputeRunningProcesses_v3");
  if (code != 0) return code;
  *count = static_cast<unsigned>(std::atoi(env("STUB_PROCESSES", "0").c_str()));
  return *count > 0 ? pairmark::nvml_abi::kInsufficientSize : 0;
}
GIVE(nvmlDeviceGetMemoryBusWidth, 6144)
#endif

}  // extern "C"
