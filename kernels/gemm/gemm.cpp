#include "kernels/gemm/gemm.h"

#include "harness/base/error.h"
#include "kernels/gemm/gemm_parts.h"

namespace pairmark {
namespace {

// int32 holds k * 127 * 127 only up to here.
constexpr std::int64_t kLargestInt8K = 2147483647 / (127 * 127);

}  // namespace

DType gemm_output_type(DType type) {
  switch (type) {
    case DType::kInt8:
      return DType::kInt32;
    case DType::kFp8E4M3:
      return DType::kBf16;
    case DType::kTf32:
      return DType::kFp32;
    default:
      return type;
  }
}

Json gemm_libraries(const Device& device) {
  if (device.kind() == DeviceKind::kCpu) return {{"oneDNN", cpu_gemm_library()}};
#ifdef PAIRMARK_CUDA
  return {{"cublasLt", cuda_gemm_library()}};
#else
  return Json::object();
#endif
}

std::optional<std::string> gemm_unsupported(Device& device, const GemmShape& shape) {
  check(shape.m > 0 && shape.n > 0 && shape.k > 0, "m, n and k must be at least 1, not {}, {}, {}",
        shape.m, shape.n, shape.k);
  check(shape.layout == "nn" || shape.layout == "tn", "the layout must be nn or tn, not '{}'",
        shape.layout);
  if (shape.dtype == DType::kInt32) return "no library multiplies int32 matrices; use int8";
  if (shape.dtype == DType::kInt8 && shape.k > kLargestInt8K) {
    return fmt::format("int32 sums of int8 products can overflow beyond k = {}", kLargestInt8K);
  }
  if (device.kind() == DeviceKind::kCpu) return cpu_gemm_unsupported(shape);
#ifdef PAIRMARK_CUDA
  return cuda_gemm_unsupported(device, shape);
#else
  return "this build has no cuda device; configure with the preset cuda";
#endif
}

std::unique_ptr<Gemm> make_gemm(Device& device, const GemmShape& shape) {
  if (auto reason = gemm_unsupported(device, shape)) throw UnsupportedError(*reason);
  if (device.kind() == DeviceKind::kCpu) return make_cpu_gemm(device, shape);
#ifdef PAIRMARK_CUDA
  return make_cuda_gemm(device, shape);
#else
  return nullptr;  // refused above
#endif
}

}  // namespace pairmark
