#include "harness/timing/spin.h"

#include <chrono>

#include "harness/base/error.h"
#include "harness/timing/spin_kernel.h"

namespace pairmark {

#ifndef PAIRMARK_CUDA
const char* launch_spin(unsigned long long, void*) {
  return "this build has no cuda device";
}
#endif

void spin(Device& device, double seconds, Stream& stream) {
  if (device.kind() == DeviceKind::kCuda) {
    const char* failure =
        launch_spin(static_cast<unsigned long long>(seconds * 1e9), stream.native());
    check(failure == nullptr, "starting the spin kernel failed: {}",
          failure == nullptr ? "" : failure);
    return;
  }
  run_on(stream, [seconds] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end) {
    }
  });
}

}  // namespace pairmark
