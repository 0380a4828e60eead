// gemm: every device computes the whole product, alone or all at once, without communication.
#include "harness/base/error.h"
#include "suites/gemm/gemm_suite.h"

namespace pairmark {
namespace {

class ReplicaTrial final : public Trial {
 public:
  ReplicaTrial(const Case& c, const Rank& rank)
      : shape_(shape_of(c)),
        rank_(rank),
        operands_(shape_, rank_),
        gemm_(make_gemm(rank_.device, shape_)),
        plan_(agree_on_plan(*gemm_, operands_.a.data(), operands_.b.data(), operands_.d.data(),
                            rank_)) {}
  Work work() const override { return gemm_work(shape_, 1.0); }
  void reset() override { operands_.reset(rank_.stream); }
  void enqueue() override {
    gemm_->enqueue(operands_.a.data(), operands_.b.data(), operands_.d.data(), rank_.stream);
  }
  Verdict verify() override {
    return verifier_.check(rank_, shape_, operands_.a.data(), operands_.b.data(), operands_.d,
                           operands_.d.data());
  }
  Json plan() const override { return plan_; }

 private:
  GemmShape shape_;
  Rank rank_;
  GemmOperands operands_;
  std::unique_ptr<Gemm> gemm_;
  Json plan_;
  GemmVerifier verifier_;
};

Space replica_space() {
  Space space;
  space.axes = gemm_axes();
  auto square = [](std::int64_t side, const std::string& dtype) {
    return gemm_case(side, side, side, dtype);
  };
  auto& cpu = space.cases["cpu"];
  cpu[Profile::kQuick] = {square(512, "fp32"), square(1024, "fp32"), square(1024, "int8"),
                          gemm_case(8, 2048, 2048, "fp32")};
  cpu[Profile::kStandard] = cpu[Profile::kQuick];
  for (const char* dtype : {"fp32", "int8", "bf16"})
    cpu[Profile::kStandard].push_back(square(2048, dtype));
  cpu[Profile::kStandard].push_back(gemm_case(768, 4096, 768, "fp32"));
  cpu[Profile::kFull] = cpu[Profile::kStandard];
  for (std::int64_t m : {1, 8, 64}) cpu[Profile::kFull].push_back(gemm_case(m, 4096, 4096, "fp32"));
  for (const char* dtype : {"fp32", "int8", "bf16", "fp16"})
    cpu[Profile::kFull].push_back(square(4096, dtype));

  auto& cuda = space.cases["cuda"];
  const auto all_types = gemm_axes()[3].words;
  cuda[Profile::kQuick] = {square(8192, "bf16"), square(8192, "fp8")};
  for (std::int64_t side : {1024, 4096, 16384})
    cuda[Profile::kStandard].push_back(square(side, "bf16"));
  for (const auto& dtype : all_types) cuda[Profile::kStandard].push_back(square(8192, dtype));
  auto& full = cuda[Profile::kFull];
  for (const auto& dtype : all_types) {
    for (std::int64_t side : {1024, 2048, 4096, 8192, 16384}) full.push_back(square(side, dtype));
  }
  // Transformer layers: D' (features x tokens) = W (features x hidden) * X' (hidden x tokens), 4x
  // and 3x projections.
  for (std::int64_t tokens : {4096, 16384}) {
    for (std::int64_t hidden : {768, 1024, 4096}) {
      for (std::int64_t factor : {3, 4}) {
        for (const char* dtype : {"bf16", "fp16", "fp8"})
          full.push_back(gemm_case(factor * hidden, tokens, hidden, dtype));
      }
    }
  }
  for (std::int64_t rows : {1, 8, 64}) {
    for (std::int64_t side : {4096, 8192}) {
      for (const char* dtype : {"bf16", "fp16"}) full.push_back(gemm_case(side, rows, side, dtype));
    }
  }
  return space;
}

class GemmReplicas final : public Benchmark {
 public:
  Info info() const override {
    return {"gemm",   "D = A*B on each device: what power, heat and the shared host cost",
            "weak",   false,
            "TFLOPS", 1e-12,
            "flops"};
  }
  Space space() const override { return replica_space(); }
  std::string unsupported(const Case& c, Device& device) const override {
    return gemm_unsupported(device, shape_of(c)).value_or("");
  }
  std::unique_ptr<Trial> prepare(const Case& c, Rank& rank) const override {
    return std::make_unique<ReplicaTrial>(c, rank);
  }
  Peak peak(const Case& c, const Json& device_description, double clock_mhz) const override {
    return peak_of(c, device_description, clock_mhz);
  }
};

}  // namespace

std::unique_ptr<Benchmark> make_gemm_replicas() {
  return std::make_unique<GemmReplicas>();
}

}  // namespace pairmark
