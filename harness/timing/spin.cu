#include "harness/timing/spin_kernel.h"

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

const char* launch_spin(unsigned long long duration_ns, void* stream) {
  spin_kernel<<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(duration_ns);
  const cudaError_t status = cudaGetLastError();
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace pairmark
