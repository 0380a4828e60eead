// NVIDIA's management library, found at run time: pairmark links nothing of the driver and starts
// without it.
#pragma once

#include <dlfcn.h>

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "harness/machine/gpu_queries.h"
#include "harness/machine/nvml_abi.h"

namespace pairmark {

enum class NvmlState {
  kReady,
  kLibraryMissing,
  kDriverNotLoaded,
  kVersionMismatch,  // library of one driver version, kernel module of another
  kNoPermission,
  kUnknownError,  // 999: often a container that lost its devices
  kOtherError,
  kTimeout,  // did not answer in time
};

class Nvml;

struct NvmlResult {
  std::shared_ptr<Nvml> nvml;  // null unless state is kReady
  NvmlState state = NvmlState::kLibraryMissing;
  std::string reason;           // one sentence with the remedy; empty when ready
  std::string library_version;  // "570.124.04" from the library file's name, or empty
  std::string module_version;   // of the kernel module, or empty
};

std::string compute_mode_name(unsigned mode);  // NVML's number in words

class Nvml : public GpuQueries {
 public:
  // Loads the library named by PAIRMARK_NVML_PATH, else libnvidia-ml.so.1. Does not throw: the
  // result says what is wrong. `root` is where /proc is looked up for the kernel module's version.
  static NvmlResult open(const std::filesystem::path& root = "/");
  // The same, but gives up waiting after this many seconds (a thread is then left behind, waiting
  // for the driver).
  static NvmlResult open_within(double seconds, const std::filesystem::path& root = "/");
  ~Nvml() override;
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  std::vector<GpuIdentity> gpus() override;
  Json describe_gpu(const GpuIdentity& gpu) override;
  Json describe_driver() override;
  GpuSample sample(const GpuIdentity& gpu) override;
  std::vector<SlowQuery> slow_queries() const override;

 private:
  struct Status {
    int code = 0;
    std::string name;  // the function
  };
  explicit Nvml(void* library) : library_(library) {}

  // Calls a function of the library by name; code 13 when this version of it has no such function.
  // The types of the arguments must be exactly those of the C declaration.
  template <typename... Args>
  Status call(const char* name, Args... args);
  void note_time(const char* name, double seconds);
  std::string explain(const Status& status);
  void* handle(int nvml_index);
  GpuIdentity identity(int nvml_index);

  template <typename T>
  Known<T> known(const Status& status, T value);
  Known<std::string> text(const char* function, void* device);
  Known<unsigned> count(const char* function, void* device);
  Known<double> milli(const char* function, void* device);  // milliwatts to watts
  Known<double> clock(const char* function, void* device, unsigned type);
  Known<double> power_now(void* device);
  Known<double> temperature(void* device);
  Known<double> energy(void* device);
  Known<std::uint64_t> throttle_bits(void* device);

  void describe_link(void* device, Json& out);
  void describe_power(void* device, Json& out);
  void describe_memory(void* device, Json& out);
  void describe_ecc(void* device, Json& out);
  void describe_modes(void* device, Json& out);
  void describe_nvlink(void* device, Json& out);
  void describe_affinity(void* device, Json& out);

  void* library_;
  bool initialized_ = true;
  mutable std::mutex mutex_;  // guards what follows
  std::map<int, void*> handles_;
  std::vector<SlowQuery> slow_;
};

template <typename... Args>
Nvml::Status Nvml::call(const char* name, Args... args) {
  auto function = reinterpret_cast<int (*)(Args...)>(dlsym(library_, name));
  if (function == nullptr) return {nvml_abi::kFunctionNotFound, name};
  const auto start = std::chrono::steady_clock::now();
  const int code = function(args...);
  note_time(name, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  return {code, name};
}

template <typename T>
Known<T> Nvml::known(const Status& status, T value) {
  if (status.code == nvml_abi::kSuccess) return Known<T>::of(std::move(value));
  return Known<T>::missing(explain(status));
}

// "570.124.06" of /proc/driver/nvidia/version (or /sys/module/nvidia/version), "" when no module is
// loaded.
std::string kernel_module_version(const std::filesystem::path& root = "/");

}  // namespace pairmark
