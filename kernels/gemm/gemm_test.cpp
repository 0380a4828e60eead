#include "kernels/gemm/gemm.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cmath>

#include "harness/base/error.h"
#include "kernels/gemm/gemm_test_util.h"

namespace pairmark {
namespace {

constexpr std::int64_t kShapes[][3] = {{1, 1, 1},   {3, 5, 7},  {17, 33, 65},
                                       {8, 1, 129}, {1, 8, 64}, {130, 66, 257}};
constexpr DType kTypes[] = {DType::kFp64, DType::kFp32,    DType::kTf32, DType::kFp16,
                            DType::kBf16, DType::kFp8E4M3, DType::kInt8};

class CpuGemmTest : public testing::Test {
 protected:
  std::unique_ptr<Device> device_ = open_cpu_device(0, {sched_getcpu()});
  std::unique_ptr<Stream> stream_ = device_->make_stream();

  template <typename Work>
  void for_each_case(const Work& work) {
    for (DType type : kTypes) {
      for (const char* layout : {"nn", "tn"}) {
        for (const auto& s : kShapes) work(GemmShape{s[0], s[1], s[2], type, layout});
      }
    }
  }
};

TEST_F(CpuGemmTest, ProductsAreRightRepeatableAndStayInside) {
  int ran = 0;
  for_each_case([&](const GemmShape& shape) {
    if (auto reason = gemm_unsupported(*device_, shape)) {
      EXPECT_NE(shape.dtype, DType::kFp32) << *reason;
      EXPECT_THROW(make_gemm(*device_, shape), UnsupportedError);
      return;
    }
    ++ran;
    GemmOperands operands(*device_, shape, *stream_);
    auto gemm = make_gemm(*device_, shape);
    EXPECT_THROW(gemm->enqueue(operands.a.data(), operands.b.data(), operands.d.data(), *stream_),
                 Error);
    gemm->choose_plan(operands.a.data(), operands.b.data(), operands.d.data(), *stream_, 0.01, {});
    operands.d.poison(*stream_);
    gemm->enqueue(operands.a.data(), operands.b.data(), operands.d.data(), *stream_);
    const Verdict verdict = operands.verdict(*stream_);
    EXPECT_TRUE(verdict.passed) << name_of(shape) << ": " << verdict.detail;
    EXPECT_EQ(verdict.elements, shape.m * shape.n);
    const auto first = operands.host_copy(operands.d, *stream_);
    operands.d.poison(*stream_);
    gemm->enqueue(operands.a.data(), operands.b.data(), operands.d.data(), *stream_);
    EXPECT_EQ(first, operands.host_copy(operands.d, *stream_)) << name_of(shape);
    operands.expect_guards_whole(*stream_);
  });
  EXPECT_GE(ran, 12);  // fp32 at least
}

// The checks of all types, also of those that this CPU's library cannot multiply: D is the rounded
// reference.
TEST_F(CpuGemmTest, EveryInjectedFaultIsFound) {
  for_each_case([&](const GemmShape& shape) {
    GemmOperands operands(*device_, shape, *stream_);
    const HostReference host(operands, *stream_);
    EXPECT_FALSE(operands.verdict(*stream_).passed) << "a poisoned D passed: " << name_of(shape);
    for (std::int64_t i = 0; i < shape.m * shape.n; ++i) {
      operands.set_d(i, host.reference[static_cast<std::size_t>(i)], *stream_);
    }
    const Verdict verdict = operands.verdict(*stream_);
    EXPECT_TRUE(verdict.passed) << name_of(shape) << ": " << verdict.detail;
    EXPECT_EQ(verdict.detail, "");
    expect_faults_found(operands, *stream_);
  });
}

TEST_F(CpuGemmTest, ReferenceAgreesWithTheDefinition) {
  for_each_case([&](const GemmShape& shape) {
    GemmOperands operands(*device_, shape, *stream_);
    const HostReference host(operands, *stream_);
    const auto* a = static_cast<const unsigned char*>(operands.a.data());
    const auto* b = static_cast<const unsigned char*>(operands.b.data());
    const auto size = static_cast<std::int64_t>(size_of(shape.dtype));
    for (std::int64_t i = 0; i < shape.m; ++i) {
      for (std::int64_t j = 0; j < shape.n; ++j) {
        long double sum = 0, magnitude = 0;
        for (std::int64_t p = 0; p < shape.k; ++p) {
          const std::int64_t in_a = shape.layout == "tn" ? p + shape.k * i : i + shape.m * p;
          const long double product =
              static_cast<long double>(decode(shape.dtype, a + in_a * size)) *
              decode(shape.dtype, b + (p + shape.k * j) * size);
          sum += product;
          magnitude += std::fabs(product);
        }
        const auto at = static_cast<std::size_t>(i + shape.m * j);
        const double tolerance = 1e-14 * static_cast<double>(magnitude);
        ASSERT_NEAR(host.reference[at], static_cast<double>(sum), tolerance) << name_of(shape);
        ASSERT_NEAR(host.magnitude[at], static_cast<double>(magnitude), tolerance)
            << name_of(shape);
      }
    }
  });
}

TEST_F(CpuGemmTest, AWriteOutsideIsFound) {
  GemmOperands operands(*device_, {17, 33, 65, DType::kFp32, "nn"}, *stream_);
  static_cast<float*>(operands.d.data())[17 * 33] = 1;
  ASSERT_TRUE(operands.d.damage(*stream_).has_value());
}

TEST_F(CpuGemmTest, BackgroundStreamsGiveTheSameBits) {
  const GemmShape shape{65, 33, 129, DType::kFp32, "tn"};
  GemmOperands operands(*device_, shape, *stream_);
  auto gemm = make_gemm(*device_, shape);
  gemm->choose_plan(operands.a.data(), operands.b.data(), operands.d.data(), *stream_, 0.01, {});
  const auto expected = operands.host_copy(operands.d, *stream_);
  auto background = device_->make_stream(true);
  operands.d.poison(*background);
  gemm->enqueue(operands.a.data(), operands.b.data(), operands.d.data(), *background);
  EXPECT_EQ(expected, operands.host_copy(operands.d, *background));
}

TEST_F(CpuGemmTest, BadShapesAndLayoutsAreRefused) {
  EXPECT_THROW(gemm_unsupported(*device_, {0, 1, 1, DType::kFp32, "nn"}), Error);
  EXPECT_THROW(gemm_unsupported(*device_, {1, 1, 1, DType::kFp32, "nt"}), Error);
  EXPECT_TRUE(gemm_unsupported(*device_, {1, 1, 200'000, DType::kInt8, "nn"}).has_value());
  EXPECT_TRUE(gemm_unsupported(*device_, {1, 1, 1, DType::kFp64, "nn"}).has_value());
  EXPECT_TRUE(gemm_unsupported(*device_, {1, 1, 1, DType::kInt32, "nn"}).has_value());
}

}  // namespace
}  // namespace pairmark
