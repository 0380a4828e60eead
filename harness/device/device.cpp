#include "harness/device/device.h"

#include "harness/base/error.h"

namespace pairmark {

std::string_view to_string(DeviceKind kind) {
  return kind == DeviceKind::kCpu ? "cpu" : "cuda";
}

Buffer::Buffer(Device& device, std::size_t bytes)
    : device_(&device), data_(device.allocate(bytes == 0 ? 1 : bytes)), size_(bytes) {}

Buffer::~Buffer() {
  if (data_ != nullptr) device_->release(data_);
}

#ifndef PAIRMARK_CUDA
std::unique_ptr<Device> open_cuda_device(int, const std::string&) {
  throw UnsupportedError("this build has no cuda device; configure with the preset cuda");
}
#endif

}  // namespace pairmark
