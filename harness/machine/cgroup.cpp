// Limits that containers and job systems set through control groups, versions 1, 2 and both at
// once.
#include <algorithm>
#include <cstdlib>
#include <functional>

#include "harness/machine/files.h"
#include "harness/machine/host.h"

namespace pairmark {
namespace {

namespace fs = std::filesystem;

// Where a controller's folder may be mounted below sys/fs/cgroup, and this process's group in it.
struct Group {
  std::vector<std::string> mounts;
  std::string path;
  bool v2 = false;
};

std::vector<Group> groups_with(const HostRoots& roots, const std::string& controller) {
  std::vector<Group> groups;
  for (const std::string& line :
       split(read_small_file(roots.proc_path() / "self/cgroup").value_or(""), '\n')) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    const std::string path = line.substr(second + 1);
    const std::vector<std::string> list = split(names, ',');
    if (names.empty())
      groups.push_back({{"", "unified"}, path, true});
    else if (std::find(list.begin(), list.end(), controller) != list.end())
      groups.push_back({{names, controller}, path, false});
  }
  return groups;
}

// The group's folder and all above it up to the mount. Inside a container the path is often that of
// the host and not there; what is there is then found at the mount itself.
std::vector<fs::path> folders_up(const fs::path& mount, const std::string& group) {
  std::vector<fs::path> folders = {mount};
  fs::path at = mount;
  for (const std::string& part : split(group, '/')) {
    if (part.empty() || part == "..") continue;
    at /= part;
    folders.push_back(at);
  }
  return folders;
}

using Reader = std::function<std::optional<double>(const fs::path& folder, bool v2)>;

std::optional<double> least_limit(const HostRoots& roots, const std::string& controller,
                                  const Reader& read) {
  std::optional<double> least;
  for (const Group& group : groups_with(roots, controller)) {
    for (const std::string& mount : group.mounts) {
      for (const fs::path& folder :
           folders_up(roots.sys_path() / "fs/cgroup" / mount, group.path)) {
        const auto limit = read(folder, group.v2);
        if (limit && (!least || *limit < *least)) least = limit;
      }
    }
  }
  return least;
}

std::optional<double> positive_number(const std::optional<std::string>& text) {
  if (!text) return std::nullopt;
  const double value =
      std::strtod(text->c_str(), nullptr);  // whole numbers only, no locale matters
  if (value <= 0) return std::nullopt;
  return value;
}

}  // namespace

std::optional<double> cgroup_cpu_quota(const HostRoots& roots) {
  return least_limit(roots, "cpu", [](const fs::path& folder, bool v2) -> std::optional<double> {
    std::optional<double> quota, period;
    if (v2) {
      const auto text = read_small_file(folder / "cpu.max");  // "200000 100000" or "max 100000"
      if (!text || text->starts_with("max")) return std::nullopt;
      const auto space = text->find(' ');
      quota = positive_number(text);
      period = space == std::string::npos ? std::nullopt : positive_number(text->substr(space));
    } else {
      quota = positive_number(read_small_file(folder / "cpu.cfs_quota_us"));  // -1: no limit
      period = positive_number(read_small_file(folder / "cpu.cfs_period_us"));
    }
    if (!quota || !period) return std::nullopt;
    return *quota / *period;
  });
}

std::optional<double> cgroup_memory_limit(const HostRoots& roots) {
  constexpr double kNoLimit = 1e18;  // version 1 writes a number near 2^63 for "none"
  return least_limit(roots, "memory", [](const fs::path& folder, bool v2) -> std::optional<double> {
    const auto bytes =
        positive_number(read_small_file(folder / (v2 ? "memory.max" : "memory.limit_in_bytes")));
    if (!bytes || *bytes > kNoLimit) return std::nullopt;
    return bytes;
  });
}

}  // namespace pairmark
