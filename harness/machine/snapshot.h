// The machine at one moment, as written into a result: enough to judge a figure, nothing that names
// a person or a host.
#pragma once

#include <filesystem>

#include "harness/base/json.h"
#include "harness/machine/gpu_queries.h"
#include "harness/machine/host.h"

namespace pairmark {

struct SnapshotOptions {
  HostRoots roots;
  Environment environment = current_environment();
  bool include_host_name = false;
  // Topology from an hwloc XML file. Empty: of this machine, or none when `roots` points elsewhere.
  std::filesystem::path topology_xml;
  GpuQueries* gpus = nullptr;  // not owned; null: NVML is opened, unless `roots` points elsewhere
  double gpu_deadline_s = 30;  // all of NVML must have answered by then
};

// {captured_utc, host_name, system, cpu, numa, memory, shm, driver {version, cuda_driver,
// nvml_library, kernel_module, state, reason}, gpus [...], gpu_paths [{a, b, path}], slow_queries
// [{name, seconds}], environment {...}} A part that cannot be had is null and "<key>_reason" says
// why. Does not throw for a missing part.
Json capture_snapshot(const SnapshotOptions& options = {});

// "2026-11-30T22:56:12Z"
std::string utc_now();

}  // namespace pairmark
