#include "harness/machine/nvml.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>

#include "harness/machine/gpu_list.h"
#include "harness/machine/snapshot.h"

namespace pairmark {
namespace {

namespace fs = std::filesystem;

// Sets variables for one test and takes them back.
class NvmlTest : public testing::Test {
 protected:
  void SetUp() override {
    set("PAIRMARK_NVML_PATH", NVML_STUB);
    folder_ = fs::path(testing::TempDir()) / ("nvml" + std::to_string(getpid()));
    fs::create_directories(folder_ / "proc/driver/nvidia");
  }
  void TearDown() override {
    for (const std::string& name : names_) unsetenv(name.c_str());
    fs::remove_all(folder_);
  }
  void set(const std::string& name, const std::string& value) {
    setenv(name.c_str(), value.c_str(), 1);
    names_.push_back(name);
  }
  void module(const std::string& line) {
    std::ofstream(folder_ / "proc/driver/nvidia/version") << line << '\n';
  }
  Json first_gpu() {
    const NvmlResult opened = Nvml::open(folder_);
    EXPECT_EQ(opened.state, NvmlState::kReady) << opened.reason;
    return opened.nvml->describe_gpu(opened.nvml->gpus().at(0));
  }
  fs::path folder_;
  std::vector<std::string> names_;
};

TEST_F(NvmlTest, ListsTwoGpusByUuidAndBusId) {
  const NvmlResult opened = Nvml::open(folder_);
  ASSERT_EQ(opened.state, NvmlState::kReady) << opened.reason;
  const auto gpus = opened.nvml->gpus();
  ASSERT_EQ(gpus.size(), 2u);
  EXPECT_EQ(gpus[1].uuid, "GPU-10000000-1111-2222-3333-444444444444");
  EXPECT_EQ(gpus[1].bus_id, "0000:00:07.0");
  EXPECT_EQ(gpus[1].compute_capability, "9.0");
  EXPECT_EQ(opened.nvml->describe_driver()["version"], "580.159.04");
  EXPECT_EQ(opened.nvml->describe_driver()["cuda_driver"], "13.0");
}

TEST_F(NvmlTest, GivesEveryFactInItsUnit) {
  set("STUB_PROCESSES", "2");
  set("STUB_THROTTLE", "0x85");
  const Json gpu = first_gpu();
  EXPECT_EQ(gpu["memory_total_bytes"], 143771ull << 20);
  EXPECT_EQ(gpu["pcie_generation"], 5);
  EXPECT_EQ(gpu["pcie_width"], 16);
  EXPECT_EQ(gpu["sm_clock_max_mhz"], 1980);
  EXPECT_EQ(gpu["memory_clock_mhz"], 3201);
  EXPECT_DOUBLE_EQ(gpu["power_draw_w"], 152.8);  // the instant one, not the mean of 128.86
  EXPECT_EQ(gpu["power_limit_default_w"], 700);
  EXPECT_EQ(gpu["power_limit_min_w"], 200);
  EXPECT_DOUBLE_EQ(gpu["energy_counter_j"], 5.0);
  EXPECT_EQ(gpu["processes"], 2);
  EXPECT_EQ(gpu["throttle_reasons"], Json({"gpu_idle", "sw_power_cap", "hw_power_brake"}));
  EXPECT_EQ(gpu["ecc"], true);
  EXPECT_EQ(gpu["mig"], false);
  EXPECT_EQ(gpu["compute_mode"], "default");
  EXPECT_EQ(gpu["nvlink_links"], 18);
  EXPECT_EQ(gpu["nvlink_links_up"], 17);
  EXPECT_EQ(gpu["cpu_affinity"], "0-15");
  EXPECT_TRUE(gpu["query_errors"].empty()) << gpu["query_errors"];
}

TEST_F(NvmlTest, NotSupportedIsNullWithReasonAndNoFailure) {
  set("STUB_UNSUPPORTED",
      "nvmlDeviceGetEccMode,nvmlDeviceGetTotalEnergyConsumption,nvmlDeviceGetNvLinkState");
  const Json gpu = first_gpu();
  for (const char* key : {"ecc", "energy_counter_j", "nvlink_links_up"}) {
    EXPECT_TRUE(gpu[key].is_null()) << key;
    EXPECT_EQ(gpu[std::string(key) + "_reason"],
              "not supported by this GPU, driver or virtual machine");
  }
  EXPECT_EQ(gpu["pcie_width"], 16);
  EXPECT_TRUE(gpu["query_errors"].empty());
}

TEST_F(NvmlTest, EverythingUnsupportedStillDescribes) {
  const NvmlResult opened = Nvml::open(folder_);
  const auto gpus = opened.nvml->gpus();
  set("STUB_UNSUPPORTED", "all");
  const Json gpu = opened.nvml->describe_gpu(gpus.at(0));
  EXPECT_EQ(gpu["name"], "NVIDIA H200");
  const GpuSample sample = opened.nvml->sample(gpus.at(0));
  EXPECT_FALSE(sample.power_w.value);
  EXPECT_FALSE(sample.sm_clock_mhz.reason.empty());
}

TEST_F(NvmlTest, OtherErrorsSurface) {
  set("STUB_FAIL", "nvmlDeviceGetTemperature:15");
  const Json gpu = first_gpu();
  EXPECT_TRUE(gpu["temperature_c"].is_null());
  EXPECT_EQ(gpu["query_errors"], Json({"nvmlDeviceGetTemperature failed: GPU is lost (code 15)"}));
}

TEST_F(NvmlTest, LostGpuStaysInTheList) {
  set("STUB_FAIL", "nvmlDeviceGetHandleByIndex_v2:15");
  const NvmlResult opened = Nvml::open(folder_);
  ASSERT_EQ(opened.nvml->gpus().size(), 2u);
  EXPECT_EQ(opened.nvml->describe_gpu(opened.nvml->gpus()[0])["query_errors"].size(), 1u);
}

TEST_F(NvmlTest, OldLibraryWithoutNewFunctions) {
  set("PAIRMARK_NVML_PATH", NVML_STUB_OLD);
  set("STUB_THROTTLE", "0x4");
  const Json gpu = first_gpu();
  EXPECT_EQ(gpu["energy_counter_j_reason"],
            "this driver's NVML has no nvmlDeviceGetTotalEnergyConsumption");
  EXPECT_EQ(gpu["throttle_reasons"], Json({"sw_power_cap"}));  // by the name it had before
  EXPECT_DOUBLE_EQ(gpu["power_draw_w"], 128.86);               // the older call
  EXPECT_TRUE(gpu["processes"].is_null());
}

TEST_F(NvmlTest, SlowQueryIsNoted) {
  set("STUB_SLOW", "nvmlDeviceGetMemoryInfo:2050");
  set("STUB_GPUS", "1");
  const NvmlResult opened = Nvml::open(folder_);
  EXPECT_TRUE(opened.nvml->slow_queries().empty());
  opened.nvml->gpus();
  ASSERT_EQ(opened.nvml->slow_queries().size(), 1u);
  EXPECT_EQ(opened.nvml->slow_queries()[0].name, "nvmlDeviceGetMemoryInfo");
  EXPECT_GT(opened.nvml->slow_queries()[0].seconds, 2.0);
}

TEST_F(NvmlTest, DriverThatDoesNotAnswerIsLeft) {
  set("STUB_SLOW", "nvmlInit_v2:1500");
  const auto start = std::chrono::steady_clock::now();
  const NvmlResult late = Nvml::open_within(0.1, folder_);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(1));
  EXPECT_EQ(late.state, NvmlState::kTimeout);
  EXPECT_NE(late.reason.find("did not answer"), std::string::npos);
  std::this_thread::sleep_for(
      std::chrono::milliseconds(1600));  // the thread left behind must not outlive the variables
}

TEST_F(NvmlTest, VersionMismatchShowsBothVersions) {
  const fs::path library = folder_ / "libnvidia-ml.so.570.124.04";
  fs::copy_file(NVML_STUB, library);
  set("PAIRMARK_NVML_PATH", library);
  set("STUB_INIT", "18");
  module(
      "NVRM version: NVIDIA UNIX x86_64 Kernel Module  570.124.06  Wed Feb 26 02:02:47 UTC 2025");
  const NvmlResult opened = Nvml::open(folder_);
  EXPECT_EQ(opened.state, NvmlState::kVersionMismatch);
  EXPECT_EQ(opened.nvml, nullptr);
  EXPECT_NE(opened.reason.find("570.124.04"), std::string::npos) << opened.reason;
  EXPECT_NE(opened.reason.find("570.124.06"), std::string::npos) << opened.reason;
  EXPECT_NE(opened.reason.find("reboot or reload"), std::string::npos);
}

TEST_F(NvmlTest, KernelModuleVersionOfOpenModule) {
  module(
      "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  580.159.04  Release Build  "
      "(root@build)");
  EXPECT_EQ(kernel_module_version(folder_), "580.159.04");
  EXPECT_EQ(kernel_module_version(folder_ / "nowhere"), "");
}

TEST_F(NvmlTest, FailedStartsAreToldApart) {
  const std::pair<const char*, NvmlState> cases[] = {{"9", NvmlState::kDriverNotLoaded},
                                                     {"4", NvmlState::kNoPermission},
                                                     {"999", NvmlState::kUnknownError},
                                                     {"20", NvmlState::kOtherError}};
  std::string before;
  for (const auto& [code, state] : cases) {
    set("STUB_INIT", code);
    const NvmlResult opened = Nvml::open(folder_);
    EXPECT_EQ(opened.state, state) << code;
    EXPECT_FALSE(opened.reason.empty());
    EXPECT_NE(opened.reason, before);
    before = opened.reason;
  }
  set("PAIRMARK_NVML_PATH", "/nowhere/libnvidia-ml.so.1");
  EXPECT_EQ(Nvml::open(folder_).state, NvmlState::kLibraryMissing);
}

TEST_F(NvmlTest, SnapshotOfARealDlopenHoldsGpus) {
  const Json snapshot = capture_snapshot();
  ASSERT_TRUE(snapshot["gpus"].is_array()) << snapshot.dump(1);
  EXPECT_EQ(snapshot["gpus"].size(), 2u);
  EXPECT_EQ(snapshot["driver"]["state"], "ready");
  EXPECT_EQ(snapshot["gpu_paths"].size(), 1u);
}

TEST_F(NvmlTest, SnapshotWithFailedNvmlSaysWhyAndGoesOn) {
  set("STUB_INIT", "999");
  const Json snapshot = capture_snapshot();
  EXPECT_TRUE(snapshot["gpus"].is_null());
  EXPECT_NE(snapshot["gpus_reason"].get<std::string>().find("999"), std::string::npos);
  EXPECT_EQ(snapshot["driver"]["state"], "unknown error");
  EXPECT_FALSE(snapshot["cpu"].is_null());
}

TEST_F(NvmlTest, ProbeMarksMigAsUnusable) {
  set("STUB_MIG", "1");
  const GpuProbe probe = probe_gpus({}, {});
  ASSERT_EQ(probe.visible.gpus.size(), 2u);
  EXPECT_NE(probe.visible.gpus[0].unusable.find("MIG"), std::string::npos);
}

}  // namespace
}  // namespace pairmark
