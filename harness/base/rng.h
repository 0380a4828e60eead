// Counter-based random numbers: value i of stream s is a pure function of (seed, s, i), the same on
// host and device.
#pragma once

#include <cstdint>

#if defined(__CUDACC__)
#define PAIRMARK_HOST_DEVICE __host__ __device__
#else
#define PAIRMARK_HOST_DEVICE
#endif

namespace pairmark {

// 64 well-mixed bits of (seed, index): two rounds of the finaliser of SplitMix64 (Steele, Lea,
// Flood 2014).
PAIRMARK_HOST_DEVICE inline std::uint64_t random_bits(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t z =
      seed * 0x9E3779B97F4A7C15ull ^ (index + 0x632BE59BD9B4E019ull) * 0xD6E8FEB86659FD93ull;
  for (int round = 0; round < 2; ++round) {
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    z ^= z >> 31;
  }
  return z;
}

// Uniform in [-1, 1).
PAIRMARK_HOST_DEVICE inline float random_uniform(std::uint64_t seed, std::uint64_t index) {
  return static_cast<float>(static_cast<std::int64_t>(random_bits(seed, index)) >> 40) *
         (1.0f / 8388608.0f);
}

}  // namespace pairmark
