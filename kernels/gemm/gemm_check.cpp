// check_gemm(): bound and verdict. See gemm.h for the formula.
#include <cmath>

#include "harness/base/error.h"
#include "kernels/gemm/gemm_parts.h"

namespace pairmark {
namespace {

constexpr double kLambda = 8;

// Unit roundoff of the accumulator. Tensor cores keep fp32 sums but truncate them instead of
// rounding, and Hopper's fp8 products are partly summed with about 14 bits.
double accumulator_roundoff(DeviceKind kind, DType type) {
  switch (type) {
    case DType::kFp64:
      return std::ldexp(1.0, -52);  // one rounding of the product, one of the sum
    case DType::kFp32:
      return std::ldexp(1.0, -24);
    case DType::kTf32:
    case DType::kFp16:
    case DType::kBf16:
      return std::ldexp(1.0, kind == DeviceKind::kCpu ? -24 : -23);
    case DType::kFp8E4M3:
      return std::ldexp(1.0, -13);
    case DType::kInt8:
    case DType::kInt32:
      return 0;
  }
  return 0;
}

GemmDifference compare_on_host(const GemmShape& shape, const GemmBound& bound, const void* a,
                               const void* b, const void* d) {
  GemmDifference result;
  const DType type = gemm_output_type(shape.dtype);
  const auto* bytes = static_cast<const std::byte*>(d);
  const double infinite = std::numeric_limits<double>::infinity();
  for_each_reference_column(
      shape, a, b, [&](std::int64_t j, const double* reference, const double* magnitude) {
        for (std::int64_t i = 0; i < shape.m; ++i) {
          const std::int64_t index = j * shape.m + i;
          const double got = decode(type, bytes + index * static_cast<std::int64_t>(size_of(type)));
          const double error = std::fabs(got - reference[i]),
                       allowed = bound.at(reference[i], magnitude[i]);
          double share = error == 0 ? 0 : allowed > 0 ? error / allowed : infinite;
          if (!std::isfinite(share)) share = infinite;
          result.max_share = std::max(result.max_share, share);
          if (share <= 1) continue;
          if (result.wrong++ == 0) {
            result.first_wrong = index;
            result.expected = reference[i], result.got = got, result.allowed = allowed;
          }
        }
      });
  return result;
}

std::string describe_wrong(const GemmShape& shape, const GemmDifference& difference) {
  if (difference.wrong == 0) return "";
  return fmt::format(
      "{} of {} elements are wrong; the first is D[{}, {}] (index {}): expected {:.17g} within "
      "{:.3g}, got {:.17g}",
      difference.wrong, shape.m * shape.n, difference.first_wrong % shape.m,
      difference.first_wrong / shape.m, difference.first_wrong, difference.expected,
      difference.allowed, difference.got);
}

}  // namespace

GemmBound gemm_bound(DeviceKind kind, const GemmShape& shape) {
  GemmBound bound;
  const DType output = gemm_output_type(shape.dtype);
  bound.accumulation =
      kLambda * std::sqrt(static_cast<double>(shape.k)) * accumulator_roundoff(kind, shape.dtype);
  bound.rounding = unit_roundoff(output);
  // Results below fp16's normal numbers round to multiples of 2^-24; those of the other types stay
  // normal.
  if (output == DType::kFp16) bound.smallest = std::ldexp(1.0, -25);
  return bound;
}

Verdict check_gemm(Device& device, const GemmShape& shape, const void* a, const void* b,
                   const void* d, Stream& stream) {
  const GemmBound bound = gemm_bound(device.kind(), shape);
  GemmDifference difference;
  Verdict verdict;
  if (device.kind() == DeviceKind::kCpu) {
    stream.synchronize();
    difference = compare_on_host(shape, bound, a, b, d);
    verdict.method = "every element against a product accumulated in fp64 by plain loops";
  } else {
#ifdef PAIRMARK_CUDA
    difference = compare_gemm_cuda(device, shape, bound, a, b, d, stream);
    verdict.method = "every element against a product accumulated in fp64 by a plain kernel";
#else
    throw UnsupportedError("this build has no cuda device; configure with the preset cuda");
#endif
  }
  verdict.passed = difference.wrong == 0;
  verdict.max_error = difference.max_share;
  verdict.elements = shape.m * shape.n;
  verdict.detail = describe_wrong(shape, difference);
  verdict.bound =
      shape.dtype == DType::kInt8
          ? "exact"
          : fmt::format("8 sqrt({}) {:.3g} sum|a||b| + {:.3g} |reference|", shape.k,
                        accumulator_roundoff(device.kind(), shape.dtype), bound.rounding);
  return verdict;
}

}  // namespace pairmark
