#include "harness/machine/topology.h"

#include <hwloc.h>

#include <cstdlib>
#include <memory>

#include "harness/base/error.h"
#include "harness/machine/files.h"

namespace pairmark {
namespace {

hwloc_topology_t get(void* topology) {
  return static_cast<hwloc_topology_t>(topology);
}

std::vector<int> members(hwloc_const_bitmap_t set) {
  std::vector<int> cpus;
  for (int cpu = hwloc_bitmap_first(set); cpu >= 0; cpu = hwloc_bitmap_next(set, cpu))
    cpus.push_back(cpu);
  return cpus;
}

bool is_host_bridge(hwloc_obj_t object) {
  return object->type == HWLOC_OBJ_BRIDGE &&
         object->attr->bridge.upstream_type == HWLOC_OBJ_BRIDGE_HOST;
}

// Bridges between a device and `above`, which is not counted.
int bridges_below(hwloc_obj_t device, hwloc_obj_t above) {
  int bridges = 0;
  for (hwloc_obj_t at = device->parent; at != nullptr && at != above; at = at->parent)
    bridges += at->type == HWLOC_OBJ_BRIDGE && !is_host_bridge(at);
  return bridges;
}

// hwloc's own search for a common ancestor is not made for I/O objects.
hwloc_obj_t common_ancestor(hwloc_obj_t a, hwloc_obj_t b) {
  for (hwloc_obj_t above = a; above != nullptr; above = above->parent)
    for (hwloc_obj_t at = b; at != nullptr; at = at->parent)
      if (at == above) return at;
  return nullptr;
}

hwloc_obj_t pci_device(void* topology, const std::string& bus_id) {
  return hwloc_get_pcidev_by_busidstring(get(topology), bus_id.c_str());
}

// hwloc opens every plugin it finds, and these bring in OpenCL, X and the GPU's driver; NVML is
// asked directly. The PCI plugin leaks memory; without it hwloc finds the same devices by sysfs.
// The variable is read when the first topology is made, and a user's own setting stays.
void keep_plugins_out() {
  static const bool done = [] {
    setenv("HWLOC_PLUGINS_BLACKLIST",
           "hwloc_cuda.so,hwloc_nvml.so,hwloc_opencl.so,hwloc_gl.so,hwloc_rsmi.so,hwloc_levelzero."
           "so,hwloc_pci.so",
           0);
    return true;
  }();
  (void)done;
}

}  // namespace

Topology::Topology(const std::filesystem::path& xml) {
  keep_plugins_out();
  hwloc_topology_t topology = nullptr;
  check(hwloc_topology_init(&topology) == 0, "hwloc cannot start");
  topology_ = topology;
  hwloc_topology_set_io_types_filter(topology, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
  const bool ready = (xml.empty() || hwloc_topology_set_xml(topology, xml.c_str()) == 0) &&
                     hwloc_topology_load(topology) == 0;
  if (ready) return;
  hwloc_topology_destroy(topology);
  throw Error(xml.empty() ? "hwloc cannot read this machine's topology"
                          : "hwloc cannot read the topology file " + xml.string());
}

Topology::~Topology() {
  hwloc_topology_destroy(get(topology_));
}

std::vector<CpuPlace> Topology::cpus() const {
  std::vector<CpuPlace> places;
  for (hwloc_obj_t pu = nullptr;
       (pu = hwloc_get_next_obj_by_type(get(topology_), HWLOC_OBJ_PU, pu)) != nullptr;) {
    CpuPlace place;
    place.cpu = static_cast<int>(pu->os_index);
    const hwloc_obj_t core = hwloc_get_ancestor_obj_by_type(get(topology_), HWLOC_OBJ_CORE, pu);
    place.core = core != nullptr ? static_cast<int>(core->logical_index) : place.cpu;
    place.numa = pu->nodeset != nullptr ? hwloc_bitmap_first(pu->nodeset) : -1;
    places.push_back(place);
  }
  return places;
}

Json Topology::numa_nodes() const {
  Json nodes = Json::array();
  for (hwloc_obj_t node = nullptr;
       (node = hwloc_get_next_obj_by_type(get(topology_), HWLOC_OBJ_NUMANODE, node)) != nullptr;)
    nodes.push_back({{"node", node->os_index},
                     {"cpus", format_cpu_list(members(node->cpuset))},
                     {"memory_bytes", node->attr->numanode.local_memory}});
  return nodes;
}

std::optional<std::string> Topology::path(const std::string& bus_a,
                                          const std::string& bus_b) const {
  const hwloc_obj_t a = pci_device(topology_, bus_a);
  const hwloc_obj_t b = pci_device(topology_, bus_b);
  if (a == nullptr || b == nullptr) return std::nullopt;
  const hwloc_obj_t common = common_ancestor(a, b);
  if (common == nullptr) return std::nullopt;
  if (common->type == HWLOC_OBJ_BRIDGE) {
    if (is_host_bridge(common)) return "PHB";
    return bridges_below(a, common) + bridges_below(b, common) <= 2 ? "PIX" : "PXB";
  }
  const hwloc_obj_t near_a = hwloc_get_non_io_ancestor_obj(get(topology_), a);
  const hwloc_obj_t near_b = hwloc_get_non_io_ancestor_obj(get(topology_), b);
  if (near_a->nodeset != nullptr && near_b->nodeset != nullptr &&
      hwloc_bitmap_weight(near_a->nodeset) == 1 &&
      hwloc_bitmap_isequal(near_a->nodeset, near_b->nodeset))
    return "NODE";
  return "SYS";
}

std::optional<std::string> Topology::near_cpus(const std::string& bus_id) const {
  const hwloc_obj_t device = pci_device(topology_, bus_id);
  if (device == nullptr) return std::nullopt;
  return format_cpu_list(members(hwloc_get_non_io_ancestor_obj(get(topology_), device)->cpuset));
}

}  // namespace pairmark
