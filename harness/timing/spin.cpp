#include "harness/timing/spin.h"

#include <chrono>

#include "harness/base/error.h"

namespace pairmark {

#ifdef PAIRMARK_CUDA
void spin_cuda(double seconds, Stream& stream);
#else
static void spin_cuda(double, Stream&) {
  throw UnsupportedError("this build has no cuda device");
}
#endif

void spin(Device& device, double seconds, Stream& stream) {
  if (device.kind() == DeviceKind::kCuda) return spin_cuda(seconds, stream);
  run_on(stream, [seconds] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
    while (std::chrono::steady_clock::now() < end) {
    }
  });
}

}  // namespace pairmark
