// The talk between parent and workers. Commands go to a worker's standard input, events come from
// its fd 3; both as JSON lines.
//
// commands:
// {"cmd":"run","item":7,"benchmark":"gemm","case":"m=..","arm":"solo","ranks":[0],"seed":1,"timing":{..}}
//           {"cmd":"exit"}
// events:   {"ev":"phase","item":-1,"phase":"start"|"join"}
//           {"ev":"hello","rank":0,"device":{..},"libraries":{..},"address":".."}
//           {"ev":"phase","item":7,"phase":"prepare"|"verify"|"warmup"|"time"|"recheck"}
//           {"ev":"done","item":7,"outcome":"ok","reason":null,"per_rank":{..}|null}
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace pairmark {

// How long to warm up and time; chosen by the parent from the profile.
struct TimingSpec {
  double warm_min_s = 3;
  double warm_max_s = 30;
  double sample_s = 0.05;    // aimed at for one sample, by choosing the batch
  int samples = 30;          // per launch
  double time_budget_s = 5;  // for the samples of one item; at least 5 are taken
  double plan_budget_s = 10;
};
Json to_json(const TimingSpec& spec);
TimingSpec timing_from_json(const Json& json);

// One worker: which device it opens, where it meets the others.
struct WorkerSpec {
  int rank = 0;
  int world_size = 1;
  std::string device;  // "cpu:0" or "cuda:1"
  std::string uuid;    // of a cuda device
  std::vector<int> cores;
  std::filesystem::path folder;  // where the ranks meet
  std::filesystem::path plan_cache;
  double join_timeout_s = 30;
  double timeout_s = 300;  // of calls between ranks; the parent's deadlines come first
};
Json to_json(const WorkerSpec& spec);
WorkerSpec worker_spec_from_json(const Json& json);

inline constexpr int kEventFd = 3;
inline constexpr const char* kWorkerFlag = "--pairmark_worker=";  // followed by the spec as JSON
inline constexpr const char* kDescribeFlag =
    "--pairmark_describe";  // prints describe_suite() and ends

}  // namespace pairmark
