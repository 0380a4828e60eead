// The gemm suite: the product as replicas (every device does the whole of it) and split by columns
// over the devices.
#pragma once

#include "harness/run/benchmark.h"
#include "kernels/gemm/gemm.h"

namespace pairmark {

std::unique_ptr<Benchmark> make_gemm_replicas();
std::unique_ptr<Benchmark> make_gemm_split();

// Shared by both: axes m, n, k, dtype, layout.
std::vector<Axis> gemm_axes();
GemmShape shape_of(const Case& c);
Peak peak_of(const Case& c, const Json& device_description, double clock_mhz);
Work gemm_work(const GemmShape& shape, double share);  // of a rank that does `share` of the product
Case gemm_case(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& dtype);

// Inputs and output of one rank. A and B are the same on every rank (same seed), so that results
// can be compared bit for bit.
struct GemmOperands {
  GemmOperands(const GemmShape& shape, Rank& rank);
  void reset(Stream& stream);  // poisons D; A and B are never written
  Buffer a, b;
  GuardedBuffer d;
  std::size_t in_bytes, out_bytes;  // of one element
};

// Chosen by rank 0 by measurement (or from the cache) and broadcast: all arms run the same plan.
Json agree_on_plan(Gemm& gemm, const void* a, const void* b, void* d, Rank& rank);

// Verifies a product once against the reference; later results must be the same bit for bit, or are
// compared again.
class GemmVerifier {
 public:
  Verdict check(Rank& rank, const GemmShape& shape, const void* a, const void* b,
                const GuardedBuffer& whole, const void* d);

 private:
  std::uint64_t hash_ = 0;
  Verdict verified_;
};

}  // namespace pairmark
