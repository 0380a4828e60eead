// Synthetic results that follow the schema: input of tests, never shipped figures.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"

namespace pairmark {

struct SampleRow {
  std::string name = "m=1024,n=1024,k=1024,dtype=bf16";  // the case
  std::string arm = "solo";
  std::vector<int> ranks = {0};
  double time_s = 2e-3;
  double half_width = 0.005;  // of the interval, relative
  double tflop = 1.0;         // work of one operation, all ranks together
};

// A row with outcome ok: 3 launches of 4 samples around time_s, work, rate, peak, power,
// verification.
Json sample_row(const SampleRow& row);

// The same row without figures.
Json failed_sample_row(const SampleRow& row, const std::string& outcome, const std::string& reason);

// A complete run on `devices` devices without rows. cuda: "NVIDIA H200" with UUIDs GPU-0000,
// GPU-0001, ...; cpu: no UUID.
Json sample_result(const std::string& device = "cuda", int devices = 2);

// Adds a row and keeps the summary in step.
void add_sample_row(Json& result, const Json& row);

// solo[0], solo[1], together[0,1] of one case with their scaling entry: speed-up 1.90, efficiency
// 95 %.
Json sample_pair_result(const std::string& device = "cuda");

}  // namespace pairmark
