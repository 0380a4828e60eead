#include <algorithm>

#include "kernels/fill/fill_cuda.h"
#include "kernels/fill/fill_element.h"

namespace pairmark {
namespace {

constexpr unsigned kThreads = 256;

template <typename Element>
__global__ void fill(typename Element::Stored* data, std::size_t count, std::uint64_t seed) {
  const std::size_t stride = std::size_t{kThreads} * gridDim.x;
  for (std::size_t i = blockIdx.x * std::size_t{kThreads} + threadIdx.x; i < count; i += stride) {
    data[i] = Element::at(seed, i);
  }
}

}  // namespace

const char* launch_fill(DType type, void* data, std::size_t count, std::uint64_t seed,
                        void* stream) {
  if (count == 0) return nullptr;
  const auto blocks =
      static_cast<unsigned>(std::min<std::size_t>((count + kThreads - 1) / kThreads, 8192));
  with_random_element(type, [&](auto element) {
    using Element = decltype(element);
    fill<Element><<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(
        static_cast<typename Element::Stored*>(data), count, seed);
  });
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace pairmark
