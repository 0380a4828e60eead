// The part of fill_uniform() that runs on a GPU.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/base/dtype.h"
#include "harness/device/device.h"

namespace pairmark {

void fill_uniform_cuda(DType type, void* data, std::size_t count, std::uint64_t seed,
                       Stream& stream);

}  // namespace pairmark
