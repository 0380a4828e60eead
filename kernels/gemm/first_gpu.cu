#include "kernels/gemm/first_gpu.h"

#include <string>

#include "harness/device/cuda_check.h"

namespace pairmark {

std::unique_ptr<Device> open_first_gpu() {
  cudaDeviceProp properties{};
  cuda_check(cudaGetDeviceProperties(&properties, 0), "cudaGetDeviceProperties");
  std::string uuid = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) uuid += '-';
    uuid += fmt::format("{:02x}", static_cast<unsigned char>(properties.uuid.bytes[i]));
  }
  return open_cuda_device(0, uuid);
}

}  // namespace pairmark
