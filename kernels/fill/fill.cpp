#include "kernels/fill/fill.h"

#include "harness/base/error.h"
#include "kernels/fill/fill_element.h"
#ifdef PAIRMARK_CUDA
#include "kernels/fill/fill_cuda.h"
#endif

namespace pairmark {

void fill_uniform(Device& device, DType type, void* data, std::size_t count, std::uint64_t seed,
                  Stream& stream) {
  if (device.kind() == DeviceKind::kCpu) {
    run_on(stream, [=] {
      with_random_element(type, [&](auto element) {
        using Element = decltype(element);
        auto* to = static_cast<typename Element::Stored*>(data);
        for (std::size_t i = 0; i < count; ++i) to[i] = Element::at(seed, i);
      });
    });
    return;
  }
#ifdef PAIRMARK_CUDA
  const char* failure = launch_fill(type, data, count, seed, stream.native());
  check(failure == nullptr, "starting the fill kernel failed: {}", failure ? failure : "");
#else
  throw UnsupportedError("this build has no cuda device; configure with the preset cuda");
#endif
}

}  // namespace pairmark
