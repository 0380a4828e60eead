#include "harness/health/findings.h"

#include <gtest/gtest.h>

namespace pairmark {
namespace {

Json healthy_gpu(const std::string& bus) {
  return {{"name", "NVIDIA H200"},
          {"bus_id", bus},
          {"power_limit_w", 700},
          {"power_limit_default_w", 700},
          {"pcie_width", 16},
          {"throttle_reasons", Json::array()},
          {"ecc", true},
          {"ecc_pending", true},
          {"ecc_uncorrected", 0},
          {"remapped_rows",
           {{"corrected", 0}, {"uncorrected", 0}, {"pending", false}, {"failed", false}}},
          {"persistence", true},
          {"mig", false},
          {"processes", 0},
          {"nvlink_links", 18},
          {"nvlink_links_up", 18},
          {"query_errors", Json::array()}};
}

Json healthy() {
  return {
      {"driver", {{"version", "580.159.04"}, {"kernel_module", "580.159.04"}, {"state", "ready"}}},
      {"gpus", {healthy_gpu("0000:17:00.0"), healthy_gpu("0000:65:00.0")}},
      {"slow_queries", Json::array()},
      {"shm", {{"size_bytes", 8e9}, {"free_bytes", 8e9}}},
      {"cpu", {{"quota_cpus", nullptr}, {"logical_cpus_allowed", 16}}},
      {"environment", {{"CUDA_VISIBLE_DEVICES", "0,1"}}}};
}

// The one finding that a changed snapshot gives.
Finding only(const Json& snapshot) {
  const auto found = find_findings(snapshot);
  EXPECT_EQ(found.size(), 1u) << to_json(found).dump(1);
  return found.empty() ? Finding() : found.front();
}

Json changed(const std::string& pointer, const Json& value) {
  Json snapshot = healthy();
  snapshot[Json::json_pointer(pointer)] = value;
  return snapshot;
}

bool has(const std::string& text, const std::string& words) {
  return text.find(words) != std::string::npos;
}

TEST(Findings, HealthyMachineHasNone) {
  EXPECT_TRUE(find_findings(healthy()).empty());
}

TEST(Findings, NothingKnownIsNoFinding) {
  EXPECT_TRUE(find_findings(Json::object()).empty());
  EXPECT_TRUE(find_findings(
                  {{"gpus", nullptr}, {"driver", {{"state", "library missing"}}}, {"shm", nullptr}})
                  .empty());
  EXPECT_TRUE(find_findings(changed("/gpus/0", {{"name", "NVIDIA H200"}})).empty());
}

TEST(Findings, PowerCapIsASettingAndNoFault) {
  Json snapshot = healthy();
  for (Json& gpu : snapshot["gpus"]) {
    gpu["power_limit_w"] = 280;
    gpu["power_limit_default_w"] = 350;
    gpu["throttle_reasons"] = {"sw_power_cap"};
  }
  const auto found = find_findings(snapshot);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].severity, Severity::kInfo);
  EXPECT_TRUE(has(found[0].text, "user cap 280 of 350 W")) << found[0].text;
}

TEST(Findings, DifferentCapsWarn) {
  const auto found = find_findings(changed("/gpus/1/power_limit_w", 500));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].severity, Severity::kWarn);
  EXPECT_TRUE(has(found[0].evidence, "700 / 500"));
}

TEST(Findings, HardwareSlowdownFails) {
  for (const char* reason : {"hw_slowdown", "hw_power_brake", "hw_thermal_slowdown"})
    EXPECT_EQ(only(changed("/gpus/0/throttle_reasons", {"gpu_idle", reason})).severity,
              Severity::kFail)
        << reason;
  EXPECT_EQ(only(changed("/gpus/0/throttle_reasons", {"sw_thermal_slowdown"})).severity,
            Severity::kWarn);
}

TEST(Findings, EachFactHasItsSeverity) {
  const std::vector<std::tuple<std::string, Json, Severity>> cases = {
      {"/gpus/0/persistence", false, Severity::kInfo},
      {"/gpus/0/mig", true, Severity::kWarn},
      {"/gpus/0/processes", 1, Severity::kWarn},
      {"/gpus/0/ecc_pending", false, Severity::kWarn},
      {"/gpus/0/ecc_uncorrected", 4, Severity::kFail},
      {"/gpus/0/remapped_rows/pending", true, Severity::kWarn},
      {"/gpus/0/remapped_rows/failed", true, Severity::kFail},
      {"/gpus/0/nvlink_links_up", 17, Severity::kWarn},
      {"/gpus/0/nvlink_links_up", 0, Severity::kFail},
      {"/gpus/0/pcie_width", 4, Severity::kWarn},
      {"/gpus/0/query_errors",
       {"nvmlDeviceGetTemperature failed: GPU is lost (code 15)"},
       Severity::kFail},
      {"/gpus/1/name", "NVIDIA H100", Severity::kWarn},
      {"/driver/kernel_module", "580.100.01", Severity::kWarn},
      {"/driver/state", "version mismatch", Severity::kFail},
      {"/cpu/quota_cpus", 2.5, Severity::kWarn},
      {"/environment/NCCL_P2P_DISABLE", "1", Severity::kWarn},
      {"/environment/NCCL_DEBUG", "INFO", Severity::kInfo},
      {"/slow_queries",
       {{{"name", "nvmlDeviceGetNvLinkState"}, {"seconds", 112.0}}},
       Severity::kWarn},
  };
  for (const auto& [pointer, value, severity] : cases)
    EXPECT_EQ(only(changed(pointer, value)).severity, severity) << pointer;
}

TEST(Findings, SmallShmCountsSegments) {
  const Finding finding =
      only(changed("/shm", {{"size_bytes", 67108864}, {"free_bytes", 67108864}}));
  EXPECT_TRUE(has(finding.text, "only 6 segments")) << finding.text;
  EXPECT_TRUE(has(finding.next_step, "--shm-size"));
}

TEST(Findings, WorstComesFirstAndJsonIsAsTheSchemaSays) {
  Json snapshot = changed("/gpus/0/persistence", false);
  snapshot["gpus"][1]["throttle_reasons"] = {"hw_slowdown"};
  const Json found = to_json(find_findings(snapshot));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0]["severity"], "fail");
  EXPECT_EQ(found[1]["severity"], "info");
  EXPECT_TRUE(found[1]["evidence"].is_null());
}

}  // namespace
}  // namespace pairmark
