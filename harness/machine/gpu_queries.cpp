#include "harness/machine/gpu_queries.h"

#include <fmt/format.h>

#include <iterator>
#include <regex>

namespace pairmark {
namespace {

constexpr const char* kThrottleNames[] = {
    "gpu_idle",      "applications_clocks", "sw_power_cap",        "hw_slowdown",
    "sync_boost",    "sw_thermal_slowdown", "hw_thermal_slowdown", "hw_power_brake",
    "display_clock", "board_limit",         "reliability"};
constexpr std::uint64_t kNotLimiting = 0x1 | 0x2 | 0x100;

}  // namespace

std::vector<std::string> throttle_names(std::uint64_t bits) {
  std::vector<std::string> names;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if ((bits >> bit & 1) == 0) continue;
    names.push_back(bit < std::size(kThrottleNames)
                        ? kThrottleNames[bit]
                        : fmt::format("unknown({:#x})", std::uint64_t{1} << bit));
  }
  return names;
}

std::uint64_t limiting_throttle_bits(std::uint64_t bits) {
  return bits & ~kNotLimiting;
}

std::string normal_bus_id(const std::string& text) {
  static const std::regex kForm(
      "(?:([0-9a-fA-F]{1,8}):)?([0-9a-fA-F]{1,2}):([0-9a-fA-F]{1,2})[.]([0-7])");
  std::smatch match;
  if (!std::regex_match(text, match, kForm)) return "";
  const auto part = [&](std::size_t i) {
    return match[i].matched ? std::stoul(match[i].str(), nullptr, 16) : 0;
  };
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", part(1), part(2), part(3), part(4));
}

}  // namespace pairmark
