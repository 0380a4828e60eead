#include "harness/run/case.h"

#include <algorithm>
#include <array>

#include "harness/base/error.h"
#include "harness/base/units.h"

namespace pairmark {
namespace {

constexpr std::array<std::pair<Profile, std::string_view>, 3> kProfiles{{
    {Profile::kQuick, "quick"},
    {Profile::kStandard, "standard"},
    {Profile::kFull, "full"},
}};

bool is_integer(const std::string& text) {
  return !text.empty() && text.size() < 16 &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

std::string checked_value(const Axis& axis, const std::string& value) {
  if (!axis.words.empty()) {
    if (std::find(axis.words.begin(), axis.words.end(), value) != axis.words.end()) return value;
    const std::string near = nearest_match(value, axis.words);
    throw UsageError(fmt::format("axis {} has no value '{}'{}; it takes {}", axis.name, value,
                                 near.empty() ? "" : fmt::format(" (did you mean {}?)", near),
                                 fmt::join(axis.words, ", ")));
  }
  std::int64_t number = parse_integer(value);
  if (number < axis.min || number > axis.max) {
    throw UsageError(fmt::format("axis {} takes whole numbers from {} to {}, not {}", axis.name,
                                 axis.min, axis.max, value));
  }
  return std::to_string(number);
}

}  // namespace

Case Case::parse(std::string_view text) {
  Case result;
  while (!text.empty()) {
    std::string_view part = text.substr(0, text.find(','));
    std::size_t equals = part.find('=');
    if (equals == std::string_view::npos || equals == 0 || equals + 1 == part.size()) {
      throw UsageError(fmt::format("'{}' is not axis=value", part));
    }
    result.set(std::string(part.substr(0, equals)), std::string(part.substr(equals + 1)));
    text.remove_prefix(std::min(text.size(), part.size() + 1));
  }
  return result;
}

void Case::set(const std::string& axis, const std::string& value) {
  for (auto& [name, old] : values_) {
    if (name == axis) {
      old = value;
      return;
    }
  }
  values_.emplace_back(axis, value);
}

const std::string& Case::word(const std::string& axis) const {
  for (const auto& [name, value] : values_) {
    if (name == axis) return value;
  }
  throw Error(fmt::format("case {} has no axis {}", text(), axis));
}

std::int64_t Case::number(const std::string& axis) const {
  return parse_integer(word(axis));
}

std::string Case::text() const {
  std::string result;
  for (const auto& [name, value] : values_) {
    result += fmt::format("{}{}={}", result.empty() ? "" : ",", name, value);
  }
  return result;
}

Json Case::axes() const {
  Json json = Json::object();
  for (const auto& [name, value] : values_) {
    json[name] = is_integer(value) ? Json(parse_integer(value)) : Json(value);
  }
  return json;
}

std::string_view to_string(Profile profile) {
  return std::find_if(kProfiles.begin(), kProfiles.end(),
                      [&](auto& p) { return p.first == profile; })
      ->second;
}

Profile profile_from_string(std::string_view text) {
  std::vector<std::string> names;
  for (const auto& [profile, name] : kProfiles) {
    if (name == text) return profile;
    names.emplace_back(name);
  }
  const std::string near = nearest_match(text, names);
  throw UsageError(fmt::format("there is no profile '{}'{}; choose quick, standard or full", text,
                               near.empty() ? "" : fmt::format(" (did you mean {}?)", near)));
}

std::vector<Case> with_axes(const std::vector<Axis>& axes, const std::vector<Case>& cases,
                            const std::map<std::string, std::vector<std::string>>& given) {
  std::vector<Case> result = cases;
  for (const Axis& axis : axes) {
    auto values = given.find(axis.name);
    if (values == given.end()) continue;
    std::vector<Case> next;
    for (const Case& c : result) {
      for (const std::string& value : values->second) {
        Case changed = c;
        changed.set(axis.name, checked_value(axis, value));
        if (std::find(next.begin(), next.end(), changed) == next.end()) next.push_back(changed);
      }
    }
    result = std::move(next);
  }
  return result;
}

Json to_json(const Axis& axis) {
  return {{"name", axis.name},
          {"help", axis.help},
          {"words", axis.words},
          {"min", axis.min},
          {"max", axis.max}};
}

Axis axis_from_json(const Json& json) {
  Axis axis;
  axis.name = json.at("name");
  axis.help = json.at("help");
  axis.words = json.at("words").get<std::vector<std::string>>();
  axis.min = json.at("min");
  axis.max = json.at("max");
  return axis;
}

}  // namespace pairmark
