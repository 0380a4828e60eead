#include "kernels/gemm/lt.cuh"

namespace pairmark::lt {
namespace {

template <typename T>
void set(cublasLtMatmulDesc_t operation, cublasLtMatmulDescAttributes_t attribute, const T& value) {
  lt_check(cublasLtMatmulDescSetAttribute(operation, attribute, &value, sizeof value),
           "cublasLtMatmulDescSetAttribute");
}

Handle make_handle() {
  cublasLtHandle_t handle = nullptr;
  lt_check(cublasLtCreate(&handle), "cublasLtCreate");
  return Handle(handle);
}

Layout make_layout(cudaDataType_t type, std::int64_t rows, std::int64_t columns) {
  cublasLtMatrixLayout_t layout = nullptr;
  lt_check(cublasLtMatrixLayoutCreate(&layout, type, static_cast<std::uint64_t>(rows),
                                      static_cast<std::uint64_t>(columns), rows),
           "cublasLtMatrixLayoutCreate");
  return Layout(layout);
}

// fp8 and int8 exist on tensor cores in the TN form alone, fp8 with a D of bf16 and scales in
// device memory.
Operation make_operation(const GemmShape& shape, const Types& types, const float* fp8_scale) {
  cublasLtMatmulDesc_t raw = nullptr;
  lt_check(cublasLtMatmulDescCreate(&raw, types.compute, types.scale), "cublasLtMatmulDescCreate");
  Operation operation(raw);
  set(raw, CUBLASLT_MATMUL_DESC_TRANSA, shape.layout == "tn" ? CUBLAS_OP_T : CUBLAS_OP_N);
  set(raw, CUBLASLT_MATMUL_DESC_TRANSB, CUBLAS_OP_N);
  if (shape.dtype == DType::kFp8E4M3) {
    set(raw, CUBLASLT_MATMUL_DESC_FAST_ACCUM, std::int8_t{1});
    set(raw, CUBLASLT_MATMUL_DESC_A_SCALE_POINTER, fp8_scale);
    set(raw, CUBLASLT_MATMUL_DESC_B_SCALE_POINTER, fp8_scale);
  }
  return operation;
}

}  // namespace

Types types_of(DType type) {
  switch (type) {
    case DType::kFp64:
      return {CUDA_R_64F, CUDA_R_64F, CUDA_R_64F, CUBLAS_COMPUTE_64F};
    case DType::kFp32:
      return {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case DType::kTf32:
      return {CUDA_R_32F, CUDA_R_32F, CUDA_R_32F, CUBLAS_COMPUTE_32F_FAST_TF32};
    case DType::kFp16:
      return {CUDA_R_16F, CUDA_R_16F, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case DType::kBf16:
      return {CUDA_R_16BF, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case DType::kFp8E4M3:
      return {CUDA_R_8F_E4M3, CUDA_R_16BF, CUDA_R_32F, CUBLAS_COMPUTE_32F};
    case DType::kInt8:
      return {CUDA_R_8I, CUDA_R_32I, CUDA_R_32I, CUBLAS_COMPUTE_32I};
    case DType::kInt32:
      break;
  }
  throw UnsupportedError("cuBLASLt multiplies no int32 matrices");
}

Scalars::Scalars(cudaDataType_t type) {
  std::memset(&beta, 0, sizeof beta);
  if (type == CUDA_R_64F) {
    alpha.fp64 = 1;
  } else if (type == CUDA_R_32I) {
    alpha.int32 = 1;
  } else {
    alpha.fp32 = 1;
  }
}

Product::Product(const GemmShape& shape, const float* fp8_scale)
    : types(types_of(shape.dtype)),
      scalars(types.scale),
      handle(make_handle()),
      operation(make_operation(shape, types, fp8_scale)),
      a(shape.layout == "tn" ? make_layout(types.operand, shape.k, shape.m)
                             : make_layout(types.operand, shape.m, shape.k)),
      b(make_layout(types.operand, shape.k, shape.n)),
      d(make_layout(types.result, shape.m, shape.n)) {}

std::vector<int> Product::algorithm_ids() const {
  std::vector<int> ids(256);
  int count = 0;
  const auto status = cublasLtMatmulAlgoGetIds(
      handle.get(), types.compute, types.scale, types.operand, types.operand, types.result,
      types.result, static_cast<int>(ids.size()), ids.data(), &count);
  ids.resize(status == CUBLAS_STATUS_SUCCESS ? static_cast<std::size_t>(count) : 0);
  return ids;
}

bool Product::supports(const cublasLtMatmulAlgo_t& algorithm, std::size_t& workspace_bytes) const {
  cublasLtMatmulHeuristicResult_t result{};
  if (cublasLtMatmulAlgoCheck(handle.get(), operation.get(), a.get(), b.get(), d.get(), d.get(),
                              &algorithm, &result) != CUBLAS_STATUS_SUCCESS) {
    return false;
  }
  workspace_bytes = result.workspaceSize;
  return true;
}

cublasStatus_t Product::launch(const cublasLtMatmulAlgo_t& algorithm, const void* a_data,
                               const void* b_data, void* d_data, void* workspace,
                               std::size_t workspace_bytes, cudaStream_t stream) const {
  return cublasLtMatmul(handle.get(), operation.get(), &scalars.alpha, a_data, a.get(), b_data,
                        b.get(), &scalars.beta, d_data, d.get(), d_data, d.get(), &algorithm,
                        workspace, workspace_bytes, stream);
}

}  // namespace pairmark::lt
