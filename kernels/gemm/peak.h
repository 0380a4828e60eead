// The theoretical peak of a device for matrix products: FLOP per clock by architecture, times the
// clock.
#pragma once

#include <optional>
#include <string>

#include "harness/base/dtype.h"
#include "harness/base/json.h"

namespace pairmark {

struct PeakModel {
  std::optional<double>
      flops_per_clock;  // of the whole device, dense; a multiply and an add are two
  std::string source;   // where the figure comes from, in a few words
  std::string reason;   // why there is no figure; empty when there is one
};

// `device_description` is Device::describe(); cuda devices are told by compute_capability and
// sm_count. With a "name" that says GeForce, products that accumulate in fp32 count half where
// those cards have half the rate. Of a cpu the cores come from the description, the instruction set
// from the CPU that runs this program; two FMA units per core are assumed.
PeakModel gemm_peak(const Json& device_description, DType type);

// FLOP per second at this clock; nothing where gemm_peak() has no figure.
std::optional<double> peak_flops(const Json& device_description, DType type, double clock_mhz);

}  // namespace pairmark
