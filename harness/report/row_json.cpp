// A row as the schema wants it: telemetry, peak, check and times merged over launches and ranks.
#include <algorithm>
#include <functional>
#include <set>
#include <utility>

#include "harness/base/error.h"
#include "harness/report/rows.h"

namespace pairmark {
namespace {

std::optional<double> number(const Json& object, const std::string& key) {
  const auto found = object.find(key);
  if (found == object.end() || !found->is_number()) return std::nullopt;
  return found->get<double>();
}

std::string text(const Json& object, const std::string& key, const std::string& fallback) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : fallback;
}

const Json* entry_of(const Json& record, int rank) {
  for (const Json& entry : record.at("per_rank")) {
    if (entry.at("rank").get<int>() == rank) return &entry;
  }
  return nullptr;
}

// Median over launches of a rank's figure; nothing when no launch knows it.
std::optional<double> over_launches(const Row& row, int rank,
                                    const std::function<std::optional<double>(const Json&)>& f) {
  std::vector<double> values;
  for (const Json& record : row.records) {
    const Json* entry = entry_of(record, rank);
    if (entry == nullptr) continue;
    if (const auto value = f(*entry)) values.push_back(*value);
  }
  if (values.empty()) return std::nullopt;
  return median(values);
}

std::vector<std::optional<double>> by_rank(const Row& row, const std::string& key) {
  std::vector<std::optional<double>> values;
  for (int rank : row.ranks) {
    values.push_back(
        over_launches(row, rank, [&](const Json& entry) { return number(entry, key); }));
  }
  return values;
}

// Nothing when one rank does not know it: a sum over some of the devices would mislead.
std::optional<double> sum(const std::vector<std::optional<double>>& values) {
  double total = 0;
  for (const auto& value : values) {
    if (!value) return std::nullopt;
    total += *value;
  }
  return total;
}

std::string first_text(const Row& row, const std::string& key, const std::string& fallback) {
  for (const Json& record : row.records) {
    for (const Json& entry : record.at("per_rank")) {
      const std::string found = text(entry, key, "");
      if (!found.empty()) return found;
    }
  }
  return fallback;
}

void put_with_reason(Json& out, const Row& row, const std::string& key,
                     const std::optional<double>& value) {
  out[key] = value ? rounded_or_null(*value) : Json(nullptr);
  out[key + "_reason"] =
      value ? Json(nullptr) : Json(first_text(row, key + "_reason", "no reason was recorded"));
}

void put_telemetry(Json& out, const Row& row) {
  auto clock = sum(by_rank(row, "clock_mhz"));
  if (clock) *clock /= static_cast<double>(row.ranks.size());
  put_with_reason(out, row, "clock_mhz", clock);
  put_with_reason(out, row, "power_w", sum(by_rank(row, "power_w")));
  put_with_reason(out, row, "energy_per_op_j", sum(by_rank(row, "energy_per_op_j")));
  if (!has_figure(row.outcome)) {  // made from a time that is withheld
    out["energy_per_op_j"] = nullptr;
    out["energy_per_op_j_reason"] = fmt::format("withheld: the row is {}", to_string(row.outcome));
  }
  std::optional<double> hottest;
  for (const auto& value : by_rank(row, "temperature_c")) {
    if (value && (!hottest || *value > *hottest)) hottest = value;
  }
  out["temperature_c"] = hottest ? rounded_or_null(*hottest) : Json(nullptr);
  std::set<std::string> throttle;
  for (const Json& record : row.records) {
    for (const Json& entry : record.at("per_rank")) {
      for (const Json& word : entry.value("throttle", Json::array()))
        throttle.insert(word.get<std::string>());
    }
  }
  out["throttle"] = throttle;
}

Json time_json(const Row& row, const Estimate& time) {
  const Summary s = summarize(row.samples);
  return {{"median", rounded(s.median)},
          {"q1", rounded(s.q1)},
          {"q3", rounded(s.q3)},
          {"min", rounded(s.min)},
          {"max", rounded(s.max)},
          {"mad", rounded(s.mad)},
          {"n", s.n},
          {"launches", s.launches},
          {"ci95", interval_json(time.ci95)},
          {"ci95_reason", time.reason.empty() ? Json(nullptr) : Json(time.reason)}};
}

Json rate_json(const Row& row, const Estimate& time) {
  const double c = row.rate_times_s();
  std::optional<Interval> interval;
  if (time.ci95 && time.ci95->low > 0) interval = Interval{c / time.ci95->high, c / time.ci95->low};
  return {{"value", rounded(c / time.value)},
          {"unit", row.rate_unit},
          {"ci95", interval_json(interval)},
          {"reason", time.reason.empty() ? Json(nullptr) : Json(time.reason)},
          {"direction", text(row.records.front(), "direction", "higher")}};
}

Json work_json(const Row& row) {
  Json total = {{"flops", 0.0}, {"bytes", 0.0}, {"items", 0.0}, {"formula", ""}};
  const Json& entries = row.records.front().at("per_rank");
  if (entries.empty()) return nullptr;
  for (const Json& entry : entries) {
    const auto work = entry.find("work");
    if (work == entry.end() || !work->is_object()) return nullptr;
    for (const char* key : {"flops", "bytes", "items"}) {
      total[key] = total[key].get<double>() + number(*work, key).value_or(0);
    }
    total["formula"] = text(*work, "formula", "");
  }
  return total;
}

Json peak_json(const Row& row, const std::optional<double>& rate) {
  Json out;
  bool known = true;
  for (const char* which : {"boost", "at_clock"}) {
    const auto peak = peak_of(row, which);
    known = known && peak;
    out[which] = peak ? rounded_or_null(*peak) : Json(nullptr);
    out[which + std::string("_share")] =
        peak && rate && *peak > 0 ? rounded_or_null(*rate / *peak) : Json(nullptr);
  }
  std::string source, reason;
  for (const Json& record : row.records) {
    for (const Json& entry : record.at("per_rank")) {
      const auto peak = entry.find("peak");
      if (peak == entry.end() || !peak->is_object()) continue;
      if (source.empty()) source = text(*peak, "source", "");
      if (reason.empty()) reason = text(*peak, "reason", "");
    }
  }
  out["source"] = source.empty() ? Json(nullptr) : Json(source);
  if (reason.empty() && !known) reason = "no peak was recorded";
  out["reason"] = reason.empty() ? Json(nullptr) : Json(reason);
  return out;
}

// The worst check over ranks and launches; `elements` counts all that were compared.
Json verify_json(const Row& row) {
  Json worst;
  std::int64_t elements = 0;
  for (const Json& record : row.records) {
    for (const Json& entry : record.at("per_rank")) {
      const auto verify = entry.find("verify");
      if (verify == entry.end() || !verify->is_object()) continue;
      elements += verify->at("elements").get<std::int64_t>();
      auto badness = [](const Json& v) {
        return std::pair(!v.at("passed").get<bool>(), number(v, "max_error").value_or(0));
      };
      if (worst.is_null() || badness(*verify) > badness(worst)) worst = *verify;
    }
  }
  if (!worst.is_null()) worst["elements"] = elements;
  return worst;
}

Json per_rank_json(const Row& row) {
  const auto clock = by_rank(row, "clock_mhz");
  const auto power = by_rank(row, "power_w");
  const auto temperature = by_rank(row, "temperature_c");
  auto value = [](const std::optional<double>& v) {
    return v ? rounded_or_null(*v) : Json(nullptr);
  };
  Json out = Json::array();
  for (std::size_t r = 0; r < row.ranks.size(); ++r) {
    out.push_back(
        {{"rank", row.ranks[r]},
         {"median_s",
          row.rank_samples.empty() ? Json(nullptr) : Json(rounded(median(row.rank_samples[r])))},
         {"clock_mhz", value(clock[r])},
         {"power_w", value(power[r])},
         {"temperature_c", value(temperature[r])}});
  }
  return out;
}

Json first_of(const Row& row, const std::string& key) {
  for (const Json& record : row.records) {
    for (const Json& entry : record.at("per_rank")) {
      const auto found = entry.find(key);
      if (found != entry.end() && !found->is_null()) return *found;
    }
  }
  return nullptr;
}

}  // namespace

