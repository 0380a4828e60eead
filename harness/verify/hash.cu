#include <algorithm>

#include "harness/verify/hash_cuda.h"
#include "harness/verify/hash_word.h"

namespace pairmark {
namespace {

constexpr unsigned kThreads = 256;

__global__ void add_words(const unsigned char* data, std::size_t bytes, unsigned long long* sum) {
  const std::size_t words = (bytes + 7) / 8;
  unsigned long long mine = 0;
  for (std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x; i < words;
       i += std::size_t{kThreads} * gridDim.x) {
    mine += hash_word(word_at(data, bytes, i), i);
  }
  for (int lane = 16; lane > 0; lane /= 2) mine += __shfl_down_sync(0xFFFFFFFFu, mine, lane);
  if (threadIdx.x % 32 == 0) atomicAdd(sum, mine);
}

}  // namespace

const char* launch_hash_sum(const void* data, std::size_t bytes, void* sum, void* stream) {
  const std::size_t words = (bytes + 7) / 8;
  const auto blocks =
      static_cast<unsigned>(std::clamp<std::size_t>((words + kThreads - 1) / kThreads, 1, 4096));
  add_words<<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
      static_cast<const unsigned char*>(data), bytes, static_cast<unsigned long long*>(sum));
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace pairmark
