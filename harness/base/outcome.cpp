#include "harness/base/outcome.h"

#include <array>
#include <utility>

namespace pairmark {
namespace {

constexpr std::array<std::pair<Outcome, std::string_view>, 8> kNames{{
    {Outcome::kOk, "ok"},
    {Outcome::kIncorrect, "incorrect"},
    {Outcome::kInvalid, "invalid"},
    {Outcome::kError, "error"},
    {Outcome::kHang, "hang"},
    {Outcome::kUnsupported, "unsupported"},
    {Outcome::kSkipped, "skipped"},
    {Outcome::kUnstable, "unstable"},
}};

}  // namespace

std::string_view to_string(Outcome outcome) {
  for (const auto& [value, name] : kNames) {
    if (value == outcome) return name;
  }
  return "error";
}

std::optional<Outcome> outcome_from_string(std::string_view text) {
  for (const auto& [value, name] : kNames) {
    if (name == text) return value;
  }
  return std::nullopt;
}

bool has_figure(Outcome outcome) {
  return outcome == Outcome::kOk || outcome == Outcome::kUnstable;
}

int exit_code(const std::map<Outcome, int>& counts) {
  auto count = [&](Outcome outcome) {
    auto it = counts.find(outcome);
    return it == counts.end() ? 0 : it->second;
  };
  if (count(Outcome::kError) + count(Outcome::kHang) > 0) return kExitError;
  if (count(Outcome::kIncorrect) + count(Outcome::kInvalid) > 0) return kExitBad;
  if (count(Outcome::kOk) + count(Outcome::kUnstable) == 0) return kExitNothingRan;
  return kExitOk;
}

}  // namespace pairmark