std::optional<double> peak_of(const Row& row, const std::string& which) {
  std::vector<std::optional<double>> peaks;
  for (int rank : row.ranks) {
    peaks.push_back(over_launches(row, rank, [&](const Json& entry) -> std::optional<double> {
      const auto peak = entry.find("peak");
      if (peak == entry.end() || !peak->is_object()) return std::nullopt;
      return number(*peak, which);
    }));
  }
  return sum(peaks);
}

Json row_json(const Row& row, std::uint64_t seed) {
  const Json& first = row.records.front();
  Json out = {{"id", row.id},
              {"suite", row.suite},
              {"benchmark", row.benchmark},
              {"case", row.case_text},
              {"axes", first.at("axes")},
              {"scaling", row.scaling},
              {"arm", row.arm},
              {"ranks", row.ranks},
              {"outcome", to_string(row.outcome)},
              {"reason", row.reason.empty() ? Json(nullptr) : Json(row.reason)},
              {"phase", row.phase.empty() ? Json(nullptr) : Json(row.phase)}};
  out["time_s"] = nullptr;
  out["rate"] = nullptr;
  std::optional<double> rate;
  if (has_figure(row.outcome)) {
    const Estimate time = median_estimate(row.samples, seed);
    out["time_s"] = time_json(row, time);
    if (row.has_rate()) {
      out["rate"] = rate_json(row, time);
      rate = row.rate_times_s() / time.value;
    }
  }
  out["work"] = work_json(row);
  out["peak"] = peak_json(row, rate);
  put_telemetry(out, row);
  out["verify"] = verify_json(row);
  out["plan"] = first_of(row, "plan");
  out["batch"] = first_of(row, "batch");
  out["samples_s"] = has_figure(row.outcome) ? Json(row.samples) : Json::array();
  out["per_rank"] = per_rank_json(row);
  out["notes"] = row.notes;
  out["repeat"] = text(first, "repeat", "");
  return out;
}

}  // namespace pairmark
