#include "harness/machine/devices.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "harness/base/build_info.h"
#include "harness/base/error.h"
#include "harness/base/units.h"
#include "harness/machine/files.h"

namespace pairmark {
namespace {

// In the machine's order where hwloc knows it, else by number.
std::vector<CpuPlace> allowed_places(const std::optional<Topology>& topology) {
  const std::vector<int> allowed = allowed_cpus();
  const std::set<int> mask(allowed.begin(), allowed.end());
  std::vector<CpuPlace> places;
  if (topology)
    for (const CpuPlace& place : topology->cpus())
      if (mask.contains(place.cpu)) places.push_back(place);
  if (places.size() == allowed.size()) return places;
  places.clear();
  for (int cpu : allowed) places.push_back({cpu, cpu, -1});
  return places;
}

// A fraction of a CPU still is one CPU to run on.
int whole_cpus(std::optional<double> quota) {
  return quota ? std::max(1, static_cast<int>(std::floor(*quota + 1e-9))) : 0;
}

std::string without_kind(const std::string& text, const std::string& kind) {
  return text.starts_with(kind + ":") ? text.substr(kind.size() + 1) : text;
}

bool is_number(const std::string& text) {
  return !text.empty() && text.size() < 6 &&
         text.find_first_not_of("0123456789") == std::string::npos;
}

DeviceRef cuda_ref(const GpuInfo& gpu, int position) {
  return {"cuda", position, fmt::format("cuda:{}", position), gpu.name, gpu.uuid, gpu.bus_id, {}};
}

const GpuInfo& named_gpu(const std::string& text, const VisibleGpus& visible) {
  if (!is_number(text)) return find_gpu(visible.gpus, text, "--devices");
  if (!visible.numbered)
    throw UsageError(fmt::format(
        "--devices {} is a number, and CUDA's numbers are not known for different GPUs: set "
        "CUDA_DEVICE_ORDER=PCI_BUS_ID or give UUIDs or bus ids; here are\n{}",
        text, gpu_table(visible.gpus)));
  const auto index = static_cast<std::size_t>(std::stoi(text));
  if (index >= visible.gpus.size())
    throw UsageError(
        fmt::format("--devices {} is not here; visible are\n{}", text, gpu_table(visible.gpus)));
  return visible.gpus[index];
}

void take_named_gpus(const DeviceRequest& request, const VisibleGpus& visible,
                     DeviceSelection& out) {
  for (const std::string& raw : request.devices) {
    const GpuInfo& gpu = named_gpu(without_kind(trimmed(raw), "cuda"), visible);
    if (!gpu.unusable.empty())
      throw UsageError(fmt::format("--devices {}: the {} at {} cannot be used: {}", raw, gpu.name,
                                   gpu.bus_id, gpu.unusable));
    for (const DeviceRef& taken : out.devices)
      if (taken.uuid == gpu.uuid)
        throw UsageError(
            fmt::format("--devices names the GPU at {} twice ('{}' again): two ranks on one GPU "
                        "compare nothing, "
                        "name different GPUs",
                        gpu.bus_id, raw));
    out.devices.push_back(cuda_ref(gpu, static_cast<int>(&gpu - visible.gpus.data())));
  }
}

void take_gpus(const DeviceRequest& request, const VisibleGpus& visible, int wanted,
               DeviceSelection& out) {
  out.reasons.insert(out.reasons.end(), visible.notes.begin(), visible.notes.end());
  if (!request.devices.empty()) return take_named_gpus(request, visible, out);
  for (std::size_t i = 0; i < visible.gpus.size(); ++i) {
    const GpuInfo& gpu = visible.gpus[i];
    if (!gpu.unusable.empty())
      out.reasons.push_back(
          fmt::format("the {} at {} is left out: {}", gpu.name, gpu.bus_id, gpu.unusable));
    else if (static_cast<int>(out.devices.size()) < wanted)
      out.devices.push_back(cuda_ref(gpu, static_cast<int>(i)));
  }
}

// Numbers of parts; the cores are split into as many parts as the largest number says.
std::vector<int> named_parts(const std::vector<std::string>& devices) {
  std::vector<int> parts;
  for (const std::string& raw : devices) {
    const std::string text = without_kind(trimmed(raw), "cpu");
    if (!is_number(text))
      throw UsageError(fmt::format(
          "--devices '{}': a cpu device is a number, 0 or 1 for two halves of the cores", raw));
    const int part = std::stoi(text);
    if (std::find(parts.begin(), parts.end(), part) != parts.end())
      throw UsageError(
          fmt::format("--devices names cpu:{} twice: two ranks on the same cores compare nothing, "
                      "name different parts",
                      part));
    parts.push_back(part);
  }
  return parts;
}

void take_cpu_parts(const DeviceRequest& request, const DeviceInventory& all, int wanted,
                    DeviceSelection& out) {
  std::vector<int> parts = named_parts(request.devices);
  const int cpus = static_cast<int>(all.cpus.size());
  const int usable = all.cpu_quota > 0 ? std::min(all.cpu_quota, cpus) : cpus;
  int count =
      parts.empty() ? std::min(wanted, usable) : *std::max_element(parts.begin(), parts.end()) + 1;
  if (parts.empty())
    for (int i = 0; i < count; ++i) parts.push_back(i);
  else
    count = std::max({count, std::min(wanted, usable), static_cast<int>(parts.size())});
  if (count > usable)
    throw UsageError(fmt::format(
        "--devices asks for cpu part {} and {} CPUs can be used here: name parts 0 to {}",
        count - 1, usable, usable - 1));
  const std::vector<CpuDevice> devices = split_cpus(all.cpus, std::max(count, 1), all.cpu_quota);
  for (int part : parts) {
    const CpuDevice& device = devices[static_cast<std::size_t>(part)];
    const std::string name =
        fmt::format("{}, {} CPU{}", all.cpu_name.empty() ? "CPU" : all.cpu_name,
                    device.cores.size(), device.cores.size() == 1 ? "" : "s");
    out.devices.push_back(
        {"cpu", part, fmt::format("cpu:{}", part), name, std::nullopt, std::nullopt, device.cores});
  }
}

// Drops counts that need more devices than there are.
void fit_counts(const std::vector<int>& asked, DeviceSelection& out) {
  const int have = static_cast<int>(out.devices.size());
  std::set<int> dropped;
  for (int count : asked) {
    if (count > have)
      dropped.insert(count);
    else if (std::find(out.counts.begin(), out.counts.end(), count) == out.counts.end())
      out.counts.push_back(count);
  }
  std::sort(out.counts.begin(), out.counts.end());
  const std::string what = out.kind == "cuda" ? "GPU" : "CPU device";
  for (int count : dropped)
    out.reasons.push_back(
        have == 1
            ? fmt::format("one {} here: the arms with {} devices are skipped", what, count)
            : fmt::format("{} {}s here: the arms with {} devices are skipped", have, what, count));
  if (out.counts.empty()) out.counts.push_back(have);
}

std::string choose_kind(const DeviceRequest& request, const DeviceInventory& all,
                        std::vector<std::string>& reasons) {
  const bool usable = all.no_gpu.kind == NoGpu::kNone && !all.visible.gpus.empty();
  if (request.device == "cpu") return "cpu";
  if (request.device == "cuda") {
    if (!request.build_has_cuda)
      throw UsageError(
          "--device cuda: this build has no cuda device; configure it with the cuda preset "
          "(PAIRMARK_CUDA=ON)");
    if (!usable) throw UsageError("--device cuda: " + all.no_gpu.sentence);
    return "cuda";
  }
  if (request.device != "auto") {
    const std::string near = nearest_match(request.device, {"auto", "cpu", "cuda"});
    throw UsageError(fmt::format("--device '{}' is unknown{}: say auto, cpu or cuda",
                                 request.device,
                                 near.empty() ? "" : " (did you mean " + near + "?)"));
  }
  if (usable && request.build_has_cuda) return "cuda";
  if (usable)
    reasons.push_back(
        fmt::format("cpu backend: {} is here but this build has no cuda device (configure with "
                    "the cuda preset)",
                    all.visible.gpus.front().name));
  else
    reasons.push_back("cpu backend: " + all.no_gpu.sentence);
  return "cpu";
}

}  // namespace

std::vector<CpuDevice> cpu_devices(int count, const HostRoots& roots) {
  const DeviceInventory all = take_inventory(false, 0, roots);
  return split_cpus(all.cpus, count, all.cpu_quota);
}

DeviceInventory take_inventory(bool ask_gpus, int built_cuda, const HostRoots& roots,
                               const Environment& environment) {
  DeviceInventory all;
  std::optional<Topology> topology;
  try {
    topology.emplace();
  } catch (const Error&) {  // CPUs are then taken by number
  }
  all.cpus = allowed_places(topology);
  all.cpu_quota = whole_cpus(cgroup_cpu_quota(roots));
  if (const Json model = describe_cpu(roots)["model"]; model.is_string()) all.cpu_name = model;
  if (!ask_gpus) return all;
  GpuProbe probe = probe_gpus(roots, environment);
  all.no_gpu = diagnose_no_gpu(probe, built_cuda);
  all.visible = std::move(probe.visible);
  for (const GpuInfo& gpu : all.visible.gpus)
    if (auto near = topology ? topology->near_cpus(gpu.bus_id) : std::nullopt)
      all.near_cpus[gpu.bus_id] = parse_cpu_list(*near);
  return all;
}

DeviceSelection select_devices(const DeviceRequest& request, const DeviceInventory& all) {
  if (request.gpus.empty())
    throw UsageError("--gpus is empty: give device counts, for instance --gpus 1,2");
  for (int count : request.gpus)
    if (count < 1) throw UsageError(fmt::format("--gpus {}: a device count is 1 or more", count));
  DeviceSelection out;
  out.kind = choose_kind(request, all, out.reasons);
  const int wanted = *std::max_element(request.gpus.begin(), request.gpus.end());
  if (out.kind == "cuda") {
    take_gpus(request, all.visible, wanted, out);
    assign_cores(out.devices, all);
  } else {
    take_cpu_parts(request, all, wanted, out);
  }
  check(!out.devices.empty(), "no device was selected");
  fit_counts(request.gpus, out);
  return out;
}

DeviceSelection select_devices(const DeviceRequest& request) {
  const Json toolkit = build_info()["cuda"];
  const int built_cuda = toolkit.is_string() ? cuda_version_number(toolkit) : 0;
  return select_devices(request, take_inventory(request.device != "cpu", built_cuda));
}

void assign_cores(std::vector<DeviceRef>& gpus, const DeviceInventory& all) {
  std::map<std::vector<int>, std::vector<std::size_t>>
      sharing;  // near CPUs -> the GPUs that have them
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    const auto near = all.near_cpus.find(gpus[i].bus_id.value_or(""));
    std::vector<int> cpus;
    for (const CpuPlace& place : all.cpus)
      if (near == all.near_cpus.end() ||
          std::find(near->second.begin(), near->second.end(), place.cpu) != near->second.end())
        cpus.push_back(place.cpu);
    if (cpus.empty())  // the process may not run near this GPU
      for (const CpuPlace& place : all.cpus) cpus.push_back(place.cpu);
    sharing[cpus].push_back(i);
  }
  for (const auto& [cpus, members] : sharing) {
    std::vector<CpuPlace> places;
    for (const CpuPlace& place : all.cpus)
      if (std::find(cpus.begin(), cpus.end(), place.cpu) != cpus.end()) places.push_back(place);
    const bool enough = places.size() >= members.size();
    const std::vector<CpuDevice> parts =
        enough ? split_cpus(places, static_cast<int>(members.size())) : std::vector<CpuDevice>();
    for (std::size_t i = 0; i < members.size(); ++i)
      gpus[members[i]].cores = enough ? parts[i].cores : cpus;
  }
}

Json to_json(const DeviceRef& device) {
  const auto or_null = [](const std::optional<std::string>& text) {
    return text ? Json(*text) : Json(nullptr);
  };
  return {{"device", device.id},
          {"name", device.name},
          {"uuid", or_null(device.uuid)},
          {"bus_id", or_null(device.bus_id)},
          {"cores", device.cores}};
}

}  // namespace pairmark
