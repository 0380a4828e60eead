// The product by cuBLASLt.
#include <dlfcn.h>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <vector>

#include "harness/device/cuda_check.h"
#include "kernels/gemm/gemm_parts.h"
#include "kernels/gemm/lt.cuh"
#include "kernels/gemm/plan_cache.h"
#include "kernels/gemm/tournament.h"

namespace pairmark {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kMiB = std::size_t{1} << 20;
constexpr int kProposals = 256;
constexpr std::size_t kVariations = 1000;
constexpr double kVariationShare = 0.15,
                 kVariationSeconds = 1.5;  // of the budget, at most, goes into finding variations

double seconds_now() {
  return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
}

cudaStream_t native(Stream& stream) {
  return static_cast<cudaStream_t>(stream.native());
}

// 256 MiB, or 32 MiB on cards with less than 16 GiB or little free memory.
std::size_t workspace_limit(Device& device) {
  const auto memory = device.describe().value("memory_bytes", std::uint64_t{0});
  return memory < (std::uint64_t{16} << 30) || device.free_bytes() < 1024 * kMiB ? 32 * kMiB
                                                                                 : 256 * kMiB;
}

std::string to_hex(const cublasLtMatmulAlgo_t& algorithm) {
  std::string text;
  const auto* bytes = reinterpret_cast<const unsigned char*>(&algorithm);
  for (std::size_t i = 0; i < sizeof algorithm; ++i) text += fmt::format("{:02x}", bytes[i]);
  return text;
}

cublasLtMatmulAlgo_t from_hex(const std::string& text) {
  cublasLtMatmulAlgo_t algorithm{};
  check(text.size() == 2 * sizeof algorithm &&
            text.find_first_not_of("0123456789abcdef") == std::string::npos,
        "the plan's algorithm is not {} hexadecimal digits", 2 * sizeof algorithm);
  auto* bytes = reinterpret_cast<unsigned char*>(&algorithm);
  for (std::size_t i = 0; i < sizeof algorithm; ++i) {
    bytes[i] = static_cast<unsigned char>(std::stoul(text.substr(2 * i, 2), nullptr, 16));
  }
  return algorithm;
}

Json readable(const cublasLtMatmulAlgo_t& algorithm) {
  return {
      {"algorithm_id", lt::config<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_ID)},
      {"tile", lt::config<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID)},
      {"stages", lt::config<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID)},
      {"split_k", lt::config<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM)},
      {"reduction_scheme",
       lt::config<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME)},
      {"swizzle", lt::config<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING)},
      {"custom_option", lt::config<std::uint32_t>(algorithm, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION)},
      {"inner_shape", lt::config<std::uint16_t>(algorithm, CUBLASLT_ALGO_CONFIG_INNER_SHAPE_ID)},
      {"cluster", lt::config<std::uint16_t>(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID)}};
}

// The fp8 scale: one float of 1 in device memory; no memory for other types.
Buffer make_scale(Device& device, DType type) {
  if (type != DType::kFp8E4M3) return {};
  Buffer scale(device, sizeof(float));
  auto stream = device.make_stream();
  const float one = 1;
  device.copy(scale.data(), &one, sizeof one, *stream);
  stream->synchronize();
  return scale;
}

class CudaGemm final : public Gemm {
 public:
  CudaGemm(Device& device, const GemmShape& shape)
      : device_(device),
        shape_(shape),
        scale_(make_scale(device, shape.dtype)),
        product_(shape, static_cast<const float*>(scale_.data())) {}

  Json choose_plan(const void* a, const void* b, void* d, Stream& stream, double budget_s,
                   const std::filesystem::path& cache_file) override {
    const std::size_t alignment = common_alignment({a, b, d});
    const auto key = plan_key(device_, "cuBLASLt " + lt::version(), shape_, alignment);
    return choose_with_cache(
        cache_file, key, [this](const Json& plan) { use_plan(plan); },
        [&] { return measure(a, b, d, stream, budget_s, alignment); });
  }

  void use_plan(const Json& plan) override {
    const auto version = plan.value("version", std::string());
    check(plan.value("library", std::string()) == "cuBLASLt" && version == lt::version(),
          "the plan is of {} {}, but cuBLASLt {} is loaded",
          plan.value("library", std::string("an unnamed library")), version, lt::version());
    const auto algorithm = from_hex(plan.value("algorithm", std::string()));
    const auto ids = product_.algorithm_ids();
    const auto id = lt::config<std::int32_t>(algorithm, CUBLASLT_ALGO_CONFIG_ID);
    std::size_t workspace_bytes = 0;
    check(std::find(ids.begin(), ids.end(), id) != ids.end(),
          "cuBLASLt has no algorithm {} for this product", id);
    check(product_.supports(algorithm, workspace_bytes),
          "cuBLASLt refuses the plan's algorithm for this product");
    check(workspace_bytes <= 256 * kMiB, "the plan's algorithm wants {} bytes of workspace",
          workspace_bytes);
    workspace_ = workspace_bytes == 0 ? Buffer() : Buffer(device_, workspace_bytes);
    algorithm_ = algorithm;
  }

