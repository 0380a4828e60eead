#include "kernels/gemm/peak.h"

#include <gtest/gtest.h>

namespace pairmark {
namespace {

Json gpu(const char* capability, int sms, const char* name = "GPU") {
  return {{"compute_capability", capability}, {"sm_count", sms}, {"name", name}};
}
double tera(const Json& description, DType type, double mhz) {
  return peak_flops(description, type, mhz).value_or(0) * 1e-12;
}

TEST(Peak, PublishedRatesComeOut) {
  const Json h200 = gpu("9.0", 132, "NVIDIA H200");
  EXPECT_NEAR(tera(h200, DType::kBf16, 1980), 1070.6, 0.1);
  EXPECT_NEAR(tera(h200, DType::kBf16, 1830), 989.4, 0.1);
  EXPECT_NEAR(tera(h200, DType::kFp8E4M3, 1830), 1978.9, 0.1);
  EXPECT_NEAR(tera(h200, DType::kTf32, 1830), 494.7, 0.1);
  EXPECT_NEAR(tera(h200, DType::kFp64, 1980), 66.9, 0.1);
  const Json a100 = gpu("8.0", 108);
  EXPECT_NEAR(tera(a100, DType::kFp16, 1410), 312, 0.5);
  EXPECT_NEAR(tera(a100, DType::kInt8, 1410), 624, 0.5);
  EXPECT_NEAR(tera(a100, DType::kFp64, 1410), 19.5, 0.05);
  EXPECT_NEAR(tera(gpu("8.9", 142, "NVIDIA L40S"), DType::kFp8E4M3, 2520), 733, 1);
  EXPECT_NEAR(tera(gpu("10.0", 148), DType::kFp32, 1965), 74.5, 0.1);
  EXPECT_NEAR(tera(gpu("7.0", 80), DType::kFp16, 1530), 125, 0.5);
}

TEST(Peak, GeForceCardsSumInFp32AtHalfRate) {
  EXPECT_NEAR(tera(gpu("8.9", 128, "NVIDIA GeForce RTX 4090"), DType::kBf16, 2520), 165.2, 0.1);
  EXPECT_NEAR(tera(gpu("8.9", 128, "NVIDIA GeForce RTX 4090"), DType::kInt8, 2520), 660.6, 0.1);
  EXPECT_NEAR(tera(gpu("8.6", 82, "NVIDIA GeForce RTX 3090"), DType::kTf32, 1695), 35.6, 0.1);
  EXPECT_NEAR(tera(gpu("12.0", 170, "NVIDIA GeForce RTX 5090"), DType::kFp16, 2407), 209.5, 0.1);
}

TEST(Peak, UnknownMeansAReasonAndNoFigure) {
  for (const auto& [description, type] :
       {std::pair{gpu("99.0", 10), DType::kBf16}, std::pair{gpu("8.0", 108), DType::kFp8E4M3},
        std::pair{Json{{"cores", {0}}}, DType::kTf32}}) {
    EXPECT_FALSE(peak_flops(description, type, 1000).has_value());
    EXPECT_FALSE(gemm_peak(description, type).reason.empty());
  }
}

TEST(Peak, CpusScaleWithCores) {
  const auto one = gemm_peak(Json{{"cores", {3}}}, DType::kFp32),
             two = gemm_peak(Json{{"cores", {3, 4}}}, DType::kFp32);
#if defined(__x86_64__)
  ASSERT_TRUE(one.flops_per_clock && two.flops_per_clock);
  EXPECT_EQ(*two.flops_per_clock, 2 * *one.flops_per_clock);
  EXPECT_NE(one.source.find("assumed"), std::string::npos);
#else
  EXPECT_FALSE(one.reason.empty());
#endif
}

}  // namespace
}  // namespace pairmark
