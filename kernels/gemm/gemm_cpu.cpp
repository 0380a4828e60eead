// The product by oneDNN's matmul, on plain layouts. oneDNN is row-major, so it computes the
// transpose: row-major n x m  D' = B' A'  is column-major m x n  D = A B  on the same bytes.
#include <omp.h>

#include <algorithm>
#include <chrono>
#include <dnnl.hpp>
#include <string_view>
#include <vector>

#include "harness/base/error.h"
#include "kernels/gemm/gemm_parts.h"
#include "kernels/gemm/plan_cache.h"
#include "kernels/gemm/tournament.h"

namespace pairmark {
namespace {

using Clock = std::chrono::steady_clock;

std::string library_version() {
  const dnnl_version_t& version = *dnnl_version();
  return fmt::format("{}.{}.{}", version.major, version.minor, version.patch);
}

std::optional<dnnl::memory::data_type> library_type(DType type) {
  switch (type) {
    case DType::kFp32:
      return dnnl::memory::data_type::f32;
    case DType::kFp16:
      return dnnl::memory::data_type::f16;
    case DType::kBf16:
      return dnnl::memory::data_type::bf16;
    case DType::kInt8:
      return dnnl::memory::data_type::s8;
    case DType::kInt32:
      return dnnl::memory::data_type::s32;
    default:
      return std::nullopt;
  }
}

dnnl::memory::desc matrix(DType type, std::int64_t rows, std::int64_t columns,
                          std::int64_t row_stride, std::int64_t column_stride) {
  return {dnnl::memory::dims{rows, columns}, library_type(type).value(),
          dnnl::memory::dims{row_stride, column_stride}};
}

dnnl::matmul::primitive_desc describe(const dnnl::engine& engine, const GemmShape& shape) {
  const bool transposed = shape.layout == "tn";
  const auto source = matrix(shape.dtype, shape.n, shape.k, shape.k, 1);
  const auto weights =
      matrix(shape.dtype, shape.k, shape.m, transposed ? 1 : shape.m, transposed ? shape.k : 1);
  const auto result = matrix(gemm_output_type(shape.dtype), shape.n, shape.m, shape.m, 1);
#if DNNL_VERSION_MAJOR >= 3
  return {engine, source, weights, result};
#else
  return {dnnl::matmul::desc(source, weights, result), engine};
#endif
}

// Every implementation that oneDNN has for this product, in its own order; its slow reference loops
// do not count.
std::vector<dnnl::matmul::primitive_desc> implementations(const dnnl::engine& engine,
                                                          const GemmShape& shape) {
  std::vector<dnnl::matmul::primitive_desc> list;
  auto description = describe(engine, shape);
  do {
    if (!std::string_view(description.impl_info_str()).starts_with("ref"))
      list.push_back(description);
  } while (description.next_impl());
  return list;
}

// Without VNNI oneDNN adds two int8 products in 16 bits, which saturates for values of the full
// range.
bool saturates_int8() {
#if defined(__x86_64__)
  const auto has =
      [isa = static_cast<unsigned>(dnnl::get_effective_cpu_isa())](dnnl::cpu_isa wanted) {
        return (isa & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
      };
  return !has(dnnl::cpu_isa::avx2_vnni) && !has(dnnl::cpu_isa::avx512_core_vnni);
#else
  return false;
#endif
}

class CpuGemm final : public Gemm {
 public:
  CpuGemm(Device& device, const GemmShape& shape)
      : device_(device), shape_(shape), engine_(dnnl::engine::kind::cpu, 0), stream_(engine_) {}

  Json choose_plan(const void* a, const void* b, void* d, Stream& stream, double budget_s,
                   const std::filesystem::path& cache_file) override {
    const auto key =
        plan_key(device_, "oneDNN " + library_version(), shape_, common_alignment({a, b, d}));
    return choose_with_cache(
        cache_file, key, [this](const Json& plan) { use_plan(plan); },
        [&] { return measure(a, b, d, stream, budget_s); });
  }

  void use_plan(const Json& plan) override {
    const auto version = plan.value("version", std::string()),
               name = plan.value("implementation", std::string());
    check(plan.value("library", std::string()) == "oneDNN" && version == library_version(),
          "the plan is of {} {}, but oneDNN {} is loaded",
          plan.value("library", std::string("an unnamed library")), version, library_version());
    for (const auto& candidate : implementations(engine_, shape_)) {
      if (candidate.impl_info_str() == name) return use(candidate);
    }
    throw Error(fmt::format("oneDNN has no implementation '{}' of this product here", name));
  }

  void enqueue(const void* a, const void* b, void* d, Stream& stream) override {
    check(static_cast<bool>(primitive_), "choose or use a plan before the first product");
    run_on(stream, [this, a, b, d] { execute(a, b, d); });
  }

 private:
  void use(const dnnl::matmul::primitive_desc& description) {
    primitive_ = dnnl::matmul(description);
    arguments_ = {{DNNL_ARG_SRC, {description.src_desc(), engine_, DNNL_MEMORY_NONE}},
                  {DNNL_ARG_WEIGHTS, {description.weights_desc(), engine_, DNNL_MEMORY_NONE}},
                  {DNNL_ARG_DST, {description.dst_desc(), engine_, DNNL_MEMORY_NONE}}};
  }

  // OpenMP counted the cores when the program started, maybe before the device bound it to its own.
  void execute(const void* a, const void* b, void* d) {
    if (const int cores = omp_get_num_procs(); cores != omp_get_max_threads())
      omp_set_num_threads(cores);
    arguments_[DNNL_ARG_SRC].set_data_handle(const_cast<void*>(b));
    arguments_[DNNL_ARG_WEIGHTS].set_data_handle(const_cast<void*>(a));
    arguments_[DNNL_ARG_DST].set_data_handle(d);
    primitive_.execute(stream_, arguments_);
    stream_.wait();
  }

  Json measure(const void* a, const void* b, void* d, Stream& stream, double budget_s) {
    const auto list = implementations(engine_, shape_);
    const auto time = [&](std::size_t candidate, int repeats) -> std::optional<double> {
      try {
        use(list[candidate]);
        const auto start = Clock::now();
        for (int i = 0; i < repeats; ++i) enqueue(a, b, d, stream);
        stream.synchronize();
        return std::chrono::duration<double>(Clock::now() - start).count() / repeats;
      } catch (const dnnl::error&) {
        return std::nullopt;
      }
    };
    const auto result = run_tournament(list.size(), budget_s, time, [] {
      return std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
    });
    return {{"library", "oneDNN"},
            {"version", library_version()},
            {"implementation", list[result.best].impl_info_str()},
            {"workspace_bytes", 0},
            {"candidates", result.measured},
            {"failed", result.failed},
            {"first_choice_s", result.first_s ? Json(*result.first_s) : Json(nullptr)},
            {"best_s", result.best_s}};
  }

  Device& device_;
  GemmShape shape_;
  dnnl::engine engine_;
  dnnl::stream stream_;
  dnnl::matmul primitive_;
  std::unordered_map<int, dnnl::memory> arguments_;
};

}  // namespace

std::optional<std::string> cpu_gemm_unsupported(const GemmShape& shape) {
  if (shape.dtype == DType::kInt8 && saturates_int8()) {
    return fmt::format(
        "oneDNN {}'s int8 product is wrong on CPUs without VNNI: its 16-bit sums saturate",
        library_version());
  }
  if (!library_type(shape.dtype))
    return fmt::format("oneDNN multiplies no {} matrices on a CPU", to_string(shape.dtype));
  try {
    if (!implementations(dnnl::engine(dnnl::engine::kind::cpu, 0), shape).empty())
      return std::nullopt;
  } catch (const dnnl::error& failure) {
    if (failure.status != dnnl_unimplemented)
      throw Error(fmt::format("oneDNN failed: {}", failure.what()));
  }
  return fmt::format("oneDNN {} has no fast {} product for this CPU", library_version(),
                     to_string(shape.dtype));
}

std::string cpu_gemm_library() {
  return library_version();
}

std::unique_ptr<Gemm> make_cpu_gemm(Device& device, const GemmShape& shape) {
  return std::make_unique<CpuGemm>(device, shape);
}

}  // namespace pairmark
