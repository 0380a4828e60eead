#include "harness/timing/cpu_clock.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace pairmark {

double measure_cpu_clock_mhz() {
  constexpr int kAdditions = 200'000;
  double best_s = 1;
  for (int attempt = 0; attempt < 20; ++attempt) {
    std::uint64_t value = 1;
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kAdditions / 10; ++i) {
#if defined(__x86_64__)
      asm volatile(
          "add %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\t"
          "add %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0\n\tadd %0, %0"
          : "+r"(value));
#elif defined(__aarch64__)
      asm volatile(
          "add %0, %0, %0\n\tadd %0, %0, %0\n\tadd %0, %0, %0\n\tadd %0, %0, %0\n\tadd %0, %0, "
          "%0\n\t"
          "add %0, %0, %0\n\tadd %0, %0, %0\n\tadd %0, %0, %0\n\tadd %0, %0, %0\n\tadd %0, %0, %0"
          : "+r"(value));
#else
#error "no dependent addition written for this architecture"
#endif
    }
    best_s = std::min(
        best_s, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
  }
  return kAdditions / best_s * 1e-6;
}

}  // namespace pairmark
