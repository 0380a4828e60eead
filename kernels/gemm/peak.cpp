#include "kernels/gemm/peak.h"

#include <fmt/format.h>

#include <string_view>

namespace pairmark {
namespace {

// Dense FLOP per clock per SM; 0: the SM has no such unit, or no figure is published. Checked
// against the peak rates of the vendor's papers: rate = SMs x boost clock x figure.
struct SmRates {
  std::string_view capability;
  double fp64, fp32, tf32, fp16, bf16, fp8, int8;
  bool
      half_on_geforce;  // tf32, fp16, bf16 and fp8 with fp32 sums run at half rate on GeForce cards
  std::string_view source;
};

constexpr SmRates kSmRates[] = {
    // V100: 80 SMs, 1530 MHz: 7.8, 15.7, 125 (fp16), 62.7 TOPS int8 by dp4a.
    {"7.0", 64, 128, 0, 1024, 0, 0, 512, false, "NVIDIA Tesla V100 architecture paper"},
    // T4: 40 SMs, 1590 MHz: 65 (fp16), 130 TOPS.
    {"7.5", 4, 128, 0, 1024, 0, 0, 2048, true, "NVIDIA Turing architecture paper"},
    // A100: 108 SMs, 1410 MHz: 19.5 (fp64 tensor cores), 19.5, 156, 312, 624.
    {"8.0", 128, 128, 1024, 2048, 2048, 0, 4096, false, "NVIDIA A100 architecture paper"},
    // RTX A6000: 84 SMs, 1800 MHz: 38.7 (fp32), 77, 155, 310. RTX 3090: 35.6, 35.6, 71, 284.
    {"8.6", 4, 256, 512, 1024, 1024, 0, 2048, true, "NVIDIA GA102 architecture paper"},
    // Jetson AGX Orin: 16 SMs, 1300 MHz: 5.3 (fp32), 42.5 (fp16), 85 TOPS.
    {"8.7", 4, 256, 1024, 2048, 2048, 0, 4096, false, "NVIDIA Jetson AGX Orin technical brief"},
    // L40S: 142 SMs, 2520 MHz: 91.6, 183, 366, 733, 733. RTX 4090: 82.6, 82.6, 165, 330, 661.
    {"8.9", 4, 256, 512, 1024, 1024, 2048, 2048, true, "NVIDIA Ada architecture paper"},
    // H100 SXM, H200: 132 SMs, 1830 MHz: 494.7 (tf32), 989.4, 1978.9; fp64 and fp32 66.9 at 1980
    // MHz.
    {"9.0", 256, 256, 2048, 4096, 4096, 8192, 8192, false, "NVIDIA H100 architecture paper"},
    // B200: 148 SMs, 1965 MHz: 37 (fp64), 74.5; at about 1855 MHz 1125, 2250, 4500, 4500.
    {"10.0", 128, 256, 4096, 8192, 8192, 16384, 16384, false,
     "NVIDIA Blackwell architecture brief"},
    // B300 has little fp64 and int8; their figures per clock are not published.
    {"10.3", 0, 256, 4096, 8192, 8192, 16384, 0, false, "NVIDIA Blackwell Ultra brief"},
    // RTX PRO 6000: 188 SMs, 2617 MHz: 126 (fp32), 252, 504, 1008, 1008. RTX 5090: 105, 105, 210,
    // 419, 838.
    {"12.0", 4, 256, 512, 1024, 1024, 2048, 2048, true, "NVIDIA RTX Blackwell architecture paper"},
};

double rate_of(const SmRates& rates, DType type) {
  switch (type) {
    case DType::kFp64:
      return rates.fp64;
    case DType::kFp32:
      return rates.fp32;
    case DType::kTf32:
      return rates.tf32;
    case DType::kFp16:
      return rates.fp16;
    case DType::kBf16:
      return rates.bf16;
    case DType::kFp8E4M3:
      return rates.fp8;
    case DType::kInt8:
      return rates.int8;
    case DType::kInt32:
      return 0;
  }
  return 0;
}

bool sums_in_fp32(DType type) {
  return type == DType::kTf32 || type == DType::kFp16 || type == DType::kBf16 ||
         type == DType::kFp8E4M3;
}

PeakModel cuda_peak(const Json& description, DType type) {
  const auto capability = description.value("compute_capability", std::string());
  for (const SmRates& rates : kSmRates) {
    if (rates.capability != capability) continue;
    double rate = rate_of(rates, type);
    const std::string source = fmt::format("{}, dense", rates.source);
    if (rate == 0) {
      return {std::nullopt, source,
              fmt::format("no {} rate is known for compute capability {}", to_string(type),
                          capability)};
    }
    const bool geforce =
        description.value("name", std::string()).find("GeForce") != std::string::npos;
    if (geforce && rates.half_on_geforce && sums_in_fp32(type)) rate /= 2;
    return {rate * description.value("sm_count", 0), source, ""};
  }
  return {std::nullopt, "",
          fmt::format("compute capability {} is not in the table of peak rates", capability)};
}

#if defined(__x86_64__)

bool has_amx(const char* which) {
#if defined(__GNUC__) && !defined(__clang__) && __GNUC__ >= 12
  __builtin_cpu_init();
  return std::string_view(which) == "bf16" ? __builtin_cpu_supports("amx-bf16")
                                           : __builtin_cpu_supports("amx-int8");
#else
  (void)which;
  return false;
#endif
}

// FLOP per clock of one core and the instructions behind it; 0: none that multiply this type.
struct CoreRate {
  double flops = 0;
  const char* instructions = "";
};

CoreRate core_rate(DType type) {
  const bool avx512 = __builtin_cpu_supports("avx512f");
  const bool fma = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  switch (type) {
    case DType::kFp64:
      return avx512 ? CoreRate{32, "AVX-512"} : fma ? CoreRate{16, "AVX2"} : CoreRate{4, "SSE2"};
    case DType::kFp32:
      return avx512 ? CoreRate{64, "AVX-512"} : fma ? CoreRate{32, "AVX2"} : CoreRate{8, "SSE2"};
    case DType::kBf16:
      if (has_amx("bf16")) return {1024, "AMX"};
      if (__builtin_cpu_supports("avx512bf16")) return {128, "AVX-512 BF16"};
      return {};
    case DType::kInt8:
      if (has_amx("int8")) return {2048, "AMX"};
      if (__builtin_cpu_supports("avx512vnni")) return {256, "AVX-512 VNNI"};
      return {};
    default:
      return {};
  }
}

PeakModel cpu_peak(const Json& description, DType type) {
  const CoreRate rate = core_rate(type);
  if (rate.flops == 0) {
    return {std::nullopt, "",
            fmt::format("no {} rate is known for this CPU's instruction set", to_string(type))};
  }
  const auto cores = static_cast<double>(description.value("cores", Json::array()).size());
  return {rate.flops * cores, fmt::format("{}, two FMA units per core assumed", rate.instructions),
          ""};
}

#else

PeakModel cpu_peak(const Json&, DType) {
  return {std::nullopt, "", "peak rates are known for x86-64 CPUs only"};
}

#endif

}  // namespace

PeakModel gemm_peak(const Json& device_description, DType type) {
  return device_description.contains("compute_capability") ? cuda_peak(device_description, type)
                                                           : cpu_peak(device_description, type);
}

std::optional<double> peak_flops(const Json& device_description, DType type, double clock_mhz) {
  const auto per_clock = gemm_peak(device_description, type).flops_per_clock;
  if (!per_clock) return std::nullopt;
  return *per_clock * clock_mhz * 1e6;
}

}  // namespace pairmark
