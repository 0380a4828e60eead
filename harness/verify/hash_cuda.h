// The part of hash_bytes() that nvcc compiles: no header of the host's libraries, which nvcc is
// slow with or refuses.
#pragma once

#include <cstddef>

namespace pairmark {

// Adds hash_word() of all words of device memory to the unsigned long long at `sum`, also there.
// `stream` is a cudaStream_t. Returns CUDA's words on failure, else nullptr.
const char* launch_hash_sum(const void* data, std::size_t bytes, void* sum, void* stream);

}  // namespace pairmark
