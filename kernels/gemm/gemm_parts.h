// What gemm.cpp puts together; not for callers.
#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "kernels/gemm/gemm.h"
#include "kernels/gemm/gemm_kernels.h"

namespace pairmark {

// --- gemm_cpu.cpp
std::string cpu_gemm_library();  // version
std::optional<std::string> cpu_gemm_unsupported(const GemmShape& shape);
std::unique_ptr<Gemm> make_cpu_gemm(Device& device, const GemmShape& shape);

// --- gemm_cuda.cu
std::string cuda_gemm_library();  // version, and where it was loaded from
std::optional<std::string> cuda_gemm_unsupported(Device& device, const GemmShape& shape);
std::unique_ptr<Gemm> make_cuda_gemm(Device& device, const GemmShape& shape);

// --- gemm_ref.cpp
// Calls take(j, reference, magnitude) for each column j of D, in order: m values of A * B
// accumulated in double, and m sums of |a||b|. Host memory only.
void for_each_reference_column(
    const GemmShape& shape, const void* a, const void* b,
    const std::function<void(std::int64_t, const double*, const double*)>& take);

// --- gemm_check.cpp
GemmBound gemm_bound(DeviceKind kind, const GemmShape& shape);

struct GemmDifference {
  double max_share = 0;           // error / bound, infinite when not finite or where the bound is 0
  std::int64_t wrong = 0;         // elements beyond their bound
  std::int64_t first_wrong = -1;  // index into D, column-major
  double expected = 0, got = 0, allowed = 0;
};

// --- gemm_check_cuda.cpp
GemmDifference compare_gemm_cuda(Device& device, const GemmShape& shape, const GemmBound& bound,
                                 const void* a, const void* b, const void* d, Stream& stream);
// The device's reference itself: m * n values and sums of |a||b| (fp32), both in device memory. For
// tests.
void reference_gemm_cuda(const GemmShape& shape, const void* a, const void* b, double* reference,
                         float* magnitude, Stream& stream);

}  // namespace pairmark
