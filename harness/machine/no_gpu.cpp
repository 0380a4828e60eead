// Why there is no GPU to work with: five causes look alike to CUDA ("driver insufficient", "no
// device").
#include <dlfcn.h>
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>

#include "harness/base/error.h"
#include "harness/machine/gpu_list.h"

namespace pairmark {
namespace {

constexpr int kCudaErrorStubLibrary = 34;
constexpr double kNvmlDeadlineSeconds = 30;

bool any_device_node(const HostRoots& roots) {
  std::error_code ignored;
  if (std::filesystem::exists(roots.root / "dev/dxg", ignored)) return true;  // WSL
  for (const auto& entry : std::filesystem::directory_iterator(roots.root / "dev", ignored)) {
    const std::string name = entry.path().filename().string();
    if (name.starts_with("nvidia") && name.size() > 6 && name[6] >= '0' && name[6] <= '9')
      return true;
  }
  return false;
}

// The version call works without a GPU and starts nothing; the toolkit's placeholder answers it
// with an own error.
void ask_libcuda(GpuProbe& probe) {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    probe.libcuda_error = dlerror();
    return;
  }
  probe.libcuda = true;
  int version = 0;
  if (auto get_version = reinterpret_cast<int (*)(int*)>(dlsym(library, "cuDriverGetVersion"))) {
    const int code = get_version(&version);
    probe.libcuda_stub = code == kCudaErrorStubLibrary;
    if (code == 0) probe.cuda_driver = version;
  }
  dlclose(library);
}

std::string cuda_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

NoGpuDiagnosis without_nodes(const GpuProbe& probe) {
  if (probe.container.container) {
    if (!probe.module_version.empty())
      return {NoGpu::kContainerNoGpus,
              fmt::format("this {} container was given no GPU although the host's driver {} is "
                          "loaded: start it with --gpus all "
                          "(Docker, Podman) or ask for nvidia.com/gpu (Kubernetes)",
                          probe.container.kind, probe.module_version)};
    return {NoGpu::kContainerNoGpus,
            fmt::format("this {} container sees no GPU: start it with --gpus all (Docker, Podman) "
                        "or ask for nvidia.com/gpu "
                        "(Kubernetes); if that fails, the host has no NVIDIA driver",
                        probe.container.kind)};
  }
  if (probe.module_version.empty())
    return {NoGpu::kNoDriver,
            "no NVIDIA GPU with a loaded driver is here (no /dev/nvidia0, no kernel module): "
            "install the driver if there is a card"};
  return {NoGpu::kNoDriver, fmt::format("the NVIDIA kernel module {} is loaded but there is no "
                                        "/dev/nvidia0: run 'nvidia-modprobe -c 0' or "
                                        "'nvidia-smi' as root, and check that lspci shows the card",
                                        probe.module_version)};
}

NoGpuDiagnosis without_libcuda(const GpuProbe& probe) {
  const char* advice = probe.container.container
                           ? "start the container with NVIDIA_DRIVER_CAPABILITIES=compute,utility"
                           : "install the driver's compute libraries (Debian: libcuda1, Ubuntu: "
                             "libnvidia-compute-...)";
  return {NoGpu::kNoLibcuda,
          fmt::format("the driver's library libcuda.so.1 cannot be loaded: {} ({})", advice,
                      probe.libcuda_error)};
}

}  // namespace

GpuProbe probe_gpus(const HostRoots& roots, const Environment& environment) {
  GpuProbe probe;
  probe.device_nodes = any_device_node(roots);
  probe.container = container_facts(roots, environment);
  const NvmlResult opened = Nvml::open_within(kNvmlDeadlineSeconds, roots.root);
  probe.module_version = opened.module_version;
  probe.nvml = opened.state;
  probe.nvml_reason = opened.reason;
  ask_libcuda(probe);
  if (opened.nvml == nullptr) return probe;
  std::vector<GpuIdentity> all;
  try {
    all = opened.nvml->gpus();
  } catch (const Error& error) {
    probe.nvml = NvmlState::kOtherError;
    probe.nvml_reason = error.what();
  }
  probe.gpus = static_cast<int>(all.size());
  if (const Json version = opened.nvml->describe_driver()["version"]; version.is_string())
    probe.driver_version = version;
  probe.visible = visible_gpus(all, environment);
  return probe;
}

int cuda_version_number(const std::string& text) {
  int major = 0, minor = 0;
  return std::sscanf(text.c_str(), "%d.%d", &major, &minor) == 2 ? major * 1000 + minor * 10 : 0;
}

NoGpuDiagnosis diagnose_no_gpu(const GpuProbe& probe, int built_cuda) {
  if (!probe.device_nodes && probe.gpus == 0) return without_nodes(probe);
  if (!probe.libcuda) return without_libcuda(probe);
  if (probe.libcuda_stub)
    return {NoGpu::kStubLibcuda,
            "the libcuda.so.1 that the loader finds is the toolkit's placeholder for linking, not "
            "the driver's: take the 'stubs' "
            "folder out of LD_LIBRARY_PATH"};
  if (built_cuda > 0 && probe.cuda_driver > 0 && probe.cuda_driver / 1000 < built_cuda / 1000)
    return {NoGpu::kDriverTooOld,
            fmt::format("the driver{}{} offers CUDA {} and this build needs CUDA {}: update the "
                        "driver or build with an older "
                        "toolkit",
                        probe.driver_version.empty() ? "" : " ", probe.driver_version,
                        cuda_text(probe.cuda_driver), cuda_text(built_cuda))};
  if (probe.nvml != NvmlState::kReady) return {NoGpu::kNvmlFails, probe.nvml_reason};
  if (probe.visible.gpus.empty() && !probe.visible.notes.empty())
    return {NoGpu::kHidden, probe.visible.notes.front()};
  if (probe.gpus == 0)
    return {NoGpu::kNvmlFails,
            "the NVIDIA driver is loaded but lists no GPU: look for NVRM lines in the kernel log"};
  for (const GpuInfo& gpu : probe.visible.gpus)
    if (gpu.unusable.empty()) return {};
  return {NoGpu::kUnusable,
          fmt::format("{} at {} cannot be used: {}", probe.visible.gpus.front().name,
                      probe.visible.gpus.front().bus_id, probe.visible.gpus.front().unusable)};
}

}  // namespace pairmark
