// For tests: the first GPU that CUDA shows.
#pragma once

#include <memory>

#include "harness/device/device.h"

namespace pairmark {

std::unique_ptr<Device> open_first_gpu();

}  // namespace pairmark
