#include "harness/compare/figures.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "harness/base/error.h"
#include "harness/base/units.h"
#include "harness/report/fields.h"

namespace pairmark {
namespace {

struct Rate {
  std::int64_t gpus = 0;
  double value = 0;  // work per second
  std::string work;  // samples, images, tokens
  std::optional<double> global_batch;
};

// A figure as written, with the words of an error about it.
struct Figure {
  const Json& json;
  std::string where;

  [[noreturn]] void fail(const std::string& what) const { throw UsageError(where + ": " + what); }
  double positive(const char* key, const char* hint) const {
    const auto value = number_of(json, key);
    if (!value) fail(fmt::format("'{}' is missing; {}", key, hint));
    if (*value <= 0)
      fail(fmt::format("'{}' is {}, which cannot be; give a number above 0", key,
                       format_significant(*value)));
    return *value;
  }
};

std::optional<double> seconds_of(std::string_view unit) {
  static constexpr std::array<std::pair<std::string_view, double>, 5> kTimes{
      {{"s", 1.0}, {"ms", 1e-3}, {"us", 1e-6}, {"min", 60.0}, {"h", 3600.0}}};
  for (const auto& [name, seconds] : kTimes) {
    if (name == unit) return seconds;
  }
  return std::nullopt;
}

// The kind of work in the plural, "iterations" for steps of a loop, or nothing.
std::optional<std::string> work_of(std::string_view word) {
  static constexpr std::array<std::pair<std::string_view, std::string_view>, 15> kWords{
      {{"it", "iterations"},
       {"its", "iterations"},
       {"iter", "iterations"},
       {"iters", "iterations"},
       {"iteration", "iterations"},
       {"step", "iterations"},
       {"steps", "iterations"},
       {"sample", "samples"},
       {"samples", "samples"},
       {"image", "images"},
       {"images", "images"},
       {"img", "images"},
       {"imgs", "images"},
       {"token", "tokens"},
       {"tokens", "tokens"}}};
  for (const auto& [name, work] : kWords) {
    if (name == word) return std::string(work);
  }
  return std::nullopt;
}

Rate rate_of(const Figure& figure) {
  Rate rate;
  const double gpus = figure.positive("gpus", "say how many devices the figure is for");
  if (gpus != static_cast<double>(static_cast<std::int64_t>(std::min(gpus, 1e6))))
    figure.fail("'gpus' is not a whole number of devices");
  rate.gpus = static_cast<std::int64_t>(gpus);
  const std::string unit = text_of(figure.json, "unit");
  if (unit.empty())
    figure.fail(
        "the unit is missing, and a bare number cannot be compared; add \"unit\", e.g. \"it/s\" or "
        "\"s/it\"");
  const double value = figure.positive("value", "give the figure as a number");
  const std::size_t slash = unit.find('/');
  const std::string left = unit.substr(0, slash),
                    right = slash == std::string::npos ? "" : unit.substr(slash + 1);
  std::optional<std::string> work;
  if (slash == std::string::npos && seconds_of(left)) {
    rate.value =
        figure.positive(
            "samples",
            "a time says nothing about speed until the samples processed in it are known") /
        (value * *seconds_of(left));
    rate.work = "samples";
    return rate;
  }
  if (seconds_of(right) && (work = work_of(left))) {
    rate.value = value / *seconds_of(right);
  } else if (seconds_of(left) && (work = work_of(right))) {
    rate.value = 1 / (value * *seconds_of(left));
  } else {
    figure.fail(
        fmt::format("the unit '{}' is not known; use it/s, s/it, samples/s, images/s, tokens/s, or "
                    "s with samples",
                    unit));
  }
  rate.work = *work;
  if (rate.work == "iterations") {
    rate.global_batch =
        gpus * figure.positive(
                   "batch_per_gpu",
                   "an iteration cannot be converted to samples without the batch of each device");
    rate.value *= *rate.global_batch;
    rate.work = "samples";
  }
  return rate;
}

Json entry(const Rate& one, const Rate& many) {
  const double speedup = many.value / one.value;
  const double efficiency =
      speedup * static_cast<double>(one.gpus) / static_cast<double>(many.gpus);
  std::string text =
      fmt::format("{} devices: {} {}/s against {} {}/s on {}: speed-up {:.2f}, efficiency {:.0f} %",
                  many.gpus, format_significant(many.value), many.work,
                  format_significant(one.value), one.work, one.gpus, speedup, efficiency * 100);
  if (one.global_batch && many.global_batch && *one.global_batch != *many.global_batch) {
    text +=
        fmt::format("; the global batch went from {} to {}", *one.global_batch, *many.global_batch);
  }
  return {{"gpus", many.gpus},
          {"value", many.value},
          {"speedup", speedup},
          {"efficiency", efficiency},
          {"global_batch", many.global_batch ? Json(*many.global_batch) : Json(nullptr)},
          {"text", text}};
}

}  // namespace

Json scaling_from_figures(const Json& figures, const std::string& name) {
  if (!figures.is_array() || figures.size() < 2) {
    throw UsageError(
        fmt::format("{}: a list of at least two figures is needed: one device and several", name));
  }
  std::vector<Rate> rates;
  for (std::size_t i = 0; i < figures.size(); ++i)
    rates.push_back(rate_of({figures[i], fmt::format("{}: figure {}", name, i + 1)}));
  const auto base = std::min_element(rates.begin(), rates.end(),
                                     [](const Rate& a, const Rate& b) { return a.gpus < b.gpus; });
  for (const Rate& rate : rates) {
    if (rate.work != base->work) {
      throw UsageError(
          fmt::format("{}: {}/s and {}/s cannot be converted into each other; give all figures in "
                      "one kind of work",
                      name, base->work, rate.work));
    }
    if (&rate != &*base && rate.gpus == base->gpus) {
      throw UsageError(
          fmt::format("{}: two figures are for {} devices, so it is not clear which is the "
                      "baseline; leave one out",
                      name, rate.gpus));
    }
  }
  Json out = {{"unit", base->work + "/s"},
              {"baseline", {{"gpus", base->gpus}, {"value", base->value}}},
              {"scaling", Json::array()}};
  for (const Rate& rate : rates) {
    if (&rate != &*base) out["scaling"].push_back(entry(*base, rate));
  }
  return out;
}

}  // namespace pairmark
