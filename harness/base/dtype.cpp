#include "harness/base/dtype.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

namespace pairmark {
namespace {

struct Properties {
  DType type;
  std::string_view name;
  std::size_t size;
  int fraction_bits;  // -1: integer
  int min_exponent;   // of the smallest normal number
  double max;
};

constexpr std::array<Properties, 8> kTypes{{
    {DType::kFp64, "fp64", 8, 52, -1022, std::numeric_limits<double>::max()},
    {DType::kFp32, "fp32", 4, 23, -126, std::numeric_limits<float>::max()},
    {DType::kTf32, "tf32", 4, 10, -126, 3.4011621342146535e38},
    {DType::kFp16, "fp16", 2, 10, -14, 65504.0},
    {DType::kBf16, "bf16", 2, 7, -126, 3.3895313892515355e38},
    {DType::kFp8E4M3, "fp8", 1, 3, -6, 448.0},
    {DType::kInt8, "int8", 1, -1, 0, 127.0},
    {DType::kInt32, "int32", 4, -1, 0, 2147483647.0},
}};

const Properties& properties(DType type) {
  return kTypes[static_cast<std::size_t>(type)];
}

// The nearest value that has the type's fraction bits (ties to even), subnormals included; overflow
// is left to callers.
double round_to(const Properties& p, double value) {
  if (value == 0 || !std::isfinite(value)) return value;
  int exponent = std::max(std::ilogb(value), p.min_exponent);
  return std::ldexp(std::nearbyint(std::ldexp(value, p.fraction_bits - exponent)),
                    exponent - p.fraction_bits);
}

// IEEE-like bit pattern of a value already rounded to the type. fp8 e4m3 has no infinity: it
// saturates.
template <typename Word>
Word small_float_bits(const Properties& p, double value, int exponent_bits) {
  const int sign_shift = static_cast<int>(sizeof(Word)) * 8 - 1;
  const Word sign = static_cast<Word>(static_cast<Word>(std::signbit(value)) << sign_shift);
  const int bias = 1 - p.min_exponent;
  const unsigned all_exponent = (1u << exponent_bits) - 1;
  double magnitude = std::fabs(value);
  unsigned bits = 0;
  if (std::isnan(value)) {
    bits = (all_exponent << p.fraction_bits) | ((1u << p.fraction_bits) - 1);
  } else if (magnitude > p.max) {
    if (p.type == DType::kFp8E4M3) {
      bits = 0x7E;
    } else {
      bits = all_exponent << p.fraction_bits;
    }
  } else if (magnitude > 0) {
    int exponent = std::max(std::ilogb(magnitude), p.min_exponent);
    unsigned fraction = static_cast<unsigned>(std::ldexp(magnitude, p.fraction_bits - exponent));
    unsigned hidden = 1u << p.fraction_bits;
    bits = fraction < hidden
               ? fraction
               : (static_cast<unsigned>(exponent + bias) << p.fraction_bits) | (fraction - hidden);
  }
  return static_cast<Word>(sign | static_cast<Word>(bits));
}

template <typename Word>
double small_float_value(const Properties& p, Word word, int exponent_bits) {
  const int sign_shift = static_cast<int>(sizeof(Word)) * 8 - 1;
  const double sign = (word >> sign_shift) ? -1.0 : 1.0;
  const unsigned all_exponent = (1u << exponent_bits) - 1;
  unsigned exponent = (static_cast<unsigned>(word) >> p.fraction_bits) & all_exponent;
  unsigned fraction = static_cast<unsigned>(word) & ((1u << p.fraction_bits) - 1);
  if (exponent == all_exponent) {
    if (p.type != DType::kFp8E4M3) {
      return fraction ? std::numeric_limits<double>::quiet_NaN()
                      : sign * std::numeric_limits<double>::infinity();
    }
    if (fraction == 7) return std::numeric_limits<double>::quiet_NaN();
  }
  const int bias = 1 - p.min_exponent;
  double mantissa = std::ldexp(static_cast<double>(fraction), -p.fraction_bits);
  if (exponent == 0) return sign * std::ldexp(mantissa, p.min_exponent);
  return sign * std::ldexp(1.0 + mantissa, static_cast<int>(exponent) - bias);
}

template <typename T>
T load(const void* at) {
  T value;
  std::memcpy(&value, at, sizeof value);
  return value;
}

template <typename T>
void store(void* at, T value) {
  std::memcpy(at, &value, sizeof value);
}

template <typename T>
T saturate_integer(double value) {
  if (std::isnan(value)) return 0;
  return static_cast<T>(std::clamp(std::nearbyint(value),
                                   static_cast<double>(std::numeric_limits<T>::min()),
                                   static_cast<double>(std::numeric_limits<T>::max())));
}

}  // namespace

std::string_view to_string(DType type) {
  return properties(type).name;
}

std::optional<DType> dtype_from_string(std::string_view text) {
  for (const auto& p : kTypes) {
    if (p.name == text) return p.type;
  }
  return std::nullopt;
}

const std::vector<DType>& all_dtypes() {
  static const std::vector<DType> types = [] {
    std::vector<DType> list;
    for (const auto& p : kTypes) list.push_back(p.type);
    return list;
  }();
  return types;
}

std::size_t size_of(DType type) {
  return properties(type).size;
}

double unit_roundoff(DType type) {
  int bits = properties(type).fraction_bits;
  return bits < 0 ? 0.0 : std::ldexp(1.0, -bits - 1);
}

double max_value(DType type) {
  return properties(type).max;
}

double decode(DType type, const void* at) {
  const Properties& p = properties(type);
  switch (type) {
    case DType::kFp64:
      return load<double>(at);
    case DType::kFp32:
    case DType::kTf32:
      return load<float>(at);
    case DType::kFp16:
      return small_float_value(p, load<std::uint16_t>(at), 5);
    case DType::kBf16:
      return small_float_value(p, load<std::uint16_t>(at), 8);
    case DType::kFp8E4M3:
      return small_float_value(p, load<std::uint8_t>(at), 4);
    case DType::kInt8:
      return load<std::int8_t>(at);
    case DType::kInt32:
      return load<std::int32_t>(at);
  }
  return 0;
}

void encode(DType type, double value, void* at) {
  const Properties& p = properties(type);
  switch (type) {
    case DType::kFp64:
      store(at, value);
      return;
    case DType::kFp32:
      store(at, static_cast<float>(value));
      return;
    case DType::kTf32:
      store(at, static_cast<float>(round_to(p, value)));
      return;
    case DType::kFp16:
      store(at, small_float_bits<std::uint16_t>(p, round_to(p, value), 5));
      return;
    case DType::kBf16:
      store(at, small_float_bits<std::uint16_t>(p, round_to(p, value), 8));
      return;
    case DType::kFp8E4M3:
      store(at, small_float_bits<std::uint8_t>(p, round_to(p, value), 4));
      return;
    case DType::kInt8:
      store(at, saturate_integer<std::int8_t>(value));
      return;
    case DType::kInt32:
      store(at, saturate_integer<std::int32_t>(value));
      return;
  }
}

}  // namespace pairmark
