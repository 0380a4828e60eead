// The reference product on the host: plain loops over panels of 4 rows, double accumulators,
// products in order of k.
#include <algorithm>
#include <bit>
#include <cstring>
#include <vector>

#include "kernels/gemm/gemm_parts.h"

namespace pairmark {
namespace {

constexpr std::int64_t kRows = 4,
                       kColumns = 2;  // of D at once: what fits in the registers

// decode() of many elements, by a table for the one- and two-byte types.
class Decoder {
 public:
  explicit Decoder(DType type) : type_(type), size_(size_of(type)) {
    if (size_ > 2) return;
    table_.resize(std::size_t{1} << (8 * size_));
    for (std::size_t pattern = 0; pattern < table_.size(); ++pattern) {
      const auto bits = static_cast<std::uint16_t>(
          pattern);  // its first byte is the low one: little-endian hosts only
      table_[pattern] = decode(type, &bits);
    }
  }
  std::vector<double> operator()(const void* data, std::int64_t count) const {
    std::vector<double> values(static_cast<std::size_t>(count));
    const auto* bytes = static_cast<const std::byte*>(data);
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (size_ > 2) {
        values[i] = decode(type_, bytes + i * size_);
      } else {
        std::uint16_t bits = 0;
        std::memcpy(&bits, bytes + i * size_, size_);
        values[i] = table_[bits];
      }
    }
    return values;
  }

 private:
  DType type_;
  std::size_t size_;
  std::vector<double> table_;
};
static_assert(std::endian::native == std::endian::little);

// A as panels of kRows rows, k-major inside a panel; rows beyond m are 0.
std::vector<double> pack_panels(const GemmShape& shape, const Decoder& decoder, const void* a) {
  const auto values = decoder(a, shape.m * shape.k);
  const std::int64_t panels = (shape.m + kRows - 1) / kRows;
  std::vector<double> packed(static_cast<std::size_t>(panels * kRows * shape.k));
  const bool transposed = shape.layout == "tn";
  for (std::int64_t i = 0; i < shape.m; ++i) {
    for (std::int64_t p = 0; p < shape.k; ++p) {
      const std::int64_t from = transposed ? i * shape.k + p : p * shape.m + i;
      const std::int64_t to = (i / kRows * shape.k + p) * kRows + i % kRows;
      packed[static_cast<std::size_t>(to)] = values[static_cast<std::size_t>(from)];
    }
  }
  return packed;
}

// One value of each row of a panel. A vector of the compiler's own: plain loops were left scalar by
// g++ 12.
using Rows = double __attribute__((vector_size(kRows * sizeof(double))));
using RowBits = std::int64_t __attribute__((vector_size(kRows * sizeof(double))));

struct Tile {
  Rows reference[kColumns] = {}, magnitude[kColumns] = {};
};

// Compiled for AVX2 too, chosen when the program loads: 3 times as fast. Sanitizers cannot
// instrument that choice.
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
__attribute__((target_clones("default", "arch=x86-64-v3")))
#endif
void multiply(const double* panel, const double* factors, std::int64_t k, Tile& result) {
  constexpr std::int64_t kNoSign = std::numeric_limits<std::int64_t>::max();
  Tile tile;
  for (std::int64_t p = 0; p < k; ++p) {
    Rows values;
    std::memcpy(&values, panel + p * kRows, sizeof values);
    for (std::int64_t j = 0; j < kColumns; ++j) {
      const Rows products = values * factors[j * k + p];
      tile.reference[j] += products;
      tile.magnitude[j] += (Rows)((RowBits)products & kNoSign);
    }
  }
  result = tile;
}

}  // namespace

void for_each_reference_column(
    const GemmShape& shape, const void* a, const void* b,
    const std::function<void(std::int64_t, const double*, const double*)>& take) {
  const Decoder decoder(shape.dtype);
  const auto panels = pack_panels(shape, decoder, a);
  const auto* b_bytes = static_cast<const std::byte*>(b);
  const std::int64_t column_bytes = shape.k * static_cast<std::int64_t>(size_of(shape.dtype));
  const std::int64_t padded = (shape.m + kRows - 1) / kRows * kRows;
  std::vector<double> reference(static_cast<std::size_t>(padded * kColumns)),
      magnitude(reference.size());
  for (std::int64_t j = 0; j < shape.n; j += kColumns) {
    const std::int64_t columns = std::min(kColumns, shape.n - j);
    auto factors = decoder(b_bytes + j * column_bytes, columns * shape.k);
    factors.resize(static_cast<std::size_t>(kColumns * shape.k));
    for (std::int64_t i = 0; i < padded; i += kRows) {
      Tile tile;
      multiply(panels.data() + i * shape.k, factors.data(), shape.k, tile);
      for (std::int64_t c = 0; c < kColumns; ++c) {
        std::memcpy(reference.data() + c * padded + i, &tile.reference[c], sizeof(Rows));
        std::memcpy(magnitude.data() + c * padded + i, &tile.magnitude[c], sizeof(Rows));
      }
    }
    for (std::int64_t c = 0; c < columns; ++c) {
      take(j + c, reference.data() + c * padded, magnitude.data() + c * padded);
    }
  }
}

}  // namespace pairmark
