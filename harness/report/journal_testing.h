// For tests: journals made by hand.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"

namespace pairmark::testing {

struct ItemSpec {
  std::string arm = "solo";
  std::vector<int> ranks{0};
  int launch = 0;
  std::vector<std::vector<double>> samples_s{{1.0, 1.0, 1.0}};  // by rank
  double flops = 1e12;                                          // of each rank
  std::string case_text = "m=8";
  std::string scaling = "weak";
  double peak = 0;  // of each rank, TFLOPS; 0: not known
};

inline Json header(int launches = 1) {
  return {{"type", "header"},
          {"schema", 1},
          {"pairmark",
           {{"version", "0.1.0"},
            {"commit", "abc"},
            {"dirty", false},
            {"compiler", "g++"},
            {"build_type", "Release"},
            {"cuda", nullptr}}},
          {"run",
           {{"started_utc", "2026-01-01T00:00:00Z"},
            {"command", {"pairmark", "run"}},
            {"profile", "quick"},
            {"device", "cpu"},
            {"seed", 1},
            {"launches", launches},
            {"gpus", {1, 2}}}},
          {"machine", Json::object()},
          {"ranks",
           {{{"rank", 0},
             {"device", "cpu:0"},
             {"name", "4090"},
             {"uuid", nullptr},
             {"bus_id", nullptr},
             {"cores", {0}}},
            {{"rank", 1},
             {"device", "cpu:1"},
             {"name", "3090"},
             {"uuid", nullptr},
             {"bus_id", nullptr},
             {"cores", {1}}}}},
          {"findings", Json::array()}};
}

inline Json item(const ItemSpec& spec) {
  Json per_rank = Json::array();
  for (std::size_t r = 0; r < spec.ranks.size(); ++r) {
    const Json peak = spec.peak > 0 ? Json(spec.peak) : Json(nullptr);
    per_rank.push_back(
        {{"rank", spec.ranks[r]},
         {"samples_s", spec.samples_s.at(r)},
         {"batch", 10},
         {"work", {{"flops", spec.flops}, {"bytes", 100.0}, {"items", 1.0}, {"formula", "2mnk"}}},
         {"verify",
          {{"method", "reference"},
           {"passed", true},
           {"max_error", 0.1},
           {"bound", "k u"},
           {"elements", 64}}},
         {"peak", {{"boost", peak}, {"at_clock", peak}, {"source", "table"}, {"reason", nullptr}}},
         {"clock_mhz", 2000.0},
         {"clock_mhz_reason", nullptr},
         {"power_w", 50.0},
         {"power_w_reason", nullptr},
         {"energy_per_op_j", 5.0},
         {"energy_per_op_j_reason", nullptr},
         {"temperature_c", 40.0 + static_cast<double>(r)},
         {"throttle", Json::array()},
         {"plan", {{"library", "ref"}}},
         {"notes", Json::array()}});
  }
  return {{"type", "item"},
          {"launch", spec.launch},
          {"suite", "gemm"},
          {"benchmark", "gemm"},
          {"case", spec.case_text},
          {"axes", {{"m", 8}}},
          {"scaling", spec.scaling},
          {"arm", spec.arm},
          {"ranks", spec.ranks},
          {"outcome", "ok"},
          {"reason", nullptr},
          {"phase", nullptr},
          {"rate_unit", "TFLOPS"},
          {"rate_scale", 1e-12},
          {"direction", "higher"},
          {"rate_work", "flops"},
          {"per_rank", per_rank},
          {"wall_s", 1.0},
          {"repeat", "pairmark run --filter m=8"}};
}

inline Json failed_item(ItemSpec spec, const std::string& outcome, const std::string& reason,
                        const std::string& phase) {
  spec.samples_s.resize(spec.ranks.size());
  Json out = item(spec);
  out["outcome"] = outcome;
  out["reason"] = reason;
  out["phase"] = phase;
  out["per_rank"] = Json::array();
  for (const char* key : {"rate_unit", "rate_scale", "rate_work"}) out[key] = nullptr;
  return out;
}

inline Json end(bool complete = true, const Json& reason = nullptr) {
  return {{"type", "end"},
          {"complete", complete},
          {"reason", reason},
          {"ended_utc", "2026-01-01T00:01:00Z"},
          {"measured_s", 12.5}};
}

// Both solo arms and one arm of two ranks, one launch: seconds per operation of each. Weak scaling.
inline std::vector<Json> pair_journal(double solo0, double solo1, double both,
                                      const std::string& arm = "apart") {
  auto three = [](double s) { return std::vector<double>{s, s, s}; };
  return {header(), item({.samples_s = {three(solo0)}}),
          item({.ranks = {1}, .samples_s = {three(solo1)}}),
          item({.arm = arm, .ranks = {0, 1}, .samples_s = {three(both), three(both)}}), end()};
}

}  // namespace pairmark::testing
