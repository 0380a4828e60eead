// Sizes, times and rates as people write them. GB = 1e9 bytes, GiB = 2^30 bytes; never mixed. All
// text is locale-free.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace pairmark {

inline constexpr double kGB = 1e9;
inline constexpr double kGiB = 1073741824.0;
inline constexpr double kTera = 1e12;

// "64MiB", "1GB", "4096", "8 KiB" -> bytes. Throws UsageError naming the text when it is not a
// size.
std::uint64_t parse_bytes(std::string_view text);

// "90s", "10m", "1.5h", "250ms" -> seconds; a bare number is seconds. Throws UsageError.
double parse_seconds(std::string_view text);

// A whole decimal number written with '.', no separators of thousands: "1,234" and "0x10" are
// refused. Throws UsageError.
double parse_number(std::string_view text);
std::int64_t parse_integer(std::string_view text);

// 0.00123 -> "1.23 ms"; 3 significant digits.
std::string format_seconds(double seconds);
// 65536 -> "64.0 KiB".
std::string format_bytes(double bytes);
// 3 significant digits without exponent where readable: 807.3 -> "807", 0.01234 -> "0.0123".
std::string format_significant(double value, int digits = 3);

// The word closest to `given` among `known` (edit distance, at most a third of its length off), or
// "".
std::string nearest_match(std::string_view given, const std::vector<std::string>& known);

}  // namespace pairmark
