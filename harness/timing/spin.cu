#include "harness/device/cuda_check.h"
#include "harness/device/device.h"

namespace pairmark {
namespace {

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now));
  return now;
}

__global__ void spin_kernel(unsigned long long duration_ns) {
  const unsigned long long start = nanoseconds();
  while (nanoseconds() - start < duration_ns) {
  }
}

}  // namespace

void spin_cuda(double seconds, Stream& stream) {
  spin_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream.native())>>>(
      static_cast<unsigned long long>(seconds * 1e9));
  cuda_check(cudaGetLastError(), "starting the spin kernel");
}

}  // namespace pairmark
