// The verdict on a result, and what verifying needs: guarded memory and a hash of device memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "harness/base/json.h"
#include "harness/device/device.h"

namespace pairmark {

struct Verdict {
  bool passed = false;
  std::string method;    // what was compared with what, in a few words
  double max_error = 0;  // largest error as a share of its bound: 1 is the limit; infinite if a
                         // value is not finite
  std::string bound;     // the bound's formula
  std::int64_t elements = 0;  // compared
  std::string detail;  // the first wrong element: index, expected, got; empty when all are right
};

// The `verify` object of the result format; max_error is null when it is not finite, detail only
// where there is one.
Json to_json(const Verdict& verdict);

// Device memory between two bands of 4 KiB that nobody may write. The content is aligned to 256
// bytes.
class GuardedBuffer {
 public:
  static constexpr std::size_t kBandBytes = 4096;

  GuardedBuffer() = default;
  // Allocates on `device`, which must outlive it, and writes the bands before it returns.
  GuardedBuffer(Device& device, std::size_t bytes);

  void* data() const { return memory_.bytes_at(kBandBytes); }
  std::size_t size() const { return bytes_; }

  // Fills the content with 0xFF: NaN in every float type, -1 in integers. In the order of the
  // stream.
  void poison(Stream& stream) const;

  // Nothing while both bands are whole, else which byte was overwritten first. Waits for the
  // stream.
  std::optional<std::string> damage(Stream& stream) const;

 private:
  Device* device_ = nullptr;
  std::size_t bytes_ = 0;
  Buffer memory_;
};

// 64-bit hash of device memory, the same for the same bytes on every kind of device. Every byte and
// its place count: two contents that differ in one 8-byte word never have the same hash. Waits for
// the stream.
std::uint64_t hash_bytes(Device& device, const void* data, std::size_t bytes, Stream& stream);

}  // namespace pairmark
