#include "harness/report/sample_result.h"

#include <fmt/format.h>

#include "harness/base/outcome.h"
#include "harness/report/fields.h"

namespace pairmark {
namespace {

constexpr double kPeakOfOne = 989.0;  // TFLOPS
constexpr int kLaunches = 3;
const std::vector<double> kSpread = {-1, -0.5, 0.5, 1};  // of the samples, in half widths

Json axes_of(const std::string& name) {
  Json axes = Json::object();
  for (std::size_t at = 0; at < name.size();) {
    const std::size_t end = std::min(name.find(',', at), name.size());
    const std::size_t equals = name.find('=', at);
    const std::string value = name.substr(equals + 1, end - equals - 1);
    const bool number = value.find_first_not_of("0123456789") == std::string::npos;
    axes[name.substr(at, equals - at)] = number ? Json(std::stoi(value)) : Json(value);
    at = end + 1;
  }
  return axes;
}

Json identity(const SampleRow& row) {
  std::string ranks;
  for (int rank : row.ranks) ranks += fmt::format("{}{}", ranks.empty() ? "" : ",", rank);
  return {{"id", fmt::format("gemm/gemm/{}/{}[{}]", row.name, row.arm, ranks)},
          {"suite", "gemm"},
          {"benchmark", "gemm"},
          {"case", row.name},
          {"axes", axes_of(row.name)},
          {"scaling", "weak"},
          {"arm", row.arm},
          {"ranks", row.ranks}};
}

}  // namespace

Json sample_row(const SampleRow& row) {
  Json out = identity(row);
  const double t = row.time_s, half = row.half_width * row.time_s;
  const double devices = static_cast<double>(row.ranks.size());
  const double rate = row.tflop / t;
  Json launch = Json::array(), samples = Json::array(), per_rank = Json::array();
  for (double shift : kSpread) launch.push_back(t + shift * half);
  for (int i = 0; i < kLaunches; ++i) samples.push_back(launch);
  for (int rank : row.ranks) per_rank.push_back({{"rank", rank}, {"median_s", t}});
  out.update({{"outcome", "ok"}, {"reason", nullptr}, {"phase", nullptr}});
  out["time_s"] = {{"median", t},
                   {"q1", t - half / 2},
                   {"q3", t + half / 2},
                   {"min", t - half},
                   {"max", t + half},
                   {"mad", half / 2},
                   {"n", 12},
                   {"launches", kLaunches},
                   {"ci95", {t - half, t + half}},
                   {"ci95_reason", nullptr}};
  out["rate"] = {{"value", rate},
                 {"unit", "TFLOPS"},
                 {"ci95", {row.tflop / (t + half), row.tflop / (t - half)}},
                 {"reason", nullptr},
                 {"direction", "higher"}};
  out["work"] = {{"flops", row.tflop * 1e12},
                 {"bytes", 6291456.0 * devices},
                 {"items", devices},
                 {"formula", "2 m n k"}};
  out["peak"] = {{"boost", kPeakOfOne * devices},
                 {"boost_share", rate / (kPeakOfOne * devices)},
                 {"at_clock", nullptr},
                 {"at_clock_share", nullptr},
                 {"source", "table"},
                 {"reason", nullptr}};
  out.update({{"clock_mhz", nullptr},
              {"clock_mhz_reason", "not sampled"},
              {"power_w", 650.0 * devices},
              {"power_w_reason", nullptr},
              {"energy_per_op_j", 650.0 * devices * t},
              {"energy_per_op_j_reason", nullptr},
              {"temperature_c", nullptr},
              {"throttle", Json::array()}});
  out["verify"] = {{"method", "reference"},
                   {"passed", true},
                   {"max_error", 0.1},
                   {"bound", "k u"},
                   {"elements", 1048576}};
  out.update({{"plan", nullptr},
              {"batch", 10},
              {"samples_s", samples},
              {"per_rank", per_rank},
              {"notes", Json::array()}});
  out["repeat"] = fmt::format("pairmark run --suite gemm --filter '{}'", text_of(out, "id"));
  return out;
}

Json failed_sample_row(const SampleRow& row, const std::string& outcome,
                       const std::string& reason) {
  Json out = sample_row(row);
  out["outcome"] = outcome;
  out["reason"] = reason;
  out["phase"] = "verify";
  for (const char* key : {"time_s", "rate", "power_w", "energy_per_op_j", "verify"})
    out[key] = nullptr;
  out["samples_s"] = Json::array();
  out["peak"]["boost_share"] = nullptr;
  return out;
}

Json sample_result(const std::string& device, int devices) {
  Json result;
  result["schema"] = {{"name", "pairmark-result"}, {"major", 1}, {"minor", 0}};
  result["pairmark"] = {{"version", "0.1.0"},   {"commit", "0123456789ab"}, {"dirty", false},
                        {"compiler", "GNU 12"}, {"build_type", "Release"},  {"cuda", nullptr}};
  result["run"] = {{"started_utc", "2026-01-02T03:04:05Z"},
                   {"ended_utc", "2026-01-02T03:05:05Z"},
                   {"duration_s", 60.0},
                   {"complete", true},
                   {"incomplete_reason", nullptr},
                   {"command", {"pairmark", "run"}},
                   {"profile", "quick"},
                   {"device", device},
                   {"seed", 1},
                   {"launches", kLaunches},
                   {"gpus", {1, devices}},
                   {"resumed", 0}};
  result["machine"] = Json::object();
  result["ranks"] = Json::array();
  const bool cuda = device == "cuda";
  for (int i = 0; i < devices; ++i) {
    result["ranks"].push_back(
        {{"rank", i},
         {"device", fmt::format("{}:{}", device, i)},
         {"name", cuda ? "NVIDIA H200" : "Example CPU"},
         {"uuid", cuda ? Json(fmt::format("GPU-{:04}", i)) : Json(nullptr)},
         {"bus_id", cuda ? Json(fmt::format("00000000:{:02}:00.0", i)) : Json(nullptr)},
         {"cores", {2 * i, 2 * i + 1}},
         {"libraries", Json::object()}});
  }
  for (const char* key : {"rows", "scaling", "skipped", "findings"}) result[key] = Json::array();
  result["summary"] = {
      {"headline", "Nothing was measured."}, {"ran", 0},      {"skipped", 0}, {"failed", 0},
      {"outcomes", Json::object()},          {"exit_code", 4}};
  return result;
}

void add_sample_row(Json& result, const Json& row) {
  result["rows"].push_back(row);
  Json& summary = result["summary"];
  const Outcome outcome = outcome_of(row);
  const char* key = has_figure(outcome)                                                ? "ran"
                    : outcome == Outcome::kSkipped || outcome == Outcome::kUnsupported ? "skipped"
                                                                                       : "failed";
  summary[key] = summary[key].get<int>() + 1;
  Json& count = summary["outcomes"][text_of(row, "outcome")];
  count = count.is_null() ? 1 : count.get<int>() + 1;
  std::map<Outcome, int> counts;
  for (const Json& each : result["rows"]) ++counts[outcome_of(each)];
  summary["exit_code"] = exit_code(counts);
}

Json sample_pair_result(const std::string& device) {
  Json result = sample_result(device);
  SampleRow row;
  add_sample_row(result, sample_row(row));
  row.ranks = {1};
  add_sample_row(result, sample_row(row));
  SampleRow both;
  both.arm = "together";
  both.ranks = {0, 1};
  both.time_s = 2e-3 / 0.95;
  both.tflop = 2.0;
  add_sample_row(result, sample_row(both));
  Json ids = Json::array();
  for (const Json& each : result["rows"]) ids.push_back(each["id"]);
  Json waterfall = Json::array();
  waterfall.push_back(
      {{"stage", "shared host, power and heat"}, {"loss", 0.031}, {"ci95", {0.028, 0.034}}});
  waterfall.push_back({{"stage", "imbalance"}, {"loss", 0.001}, {"ci95", {0.0, 0.002}}});
  waterfall.push_back(
      {{"stage", "exposed communication"}, {"loss", 0.018}, {"ci95", {-0.002, 0.021}}});
  result["scaling"].push_back(
      {{"suite", "gemm"},
       {"benchmark", "gemm"},
       {"case", row.name},
       {"scaling", "weak"},
       {"world_size", 2},
       {"arm", "together"},
       {"outcome", "ok"},
       {"reason", nullptr},
       {"baseline", "mean of 2 devices alone"},
       {"global_work", "1 product on one device, 2 on two"},
       {"speedup", {{"value", 1.9}, {"unit", "1"}, {"ci95", {1.88, 1.92}}, {"reason", nullptr}}},
       {"efficiency",
        {{"value", 0.95}, {"unit", "1"}, {"ci95", {0.94, 0.96}}, {"reason", nullptr}}},
       {"verdict", "worth it: 1.90 times one device"},
       {"waterfall", waterfall},
       {"flags", Json::array()},
       {"rows", ids}});
  result["summary"]["headline"] =
      "Two devices do 1.90 times the work of one (95 % interval 1.88 to 1.92).";
  return result;
}

}  // namespace pairmark
