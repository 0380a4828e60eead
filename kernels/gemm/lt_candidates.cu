// Which algorithms to try: the library's proposals, and random variations that it accepts but did
// not propose.
#include <algorithm>
#include <chrono>
#include <set>
#include <vector>

#include "harness/base/rng.h"
#include "kernels/gemm/lt.cuh"

namespace pairmark::lt {
namespace {

constexpr std::size_t kSeeds =
    8;  // proposals that are varied: the first ones are the most promising

template <typename T>
void set(cublasLtMatmulPreference_t preference, cublasLtMatmulPreferenceAttributes_t attribute,
         T value) {
  lt_check(cublasLtMatmulPreferenceSetAttribute(preference, attribute, &value, sizeof value),
           "cublasLtMatmulPreferenceSetAttribute");
}

Preference make_preference(std::size_t workspace_limit, std::size_t alignment_bytes) {
  cublasLtMatmulPreference_t raw = nullptr;
  lt_check(cublasLtMatmulPreferenceCreate(&raw), "cublasLtMatmulPreferenceCreate");
  Preference preference(raw);
  set(raw, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, workspace_limit);
  set(raw, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
      static_cast<std::uint32_t>(CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE));
  const auto alignment = static_cast<std::uint32_t>(alignment_bytes);
  set(raw, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment);
  set(raw, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment);
  set(raw, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment);
  set(raw, CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment);
  return preference;
}

// What one algorithm id allows.
struct Choices {
  cublasLtMatmulAlgo_t base{};
  std::vector<std::uint32_t> tiles, stages;
  std::uint32_t swizzles = 1, custom_options = 1;
};

template <typename T>
std::vector<T> list_capability(const cublasLtMatmulAlgo_t& algorithm,
                               cublasLtMatmulAlgoCapAttributes_t attribute) {
  std::size_t bytes = 0;
  if (cublasLtMatmulAlgoCapGetAttribute(&algorithm, attribute, nullptr, 0, &bytes) !=
      CUBLAS_STATUS_SUCCESS)
    return {};
  std::vector<T> values(bytes / sizeof(T));
  if (values.empty()) return values;
  if (cublasLtMatmulAlgoCapGetAttribute(&algorithm, attribute, values.data(), bytes, &bytes) !=
      CUBLAS_STATUS_SUCCESS) {
    return {};
  }
  return values;
}

template <typename T>
T capability(const cublasLtMatmulAlgo_t& algorithm, cublasLtMatmulAlgoCapAttributes_t attribute) {
  T value{};
  std::size_t written = 0;
  cublasLtMatmulAlgoCapGetAttribute(&algorithm, attribute, &value, sizeof value, &written);
  return value;
}

Choices choices_of(const cublasLtMatmulAlgo_t& algorithm) {
  Choices choices;
  choices.base = algorithm;
  choices.tiles = list_capability<std::uint32_t>(algorithm, CUBLASLT_ALGO_CAP_TILE_IDS);
  choices.stages = list_capability<std::uint32_t>(algorithm, CUBLASLT_ALGO_CAP_STAGES_IDS);
  if (capability<std::uint32_t>(algorithm, CUBLASLT_ALGO_CAP_CTA_SWIZZLING_SUPPORT) != 0)
    choices.swizzles = 2;
  const auto largest = capability<std::int32_t>(algorithm, CUBLASLT_ALGO_CAP_CUSTOM_OPTION_MAX);
  choices.custom_options = static_cast<std::uint32_t>(std::clamp(largest, 0, 63)) + 1;
  return choices;
}

std::vector<Choices> all_algorithms(const Product& product) {
  const Types& types = product.types;
  std::vector<Choices> list;
  for (int id : product.algorithm_ids()) {
    cublasLtMatmulAlgo_t algorithm{};
    if (cublasLtMatmulAlgoInit(product.handle.get(), types.compute, types.scale, types.operand,
                               types.operand, types.result, types.result, id,
                               &algorithm) == CUBLAS_STATUS_SUCCESS) {
      list.push_back(choices_of(algorithm));
    }
  }
  return list;
}

std::string bytes_of(const cublasLtMatmulAlgo_t& algorithm) {
  return {reinterpret_cast<const char*>(&algorithm), sizeof algorithm};
}

// Draws the variations. The draws are the same in every run; how many fit into the time is not.
class Sampler {
 public:
  Sampler(const Product& product, const std::vector<Candidate>& proposals)
      : everything_(all_algorithms(product)) {
    for (std::size_t i = 0; i < std::min(kSeeds, proposals.size()); ++i) {
      seeds_.push_back(choices_of(proposals[i].algorithm));
    }
  }
  bool empty() const { return everything_.empty() && seeds_.empty(); }

