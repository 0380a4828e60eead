#include "harness/base/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

#include "harness/base/error.h"

namespace pairmark {
namespace {

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Splits "64 MiB" into 64 and "MiB"; false when it does not start with a number.
bool split_number(std::string_view text, double& value, std::string_view& unit) {
  text = trim(text);
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return false;
  unit = trim(text.substr(static_cast<std::size_t>(end - text.data())));
  return true;
}

template <std::size_t N>
double scale(std::string_view text, const std::array<std::pair<std::string_view, double>, N>& units,
             const char* what, const char* examples) {
  double value = 0;
  std::string_view unit;
  if (split_number(text, value, unit) && value >= 0) {
    for (const auto& [name, factor] : units) {
      if (name == unit) return value * factor;
    }
  }
  throw UsageError(fmt::format("'{}' is not a {}; write it like {}", text, what, examples));
}

}  // namespace

std::uint64_t parse_bytes(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 11> kUnits{{
      {"", 1.0},
      {"B", 1.0},
      {"KB", 1e3},
      {"kB", 1e3},
      {"MB", 1e6},
      {"GB", 1e9},
      {"TB", 1e12},
      {"KiB", 1024.0},
      {"MiB", 1048576.0},
      {"GiB", kGiB},
      {"TiB", 1099511627776.0},
  }};
  double bytes = scale(text, kUnits, "size", "64MiB, 1GB or 4096");
  if (bytes > 9e15 || bytes != std::floor(bytes)) {
    throw UsageError(fmt::format("'{}' is not a whole number of bytes", text));
  }
  return static_cast<std::uint64_t>(bytes);
}

double parse_seconds(std::string_view text) {
  static constexpr std::array<std::pair<std::string_view, double>, 7> kUnits{{
      {"", 1.0},
      {"s", 1.0},
      {"ms", 1e-3},
      {"us", 1e-6},
      {"m", 60.0},
      {"min", 60.0},
      {"h", 3600.0},
  }};
  return scale(text, kUnits, "time", "90s, 10m or 250ms");
}

double parse_number(std::string_view text) {
  double value = 0;
  std::string_view rest;
  if (!split_number(text, value, rest) || !rest.empty()) {
    throw UsageError(
        fmt::format("'{}' is not a number; write digits with '.' as decimal point", text));
  }
  return value;
}

std::int64_t parse_integer(std::string_view text) {
  std::int64_t value = 0;
  std::string_view body = trim(text);
  auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (error != std::errc() || end != body.data() + body.size()) {
    throw UsageError(fmt::format("'{}' is not a whole number", text));
  }
  return value;
}

std::string format_significant(double value, int digits) {
  if (!std::isfinite(value)) return "n/a";
  if (value == 0) return "0";
  int magnitude = static_cast<int>(std::floor(std::log10(std::fabs(value)))) + 1;
  if (magnitude > 9 || magnitude < -5) return fmt::format("{:.{}e}", value, digits - 1);
  return fmt::format("{:.{}f}", value, std::max(0, digits - magnitude));
}

std::string format_seconds(double seconds) {
  double magnitude = std::fabs(seconds);
  if (magnitude >= 1 || magnitude == 0) return format_significant(seconds) + " s";
  if (magnitude >= 1e-3) return format_significant(seconds * 1e3) + " ms";
  if (magnitude >= 1e-6) return format_significant(seconds * 1e6) + " us";
  return format_significant(seconds * 1e9) + " ns";
}

std::string format_bytes(double bytes) {
  static constexpr std::array<const char*, 5> kNames{"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t i = 0;
  while (std::fabs(bytes) >= 1024 && i + 1 < kNames.size()) {
    bytes /= 1024;
    ++i;
  }
  return format_significant(bytes) + " " + kNames[i];
}

std::string nearest_match(std::string_view given, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, given.size() / 3) + 1;
  for (const std::string& word : known) {
    std::vector<std::size_t> row(word.size() + 1);
    std::iota(row.begin(), row.end(), 0);
    for (std::size_t i = 1; i <= given.size(); ++i) {
      std::size_t diagonal = row[0];
      row[0] = i;
      for (std::size_t j = 1; j <= word.size(); ++j) {
        std::size_t above = row[j];
        row[j] = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (given[i - 1] != word[j - 1])});
        diagonal = above;
      }
    }
    if (row.back() < best_distance) {
      best_distance = row.back();
      best = word;
    }
  }
  return best;
}

}  // namespace pairmark
