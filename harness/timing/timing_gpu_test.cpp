#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <vector>

#include "harness/machine/devices.h"
#include "harness/timing/spin.h"
#include "harness/timing/stopwatch.h"

namespace pairmark {
namespace {

TEST(GpuStopwatch, TimesAKnownDurationWithinOnePercent) {
  DeviceRequest request;
  request.device = "cuda";
  request.build_has_cuda = true;
  auto device = open_cuda_device(0, *select_devices(request).devices.at(0).uuid);
  auto stream = device->make_stream();
  Stopwatch watch(*device, *stream);
  watch.time(1, [&] { spin(*device, 1e-3, *stream); });
  for (double seconds : {0.001, 0.01}) {
    std::vector<double> times;
    for (int i = 0; i < 21; ++i)
      times.push_back(watch.time(4, [&] { spin(*device, seconds, *stream); }));
    std::sort(times.begin(), times.end());
    std::printf("spin of %g ms timed as %.6f ms (median of 21)\n", seconds * 1e3, times[10] * 1e3);
    EXPECT_NEAR(times[10], seconds, seconds * 0.01);
  }
}

}  // namespace
}  // namespace pairmark
