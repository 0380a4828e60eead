// Facts of the host outside its GPUs. Every function takes the roots it reads, so that a recorded
// tree can stand in.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"
#include "harness/machine/gpu_queries.h"

namespace pairmark {

using Environment = std::map<std::string, std::string>;
Environment current_environment();

// Where things are looked up: "/", or the root of a recorded tree with etc/, dev/, run/, proc/ and
// sys/.
struct HostRoots {
  std::filesystem::path root = "/";
  std::filesystem::path proc_path() const { return root / "proc"; }
  std::filesystem::path sys_path() const { return root / "sys"; }
};

// CPUs that the control groups of this process allow (v2: cpu.max; v1: cfs quota / period), the
// least of the group and those above it; nothing when there is no limit.
std::optional<double> cgroup_cpu_quota(const HostRoots& roots);
// Bytes of memory likewise.
std::optional<double> cgroup_memory_limit(const HostRoots& roots);

// Logical CPUs this process may run on (sched_getaffinity of the calling thread), in rising order.
std::vector<int> allowed_cpus();

struct ContainerFacts {
  bool container = false;
  std::string kind;  // docker, podman, kubernetes, lxc, ... or empty
  bool wsl = false;
};
ContainerFacts container_facts(const HostRoots& roots, const Environment& environment);

// {os, kernel, container, virtual_machine, wsl}
Json describe_system(const HostRoots& roots, const Environment& environment);
// {model, isa, logical_cpus_allowed, logical_cpus_online, quota_cpus, governor, max_mhz}; each null
// with a reason.
Json describe_cpu(const HostRoots& roots);
// {total_bytes, available_bytes, limit_bytes}
Json describe_memory(const HostRoots& roots);
// {size_bytes, free_bytes} of <root>/dev/shm
Json describe_shm(const HostRoots& roots);
// Allow-listed variables that bear on speed; secrets, host and user names are withheld or masked.
Json describe_environment(const Environment& environment);

}  // namespace pairmark
