// gemm_split: one product shared by columns of B and D (tensor parallelism), gathered so that every
// device ends with the whole of D. With overlap=yes the columns go in pieces: one piece is
// exchanged while the next is computed.
#include <algorithm>
#include <array>

#include "harness/base/error.h"
#include "suites/gemm/gemm_suite.h"

namespace pairmark {
namespace {

constexpr int kOverlapPieces = 4;

class SplitTrial final : public Trial {
 public:
  SplitTrial(const Case& c, const Rank& rank)
      : shape_(shape_of(c)),
        rank_(rank),
        pieces_(rank.world_size > 1 && c.word("overlap") == "yes" ? kOverlapPieces : 1),
        together_(rank.arm == Arm::kTogether),
        piece_(piece_shape()),
        operands_(shape_, rank_),
        gemm_(make_gemm(rank_.device, piece_)),
        exchange_(rank_.device.make_stream(true)),
        computed_(rank_.device.make_event()),
        exchanged_(rank_.device.make_event()),
        plan_(agree_on_plan(*gemm_, operands_.a.data(), b_of(0), d_of(0), rank_)) {
    if (together_) plan_["communicator"] = rank_.communicator().describe();
    plan_["pieces"] = pieces_;
  }
  ~SplitTrial() override { exchange_->synchronize(); }

  Work work() const override { return gemm_work(shape_, 1.0 / rank_.world_size); }
  void reset() override { operands_.reset(rank_.stream); }

  void enqueue() override {
    for (int piece = 0; piece < pieces_; ++piece) {
      gemm_->enqueue(operands_.a.data(), b_of(piece), d_of(piece), rank_.stream);
      if (together_) gather(piece);
    }
    if (together_ && pieces_ > 1) {
      exchanged_->record(*exchange_);
      exchanged_->block(rank_.stream);
    }
  }

  Verdict verify() override {
    if (together_ || rank_.world_size == 1) {
      return verifiers_[0].check(rank_, shape_, operands_.a.data(), operands_.b.data(), operands_.d,
                                 operands_.d.data());
    }
    Verdict whole;
    for (int piece = 0; piece < pieces_; ++piece) {
      Verdict one = verifiers_[static_cast<std::size_t>(piece)].check(
          rank_, piece_, operands_.a.data(), b_of(piece), operands_.d, d_of(piece));
      if (!one.passed) return one;
      one.max_error = std::max(one.max_error, whole.max_error);
      one.elements += whole.elements;
      whole = one;
    }
    return whole;
  }
  Json plan() const override { return plan_; }

 private:
  GemmShape piece_shape() const {
    const std::int64_t parts = static_cast<std::int64_t>(rank_.world_size) * pieces_;
    if (shape_.n % parts != 0) {
      throw UnsupportedError(
          fmt::format("n={} cannot be split into {} equal parts", shape_.n, parts));
    }
    GemmShape piece = shape_;
    piece.n = shape_.n / parts;
    return piece;
  }
  // Piece p of all ranks stands together in D, in rank order, so that one all-gather in place fills
  // it.
  std::size_t first_column(int piece) const {
    return (static_cast<std::size_t>(piece) * static_cast<std::size_t>(rank_.world_size) +
            static_cast<std::size_t>(rank_.group.rank())) *
           static_cast<std::size_t>(piece_.n);
  }
  void* b_of(int piece) const {
    return operands_.b.bytes_at(first_column(piece) * static_cast<std::size_t>(shape_.k) *
                                operands_.in_bytes);
  }
  std::byte* d_column(std::size_t column) const {
    return static_cast<std::byte*>(operands_.d.data()) +
           column * static_cast<std::size_t>(shape_.m) * operands_.out_bytes;
  }
  void* d_of(int piece) const { return d_column(first_column(piece)); }

  void gather(int piece) {
    const std::size_t width = static_cast<std::size_t>(piece_.n);
    const std::size_t bytes = width * static_cast<std::size_t>(shape_.m) * operands_.out_bytes;
    void* at = d_column(static_cast<std::size_t>(piece) *
                        static_cast<std::size_t>(rank_.world_size) * width);
    if (pieces_ == 1) return rank_.communicator().all_gather(at, bytes, rank_.stream);
    computed_->record(rank_.stream);
    computed_->block(*exchange_);
    rank_.communicator().all_gather(at, bytes, *exchange_);
  }

  GemmShape shape_;
  Rank rank_;
  int pieces_;
  bool together_;
  GemmShape piece_;
  GemmOperands operands_;
  std::unique_ptr<Gemm> gemm_;
  std::unique_ptr<Stream> exchange_;
  std::unique_ptr<Event> computed_, exchanged_;
  Json plan_;
  std::array<GemmVerifier, kOverlapPieces> verifiers_;
};

Space split_space() {
  Space space;
  space.axes = gemm_axes();
  space.axes.push_back(
      {"overlap", "exchange one piece while the next is computed", {"no", "yes"}, 0, 0});
  auto add = [](std::vector<Case>& list, std::int64_t side, const std::string& dtype) {
    for (const char* overlap : {"no", "yes"}) {
      Case c = gemm_case(side, side, side, dtype);
      c.set("overlap", overlap);
      list.push_back(c);
    }
  };
  auto& cpu = space.cases["cpu"];
  add(cpu[Profile::kQuick], 1024, "fp32");
  for (std::int64_t side : {1024, 2048}) add(cpu[Profile::kStandard], side, "fp32");
  for (std::int64_t side : {1024, 2048, 4096}) add(cpu[Profile::kFull], side, "fp32");
  auto& cuda = space.cases["cuda"];
  add(cuda[Profile::kQuick], 8192, "bf16");
  add(cuda[Profile::kStandard], 8192, "bf16");
  for (std::int64_t side : {4096, 8192, 16384}) {
    for (const char* dtype : {"bf16", "fp16", "fp32"}) add(cuda[Profile::kFull], side, dtype);
  }
  return space;
}

class GemmSplit final : public Benchmark {
 public:
  Info info() const override {
    return {"gemm_split",
            "one product split by columns over the devices and gathered: what communication costs",
            "strong",
            true,
            "TFLOPS",
            1e-12,
            "flops"};
  }
  Space space() const override { return split_space(); }
  std::string unsupported(const Case& c, Device& device) const override {
    return gemm_unsupported(device, shape_of(c)).value_or("");
  }
  std::unique_ptr<Trial> prepare(const Case& c, Rank& rank) const override {
    return std::make_unique<SplitTrial>(c, rank);
  }
  Peak peak(const Case& c, const Json& device_description, double clock_mhz) const override {
    return peak_of(c, device_description, clock_mhz);
  }
};

}  // namespace

std::unique_ptr<Benchmark> make_gemm_split() {
  return std::make_unique<GemmSplit>();
}

}  // namespace pairmark
