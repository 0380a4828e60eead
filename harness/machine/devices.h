// The devices a run works on: GPUs named by UUID, or equal parts of the CPU's cores.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/machine/gpu_list.h"
#include "harness/machine/topology.h"

namespace pairmark {

struct CpuDevice {
  int index = 0;
  std::vector<int> cores;  // logical CPUs by the kernel's numbers
};

// Splits CPUs (in the machine's order, as Topology::cpus gives them) into `count` parts of the same
// number of whole physical cores; what does not divide stays idle. Where there are fewer cores than
// parts, hyper-threads are split. `most` > 0: use no more CPUs than this (a quota); then one CPU of
// each physical core is taken first. Throws UnsupportedError when there are fewer CPUs than parts.
std::vector<CpuDevice> split_cpus(const std::vector<CpuPlace>& places, int count, int most = 0);

// The same for the CPUs this process may use: its affinity mask, limited by the quota of its
// control group.
std::vector<CpuDevice> cpu_devices(int count, const HostRoots& roots = {});

// What there is to select from; take_inventory() looks at this machine, tests fill it in.
struct DeviceInventory {
  VisibleGpus visible;
  NoGpuDiagnosis no_gpu;       // kind kNone when a GPU can be used
  std::vector<CpuPlace> cpus;  // allowed ones, in the machine's order
  int cpu_quota = 0;           // whole CPUs, 0: no limit
  std::string cpu_name;        // "AMD EPYC 7763"
  std::map<std::string, std::vector<int>>
      near_cpus;  // by bus id: CPUs on the GPU's side of the machine
};
// `ask_gpus` false: the driver is left alone. Throws UsageError when CUDA_VISIBLE_DEVICES cannot be
// followed.
DeviceInventory take_inventory(bool ask_gpus, int built_cuda, const HostRoots& roots = {},
                               const Environment& environment = current_environment());

struct DeviceRequest {
  std::string device = "auto";  // auto, cpu, cuda
  // cuda: numbers as CUDA counts the visible GPUs, UUIDs or unique beginnings, bus ids; cpu:
  // numbers of parts. "cuda:1" and "cpu:1" are read too. Empty: the first ones.
  std::vector<std::string> devices;
  std::vector<int> gpus = {1, 2};  // device counts to compare
  bool build_has_cuda = false;
};

struct DeviceRef {
  std::string kind;  // "cpu" or "cuda"
  int index = 0;     // of cpu: part; of cuda: position among the visible GPUs
  std::string id;    // "cpu:0", "cuda:1"
  std::string name;
  std::optional<std::string> uuid;  // of cuda
  std::optional<std::string> bus_id;
  std::vector<int> cores;  // CPUs for the rank's threads: of cpu all that it is; of cuda its share
                           // of the near ones
};

struct DeviceSelection {
  std::string kind;                // "cpu" or "cuda"
  std::vector<DeviceRef> devices;  // rank i works on devices[i]
  std::vector<int> counts;         // of the counts asked for, those that can be run; never empty
  // Sentences. Where `device` is auto and cpu was taken, the first says why; then what is skipped
  // ("one GPU here: ...").
  std::vector<std::string> reasons;
};

// Throws UsageError: an unknown or doubled device (with what exists), cuda asked for where there is
// none, a count below 1.
DeviceSelection select_devices(const DeviceRequest& request, const DeviceInventory& inventory);
// With the inventory of this machine.
DeviceSelection select_devices(const DeviceRequest& request);

// CPUs for the threads of each GPU's rank: those near it; GPUs with the same near CPUs share them
// in equal parts.
void assign_cores(std::vector<DeviceRef>& gpus, const DeviceInventory& inventory);

// {"device", "name", "uuid", "bus_id", "cores"} as the result's ranks have it.
Json to_json(const DeviceRef& device);

}  // namespace pairmark
