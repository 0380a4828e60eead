// The host's side of the check on a GPU.
#include <bit>

#include "harness/base/error.h"
#include "kernels/gemm/gemm_parts.h"

namespace pairmark {
namespace {

GemmOperandsView view(const GemmShape& shape, const void* a, const void* b) {
  const bool transposed = shape.layout == "tn";
  return {shape.m, shape.n, shape.k,    transposed ? shape.k : 1, transposed ? 1 : shape.m,
          a,       b,       shape.dtype};
}

void started(const char* failure) {
  check(failure == nullptr, "starting the reference kernel failed: {}", failure ? failure : "");
}

}  // namespace

GemmDifference compare_gemm_cuda(Device& device, const GemmShape& shape, const GemmBound& bound,
                                 const void* a, const void* b, const void* d, Stream& stream) {
  GemmFound found;
  Buffer on_device(device, sizeof found);
  device.copy(on_device.data(), &found, sizeof found, stream);
  started(launch_reference(view(shape, a, b), d, bound, static_cast<GemmFound*>(on_device.data()),
                           nullptr, nullptr, stream.native()));
  device.copy(&found, on_device.data(), sizeof found, stream);
  stream.synchronize();
  GemmDifference difference;
  difference.max_share = std::bit_cast<double>(found.max_share);
  difference.wrong = static_cast<std::int64_t>(found.wrong);
  if (difference.wrong == 0) return difference;

  difference.first_wrong = static_cast<std::int64_t>(found.first_wrong);
  double three[3] = {};
  Buffer explained(device, sizeof three);
  started(launch_explain(view(shape, a, b), d, difference.first_wrong,
                         static_cast<double*>(explained.data()), stream.native()));
  device.copy(three, explained.data(), sizeof three, stream);
  stream.synchronize();
  difference.expected = three[0], difference.got = three[2];
  difference.allowed = bound.at(three[0], three[1]);
  return difference;
}

void reference_gemm_cuda(const GemmShape& shape, const void* a, const void* b, double* reference,
                         float* magnitude, Stream& stream) {
  started(launch_reference(view(shape, a, b), nullptr, {}, nullptr, reference, magnitude,
                           stream.native()));
}

}  // namespace pairmark
