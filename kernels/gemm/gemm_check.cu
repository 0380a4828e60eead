// The reference product on a GPU: a plain tiled kernel in fp64 that compares D as it goes, so that
// nothing but D is read.
#include <cuda_fp16.h>

#include <cmath>

#include "kernels/gemm/gemm_kernels.h"

namespace pairmark {
namespace {

constexpr int kTile = 64, kDepth = 16, kSide = 16, kThreads = kSide * kSide,
              kPerThread = kTile / kSide;
constexpr int kPadded = kTile + 1;  // rows of a tile in shared memory start in different banks

// --- one element as fp64

template <DType type>
__device__ double load(const void* data, std::int64_t i);
template <>
__device__ double load<DType::kFp64>(const void* data, std::int64_t i) {
  return static_cast<const double*>(data)[i];
}
template <>
__device__ double load<DType::kFp32>(const void* data, std::int64_t i) {
  return static_cast<const float*>(data)[i];
}
template <>
__device__ double load<DType::kTf32>(const void* data, std::int64_t i) {
  return static_cast<const float*>(data)[i];
}
template <>
__device__ double load<DType::kFp16>(const void* data, std::int64_t i) {
  return __half2float(static_cast<const __half*>(data)[i]);
}
template <>
__device__ double load<DType::kBf16>(const void* data, std::int64_t i) {
  return __uint_as_float(static_cast<unsigned>(static_cast<const std::uint16_t*>(data)[i]) << 16);
}
template <>
__device__ double load<DType::kFp8E4M3>(const void* data, std::int64_t i) {
  const unsigned bits = static_cast<const std::uint8_t*>(data)[i];
  if ((bits & 0x7Fu) == 0x7Fu) return nan("");
  // The same fraction in fp16, whose exponent bias is larger by 8.
  const auto half = static_cast<unsigned short>(((bits & 0x80u) << 8) | ((bits & 0x7Fu) << 7));
  return __half2float(__ushort_as_half(half)) * 256.0f;
}
template <>
__device__ double load<DType::kInt8>(const void* data, std::int64_t i) {
  return static_cast<const std::int8_t*>(data)[i];
}
template <>
__device__ double load<DType::kInt32>(const void* data, std::int64_t i) {
  return static_cast<const std::int32_t*>(data)[i];
}

// --- the product

// What is done with each element: compared with D where `found` is set, stored where `reference` is
// set.
struct Sink {
  const void* d;
  GemmBound bound;
  GemmFound* found;
  double* reference;
  float* magnitude;
};

using Word = unsigned long long;  // what atomics take; the same bits as std::uint64_t
__device__ Word* word(std::uint64_t* value) {
  return reinterpret_cast<Word*>(value);
}

__device__ double share_of(double got, double reference, double allowed) {
  const double error = fabs(got - reference);
  if (error == 0) return 0;
  const double share = allowed > 0 ? error / allowed : INFINITY;
  return isfinite(share) ? share : INFINITY;
}

// Loads rows first..first+63 (along m or n) by kDepth of k into shared memory as values and
// magnitudes; 0 outside.
template <DType type>
__device__ void load_tile(const void* data, std::int64_t first, std::int64_t count,
                          std::int64_t depth, std::int64_t k, std::int64_t row_stride,
                          std::int64_t depth_stride, double (*values)[kPadded],
                          float (*magnitudes)[kPadded]) {
  for (int step = 0; step < kTile * kDepth / kThreads; ++step) {
    const int t = static_cast<int>(threadIdx.x) + step * kThreads;
    // Neighbouring threads read neighbouring elements, whichever way the matrix lies.
    const int row = row_stride == 1 ? t % kTile : t / kDepth,
              at = row_stride == 1 ? t / kTile : t % kDepth;
    const bool inside = first + row < count && depth + at < k;
    const double value =
        inside ? load<type>(data, (first + row) * row_stride + (depth + at) * depth_stride) : 0.0;
    values[at][row] = value;
    magnitudes[at][row] = fabsf(static_cast<float>(value));
  }
}

template <DType type, DType output>
__global__ void __launch_bounds__(kThreads) reference_kernel(GemmOperandsView in, Sink sink) {
  __shared__ double a_values[kDepth][kPadded], b_values[kDepth][kPadded];
  __shared__ float a_magnitudes[kDepth][kPadded], b_magnitudes[kDepth][kPadded];
  const std::int64_t row0 = static_cast<std::int64_t>(blockIdx.x) * kTile,
                     column0 = static_cast<std::int64_t>(blockIdx.y) * kTile;
  const int tx = static_cast<int>(threadIdx.x) % kSide, ty = static_cast<int>(threadIdx.x) / kSide;
  double sums[kPerThread][kPerThread] = {};
  float sizes[kPerThread][kPerThread] =
      {};  // fp32 is enough for a bound: off by k 2^-24 at most, relative
  for (std::int64_t depth = 0; depth < in.k; depth += kDepth) {
    load_tile<type>(in.a, row0, in.m, depth, in.k, in.a_row, in.a_depth, a_values, a_magnitudes);
    load_tile<type>(in.b, column0, in.n, depth, in.k, in.k, 1, b_values, b_magnitudes);
    __syncthreads();
    for (int p = 0; p < kDepth; ++p) {
#pragma unroll
      for (int i = 0; i < kPerThread; ++i) {
#pragma unroll
        for (int j = 0; j < kPerThread; ++j) {
          sums[i][j] += a_values[p][tx + i * kSide] * b_values[p][ty + j * kSide];
          sizes[i][j] += a_magnitudes[p][tx + i * kSide] * b_magnitudes[p][ty + j * kSide];
        }
      }
    }
    __syncthreads();
  }

  __shared__ std::uint64_t max_share, wrong, first_wrong;
  if (threadIdx.x == 0) max_share = 0, wrong = 0, first_wrong = ~0ull;
  __syncthreads();
#pragma unroll
  for (int i = 0; i < kPerThread; ++i) {
#pragma unroll
    for (int j = 0; j < kPerThread; ++j) {
      const std::int64_t row = row0 + tx + i * kSide, column = column0 + ty + j * kSide;
      if (row >= in.m || column >= in.n) continue;
      const std::int64_t index = column * in.m + row;
      if (sink.reference != nullptr) {
        sink.reference[index] = sums[i][j];
        sink.magnitude[index] = sizes[i][j];
      }
      if (sink.found == nullptr) continue;
      const double share =
          share_of(load<output>(sink.d, index), sums[i][j], sink.bound.at(sums[i][j], sizes[i][j]));
      atomicMax(word(&max_share), static_cast<unsigned long long>(__double_as_longlong(share)));
      if (share > 1) {
        atomicAdd(word(&wrong), 1ull);
        atomicMin(word(&first_wrong), static_cast<unsigned long long>(index));
      }
    }
  }
  __syncthreads();
  if (threadIdx.x == 0 && sink.found != nullptr) {
    atomicMax(word(&sink.found->max_share), max_share);
    atomicAdd(word(&sink.found->wrong), wrong);
    atomicMin(word(&sink.found->first_wrong), first_wrong);
  }
}

// Reference, magnitude and value of one element, by one thread.
template <DType type, DType output>
__global__ void explain_kernel(GemmOperandsView in, const void* d, std::int64_t index,
                               double* out) {
  const std::int64_t row = index % in.m, column = index / in.m;
  double sum = 0, size = 0;
  for (std::int64_t p = 0; p < in.k; ++p) {
    const double product =
        load<type>(in.a, row * in.a_row + p * in.a_depth) * load<type>(in.b, column * in.k + p);
    sum += product;
    size += fabs(product);
  }
  out[0] = sum, out[1] = size, out[2] = load<output>(d, index);
}

// Calls work with the types of operands and result as template arguments; false for a type without
// a product.
template <typename Work>
bool with_types(DType type, const Work& work) {
  switch (type) {
    case DType::kFp64:
      work.template operator()<DType::kFp64, DType::kFp64>();
      return true;
    case DType::kFp32:
      work.template operator()<DType::kFp32, DType::kFp32>();
      return true;
    case DType::kTf32:
      work.template operator()<DType::kTf32, DType::kFp32>();
      return true;
    case DType::kFp16:
      work.template operator()<DType::kFp16, DType::kFp16>();
      return true;
    case DType::kBf16:
      work.template operator()<DType::kBf16, DType::kBf16>();
      return true;
    case DType::kFp8E4M3:
      work.template operator()<DType::kFp8E4M3, DType::kBf16>();
      return true;
    case DType::kInt8:
      work.template operator()<DType::kInt8, DType::kInt32>();
      return true;
    case DType::kInt32:
      break;
  }
  return false;
}

const char* outcome(bool known_type) {
  const cudaError_t status = cudaGetLastError();
  if (!known_type) return "no product of this type";
  return status == cudaSuccess ? nullptr : cudaGetErrorString(status);
}

}  // namespace

const char* launch_reference(const GemmOperandsView& in, const void* d, const GemmBound& bound,
                             GemmFound* found, double* reference, float* magnitude, void* stream) {
  const Sink sink{d, bound, found, reference, magnitude};
  const dim3 blocks(static_cast<unsigned>((in.m + kTile - 1) / kTile),
                    static_cast<unsigned>((in.n + kTile - 1) / kTile));
  return outcome(with_types(in.type, [&]<DType type, DType output>() {
    reference_kernel<type, output>
        <<<blocks, kThreads, 0, static_cast<cudaStream_t>(stream)>>>(in, sink);
  }));
}

const char* launch_explain(const GemmOperandsView& in, const void* d, std::int64_t index,
                           double* three, void* stream) {
  return outcome(with_types(in.type, [&]<DType type, DType output>() {
    explain_kernel<type, output>
        <<<1, 1, 0, static_cast<cudaStream_t>(stream)>>>(in, d, index, three);
  }));
}

}  // namespace pairmark
