// Tolerant access to result JSON: a missing key, a null or a value of another type is "absent",
// never an exception. Writers decide what is in a file; readers that only show it must not fall
// over an older or a damaged one.
#pragma once

#include <cmath>
#include <optional>
#include <string>
#include <string_view>

#include "harness/base/json.h"
#include "harness/base/outcome.h"

namespace pairmark {

// The member, or a null value that lives as long as the program.
inline const Json& member(const Json& object, std::string_view key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  auto found = object.find(std::string(key));
  return found == object.end() ? kNull : *found;
}

// The member when it is an array, else an empty array.
inline const Json& list_of(const Json& object, std::string_view key) {
  static const Json kEmpty = Json::array();
  const Json& value = member(object, key);
  return value.is_array() ? value : kEmpty;
}

inline std::string text_of(const Json& object, std::string_view key,
                           const std::string& fallback = "") {
  const Json& value = member(object, key);
  return value.is_string() ? value.get<std::string>() : fallback;
}

// A finite number, or nothing.
inline std::optional<double> number_of(const Json& value) {
  if (!value.is_number() || !std::isfinite(value.get<double>())) return std::nullopt;
  return value.get<double>();
}
inline std::optional<double> number_of(const Json& object, std::string_view key) {
  return number_of(member(object, key));
}

inline bool flag_of(const Json& object, std::string_view key, bool fallback) {
  const Json& value = member(object, key);
  return value.is_boolean() ? value.get<bool>() : fallback;
}

struct Bounds {
  double low = 0, high = 0;
};

// The key ci95 of a quantity: [low, high] in order, or nothing.
inline std::optional<Bounds> bounds_of(const Json& quantity) {
  const Json& pair = list_of(quantity, "ci95");
  if (pair.size() != 2) return std::nullopt;
  auto low = number_of(pair[0]), high = number_of(pair[1]);
  if (!low || !high || *low > *high) return std::nullopt;
  return Bounds{*low, *high};
}

// An outcome that is not known counts as an error: it must not look like a pass.
inline Outcome outcome_of(const Json& object) {
  return outcome_from_string(text_of(object, "outcome")).value_or(Outcome::kError);
}

}  // namespace pairmark