  // Alternates: a proposal with one to three fields changed, and any algorithm with every field
  // drawn.
  cublasLtMatmulAlgo_t draw() {
    const bool vary = everything_.empty() || (!seeds_.empty() && below(4) != 0);
    const Choices& choices =
        vary ? seeds_[below(seeds_.size())] : everything_[below(everything_.size())];
    cublasLtMatmulAlgo_t algorithm = choices.base;
    const std::size_t fields = vary ? 1 + below(3) : 0;
    if (fields == 0) {
      for (std::size_t field = 0; field < 5; ++field) change(algorithm, choices, field);
    }
    for (std::size_t i = 0; i < fields; ++i) change(algorithm, choices, below(5));
    return algorithm;
  }

 private:
  std::size_t below(std::size_t count) { return random_bits(1, draws_++) % count; }

  void change(cublasLtMatmulAlgo_t& algorithm, const Choices& choices, std::size_t field) {
    switch (field) {
      case 0:
        if (!choices.tiles.empty())
          set_config(algorithm, CUBLASLT_ALGO_CONFIG_TILE_ID,
                     choices.tiles[below(choices.tiles.size())]);
        return;
      case 1:
        if (!choices.stages.empty()) {
          set_config(algorithm, CUBLASLT_ALGO_CONFIG_STAGES_ID,
                     choices.stages[below(choices.stages.size())]);
        }
        return;
      case 2:
        set_config(algorithm, CUBLASLT_ALGO_CONFIG_CTA_SWIZZLING,
                   static_cast<std::uint32_t>(below(choices.swizzles)));
        return;
      case 3:
        set_config(algorithm, CUBLASLT_ALGO_CONFIG_CUSTOM_OPTION,
                   static_cast<std::uint32_t>(below(choices.custom_options)));
        return;
      default: {  // AUTO, or one of the shapes up to 1x8x1: larger clusters do not fit on common
                  // GPUs
        const std::size_t shape = below(12);
        const auto id = shape == 0 ? 0 : shape + CUBLASLT_CLUSTER_SHAPE_1x1x1 - 1;
        set_config(algorithm, CUBLASLT_ALGO_CONFIG_CLUSTER_SHAPE_ID,
                   static_cast<std::uint16_t>(id));
      }
    }
  }

  std::vector<Choices> everything_, seeds_;
  std::uint64_t draws_ = 0;
};

}  // namespace

std::vector<Candidate> proposals(const Product& product, std::size_t workspace_limit,
                                 std::size_t alignment_bytes, int count) {
  const Preference preference = make_preference(workspace_limit, alignment_bytes);
  std::vector<cublasLtMatmulHeuristicResult_t> results(static_cast<std::size_t>(count));
  int found = 0;
  const auto status = cublasLtMatmulAlgoGetHeuristic(
      product.handle.get(), product.operation.get(), product.a.get(), product.b.get(),
      product.d.get(), product.d.get(), preference.get(), count, results.data(), &found);
  if (status == CUBLAS_STATUS_NOT_SUPPORTED) return {};
  lt_check(status, "cublasLtMatmulAlgoGetHeuristic");
  std::vector<Candidate> list;
  for (int i = 0; i < found; ++i) {
    const auto& result = results[static_cast<std::size_t>(i)];
    if (result.state == CUBLAS_STATUS_SUCCESS) list.push_back({result.algo, result.workspaceSize});
  }
  return list;
}

void add_variations(const Product& product, std::size_t workspace_limit, double seconds,
                    std::size_t most, std::vector<Candidate>& candidates) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  std::set<std::string> seen;
  for (const auto& candidate : candidates) seen.insert(bytes_of(candidate.algorithm));
  Sampler sampler(product, candidates);
  const std::size_t limit = candidates.size() + most;
  while (!sampler.empty() && candidates.size() < limit && Clock::now() < end) {
    Candidate candidate{sampler.draw(), 0};
    const auto splits = config<std::int32_t>(candidate.algorithm, CUBLASLT_ALGO_CONFIG_SPLITK_NUM);
    const auto scheme =
        config<std::uint32_t>(candidate.algorithm, CUBLASLT_ALGO_CONFIG_REDUCTION_SCHEME);
    if (splits > 1 && scheme != CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE) continue;
    if (!seen.insert(bytes_of(candidate.algorithm)).second) continue;
    if (!product.supports(candidate.algorithm, candidate.workspace_bytes)) continue;
    if (candidate.workspace_bytes <= workspace_limit) candidates.push_back(candidate);
  }
}

}  // namespace pairmark::lt
