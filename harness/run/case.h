// Cases: points of a benchmark's space, written "m=1024,n=1024,k=1024,dtype=bf16".
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/json.h"

namespace pairmark {

// Axis values in the order of the benchmark's axes. Values are whole numbers or words, kept as
// text.
class Case {
 public:
  Case() = default;
  Case(std::initializer_list<std::pair<std::string, std::string>> values) : values_(values) {}
  // Parses "name=value,name=value"; throws UsageError.
  static Case parse(std::string_view text);

  void set(const std::string& axis, const std::string& value);
  const std::string& word(
      const std::string& axis) const;  // throws Error when there is no such axis
  std::int64_t number(const std::string& axis) const;
  std::string text() const;
  Json axes() const;  // {"m":1024,"dtype":"bf16"}: whole numbers as numbers
  bool operator==(const Case&) const = default;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

struct Axis {
  std::string name;
  std::string help;
  std::vector<std::string> words;  // allowed values; empty: a whole number from `min` to `max`
  std::int64_t min = 1;
  std::int64_t max = 1;
};

enum class Profile { kQuick, kStandard, kFull };
std::string_view to_string(Profile profile);
Profile profile_from_string(std::string_view text);  // throws UsageError with the nearest match

// The axes and, by device kind ("cpu", "cuda") and profile, the cases run by default.
struct Space {
  std::vector<Axis> axes;
  std::map<std::string, std::map<Profile, std::vector<Case>>> cases;
};

// Values given on the command line replace those of their axis in every case; equal cases are then
// merged. `given` maps an axis to its values. Throws UsageError for a value the axis does not
// allow.
std::vector<Case> with_axes(const std::vector<Axis>& axes, const std::vector<Case>& cases,
                            const std::map<std::string, std::vector<std::string>>& given);

Json to_json(const Axis& axis);
Axis axis_from_json(const Json& json);

}  // namespace pairmark
