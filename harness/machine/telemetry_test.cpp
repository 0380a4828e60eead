#include "harness/machine/telemetry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <cmath>

#include "harness/base/error.h"

namespace pairmark {
namespace {

constexpr const char* kUuid = "GPU-00000000-1111-2222-3333-444444444444";

// A GPU that draws 300 W; its energy counter moves every 50 ms only.
class FakeGpu : public GpuQueries {
 public:
  std::vector<GpuIdentity> gpus() override {
    return {{0, kUuid, "NVIDIA H200", "0000:00:06.0", "9.0", 0, false, "default"}};
  }
  Json describe_gpu(const GpuIdentity&) override { return {}; }
  Json describe_driver() override { return {}; }
  std::vector<SlowQuery> slow_queries() const override { return {}; }
  GpuSample sample(const GpuIdentity&) override {
    const int n = samples_++;
    const double now =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count();
    GpuSample out;
    out.sm_clock_mhz = Known<double>::of(n == 0 ? 1500 : 1980);
    out.power_w = Known<double>::of(300);
    out.temperature_c = n % 2 == 0 ? Known<double>::of(60 + n) : Known<double>::missing("not now");
    out.throttle_bits = Known<std::uint64_t>::of(n == 1 ? 0x1 | 0x4 : 0x2 | (n == 2 ? 0x80 : 0));
    out.energy_j = counter_ ? Known<double>::of(1000 + 300 * 0.05 * std::floor(now / 0.05))
                            : Known<double>::missing("not supported");
    return out;
  }
  bool counter_ = true;
  std::atomic<int> samples_ = 0;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

TEST(GpuTelemetry, SummarisesAWindow) {
  auto fake = std::make_shared<FakeGpu>();
  GpuTelemetry telemetry(fake, "gpu-00000000-1111-2222-3333-444444444444");
  telemetry.start();
  std::this_thread::sleep_for(std::chrono::milliseconds(1000));
  const TelemetryResult got = telemetry.stop();
  EXPECT_EQ(got.samples, fake->samples_);
  EXPECT_GE(got.samples, 12);  // more than 10 Hz, also on a busy machine
  EXPECT_GE(got.window_s, 1.0);
  EXPECT_EQ(got.clock_min_mhz.value, 1500);
  EXPECT_EQ(got.clock_max_mhz.value, 1980);
  EXPECT_GT(*got.clock_mhz.value, 1900);
  EXPECT_EQ(got.power_w.value, 300);
  EXPECT_GE(*got.temperature_c.value, 60 + got.samples - 2);
  EXPECT_EQ(got.throttle, (std::vector<std::string>{"sw_power_cap", "hw_power_brake"}));
  ASSERT_TRUE(got.energy_j.value) << got.energy_j.reason;
  EXPECT_NEAR(*got.energy_j.value, 300 * got.window_s, 300 * got.window_s * 0.12);
}

TEST(GpuTelemetry, ShortWindowHasNoEnergy) {
  GpuTelemetry telemetry(std::make_shared<FakeGpu>(), kUuid);
  telemetry.start();
  const TelemetryResult got = telemetry.stop();
  EXPECT_EQ(got.samples, 2);  // one at either end
  EXPECT_FALSE(got.energy_j.value);
  EXPECT_NE(got.energy_j.reason.find("too coarse"), std::string::npos);
  EXPECT_TRUE(got.to_json()["energy_j"].is_null());
}

TEST(GpuTelemetry, RunsAgainFromFresh) {
  auto fake = std::make_shared<FakeGpu>();
  GpuTelemetry telemetry(fake, kUuid);
  telemetry.start();
  EXPECT_THROW(telemetry.start(), Error);
  telemetry.stop();
  EXPECT_THROW(telemetry.stop(), Error);
  telemetry.start();
  EXPECT_EQ(telemetry.stop().clock_min_mhz.value,
            1980);  // the first sample of the first window is forgotten
}

TEST(GpuTelemetry, UnsupportedCounterGivesItsReason) {
  auto fake = std::make_shared<FakeGpu>();
  fake->counter_ = false;
  GpuTelemetry telemetry(fake, kUuid);
  telemetry.start();
  EXPECT_EQ(telemetry.stop().energy_j.reason, "not supported");
}

TEST(GpuTelemetry, CpuAndUnknownGpuGiveReasons) {
  GpuTelemetry cpu = GpuTelemetry::for_cpu();
  cpu.start();
  const TelemetryResult got = cpu.stop();
  EXPECT_EQ(got.samples, 0);
  EXPECT_EQ(got.power_w.reason, "cpu device: no NVML");
  EXPECT_EQ(got.to_json()["clock_mhz_reason"], "cpu device: no NVML");
  GpuTelemetry other(std::make_shared<FakeGpu>(), "GPU-other");
  other.start();
  EXPECT_NE(other.stop().clock_mhz.reason.find("GPU-other"), std::string::npos);
}

TEST(Throttle, NamesAndLimits) {
  EXPECT_EQ(throttle_names(0x8000000001),
            (std::vector<std::string>{"gpu_idle", "unknown(0x8000000000)"}));
  EXPECT_EQ(limiting_throttle_bits(0x103), 0u);
  EXPECT_EQ(limiting_throttle_bits(0x48), 0x48u);
}

TEST(BusId, AllSpellings) {
  for (const char* text : {"00000000:17:00.0", "0000:17:00.0", "17:00.0"})
    EXPECT_EQ(normal_bus_id(text), "0000:17:00.0") << text;
  EXPECT_EQ(normal_bus_id("0001:A1:00.0"), "0001:a1:00.0");
  for (const char* text : {"", "17", "GPU-1a2b3c4d", "17:00.0x"})
    EXPECT_EQ(normal_bus_id(text), "") << text;
}

}  // namespace
}  // namespace pairmark
