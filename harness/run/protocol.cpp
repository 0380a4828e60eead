#include "harness/run/protocol.h"

namespace pairmark {

Json to_json(const TimingSpec& s) {
  return {{"warm_min_s", s.warm_min_s},       {"warm_max_s", s.warm_max_s},
          {"sample_s", s.sample_s},           {"samples", s.samples},
          {"time_budget_s", s.time_budget_s}, {"plan_budget_s", s.plan_budget_s}};
}

TimingSpec timing_from_json(const Json& json) {
  TimingSpec s;
  s.warm_min_s = json.at("warm_min_s");
  s.warm_max_s = json.at("warm_max_s");
  s.sample_s = json.at("sample_s");
  s.samples = json.at("samples");
  s.time_budget_s = json.at("time_budget_s");
  s.plan_budget_s = json.at("plan_budget_s");
  return s;
}

Json to_json(const WorkerSpec& s) {
  return {{"rank", s.rank},
          {"world_size", s.world_size},
          {"device", s.device},
          {"uuid", s.uuid},
          {"cores", s.cores},
          {"folder", s.folder.string()},
          {"plan_cache", s.plan_cache.string()},
          {"join_timeout_s", s.join_timeout_s},
          {"timeout_s", s.timeout_s}};
}

WorkerSpec worker_spec_from_json(const Json& json) {
  WorkerSpec s;
  s.rank = json.at("rank");
  s.world_size = json.at("world_size");
  s.device = json.at("device");
  s.uuid = json.at("uuid");
  s.cores = json.at("cores").get<std::vector<int>>();
  s.folder = json.at("folder").get<std::string>();
  s.plan_cache = json.at("plan_cache").get<std::string>();
  s.join_timeout_s = json.at("join_timeout_s");
  s.timeout_s = json.at("timeout_s");
  return s;
}

}  // namespace pairmark
