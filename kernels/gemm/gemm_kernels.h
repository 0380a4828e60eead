// The check's kernels, and the plain types that they share with the host: no header of the host's
// libraries, which nvcc is slow with or refuses.
#pragma once

#include <cstdint>

#include "harness/base/dtype.h"
#include "harness/base/rng.h"

namespace pairmark {

// The largest error that an element with this reference and this sum of |a||b| may have:
// accumulation * magnitude + rounding * |reference| + smallest.
struct GemmBound {
  double accumulation = 0, rounding = 0, smallest = 0;
  PAIRMARK_HOST_DEVICE double at(double reference, double magnitude) const {
    return accumulation * magnitude + rounding * (reference < 0 ? -reference : reference) +
           smallest;
  }
};

struct GemmOperandsView {
  std::int64_t m, n, k;
  std::int64_t a_row,
      a_depth;        // strides of A along m and k, in elements; B is k x n with k contiguous
  const void *a, *b;  // device memory
  DType type;
};

struct GemmFound {  // of all elements compared
  std::uint64_t max_share =
      0;  // bits of a double: non-negative doubles are ordered like their bits
  std::uint64_t wrong = 0;
  std::uint64_t first_wrong = ~0ull;
};

// `stream` is a cudaStream_t; each returns CUDA's words on failure, else nullptr. All pointers are
// device memory. Computes the reference, compares it with D where `found` is not null (it must hold
// a GemmFound{}), and stores it and the sums of |a||b| where `reference` is not null.
const char* launch_reference(const GemmOperandsView& in, const void* d, const GemmBound& bound,
                             GemmFound* found, double* reference, float* magnitude, void* stream);
// Writes reference, sum of |a||b| and value of one element of D.
const char* launch_explain(const GemmOperandsView& in, const void* d, std::int64_t index,
                           double* three, void* stream);

}  // namespace pairmark
