// Cores, memory nodes and the way between PCI devices, by hwloc.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace pairmark {

// One logical CPU.
struct CpuPlace {
  int cpu = 0;   // the kernel's number
  int core = 0;  // physical core, numbered over the whole machine; hyper-threads share it
  int numa = 0;  // memory node, by the kernel's number; -1 when not known
};

class Topology {
 public:
  // Looks at this machine, or at an hwloc XML file (lstopo --of xml). Throws Error when hwloc
  // cannot.
  explicit Topology(const std::filesystem::path& xml = {});
  ~Topology();
  Topology(const Topology&) = delete;
  Topology& operator=(const Topology&) = delete;

  // Logical CPUs in the machine's own order: those of one node, and of one core, are neighbours.
  std::vector<CpuPlace> cpus() const;
  // [{node, cpus, memory_bytes}]
  Json numa_nodes() const;
  // How two PCI devices reach each other, in the words of nvidia-smi: PIX (one PCIe bridge), PXB
  // (several bridges), PHB (a host bridge), NODE (within a NUMA node), SYS (between nodes or
  // sockets). Nothing when a device is not found.
  std::optional<std::string> path(const std::string& bus_a, const std::string& bus_b) const;
  // CPUs near this device as a list "0-15", or nothing.
  std::optional<std::string> near_cpus(const std::string& bus_id) const;

 private:
  void* topology_ = nullptr;  // hwloc_topology_t; hwloc.h stays out of other people's files
};

}  // namespace pairmark
