// The hash of hash_bytes(), as host and device share it: the sum over 8-byte words of a bijective
// mix of word and place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "harness/base/rng.h"

namespace pairmark {

PAIRMARK_HOST_DEVICE inline std::uint64_t hash_word(std::uint64_t word, std::uint64_t place) {
  return random_bits(word, place);
}

// The word at `place` of `bytes` bytes; the last one is filled up with zeros. `data` must be
// aligned to 8 bytes.
PAIRMARK_HOST_DEVICE inline std::uint64_t word_at(const unsigned char* data, std::size_t bytes,
                                                  std::size_t place) {
  const std::size_t begin = place * 8, end = begin + 8 < bytes ? begin + 8 : bytes;
  std::uint64_t word = 0;
  if (end == begin + 8) {
#if defined(__CUDA_ARCH__)
    return *reinterpret_cast<const unsigned long long*>(
        data + begin);  // one load; memcpy would make eight
#else
    std::memcpy(&word, data + begin, 8);
    return word;
#endif
  }
  for (std::size_t i = begin; i < end; ++i)
    word |= static_cast<std::uint64_t>(data[i]) << (8 * (i - begin));
  return word;
}

inline std::uint64_t finish_hash(std::uint64_t sum, std::size_t bytes) {
  return random_bits(sum, bytes);
}

}  // namespace pairmark
