#include "harness/compare/run_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "harness/base/error.h"
#include "harness/report/fields.h"

namespace pairmark {
namespace {

constexpr int kMajor = 1;

void require_readable(const Json& result, const std::string& name) {
  const Json& schema = member(result, "schema");
  if (text_of(schema, "name") != "pairmark-result") {
    throw UsageError(fmt::format("{}: not a result of pairmark; name a result.json", name));
  }
  const auto major = number_of(schema, "major");
  if (!major)
    throw UsageError(
        fmt::format("{}: the result does not say its schema version; it may be damaged", name));
  if (*major != kMajor) {
    throw UsageError(fmt::format("{}: schema version {:.0f} is {} than this program reads ({}); {}",
                                 name, *major, *major > kMajor ? "newer" : "older", kMajor,
                                 *major > kMajor ? "use a newer pairmark" : "measure again"));
  }
  if (!member(result, "rows").is_array())
    throw UsageError(fmt::format("{}: the result has no list of rows; it may be damaged", name));
  for (const Json& row : list_of(result, "rows")) {
    if (text_of(row, "id").empty())
      throw UsageError(fmt::format("{}: a row has no id; the result may be damaged", name));
  }
}

std::string as_text(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (auto number = number_of(value)) return fmt::format("{}", *number);
  return value.is_null() ? "" : value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

ViewedDevice view(const Json& result, const Json& rank, std::map<std::string, int>& seen) {
  ViewedDevice device;
  device.name = text_of(rank, "name", "unnamed device");
  device.uuid = text_of(rank, "uuid");
  device.identity =
      device.uuid.empty() ? fmt::format("{} #{}", device.name, ++seen[device.name]) : device.uuid;
  auto add = [&](const char* what, const Json& value) {
    if (std::string text = as_text(value); !text.empty())
      device.properties.emplace_back(what, text);
  };
  add("SM count", member(rank, "sm_count"));
  add("compute capability", member(rank, "compute_capability"));
  if (device.uuid.empty()) {
    if (const Json& cores = list_of(rank, "cores"); !cores.empty()) add("CPU cores", cores.size());
    return device;
  }
  for (const Json& gpu : list_of(member(result, "machine"), "gpus")) {
    if (text_of(gpu, "uuid") != device.uuid) continue;
    add("CUDA cores", member(gpu, "cuda_cores"));
    add("memory in bytes", member(gpu, "memory_total_bytes"));
    add("power limit in W", member(gpu, "power_limit_w"));
    add("MIG", member(gpu, "mig"));
  }
  return device;
}

void compare_text(std::vector<Difference>& out, const std::string& what, const std::string& a,
                  const std::string& b) {
  if (a != b) out.push_back({what, a.empty() ? "not stated" : a, b.empty() ? "not stated" : b});
}

}  // namespace

RunView::RunView(const Json& result, std::string name) : json_(result), name_(std::move(name)) {
  require_readable(json_, name_);
  std::map<std::string, int> seen;
  for (const Json& rank : list_of(json_, "ranks")) {
    ranks_.push_back(static_cast<int>(number_of(rank, "rank").value_or(-1)));
    devices_.push_back(view(json_, rank, seen));
  }
}

std::string RunView::device_kind() const {
  return text_of(member(json_, "run"), "device");
}

std::vector<const ViewedDevice*> RunView::devices_of(const Json& row) const {
  static const ViewedDevice kUnknown{"unknown device", "unknown device", "", {}};
  std::vector<const ViewedDevice*> out;
  for (const Json& rank : list_of(row, "ranks")) {
    auto found =
        std::find(ranks_.begin(), ranks_.end(), static_cast<int>(number_of(rank).value_or(-1)));
    out.push_back(found == ranks_.end()
                      ? &kUnknown
                      : &devices_[static_cast<std::size_t>(found - ranks_.begin())]);
  }
  std::stable_sort(out.begin(), out.end(),
                   [](const auto* x, const auto* y) { return x->identity < y->identity; });
  return out;
}

std::string RunView::device_list() const {
  std::map<std::string, int> counts;
  for (const ViewedDevice& device : devices_) ++counts[device.name];
  std::string out;
  for (const auto& [name, count] : counts)
    out += fmt::format("{}{} x {}", out.empty() ? "" : ", ", count, name);
  return out.empty() ? "no device listed" : out;
}

std::string RunView::skip_reason(const std::string& id) const {
  for (const Json& skip : list_of(json_, "skipped")) {
    const std::string what = text_of(skip, "what");
    if (!what.empty() && id.starts_with(what)) return text_of(skip, "reason");
  }
  return "";
}

std::vector<Difference> run_differences(const RunView& a, const RunView& b) {
  std::vector<Difference> out;
  compare_text(out, "device", a.device_kind(), b.device_kind());
  // Results that do not say what they were fed used random numbers.
  auto data = [](const RunView& run) {
    return text_of(member(run.json(), "run"), "data", "random");
  };
  compare_text(out, "data", data(a), data(b));
  return out;
}

std::vector<Difference> run_changes(const RunView& a, const RunView& b) {
  std::vector<Difference> out;
  for (const char* key :
       {"version", "commit", "dirty", "compiler", "build_type", "cuda", "sanitize"}) {
    compare_text(out, key, as_text(member(member(a.json(), "pairmark"), key)),
                 as_text(member(member(b.json(), "pairmark"), key)));
  }
  compare_text(out, "profile", text_of(member(a.json(), "run"), "profile"),
               text_of(member(b.json(), "run"), "profile"));
  auto libraries = [](const RunView& run) {
    const Json& ranks = list_of(run.json(), "ranks");
    return ranks.empty() ? Json::object() : member(ranks[0], "libraries");
  };
  const Json before = libraries(a), after = libraries(b);
  std::map<std::string, int> names;
  for (const Json* each : {&before, &after}) {
    if (!each->is_object()) continue;
    for (const auto& [name, version] : each->items()) names[name] = 1;
  }
  for (const auto& [name, unused] : names)
    compare_text(out, name, as_text(member(before, name)), as_text(member(after, name)));
  return out;
}

std::vector<Difference> device_differences(const std::vector<const ViewedDevice*>& a,
                                           const std::vector<const ViewedDevice*>& b) {
  std::vector<Difference> out;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    const std::size_t before = out.size();
    compare_text(out, "GPU", a[i]->name, b[i]->name);
    if (out.size() > before && a[i]->uuid.empty() && b[i]->uuid.empty())
      out.back().what = "device name";
    // Cards of one model differ by several percent, so another card is another baseline.
    if (out.size() == before && !a[i]->uuid.empty() && !b[i]->uuid.empty())
      compare_text(out, "UUID", a[i]->uuid, b[i]->uuid);
    for (const auto& [what, value] : a[i]->properties) {
      for (const auto& [other, value_b] : b[i]->properties) {
        if (what == other) compare_text(out, what, value, value_b);
      }
    }
  }
  return out;
}

}  // namespace pairmark