  void enqueue(const void* a, const void* b, void* d, Stream& stream) override {
    check(algorithm_.has_value(), "choose or use a plan before the first product");
    lt::lt_check(
        product_.launch(*algorithm_, a, b, d, workspace_.data(), workspace_.size(), native(stream)),
        "cublasLtMatmul");
  }

 private:
  Json measure(const void* a, const void* b, void* d, Stream& stream, double budget_s,
               std::size_t alignment) {
    const double start = seconds_now();
    const std::size_t limit = workspace_limit(device_);
    auto candidates = lt::proposals(product_, limit, alignment, kProposals);
    check(!candidates.empty(), "cuBLASLt proposes no algorithm for operands aligned to {} bytes",
          alignment);
    lt::add_variations(product_, limit, std::min(kVariationShare * budget_s, kVariationSeconds),
                       kVariations, candidates);
    Buffer workspace(device_, limit);
    auto begin = device_.make_event(), end = device_.make_event();
    const auto time = [&](std::size_t index, int repeats) -> std::optional<double> {
      const auto& candidate = candidates[index];
      begin->record(stream);
      for (int i = 0; i < repeats; ++i) {
        if (product_.launch(candidate.algorithm, a, b, d, workspace.data(), workspace.size(),
                            native(stream)) != CUBLAS_STATUS_SUCCESS) {
          stream.synchronize();
          return std::nullopt;
        }
      }
      end->record(stream);
      end->synchronize();
      return end->seconds_since(*begin) / repeats;
    };
    stream.synchronize();
    const double left = std::max(budget_s - (seconds_now() - start), 0.0);
    const auto result = run_tournament(candidates.size(), left, time, seconds_now);
    return plan_of(candidates[result.best], candidates.size(), result);
  }

  Json plan_of(const lt::Candidate& best, std::size_t found, const TournamentResult& result) const {
    Json plan = {
        {"library", "cuBLASLt"}, {"version", lt::version()}, {"algorithm", to_hex(best.algorithm)}};
    plan.update(readable(best.algorithm));
    if (shape_.dtype == DType::kFp8E4M3) plan["fast_accumulation"] = true;
    plan["workspace_bytes"] = best.workspace_bytes;
    plan["candidates"] = result.measured;
    plan["candidates_found"] = found;
    plan["best_candidate"] =
        result.best;  // its place in the list: the library's proposals come first
    plan["failed"] = result.failed;
    plan["first_choice_s"] = result.first_s ? Json(*result.first_s) : Json(nullptr);
    plan["best_s"] = result.best_s;
    return plan;
  }

  Device& device_;
  GemmShape shape_;
  Buffer scale_;
  lt::Product product_;
  Buffer workspace_;
  std::optional<cublasLtMatmulAlgo_t> algorithm_;
};

// The first compute capability whose tensor cores, or units, have the type.
double least_capability(DType type) {
  switch (type) {
    case DType::kTf32:
    case DType::kBf16:
      return 8.0;
    case DType::kFp8E4M3:
      return 8.9;
    case DType::kInt8:
      return 7.5;
    case DType::kFp16:
      return 7.0;
    default:
      return 0;
  }
}

}  // namespace

std::optional<std::string> cuda_gemm_unsupported(Device& device, const GemmShape& shape) {
  const auto capability = device.describe().value("compute_capability", std::string("0.0"));
  const auto name = to_string(shape.dtype);
  if (const double least = least_capability(shape.dtype); std::stod(capability) < least) {
    return fmt::format("{} has compute capability {}; {} products need {:.1f}", device.name(),
                       capability, name, least);
  }
  if (shape.dtype == DType::kFp8E4M3 || shape.dtype == DType::kInt8) {
    if (shape.layout != "tn")
      return fmt::format("cuBLASLt multiplies {} matrices in the layout tn only", name);
    if (shape.m % 16 != 0 || shape.n % 16 != 0 || shape.k % 16 != 0) {
      return fmt::format("cuBLASLt's {} products need m, n and k to be multiples of 16", name);
    }
  }
  const Buffer scale = make_scale(device, shape.dtype);
  const lt::Product product(shape, static_cast<const float*>(scale.data()));
  if (!lt::proposals(product, 32 * kMiB, 256, 1).empty()) return std::nullopt;
  return fmt::format("cuBLASLt {} has no algorithm for this {} product on {}", lt::version(), name,
                     device.name());
}

std::string cuda_gemm_library() {
  Dl_info where{};
  const bool found = ::dladdr(reinterpret_cast<void*>(&cublasLtGetVersion), &where) != 0;
  return fmt::format("{} ({})", lt::version(), found ? where.dli_fname : "an unknown place");
}

std::unique_ptr<Gemm> make_cuda_gemm(Device& device, const GemmShape& shape) {
  return std::make_unique<CudaGemm>(device, shape);
}

}  // namespace pairmark
