#include <gtest/gtest.h>

#include <clocale>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "harness/base/dtype.h"
#include "harness/base/error.h"
#include "harness/base/json.h"
#include "harness/base/outcome.h"
#include "harness/base/rng.h"
#include "harness/base/units.h"

namespace pairmark {
namespace {

TEST(Outcome, NamesParseBack) {
  for (auto o : {Outcome::kOk, Outcome::kIncorrect, Outcome::kInvalid, Outcome::kError,
                 Outcome::kHang, Outcome::kUnsupported, Outcome::kSkipped, Outcome::kUnstable}) {
    EXPECT_EQ(outcome_from_string(to_string(o)), o);
  }
  EXPECT_FALSE(outcome_from_string("passed"));
}

TEST(Outcome, ExitCodes) {
  EXPECT_EQ(exit_code({}), kExitNothingRan);
  EXPECT_EQ(exit_code({{Outcome::kSkipped, 3}, {Outcome::kUnsupported, 2}}), kExitNothingRan);
  EXPECT_EQ(exit_code({{Outcome::kOk, 1}, {Outcome::kSkipped, 3}}), kExitOk);
  EXPECT_EQ(exit_code({{Outcome::kOk, 9}, {Outcome::kIncorrect, 1}}), kExitBad);
  EXPECT_EQ(exit_code({{Outcome::kOk, 9}, {Outcome::kInvalid, 1}}), kExitBad);
  EXPECT_EQ(exit_code({{Outcome::kIncorrect, 1}, {Outcome::kHang, 1}}), kExitError);
  EXPECT_EQ(exit_code({{Outcome::kError, 16}}), kExitError);
}

TEST(Units, SizesAndTimes) {
  EXPECT_EQ(parse_bytes("64MiB"), 67108864u);
  EXPECT_EQ(parse_bytes("1GB"), 1000000000u);
  EXPECT_EQ(parse_bytes("4096"), 4096u);
  EXPECT_DOUBLE_EQ(parse_seconds("10m"), 600);
  EXPECT_DOUBLE_EQ(parse_seconds("250ms"), 0.25);
  for (const char* bad : {"", "MiB", "1,234", "-1", "64 MiBs", "1e400", "nan", "inf", "0x10"}) {
    EXPECT_THROW(parse_bytes(bad), UsageError) << bad;
    EXPECT_THROW(parse_seconds(bad), UsageError) << bad;
  }
  for (const char* bad : {"1,234", "1.5.2", "12x", "", "nan", "1 000"}) {
    EXPECT_THROW(parse_number(bad), UsageError) << bad;
  }
}

TEST(Units, TextIgnoresTheLocale) {
  if (std::setlocale(LC_ALL, "de_DE.UTF-8") == nullptr) std::setlocale(LC_ALL, "C.UTF-8");
  EXPECT_EQ(format_seconds(0.00123), "1.23 ms");
  EXPECT_EQ(to_text(Json(1.5)), "1.5");
  EXPECT_DOUBLE_EQ(parse_number("1.5"), 1.5);
  EXPECT_DOUBLE_EQ(parse_json("1.5", "x").get<double>(), 1.5);
  std::setlocale(LC_ALL, "C");
}

TEST(Units, NearestMatch) {
  EXPECT_EQ(nearest_match("gem", {"gemm", "conv"}), "gemm");
  EXPECT_EQ(nearest_match("--profil", {"--profile", "--suite"}), "--profile");
  EXPECT_EQ(nearest_match("zebra", {"gemm", "conv"}), "");
}

TEST(Json, RefusesNonFiniteNumbers) {
  EXPECT_THROW(to_text(Json{{"a", std::nan("")}}), Error);
  EXPECT_TRUE(number_or_null(INFINITY).is_null());
  EXPECT_THROW(parse_json("{\"a\": NaN}", "f"), UsageError);
}

TEST(Json, ErrorsSayWhere) {
  try {
    parse_json("{\n  \"a\": 1,\n  oops\n}", "file.json");
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_NE(std::string(error.what()).find("file.json: line 3, column 3"), std::string::npos)
        << error.what();
  }
}

TEST(Json, WrittenWholeOrNotAtAll) {
  auto folder = std::filesystem::temp_directory_path() / "pairmark_base_test";
  std::filesystem::create_directories(folder);
  auto path = folder / "x.json";
  write_file_atomic(path, "first");
  write_file_atomic(path, "second");
  EXPECT_EQ(read_file(path), "second");
  EXPECT_THROW(write_file_atomic(folder / "missing" / "x.json", "y"), Error);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder), {}), 1);
  EXPECT_THROW(read_file(folder), UsageError);
  EXPECT_THROW(write_file_atomic("/dev/null", "y"),
               Error);  // renaming over it would replace the device
  std::filesystem::remove_all(folder);
}

TEST(DType, RoundTripsEveryBitPattern) {
  for (DType type : {DType::kFp16, DType::kBf16, DType::kFp8E4M3, DType::kInt8}) {
    const unsigned count = 1u << (8 * size_of(type));
    for (unsigned bits = 0; bits < count; ++bits) {
      std::uint16_t word = static_cast<std::uint16_t>(bits), back = 0;
      double value = decode(type, &word);
      if (std::isnan(value)) continue;
      encode(type, value, &back);
      ASSERT_EQ(word, back) << to_string(type) << " " << bits << " = " << value;
    }
  }
}

TEST(DType, KnownValues) {
  std::uint16_t half = 0;
  encode(DType::kFp16, 1.0, &half);
  EXPECT_EQ(half, 0x3C00);
  encode(DType::kFp16, 65520.0, &half);
  EXPECT_EQ(half, 0x7C00);
  encode(DType::kBf16, -2.0, &half);
  EXPECT_EQ(half, 0xC000);
  std::uint8_t byte = 0;
  encode(DType::kFp8E4M3, 1e9, &byte);
  EXPECT_EQ(decode(DType::kFp8E4M3, &byte), 448.0);
  float f = 0;
  encode(DType::kTf32, 1.0 + std::ldexp(1.0, -11), &f);  // a tie: to even
  EXPECT_EQ(f, 1.0f);
  encode(DType::kTf32, 1.0 + 1.5 * std::ldexp(1.0, -11), &f);
  EXPECT_EQ(f, 1.0f + std::ldexp(1.0f, -10));
  EXPECT_EQ(unit_roundoff(DType::kBf16), std::ldexp(1.0, -8));
}

TEST(Rng, UniformAndDistinct) {
  double sum = 0, square = 0;
  for (int i = 0; i < 100000; ++i) {
    float x = random_uniform(7, i);
    ASSERT_GE(x, -1.0f);
    ASSERT_LT(x, 1.0f);
    sum += x;
    square += static_cast<double>(x) * x;
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.01);
  EXPECT_NEAR(square / 1e5, 1.0 / 3, 0.01);
  EXPECT_NE(random_bits(1, 0), random_bits(2, 0));
}

}  // namespace
}  // namespace pairmark
