#include "suites/gemm/gemm_suite.h"

int main(int argc, char** argv) {
  pairmark::Suite suite{
      "gemm", "matrix products by cuBLASLt or oneDNN", {}, pairmark::gemm_libraries};
  suite.benchmarks.push_back(pairmark::make_gemm_replicas());
  suite.benchmarks.push_back(pairmark::make_gemm_split());
  return pairmark::suite_main(suite, argc, argv);
}
