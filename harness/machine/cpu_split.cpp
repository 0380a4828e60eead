#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "harness/base/error.h"
#include "harness/machine/devices.h"

namespace pairmark {
namespace {

using Core = std::vector<int>;  // CPUs of one physical core

// At most `most` CPUs: one of every core before a second of any.
std::vector<CpuPlace> limited(const std::vector<CpuPlace>& places, int most) {
  if (most <= 0 || static_cast<int>(places.size()) <= most) return places;
  std::map<int, int> turn_of_core;  // how many CPUs of the core came before
  std::vector<std::pair<int, std::size_t>> by_turn;
  for (std::size_t i = 0; i < places.size(); ++i)
    by_turn.emplace_back(turn_of_core[places[i].core]++, i);
  std::stable_sort(by_turn.begin(), by_turn.end(),
                   [](auto& a, auto& b) { return a.first < b.first; });
  std::set<std::size_t> chosen;
  for (int i = 0; i < most; ++i) chosen.insert(by_turn[static_cast<std::size_t>(i)].second);
  std::vector<CpuPlace> kept;
  for (std::size_t i : chosen) kept.push_back(places[i]);
  return kept;
}

std::vector<Core> cores_of(const std::vector<CpuPlace>& places) {
  std::vector<Core> cores;
  std::map<int, std::size_t> at;
  for (const CpuPlace& place : places) {
    const auto [found, fresh] = at.emplace(place.core, cores.size());
    if (fresh) cores.emplace_back();
    cores[found->second].push_back(place.cpu);
  }
  return cores;
}

}  // namespace

std::vector<CpuDevice> split_cpus(const std::vector<CpuPlace>& places, int count, int most) {
  const std::vector<CpuPlace> usable = limited(places, most);
  if (count < 1 || static_cast<int>(usable.size()) < count)
    throw UnsupportedError(fmt::format(
        "{} cpu devices need {} CPUs and {} can be used here{}", count, count, usable.size(),
        usable.size() < places.size() ? " (the control group's quota)" : ""));
  std::vector<Core> units = cores_of(usable);
  if (static_cast<int>(units.size()) < count) {
    units.clear();
    for (const CpuPlace& place : usable) units.push_back({place.cpu});
  }
  const std::size_t each = units.size() / static_cast<std::size_t>(count);
  std::vector<CpuDevice> devices;
  for (int i = 0; i < count; ++i) {
    CpuDevice device{i, {}};
    for (std::size_t u = 0; u < each; ++u) {
      const Core& core = units[static_cast<std::size_t>(i) * each + u];
      device.cores.insert(device.cores.end(), core.begin(), core.end());
    }
    devices.push_back(std::move(device));
  }
  return devices;
}

}  // namespace pairmark
