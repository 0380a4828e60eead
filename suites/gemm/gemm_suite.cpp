#include "suites/gemm/gemm_suite.h"

#include "harness/base/error.h"
#include "harness/base/units.h"
#include "kernels/fill/fill.h"
#include "kernels/gemm/peak.h"

namespace pairmark {
namespace {

constexpr std::int64_t kMaxSide = 65536;

DType dtype_of(const Case& c) {
  return *dtype_from_string(c.word("dtype"));
}

}  // namespace

std::vector<Axis> gemm_axes() {
  return {
      {"m", "rows of A and D", {}, 1, kMaxSide},
      {"n", "columns of B and D", {}, 1, kMaxSide},
      {"k", "length of the sums", {}, 1, kMaxSide},
      {"dtype", "type of A and B", {"fp64", "fp32", "tf32", "fp16", "bf16", "fp8", "int8"}, 0, 0},
      {"layout", "nn: all column-major; tn: A stored as its transpose", {"nn", "tn"}, 0, 0}};
}

Case gemm_case(std::int64_t m, std::int64_t n, std::int64_t k, const std::string& dtype) {
  // cuBLASLt takes 8-bit types only with k contiguous in both operands.
  const char* layout = dtype == "fp8" || dtype == "int8" ? "tn" : "nn";
  return {{"m", std::to_string(m)},
          {"n", std::to_string(n)},
          {"k", std::to_string(k)},
          {"dtype", dtype},
          {"layout", layout}};
}

GemmShape shape_of(const Case& c) {
  return {c.number("m"), c.number("n"), c.number("k"), dtype_of(c), c.word("layout")};
}

Peak peak_of(const Case& c, const Json& device_description, double clock_mhz) {
  const PeakModel model = gemm_peak(device_description, dtype_of(c));
  return {model.flops_per_clock.value_or(0) * clock_mhz * 1e6 / kTera, model.source, model.reason};
}

Work gemm_work(const GemmShape& shape, double share) {
  const double m = static_cast<double>(shape.m), n = static_cast<double>(shape.n),
               k = static_cast<double>(shape.k);
  const double in = static_cast<double>(size_of(shape.dtype)),
               out = static_cast<double>(size_of(gemm_output_type(shape.dtype)));
  Work work;
  work.flops = 2 * m * n * k * share;
  work.bytes = in * (m * k + k * n * share) + out * m * n * share;
  work.items = share;
  work.formula = "2*m*n*k operations; bytes: A and B read once, D written once";
  work.rate_unit = unit_roundoff(shape.dtype) == 0 ? "TOPS" : "TFLOPS";
  return work;
}

GemmOperands::GemmOperands(const GemmShape& s, Rank& rank)
    : in_bytes(size_of(s.dtype)), out_bytes(size_of(gemm_output_type(s.dtype))) {
  const auto m = static_cast<std::size_t>(s.m), n = static_cast<std::size_t>(s.n),
             k = static_cast<std::size_t>(s.k);
  a = Buffer(rank.device, m * k * in_bytes);
  b = Buffer(rank.device, k * n * in_bytes);
  d = GuardedBuffer(rank.device, m * n * out_bytes);
  fill_uniform(rank.device, s.dtype, a.data(), m * k, rank.seed * 2 + 1, rank.stream);
  fill_uniform(rank.device, s.dtype, b.data(), k * n, rank.seed * 2 + 2, rank.stream);
  rank.stream.synchronize();
}

void GemmOperands::reset(Stream& stream) {
  d.poison(stream);
}

Json agree_on_plan(Gemm& gemm, const void* a, const void* b, void* d, Rank& rank) {
  Json plan;
  if (rank.group.rank() == 0)
    plan = gemm.choose_plan(a, b, d, rank.stream, rank.plan_budget_s, rank.plan_cache);
  plan = parse_json(rank.group.broadcast(to_text(plan), 0), "plan of rank 0");
  gemm.use_plan(plan);
  return plan;
}

Verdict GemmVerifier::check(Rank& rank, const GemmShape& shape, const void* a, const void* b,
                            const GuardedBuffer& whole, const void* d) {
  if (auto damage = whole.damage(rank.stream)) {
    Verdict verdict;
    verdict.method = "guard bands around the output";
    verdict.max_error = 0;
    verdict.detail = *damage;
    return verdict;
  }
  const std::size_t bytes = static_cast<std::size_t>(shape.m) * static_cast<std::size_t>(shape.n) *
                            size_of(gemm_output_type(shape.dtype));
  const std::uint64_t hash = hash_bytes(rank.device, d, bytes, rank.stream);
  if (verified_.passed && hash == hash_) return verified_;
  verified_ = check_gemm(rank.device, shape, a, b, d, rank.stream);
  hash_ = hash;
  return verified_;
}

}  // namespace pairmark
