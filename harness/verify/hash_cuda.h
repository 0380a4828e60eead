// The part of hash_bytes() that runs on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/device/device.h"

namespace pairmark {

// The sum of hash_word() over all words of device memory. Waits for the stream.
std::uint64_t hash_sum_cuda(Device& device, const void* data, std::size_t bytes, Stream& stream);

}  // namespace pairmark
