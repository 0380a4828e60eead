#include "harness/report/gbench_json.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <vector>

#include "harness/report/fields.h"

namespace pairmark {
namespace {

constexpr double kNanosecondsPerSecond = 1e9;

struct Launch {
  double median_s = 0;
  std::size_t samples = 0;
};

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 ? values[half] : (values[half - 1] + values[half]) / 2;
}

std::vector<Launch> launches_of(const Json& row) {
  std::vector<Launch> launches;
  for (const Json& raw : list_of(row, "samples_s")) {
    std::vector<double> samples;
    if (raw.is_array()) {
      for (const Json& sample : raw) {
        if (auto seconds = number_of(sample)) samples.push_back(*seconds);
      }
    }
    if (!samples.empty()) launches.push_back({median(samples), samples.size()});
  }
  return launches;
}

Json entry(const Json& row, const std::string& name, const char* run_type,
           std::size_t repetitions) {
  return {{"name", name},
          {"run_name", text_of(row, "id")},
          {"run_type", run_type},
          {"repetitions", repetitions},
          {"threads", std::max<std::size_t>(1, list_of(row, "ranks").size())}};
}

void add_times(Json& item, double seconds, double iterations) {
  item["iterations"] = static_cast<std::int64_t>(iterations);
  item["real_time"] = seconds * kNanosecondsPerSecond;
  item["cpu_time"] = seconds * kNanosecondsPerSecond;
  item["time_unit"] = "ns";
}

// rate * time is the work of one operation in the unit of the rate, so each launch has its own
// rate.
void add_rate(Json& item, const Json& row, double seconds) {
  const Json& rate = member(row, "rate");
  const auto value = number_of(rate, "value"), time = number_of(member(row, "time_s"), "median");
  if (value && time && seconds > 0) item[text_of(rate, "unit", "rate")] = *value * *time / seconds;
}

void add_aggregates(Json& out, const Json& row, const std::vector<Launch>& launches) {
  std::vector<double> times;
  for (const Launch& launch : launches) times.push_back(launch.median_s);
  const double n = static_cast<double>(times.size());
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / n;
  double squares = 0;
  for (double time : times) squares += (time - mean) * (time - mean);
  const std::string id = text_of(row, "id");
  for (const auto& [aggregate, value] :
       {std::pair("mean", mean), std::pair("median", median(times)),
        std::pair("stddev", std::sqrt(squares / (n - 1)))}) {
    Json item = entry(row, id + "_" + aggregate, "aggregate", times.size());
    item["aggregate_name"] = aggregate;
    item["aggregate_unit"] = "time";
    add_times(item, value, n);
    if (std::string(aggregate) != "stddev") add_rate(item, row, value);
    out.push_back(std::move(item));
  }
}

void add_row(Json& out, const Json& row) {
  const Outcome outcome = outcome_of(row);
  const std::vector<Launch> launches = launches_of(row);
  const std::string id = text_of(row, "id");
  if (!has_figure(outcome) || launches.empty()) {
    Json item = entry(row, id + "/failed", "aggregate", 1);
    item["aggregate_name"] = "failed";
    item["error_occurred"] = true;
    item["error_message"] =
        fmt::format("{}: {}", to_string(outcome), text_of(row, "reason", "no reason given"));
    out.push_back(std::move(item));
    return;
  }
  for (std::size_t i = 0; i < launches.size(); ++i) {
    Json item = entry(row, id, "iteration", launches.size());
    item["repetition_index"] = i;
    add_times(item, launches[i].median_s,
              static_cast<double>(launches[i].samples) * number_of(row, "batch").value_or(1));
    add_rate(item, row, launches[i].median_s);
    out.push_back(std::move(item));
  }
  if (launches.size() > 1) add_aggregates(out, row, launches);
}

}  // namespace

Json google_benchmark_json(const Json& result) {
  std::set<double> cores;
  for (const Json& rank : list_of(result, "ranks")) {
    for (const Json& core : list_of(rank, "cores")) cores.insert(number_of(core).value_or(0));
  }
  const Json& run = member(result, "run");
  const Json& build = member(result, "pairmark");
  Json context = {
      {"date", text_of(run, "started_utc")},
      {"executable", "pairmark"},
      {"num_cpus", cores.size()},
      {"caches", Json::array()},
      {"load_avg", Json::array()},
      {"library_build_type", text_of(build, "build_type") == "Debug" ? "debug" : "release"},
      {"pairmark_version", text_of(build, "version")},
      {"pairmark_device", text_of(run, "device")},
      {"cpu_time_note", "cpu_time repeats real_time: CPU time is not measured"}};
  Json benchmarks = Json::array();
  for (const Json& row : list_of(result, "rows")) add_row(benchmarks, row);
  return {{"context", std::move(context)}, {"benchmarks", std::move(benchmarks)}};
}

}  // namespace pairmark
