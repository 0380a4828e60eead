#include "harness/report/scaling_family.h"

#include <algorithm>

#include "harness/base/error.h"
#include "harness/base/units.h"

namespace pairmark {
namespace {

constexpr double kWorthIt = 1.1;  // below this speed-up a further device does not pay

std::string device_name(const Json& ranks, int rank) {
  for (const Json& entry : ranks) {
    if (entry.value("rank", -1) != rank) continue;
    return fmt::format("{} ({})", entry.value("device", "rank " + std::to_string(rank)),
                       entry.value("name", "unnamed"));
  }
  return "rank " + std::to_string(rank);
}

std::string times(double value) {
  return format_significant(value) + "x";
}

}  // namespace

std::string verdict_of(const Estimate& speedup, int n, const Json& waterfall_json) {
  const std::string devices =
      n == 2 ? "the second device is " : fmt::format("the other {} devices are ", n - 1);
  const double s = speedup.value;
  const auto& ci = speedup.ci95;
  const std::string figure = format_significant(s) + " times one device";
  if (ci && ci->low <= 1 && ci->high >= 1) {
    return fmt::format("undecided: {}, but the 95 % interval includes 1; use more launches",
                       figure);
  }
  if (s < 1) {
    std::string text = devices + "harmful for this workload: " + figure;
    const Json* worst = nullptr;
    for (const Json& part : waterfall_json) {
      if (worst == nullptr || part["loss"].get<double>() > worst->at("loss").get<double>())
        worst = &part;
    }
    if (worst != nullptr && worst->at("stage") != "unexplained") {
      text += ", most of it lost to " + worst->at("stage").get<std::string>();
    }
    return text;
  }
  if (s < kWorthIt) {
    const bool undecided = ci && ci->high >= kWorthIt;
    return devices + "not worth it for this workload: " + figure +
           (undecided ? fmt::format(" (the interval reaches {})", times(ci->high)) : "");
  }
  if (ci && ci->low < kWorthIt) {
    return fmt::format("worth it: {} (the interval reaches down to {})", figure, times(ci->low));
  }
  return "worth it: " + figure;
}

std::string work_text(double work, const std::string& kind) {
  return fmt::format("{:.4g} {}", work, kind);
}

std::string global_work_of(const Family& family) {
  const Row& many = family.compared();
  const auto n = static_cast<double>(family.solos.size());
  const double one = family.solos.front()->total_work;
  const double all = many.total_work;
  if (many.scaling == "strong") {
    return fmt::format(
        "strong scaling: the same global work of {} per operation, shared by {} devices",
        work_text(one, many.rate_work), family.solos.size());
  }
  const std::string grew = n == 2 ? "doubled" : fmt::format("grew {} times", family.solos.size());
  return fmt::format(
      "weak scaling: the work on each device stays the same, so the global work {} from {} to {} "
      "per operation",
      grew, work_text(one, many.rate_work), work_text(all, many.rate_work));
}

std::string baseline_of(const Family& family, const Figures& figures, const Json& ranks) {
  const std::string& unit = family.compared().rate_unit;
  const auto rates = figures.solo_rates(figures.medians());
  const std::string rate = format_significant(figures.baseline(figures.medians())) + " " + unit;
  if (figures.alike()) return fmt::format("{}, the mean of the {} solo arms", rate, figures.n());
  const auto fastest = std::max_element(rates.begin(), rates.end()) - rates.begin();
  return fmt::format(
      "{}, the fastest device {} alone", rate,
      device_name(ranks, family.compared().ranks[static_cast<std::size_t>(fastest)]));
}

Json flags_of(const Family& family, const Figures& figures, const Estimate& efficiency,
              const Json& ranks) {
  Json flags = Json::array();
  const auto rates = figures.solo_rates(figures.medians());
  const auto slow = std::min_element(rates.begin(), rates.end());
  const auto fast = std::max_element(rates.begin(), rates.end());
  auto name = [&](auto at) {
    return device_name(ranks, family.compared().ranks[static_cast<std::size_t>(at)]);
  };
  if (!figures.alike()) {
    flags.push_back(fmt::format("{} alone is {} slower than {}: 1x is the faster one",
                                name(slow - rates.begin()), times(*fast / *slow),
                                name(fast - rates.begin())));
  }
  if (family.apart != nullptr) {
    const auto begin = figures.medians().begin() + static_cast<std::ptrdiff_t>(figures.n()) + 1;
    const auto [quick, late] =
        std::minmax_element(begin, begin + static_cast<std::ptrdiff_t>(figures.n()));
    if (figures.alike() && *late > kAlike * *quick) {
      flags.push_back(
          fmt::format("{} is {} slower than {} while both work, and not alone: check its CPU "
                      "cores, PCIe link and "
                      "cooling",
                      name(late - begin), times(*late / *quick), name(quick - begin)));
    }
  }
  if ((efficiency.ci95 ? efficiency.ci95->low : efficiency.value) > 1) {
    flags.push_back("super-linear: check the baseline (cache, clock, batch)");
  }
  for (const Row* row : family.all()) {
    if (row->outcome == Outcome::kUnstable) flags.push_back(row->id + " never became steady");
    for (const std::string& note : row->notes) {
      if (note.find("is missing") != std::string::npos) flags.push_back(row->id + ": " + note);
    }
  }
  return flags;
}

}  // namespace pairmark
