#include "harness/machine/gpu_list.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <strings.h>

#include <algorithm>
#include <charconv>

#include "harness/base/error.h"
#include "harness/machine/files.h"

namespace pairmark {
namespace {

std::string unusable_reason(const GpuIdentity& gpu) {
  if (gpu.uuid.empty()) return "it gives no UUID: it may be lost";
  if (gpu.mig)
    return fmt::format(
        "MIG is on and this measures whole GPUs: switch it off with 'nvidia-smi -i {} -mig 0'",
        gpu.bus_id);
  if (gpu.compute_mode == "prohibited")
    return fmt::format("its compute mode is 'prohibited': allow work with 'nvidia-smi -i {} -c 0'",
                       gpu.bus_id);
  return "";
}

// GPUs by bus id, and whether their numbers in CUDA can be told from that.
struct Ordered {
  std::vector<GpuInfo> gpus;
  bool numbered = true;
};

Ordered in_order(const std::vector<GpuIdentity>& all, const Environment& environment) {
  Ordered out;
  for (const GpuIdentity& gpu : all)
    out.gpus.push_back({0, gpu.nvml_index, gpu.uuid, gpu.name, gpu.bus_id, unusable_reason(gpu)});
  std::stable_sort(out.gpus.begin(), out.gpus.end(),
                   [](const GpuInfo& a, const GpuInfo& b) { return a.bus_id < b.bus_id; });
  const auto order = environment.find("CUDA_DEVICE_ORDER");
  const bool by_bus = order != environment.end() && order->second == "PCI_BUS_ID";
  const bool alike = std::all_of(out.gpus.begin(), out.gpus.end(), [&](const GpuInfo& gpu) {
    return gpu.name == out.gpus.front().name;
  });
  out.numbered = by_bus || alike;
  return out;
}

// Hexadecimal digits in either case, as CUDA compares them; "GPU-" itself only as written.
bool starts_uuid(const std::string& uuid, const std::string& start) {
  return start.size() > 4 && start.starts_with("GPU-") && start.size() <= uuid.size() &&
         strncasecmp(uuid.c_str(), start.c_str(), start.size()) == 0;
}

const GpuInfo* by_uuid(const std::string& entry, const Ordered& ordered, std::string& why) {
  if (!entry.starts_with("GPU-")) {
    why = "a list that starts with a UUID may hold only UUIDs";
    return nullptr;
  }
  const GpuInfo* found = nullptr;
  for (const GpuInfo& gpu : ordered.gpus) {
    if (!starts_uuid(gpu.uuid, entry)) continue;
    if (found != nullptr) {
      why = "more than one GPU has a UUID that starts so";
      return nullptr;
    }
    found = &gpu;
  }
  if (found == nullptr) why = "no GPU here has this UUID";
  return found;
}

// CUDA reads a number as strtoul does: what follows the digits is passed over ("0abc" is 0).
const GpuInfo* by_number(const std::string& entry, const Ordered& ordered, std::string& why) {
  const std::string digits = entry.starts_with("+") ? entry.substr(1) : entry;
  unsigned index = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), index);
  if (error != std::errc()) {
    why = entry.starts_with("GPU-") ? "a list that starts with a number may hold only numbers"
                                    : "it is no number";
    return nullptr;
  }
  if (index >= ordered.gpus.size()) {
    why = fmt::format("the GPUs here are numbered 0 to {}",
                      static_cast<int>(ordered.gpus.size()) - 1);
    return nullptr;
  }
  return &ordered.gpus[index];
}

void apply_list(const std::string& list, const Ordered& ordered, VisibleGpus& out) {
  const std::vector<std::string> entries = split(list, ',');
  const bool uuids = trimmed(entries.front()).starts_with("GPU-");
  for (std::size_t i = 0; i < entries.size(); ++i) {
    const std::string entry = trimmed(entries[i]);
    std::string why;
    if (entry.starts_with("MIG-")) why = "it names a MIG slice and this measures whole GPUs";
    const GpuInfo* gpu = why.empty() ? (uuids ? by_uuid : by_number)(entry, ordered, why) : nullptr;
    if (gpu == nullptr) {
      out.notes.push_back(fmt::format(
          "CUDA stops reading CUDA_VISIBLE_DEVICES={} at entry {} '{}' ({}): {} visible", list,
          i + 1, entry, why, out.gpus.empty() ? "no GPU is" : "only the GPUs before it are"));
      return;
    }
    if (!uuids && !ordered.numbered)
      throw UsageError(
          fmt::format("CUDA_VISIBLE_DEVICES={} counts in CUDA's order, fastest first, which cannot "
                      "be told for different GPUs: set "
                      "CUDA_DEVICE_ORDER=PCI_BUS_ID or name UUIDs; here are\n{}",
                      list, gpu_table(ordered.gpus)));
    for (const GpuInfo& taken : out.gpus)
      if (taken.uuid == gpu->uuid)
        throw UsageError(
            fmt::format("CUDA_VISIBLE_DEVICES={} names the GPU at {} twice, and CUDA then shows no "
                        "GPU at all: name "
                        "each once",
                        list, gpu->bus_id));
    out.gpus.push_back(*gpu);
  }
}

}  // namespace

VisibleGpus visible_gpus(const std::vector<GpuIdentity>& all, const Environment& environment) {
  const Ordered ordered = in_order(all, environment);
  VisibleGpus out;
  const auto list = environment.find("CUDA_VISIBLE_DEVICES");
  if (list == environment.end())
    out.gpus = ordered.gpus;
  else if (trimmed(list->second).empty())
    out.notes.push_back("CUDA_VISIBLE_DEVICES is empty: it hides all GPUs");
  else
    apply_list(list->second, ordered, out);
  // A list of UUIDs is itself the order.
  out.numbered = ordered.numbered || list != environment.end() || out.gpus.size() < 2;
  for (std::size_t i = 0; i < out.gpus.size(); ++i)
    out.gpus[i].cuda_index = out.numbered ? static_cast<int>(i) : -1;
  if (!out.numbered)
    out.notes.push_back(
        "the GPUs differ and CUDA_DEVICE_ORDER is not PCI_BUS_ID, so CUDA's numbers are not known: "
        "GPUs are taken in bus "
        "order and named by UUID or bus id");
  return out;
}

std::string gpu_table(const std::vector<GpuInfo>& gpus) {
  std::vector<std::string> lines;
  for (const GpuInfo& gpu : gpus)
    lines.push_back(fmt::format("CUDA {} = NVML {} = {} {} {}",
                                gpu.cuda_index < 0 ? "?" : std::to_string(gpu.cuda_index),
                                gpu.nvml_index, gpu.bus_id, gpu.name, gpu.uuid));
  return lines.empty() ? "no GPU" : fmt::format("{}", fmt::join(lines, "\n"));
}

const GpuInfo& find_gpu(const std::vector<GpuInfo>& gpus, const std::string& text,
                        const std::string& what) {
  const std::string bus = normal_bus_id(text);
  const GpuInfo* found = nullptr;
  for (const GpuInfo& gpu : gpus) {
    const bool fits = bus.empty() ? starts_uuid(gpu.uuid, text) : gpu.bus_id == bus;
    if (!fits) continue;
    if (found != nullptr)
      throw UsageError(
          fmt::format("{} '{}' fits more than one GPU: write more of the UUID; here are\n{}", what,
                      text, gpu_table(gpus)));
    found = &gpu;
  }
  if (found == nullptr)
    throw UsageError(fmt::format("{} '{}' is no GPU that is visible here; here are\n{}", what, text,
                                 gpu_table(gpus)));
  return *found;
}

}  // namespace pairmark
