// cuBLASLt's objects for one product: owned handles, attributes by type, and the element types it
// takes.
#pragma once

#include <cublasLt.h>

#include <cstring>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "harness/base/error.h"
#include "kernels/gemm/gemm.h"

namespace pairmark::lt {

inline void lt_check(cublasStatus_t status, const char* what) {
  if (status == CUBLAS_STATUS_SUCCESS) return;
  throw Error(fmt::format("{} failed: {} ({})", what, cublasLtGetStatusString(status),
                          cublasLtGetStatusName(status)));
}

// "13.1.0", of the library that is loaded.
inline std::string version() {
  const std::size_t number = cublasLtGetVersion();
  return fmt::format("{}.{}.{}", number / 10000, number / 100 % 100, number % 100);
}

template <auto Destroy>
struct Destroyer {
  template <typename T>
  void operator()(T* object) const {
    Destroy(object);
  }
};
using Handle = std::unique_ptr<std::remove_pointer_t<cublasLtHandle_t>, Destroyer<cublasLtDestroy>>;
using Operation = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulDesc_t>,
                                  Destroyer<cublasLtMatmulDescDestroy>>;
using Layout = std::unique_ptr<std::remove_pointer_t<cublasLtMatrixLayout_t>,
                               Destroyer<cublasLtMatrixLayoutDestroy>>;
using Preference = std::unique_ptr<std::remove_pointer_t<cublasLtMatmulPreference_t>,
                                   Destroyer<cublasLtMatmulPreferenceDestroy>>;

// What cuBLASLt calls the types of a product. C has the type and layout of D.
struct Types {
  cudaDataType_t operand, result, scale;
  cublasComputeType_t compute;
};
Types types_of(DType type);  // throws UnsupportedError for int32

// alpha = 1 and beta = 0 in the scale type.
struct Scalars {
  union Value {
    double fp64;
    float fp32;
    std::int32_t int32;
  } alpha, beta;
  explicit Scalars(cudaDataType_t type);
};

// Everything that describes one product and does not change. fp8 reads its scales, both 1, from
// device memory.
class Product {
 public:
  // `fp8_scale` points to a device float of 1, or is nullptr.
  Product(const GemmShape& shape, const float* fp8_scale);

  // The ids of all algorithms for these types.
  std::vector<int> algorithm_ids() const;
  // Whether the algorithm can run here, with its workspace in bytes. The bytes may come from
  // anywhere.
  bool supports(const cublasLtMatmulAlgo_t& algorithm, std::size_t& workspace_bytes) const;
  cublasStatus_t launch(const cublasLtMatmulAlgo_t& algorithm, const void* a, const void* b,
                        void* d, void* workspace, std::size_t workspace_bytes,
                        cudaStream_t stream) const;

  Types types;
  Scalars scalars;
  Handle handle;
  Operation operation;
  Layout a, b, d;
};

// Fields of an algorithm that people can read.
template <typename T>
T config(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute) {
  T value{};
  std::size_t written = 0;
  cublasLtMatmulAlgoConfigGetAttribute(&algorithm, attribute, &value, sizeof value, &written);
  return value;
}
template <typename T>
bool set_config(cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoConfigAttributes_t attribute,
                T value) {
  return cublasLtMatmulAlgoConfigSetAttribute(&algorithm, attribute, &value, sizeof value) ==
         CUBLAS_STATUS_SUCCESS;
}

struct Candidate {
  cublasLtMatmulAlgo_t algorithm;
  std::size_t workspace_bytes;
};

// The library's own proposals in its order, at most `count`. Split-K sums stay in the compute type,
// so that results repeat bitwise and meet the bound of check_gemm().
std::vector<Candidate> proposals(const Product& product, std::size_t workspace_limit,
                                 std::size_t alignment_bytes, int count);

// Adds algorithms that the library can run but did not propose: random variations of its proposals
// (tile, stages, cluster, swizzle, custom option) and of every algorithm it lists, until `seconds`
// are over or `most` were found.
void add_variations(const Product& product, std::size_t workspace_limit, double seconds,
                    std::size_t most, std::vector<Candidate>& candidates);

}  // namespace pairmark::lt
