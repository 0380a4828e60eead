// Element types and their numeric properties.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace pairmark {

// kTf32 is stored as fp32 and multiplied with 10 fraction bits.
enum class DType { kFp64, kFp32, kTf32, kFp16, kBf16, kFp8E4M3, kInt8, kInt32 };

std::string_view to_string(DType type);  // fp64 fp32 tf32 fp16 bf16 fp8 int8 int32
std::optional<DType> dtype_from_string(std::string_view text);
const std::vector<DType>& all_dtypes();
std::size_t size_of(DType type);  // bytes per element as stored

// Unit roundoff of rounding to the type (2^-(fraction bits + 1)); 0 for integers.
double unit_roundoff(DType type);

// Largest finite value.
double max_value(DType type);

// One element <-> double, on the host. Encoding rounds to nearest even and saturates fp8; `at` is
// the element's address.
double decode(DType type, const void* at);
void encode(DType type, double value, void* at);

}  // namespace pairmark
