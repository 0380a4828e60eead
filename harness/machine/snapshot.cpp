#include "harness/machine/snapshot.h"

#include <fmt/format.h>
#include <unistd.h>

#include <ctime>

#include "harness/base/error.h"
#include "harness/machine/deadline.h"
#include "harness/machine/files.h"
#include "harness/machine/nvml.h"
#include "harness/machine/topology.h"

namespace pairmark {
namespace {

const char* state_name(NvmlState state) {
  switch (state) {
    case NvmlState::kReady:
      return "ready";
    case NvmlState::kLibraryMissing:
      return "library missing";
    case NvmlState::kDriverNotLoaded:
      return "driver not loaded";
    case NvmlState::kVersionMismatch:
      return "version mismatch";
    case NvmlState::kNoPermission:
      return "no permission";
    case NvmlState::kUnknownError:
      return "unknown error";
    case NvmlState::kOtherError:
      return "error";
    case NvmlState::kTimeout:
      return "no answer";
  }
  return "error";
}

// The bus of the card as the kernel sees it; in a container or on WSL these files may be absent.
void add_sysfs(const HostRoots& roots, Json& gpu) {
  const std::string bus = gpu["bus_id"].is_string() ? gpu["bus_id"].get<std::string>() : "";
  const auto folder = roots.sys_path() / "bus/pci/devices" / bus;
  const auto put_text = [&](const char* key, const char* file, auto convert) {
    const auto text = bus.empty() ? std::nullopt : read_small_file(folder / file);
    using T = decltype(convert(std::string()));
    put(gpu, key,
        text ? Known<T>::of(convert(trimmed(*text)))
             : Known<T>::missing("sysfs does not show this device"));
  };
  const auto as_text = [](const std::string& text) { return text; };
  put_text("sysfs_link_speed", "current_link_speed", as_text);  // "32.0 GT/s PCIe"
  put_text("sysfs_link_width", "current_link_width", as_text);
  put_text("numa_node", "numa_node",
           [](const std::string& text) { return std::atoi(text.c_str()); });
  if (gpu["numa_node"] == -1) {  // the firmware does not say
    gpu["numa_node"] = nullptr;
    gpu["numa_node_reason"] = "the machine's firmware names no node for this slot";
  }
}

Json gpu_part(GpuQueries& queries) {
  Json out = {{"driver", queries.describe_driver()},
              {"gpus", Json::array()},
              {"slow_queries", Json::array()}};
  for (const GpuIdentity& gpu : queries.gpus()) out["gpus"].push_back(queries.describe_gpu(gpu));
  for (const SlowQuery& slow : queries.slow_queries())
    out["slow_queries"].push_back({{"name", slow.name}, {"seconds", slow.seconds}});
  return out;
}

Json no_gpu_part(const std::string& state, const std::string& reason) {
  return {{"driver",
           {{"version", nullptr},
            {"version_reason", reason},
            {"cuda_driver", nullptr},
            {"cuda_driver_reason", reason}}},
          {"gpus", nullptr},
          {"gpus_reason", reason},
          {"slow_queries", Json::array()},
          {"state", state}};
}

// Runs where it can be left behind: owns all it uses.
Json ask_nvml(const std::filesystem::path& root) {
  const NvmlResult opened = Nvml::open(root);
  Json out =
      opened.nvml ? gpu_part(*opened.nvml) : no_gpu_part(state_name(opened.state), opened.reason);
  if (!opened.library_version.empty()) out["driver"]["library_version"] = opened.library_version;
  return out;
}

Json ask_gpus(const SnapshotOptions& options) {
  try {
    if (options.gpus != nullptr) return gpu_part(*options.gpus);
    if (options.roots.root != "/") return no_gpu_part("not asked", "a recorded tree holds no NVML");
    const auto root = options.roots.root;
    if (auto answer = call_within<Json>(options.gpu_deadline_s, [root] { return ask_nvml(root); }))
      return *answer;
    return no_gpu_part(
        "no answer",
        fmt::format("the NVIDIA driver did not answer within {:.3g} s: a GPU may be lost; "
                    "look for Xid lines in the kernel log",
                    options.gpu_deadline_s));
  } catch (const Error& error) {
    return no_gpu_part("error", error.what());
  }
}

void add_gpus(const SnapshotOptions& options, Json& out) {
  Json part = ask_gpus(options);
  Json driver = std::move(part["driver"]);
  const std::string module = kernel_module_version(options.roots.root);
  put(driver, "kernel_module",
      module.empty() ? Known<std::string>::missing("no NVIDIA kernel module is loaded")
                     : Known<std::string>::of(module));
  driver["state"] = part.value("state", "ready");
  if (part.contains("gpus_reason")) driver["reason"] = part["gpus_reason"];
  out["driver"] = std::move(driver);
  Json& gpus = part["gpus"];
  if (gpus.is_array())
    for (Json& gpu : gpus) add_sysfs(options.roots, gpu);
  out["gpus"] = std::move(gpus);
  if (part.contains("gpus_reason")) out["gpus_reason"] = part["gpus_reason"];
  out["slow_queries"] = std::move(part["slow_queries"]);
}

void add_paths(const Topology& topology, Json& out) {
  Json paths = Json::array();
  Json& gpus = out["gpus"];
  for (std::size_t i = 0; gpus.is_array() && i < gpus.size(); ++i) {
    if (!gpus[i]["bus_id"].is_string()) continue;
    const std::string bus = gpus[i]["bus_id"];
    const auto near = topology.near_cpus(bus);
    put(gpus[i], "near_cpus",
        near ? Known<std::string>::of(*near)
             : Known<std::string>::missing("hwloc does not see this device"));
    for (std::size_t j = i + 1; j < gpus.size(); ++j) {
      if (!gpus[j]["bus_id"].is_string()) continue;
      Json pair = {{"a", bus}, {"b", gpus[j]["bus_id"]}};
      const auto path = topology.path(bus, gpus[j]["bus_id"]);
      put(pair, "path",
          path ? Known<std::string>::of(*path)
               : Known<std::string>::missing("hwloc does not see both devices"));
      paths.push_back(std::move(pair));
    }
  }
  out["gpu_paths"] = std::move(paths);
}

void add_topology(const SnapshotOptions& options, Json& out) {
  try {
    if (options.topology_xml.empty() && options.roots.root != "/")
      throw Error("a recorded tree holds no topology");
    const Topology topology(options.topology_xml);
    out["numa"] = topology.numa_nodes();
    add_paths(topology, out);
  } catch (const Error& error) {
    for (const char* key : {"numa", "gpu_paths"}) put(out, key, Known<Json>::missing(error.what()));
  }
}

}  // namespace

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

Json capture_snapshot(const SnapshotOptions& options) {
  Json out;
  out["captured_utc"] = utc_now();
  char name[256] = "";
  if (options.include_host_name && gethostname(name, sizeof name - 1) == 0)
    out["host_name"] = name;
  else
    put(out, "host_name", Known<std::string>::missing("left out unless asked for"));
  out["system"] = describe_system(options.roots, options.environment);
  out["cpu"] = describe_cpu(options.roots);
  out["memory"] = describe_memory(options.roots);
  out["shm"] = describe_shm(options.roots);
  add_gpus(options, out);
  add_topology(options, out);
  out["environment"] = describe_environment(options.environment);
  return out;
}

}  // namespace pairmark
