// D = A * B by the vendor's library: cuBLASLt on cuda, oneDNN on cpu; and its check against a
// reference of our own.
//
// BLAS convention: D is m x n, column-major, leading dimension m; B is k x n, column-major, leading
// dimension k. Layout "nn": A is m x k, column-major, leading dimension m. Layout "tn": A is stored
// as its transpose, k x m, column-major, leading dimension k, so that k is contiguous in both
// operands. All matrices are dense.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "harness/base/dtype.h"
#include "harness/base/json.h"
#include "harness/device/device.h"
#include "harness/verify/verify.h"

namespace pairmark {

struct GemmShape {
  std::int64_t m = 0, n = 0, k = 0;
  DType dtype = DType::kFp32;  // of A and B
  std::string layout = "nn";   // "nn" or "tn"
};

// Type of D: int8 -> int32, fp8 -> bf16, tf32 -> fp32, any other the type of A and B.
DType gemm_output_type(DType type);

// Why the device or its library cannot do this product, as one sentence; nothing when it can.
std::optional<std::string> gemm_unsupported(Device& device, const GemmShape& shape);

// The libraries behind make_gemm() as loaded: {"oneDNN": "2.6.3"} or {"cublasLt": "13.1.0"}.
Json gemm_libraries(const Device& device);

class Gemm {
 public:
  virtual ~Gemm() = default;

  // Chooses the fastest algorithm of all that the library has for these operands, by measurement
  // within about `budget_s` seconds, or takes the choice of an earlier run from `cache_file`
  // (empty: no cache). Overwrites D; the caller verifies it. Returns the plan, which use_plan()
  // takes on any rank with the same device and library: {library, version, the algorithm's fields,
  // workspace_bytes, candidates, failed, first_choice_s, best_s, chosen_by}. first_choice_s is the
  // time of the library's own first choice, measured in the same rounds as best_s; chosen_by is
  // "measurement" or "cache"; cache_note is there when the cache could not be used or written.
  virtual Json choose_plan(const void* a, const void* b, void* d, Stream& stream, double budget_s,
                           const std::filesystem::path& cache_file) = 0;

  // Runs this plan from now on. Throws Error when it is of another library version or not for this
  // product.
  virtual void use_plan(const Json& plan) = 0;

  // Launches one product: allocates nothing and waits for nothing. Needs a plan.
  virtual void enqueue(const void* a, const void* b, void* d, Stream& stream) = 0;
};

// Throws UnsupportedError with the reason of gemm_unsupported().
std::unique_ptr<Gemm> make_gemm(Device& device, const GemmShape& shape);

// Compares every element of D with a reference accumulated in double. With S = sum |a||b| of an
// element, it may differ from the reference by  8 sqrt(k) u_acc S + u_out |reference|: the
// probabilistic bound of Higham and Mary (2019), lambda = 8, and one rounding to the output type.
// Integers must be exact; NaN and infinity are always wrong. The bound depends on the inputs alone,
// never on D. On cuda a plain kernel of our own computes the reference on the device. Waits for the
// stream.
Verdict check_gemm(Device& device, const GemmShape& shape, const void* a, const void* b,
                   const void* d, Stream& stream);

}  // namespace pairmark
