// What the machine layer asks about GPUs. Nvml answers on a real machine; tests give a fake.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "harness/base/json.h"

namespace pairmark {

// A value, or the reason why there is none. Never a made-up zero.
template <typename T>
struct Known {
  std::optional<T> value;
  std::string reason;  // a short phrase, empty when there is a value

  static Known of(T given) { return {std::move(given), ""}; }
  static Known missing(std::string why) { return {std::nullopt, std::move(why)}; }
};

// The value converted; a missing one stays missing.
template <typename T, typename F>
auto converted(const Known<T>& known, F convert) -> Known<decltype(convert(*known.value))> {
  if (!known.value) return {std::nullopt, known.reason};
  return {convert(*known.value), ""};
}

// object[key] = value or null; then object[key + "_reason"] says why.
template <typename T>
void put(Json& object, const std::string& key, const Known<T>& known) {
  if (known.value) {
    object[key] = *known.value;
    return;
  }
  object[key] = nullptr;
  object[key + "_reason"] = known.reason;
}

struct GpuIdentity {
  int nvml_index = 0;
  std::string uuid;    // "GPU-00000000-1111-2222-3333-444444444444"
  std::string name;    // "NVIDIA H200"
  std::string bus_id;  // "0000:00:06.0": domain of 4 digits, lower case, as sysfs writes it
  std::string compute_capability;  // "9.0", empty when not known
  std::uint64_t memory_bytes = 0;  // 0 when not known
  bool mig = false;                // MIG mode is on
  std::string compute_mode;        // default, exclusive process, prohibited; empty when not known
};

// One reading of what changes while a GPU works.
struct GpuSample {
  Known<double> sm_clock_mhz, power_w, temperature_c;
  Known<std::uint64_t> throttle_bits;
  Known<double> energy_j;  // counter since the driver was loaded
};

// A query that took suspiciously long: a sick GPU or bridge often shows itself so.
struct SlowQuery {
  std::string name;
  double seconds = 0;
};

class GpuQueries {
 public:
  virtual ~GpuQueries() = default;
  virtual std::vector<GpuIdentity> gpus() = 0;
  // Every fact of one GPU, each null with "<key>_reason" when it cannot be had; "query_errors"
  // lists answers that were failures rather than "not supported".
  virtual Json describe_gpu(const GpuIdentity& gpu) = 0;
  // {version, cuda_driver, nvml_library}
  virtual Json describe_driver() = 0;
  virtual GpuSample sample(const GpuIdentity& gpu) = 0;
  virtual std::vector<SlowQuery> slow_queries() const = 0;  // those of more than 2 s so far
};

// Bits of the clock limit ("throttle") reasons to names: 0x4 -> "sw_power_cap". Unknown bits are
// named by their value.
std::vector<std::string> throttle_names(std::uint64_t bits);
// The bits that say that something limits the clocks: idle, application clocks and display clock
// are left out.
std::uint64_t limiting_throttle_bits(std::uint64_t bits);

// "00000000:17:00.0", "17:00.0" or "0000:17:00.0" -> "0000:17:00.0"; "" when it is no bus id.
std::string normal_bus_id(const std::string& text);

}  // namespace pairmark
