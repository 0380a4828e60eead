// Which GPUs a CUDA program started here would see, and why it may see none.
#pragma once

#include <string>
#include <vector>

#include "harness/machine/gpu_queries.h"
#include "harness/machine/host.h"
#include "harness/machine/nvml.h"

namespace pairmark {

struct GpuInfo {
  int cuda_index =
      0;  // position among the visible GPUs; -1 when CUDA's own order cannot be known from outside
  int nvml_index = 0;
  std::string uuid, name, bus_id;
  std::string unusable;  // why no work can be given to it; empty when it can
};

struct VisibleGpus {
  std::vector<GpuInfo> gpus;
  // False: CUDA numbers the GPUs fastest first and they differ, so that a number means nothing
  // here; the list is then in bus order, and cuda_index is -1.
  bool numbered = true;
  std::vector<std::string>
      notes;  // sentences: where CUDA stops reading the list, how GPUs are numbered
};

// CUDA_VISIBLE_DEVICES and CUDA_DEVICE_ORDER applied to the GPUs that NVML lists. A pure function.
// The rules are those of the CUDA programming guide ("Environment Variables"), details as driver
// 580 behaves: the first entry decides between numbers and UUIDs (which may be shortened to a
// unique beginning); the list ends at the first entry that names no GPU; an empty list hides all.
// Throws UsageError for a GPU named twice, with which CUDA does not start (error 101), and for
// numbers that cannot be resolved because the order is unknown.
VisibleGpus visible_gpus(const std::vector<GpuIdentity>& all, const Environment& environment);

// "CUDA 0 = NVML 1 = 0000:17:00.0 NVIDIA H200 GPU-...", one line each: for messages that must say
// what exists.
std::string gpu_table(const std::vector<GpuInfo>& gpus);

// The GPU whose UUID starts with `text` (a UUID or a unique beginning, "GPU-1a2b3c4d"), or whose
// bus id it is. Throws UsageError when several or none fit; `what` names the list in that sentence.
const GpuInfo& find_gpu(const std::vector<GpuInfo>& gpus, const std::string& text,
                        const std::string& what);

enum class NoGpu {
  kNone,             // there is a usable GPU
  kNoDriver,         // no device nodes and no kernel module
  kContainerNoGpus,  // a container that was given no GPU
  kNoLibcuda,
  kStubLibcuda,  // the linker's placeholder was found first
  kDriverTooOld,
  kHidden,  // CUDA_VISIBLE_DEVICES hides all
  kNvmlFails,
  kUnusable,  // MIG, prohibited compute mode
};

// What can be seen from outside, without starting CUDA.
struct GpuProbe {
  bool device_nodes = false;  // /dev/nvidia0 or, on WSL, /dev/dxg
  std::string module_version;
  ContainerFacts container;
  bool libcuda = false;
  std::string libcuda_error;  // the loader's words
  bool libcuda_stub = false;
  int cuda_driver = 0;         // newest CUDA that the driver offers, as 13000; 0 when not known
  std::string driver_version;  // "580.159.04", empty when not known
  NvmlState nvml = NvmlState::kLibraryMissing;
  std::string nvml_reason;
  int gpus = 0;  // that NVML lists
  VisibleGpus visible;
};

// Looks at device nodes, libcuda.so.1 (opened and asked for its version only) and NVML.
GpuProbe probe_gpus(const HostRoots& roots = {},
                    const Environment& environment = current_environment());

struct NoGpuDiagnosis {
  NoGpu kind = NoGpu::kNone;
  std::string sentence;  // what is missing and what to do; empty when there is a usable GPU
};

// "13.0" or "13.0.88" -> 13000; 0 when it is no version.
int cuda_version_number(const std::string& text);

// `built_cuda`: the toolkit of this build as 13000, 0 when unknown. A driver serves every toolkit
// of its major version.
NoGpuDiagnosis diagnose_no_gpu(const GpuProbe& probe, int built_cuda);

}  // namespace pairmark
