// The part of fill_uniform() that nvcc compiles: no header of the host's libraries, which nvcc is
// slow with or refuses.
#pragma once

#include <cstddef>
#include <cstdint>

#include "harness/base/dtype.h"

namespace pairmark {

// `stream` is a cudaStream_t. Returns CUDA's words on failure, else nullptr.
const char* launch_fill(DType type, void* data, std::size_t count, std::uint64_t seed,
                        void* stream);

}  // namespace pairmark
