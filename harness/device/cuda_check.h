// Turns a failed CUDA runtime call into an Error with CUDA's own words.
#pragma once

#include <cuda_runtime_api.h>

#include "harness/base/error.h"

namespace pairmark {

inline void cuda_check(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // a sticky error stays; another is cleared for the next case
  throw Error(fmt::format("{} failed: {} ({})", what, cudaGetErrorString(status),
                          cudaGetErrorName(status)));
}

}  // namespace pairmark
