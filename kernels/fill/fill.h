// Seeded random data in device memory, bitwise the same on every kind of device.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/base/dtype.h"
#include "harness/device/device.h"

namespace pairmark {

// Writes `count` elements at `data`, in the order of the stream. Element i is encode(type,
// random_uniform(seed, i)), uniform in [-1, 1); of the integer types it is a whole number from -127
// to 127.
void fill_uniform(Device& device, DType type, void* data, std::size_t count, std::uint64_t seed,
                  Stream& stream);

}  // namespace pairmark
