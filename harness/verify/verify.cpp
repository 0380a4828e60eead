#include "harness/verify/verify.h"

#include <cstring>
#include <vector>

#include "harness/base/error.h"
#include "harness/base/rng.h"
#include "harness/verify/hash_word.h"
#ifdef PAIRMARK_CUDA
#include "harness/verify/hash_cuda.h"
#endif

namespace pairmark {
namespace {

constexpr std::uint64_t kFrontSeed = 0xF207, kBackSeed = 0xBAC7;

std::vector<unsigned char> band_pattern(std::uint64_t seed) {
  std::vector<unsigned char> band(GuardedBuffer::kBandBytes);
  for (std::size_t i = 0; i < band.size(); ++i)
    band[i] = static_cast<unsigned char>(random_bits(seed, i));
  return band;
}

// Index of the byte at which two bands first differ.
std::optional<std::size_t> first_difference(const std::vector<unsigned char>& a,
                                            const std::vector<unsigned char>& b) {
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] != b[i]) return i;
  }
  return std::nullopt;
}

std::uint64_t hash_sum_host(const void* data, std::size_t bytes) {
  const auto* from = static_cast<const unsigned char*>(data);
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < (bytes + 7) / 8; ++i) sum += hash_word(word_at(from, bytes, i), i);
  return sum;
}

#ifdef PAIRMARK_CUDA
std::uint64_t hash_sum_cuda(Device& device, const void* data, std::size_t bytes, Stream& stream) {
  unsigned long long sum = 0;
  Buffer on_device(device, sizeof sum);
  device.fill_bytes(on_device.data(), 0, sizeof sum, stream);
  const char* failure = launch_hash_sum(data, bytes, on_device.data(), stream.native());
  check(failure == nullptr, "starting the hash kernel failed: {}", failure ? failure : "");
  device.copy(&sum, on_device.data(), sizeof sum, stream);
  stream.synchronize();
  return sum;
}
#endif

}  // namespace

Json to_json(const Verdict& verdict) {
  Json json = {{"method", verdict.method},
               {"passed", verdict.passed},
               {"max_error", number_or_null(verdict.max_error)},
               {"bound", verdict.bound},
               {"elements", verdict.elements}};
  if (!verdict.detail.empty()) json["detail"] = verdict.detail;
  return json;
}

GuardedBuffer::GuardedBuffer(Device& device, std::size_t bytes)
    : device_(&device), bytes_(bytes), memory_(device, bytes + 2 * kBandBytes) {
  const auto front = band_pattern(kFrontSeed), back = band_pattern(kBackSeed);
  auto stream = device.make_stream();
  device.copy(memory_.data(), front.data(), kBandBytes, *stream);
  device.copy(memory_.bytes_at(kBandBytes + bytes), back.data(), kBandBytes, *stream);
  stream->synchronize();
}

void GuardedBuffer::poison(Stream& stream) const {
  device_->fill_bytes(data(), 0xFF, bytes_, stream);
}

std::optional<std::string> GuardedBuffer::damage(Stream& stream) const {
  std::vector<unsigned char> front(kBandBytes), back(kBandBytes);
  device_->copy(front.data(), memory_.data(), kBandBytes, stream);
  device_->copy(back.data(), memory_.bytes_at(kBandBytes + bytes_), kBandBytes, stream);
  stream.synchronize();
  if (auto at = first_difference(front, band_pattern(kFrontSeed))) {
    return fmt::format("memory {} bytes before the start of a buffer of {} bytes was overwritten",
                       kBandBytes - *at, bytes_);
  }
  if (auto at = first_difference(back, band_pattern(kBackSeed))) {
    return fmt::format("byte {} past the end of a buffer of {} bytes was overwritten", *at, bytes_);
  }
  return std::nullopt;
}

std::uint64_t hash_bytes(Device& device, const void* data, std::size_t bytes, Stream& stream) {
  check(reinterpret_cast<std::uintptr_t>(data) % 8 == 0,
        "memory to hash must be aligned to 8 bytes");
  if (device.kind() == DeviceKind::kCpu) {
    stream.synchronize();
    return finish_hash(hash_sum_host(data, bytes), bytes);
  }
#ifdef PAIRMARK_CUDA
  return finish_hash(hash_sum_cuda(device, data, bytes, stream), bytes);
#else
  throw UnsupportedError("this build has no cuda device; configure with the preset cuda");
#endif
}

}  // namespace pairmark
