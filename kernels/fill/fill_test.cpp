#include "kernels/fill/fill.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "harness/base/rng.h"
#include "kernels/fill/fill_element.h"

namespace pairmark {
namespace {

TEST(Fill, EveryFloatTypeIsTheEncodedUniformNumber) {
  auto device = open_cpu_device(0, {sched_getcpu()});
  auto stream = device->make_stream();
  constexpr std::size_t kCount = 200'001;
  for (DType type : all_dtypes()) {
    if (unit_roundoff(type) == 0) continue;
    Buffer data(*device, kCount * size_of(type));
    fill_uniform(*device, type, data.data(), kCount, 17, *stream);
    for (std::size_t i = 0; i < kCount; ++i) {
      unsigned char expected[8];
      encode(type, random_uniform(17, i), expected);
      ASSERT_EQ(std::memcmp(expected, data.bytes_at(i * size_of(type)), size_of(type)), 0)
          << to_string(type) << " " << i;
    }
  }
}

// Random numbers seldom hit ties and subnormals: these do.
TEST(Fill, RoundingAgreesWithEncodeOnTiesAndSubnormals) {
  for (int exponent = 0; exponent <= 23; ++exponent) {
    for (int step = -70'000; step <= 70'000; ++step) {
      const float value = std::ldexp(static_cast<float>(step), -exponent);
      if (std::fabs(value) > 1) continue;
      std::uint16_t half, brain;
      std::uint8_t eighth;
      encode(DType::kFp16, value, &half);
      encode(DType::kBf16, value, &brain);
      encode(DType::kFp8E4M3, value, &eighth);
      ASSERT_EQ(small_float(value, 10, -14, 15), half) << value;
      ASSERT_EQ(small_float(value, 7, -126, 15), brain) << value;
      ASSERT_EQ(small_float(value, 3, -6, 7), eighth) << value;
    }
  }
}

TEST(Fill, IntegersCoverTheirRangeEvenly) {
  auto device = open_cpu_device(0, {sched_getcpu()});
  auto stream = device->make_stream();
  std::vector<std::int8_t> data(255 * 1000);
  fill_uniform(*device, DType::kInt8, data.data(), data.size(), 3, *stream);
  std::vector<int> seen(256);
  for (std::int8_t value : data) ++seen[static_cast<std::size_t>(value + 128)];
  EXPECT_EQ(seen[0], 0);
  for (std::size_t i = 1; i < 256; ++i) EXPECT_NEAR(seen[i], 1000, 200) << i;
}

TEST(Fill, SeedsDiffer) {
  auto device = open_cpu_device(0, {sched_getcpu()});
  auto stream = device->make_stream();
  std::vector<float> a(1000), b(1000);
  fill_uniform(*device, DType::kFp32, a.data(), a.size(), 1, *stream);
  fill_uniform(*device, DType::kFp32, b.data(), b.size(), 2, *stream);
  double product = 0;
  for (std::size_t i = 0; i < a.size(); ++i) product += a[i] * b[i];
  EXPECT_LT(std::fabs(product), 5 * std::sqrt(1000.0) / 3);
}

}  // namespace
}  // namespace pairmark
