// One random element, as host and device share it. Integer arithmetic throughout, so that both give
// the same bits.
#pragma once

#include <cstdint>

#include "harness/base/dtype.h"
#include "harness/base/rng.h"

namespace pairmark {

// The bits of `value` rounded to nearest even in a float format of `fraction_bits` whose smallest
// normal exponent is `min_exponent`; the sign goes to bit `sign_bit`. Only for |value| up to 1 that
// are 0 or normal in fp32.
PAIRMARK_HOST_DEVICE inline std::uint32_t small_float(float value, int fraction_bits,
                                                      int min_exponent, int sign_bit) {
  union {
    float number;
    std::uint32_t bits;
  } in{value};
  const std::uint32_t sign = in.bits >> 31, magnitude = in.bits & 0x7FFFFFFFu;
  if (magnitude == 0) return sign << sign_bit;
  const int exponent = static_cast<int>(magnitude >> 23) - 127;
  const int normal = exponent > min_exponent ? exponent : min_exponent;
  const int drop = 23 - fraction_bits + (normal - exponent);  // bits below the format's last one
  std::uint32_t kept = 0;
  if (drop <= 24) {
    const std::uint32_t mantissa = (magnitude & 0x7FFFFFu) | 0x800000u;
    kept = drop == 0 ? mantissa
                     : (mantissa + (1u << (drop - 1)) - 1 + ((mantissa >> drop) & 1)) >> drop;
  }
  // The hidden bit, or a carry into it, adds one to the exponent field: right for subnormal numbers
  // too.
  return (sign << sign_bit) |
         ((static_cast<std::uint32_t>(normal - min_exponent) << fraction_bits) + kept);
}

template <DType type>
struct RandomElement;

template <>
struct RandomElement<DType::kFp64> {
  using Stored = double;
  PAIRMARK_HOST_DEVICE static Stored at(std::uint64_t seed, std::uint64_t i) {
    return random_uniform(seed, i);
  }
};
template <>
struct RandomElement<DType::kFp32> {
  using Stored = float;
  PAIRMARK_HOST_DEVICE static Stored at(std::uint64_t seed, std::uint64_t i) {
    return random_uniform(seed, i);
  }
};
template <>
struct RandomElement<DType::kTf32> {  // stored as fp32: the low 13 fraction bits are 0
  using Stored = std::uint32_t;
  PAIRMARK_HOST_DEVICE static Stored at(std::uint64_t seed, std::uint64_t i) {
    const std::uint32_t bits = small_float(random_uniform(seed, i), 10, -126, 18);
    return bits << 13;
  }
};
template <>
struct RandomElement<DType::kFp16> {
  using Stored = std::uint16_t;
  PAIRMARK_HOST_DEVICE static Stored at(std::uint64_t seed, std::uint64_t i) {
    return static_cast<Stored>(small_float(random_uniform(seed, i), 10, -14, 15));
  }
};
template <>
struct RandomElement<DType::kBf16> {
  using Stored = std::uint16_t;
  PAIRMARK_HOST_DEVICE static Stored at(std::uint64_t seed, std::uint64_t i) {
    return static_cast<Stored>(small_float(random_uniform(seed, i), 7, -126, 15));
  }
};
template <>
struct RandomElement<DType::kFp8E4M3> {
  using Stored = std::uint8_t;
  PAIRMARK_HOST_DEVICE static Stored at(std::uint64_t seed, std::uint64_t i) {
    return static_cast<Stored>(small_float(random_uniform(seed, i), 3, -6, 7));
  }
};
template <>
struct RandomElement<DType::kInt8> {
  using Stored = std::int8_t;
  PAIRMARK_HOST_DEVICE static Stored at(std::uint64_t seed, std::uint64_t i) {
    return static_cast<Stored>(static_cast<int>(random_bits(seed, i) % 255) - 127);
  }
};
template <>
struct RandomElement<DType::kInt32> {
  using Stored = std::int32_t;
  PAIRMARK_HOST_DEVICE static Stored at(std::uint64_t seed, std::uint64_t i) {
    return static_cast<Stored>(random_bits(seed, i) % 255) - 127;
  }
};

// Calls work(RandomElement<type>{}) for a type known at run time.
template <typename Work>
void with_random_element(DType type, const Work& work) {
  switch (type) {
    case DType::kFp64:
      return work(RandomElement<DType::kFp64>{});
    case DType::kFp32:
      return work(RandomElement<DType::kFp32>{});
    case DType::kTf32:
      return work(RandomElement<DType::kTf32>{});
    case DType::kFp16:
      return work(RandomElement<DType::kFp16>{});
    case DType::kBf16:
      return work(RandomElement<DType::kBf16>{});
    case DType::kFp8E4M3:
      return work(RandomElement<DType::kFp8E4M3>{});
    case DType::kInt8:
      return work(RandomElement<DType::kInt8>{});
    case DType::kInt32:
      return work(RandomElement<DType::kInt32>{});
  }
}

}  // namespace pairmark
