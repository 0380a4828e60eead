#include "harness/verify/verify.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "harness/base/dtype.h"

namespace pairmark {
namespace {

class Verify : public testing::Test {
 protected:
  std::unique_ptr<Device> device_ = open_cpu_device(0, {sched_getcpu()});
  std::unique_ptr<Stream> stream_ = device_->make_stream();
};

TEST_F(Verify, BandsCatchEveryByteJustOutside) {
  for (std::size_t bytes : {std::size_t{0}, std::size_t{1}, std::size_t{1000}, std::size_t{4096}}) {
    GuardedBuffer buffer(*device_, bytes);
    auto* content = static_cast<unsigned char*>(buffer.data());
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(content) % 256, 0u);
    buffer.poison(*stream_);
    EXPECT_EQ(buffer.damage(*stream_), std::nullopt);
    unsigned char old = content[bytes];
    content[bytes] ^= 1;
    ASSERT_TRUE(buffer.damage(*stream_).has_value());
    EXPECT_NE(buffer.damage(*stream_)->find("byte 0 past the end"), std::string::npos);
    content[bytes] = old;
    content[-1] ^= 0x80;
    ASSERT_TRUE(buffer.damage(*stream_).has_value());
    EXPECT_NE(buffer.damage(*stream_)->find("memory 1 bytes before"), std::string::npos);
  }
}

TEST_F(Verify, PoisonIsNanInEveryFloatType) {
  GuardedBuffer buffer(*device_, 64);
  buffer.poison(*stream_);
  for (DType type :
       {DType::kFp64, DType::kFp32, DType::kTf32, DType::kFp16, DType::kBf16, DType::kFp8E4M3}) {
    EXPECT_TRUE(std::isnan(decode(type, buffer.data()))) << to_string(type);
  }
}

TEST_F(Verify, HashSeesEveryByteItsPlaceAndTheLength) {
  Buffer buffer(*device_, 67);
  auto* bytes = static_cast<unsigned char*>(buffer.data());
  for (int i = 0; i < 67; ++i) bytes[i] = static_cast<unsigned char>(i * 31);
  auto hash = [&](std::size_t count) { return hash_bytes(*device_, bytes, count, *stream_); };
  std::set<std::uint64_t> seen{hash(67)};
  EXPECT_EQ(hash(67), *seen.begin());
  for (int i = 0; i < 67; ++i) {
    for (int bit = 0; bit < 8; ++bit) {
      bytes[i] ^= static_cast<unsigned char>(1 << bit);
      EXPECT_TRUE(seen.insert(hash(67)).second) << i << " " << bit;
      bytes[i] ^= static_cast<unsigned char>(1 << bit);
    }
  }
  std::swap_ranges(bytes, bytes + 8, bytes + 8);
  EXPECT_TRUE(seen.insert(hash(67)).second);
  std::fill(bytes, bytes + 67, 0);
  for (std::size_t count = 0; count <= 67; ++count)
    EXPECT_TRUE(seen.insert(hash(count)).second) << count;
}

TEST(Verdict, JsonHoldsNullForAnErrorThatIsNotFinite) {
  Verdict verdict{false, "m", std::numeric_limits<double>::infinity(),
                  "b",   3,   "element 0: expected 1, got nan"};
  Json json = to_json(verdict);
  EXPECT_TRUE(json["max_error"].is_null());
  EXPECT_EQ(json["detail"], verdict.detail);
  EXPECT_FALSE(to_json(Verdict{true, "m", 0.5, "b", 3, ""}).contains("detail"));
  EXPECT_NO_THROW(to_text(json));
}

}  // namespace
}  // namespace pairmark
