// An operation of known duration: calibrates the stopwatch.
#pragma once

#include "harness/device/device.h"

namespace pairmark {

// Keeps one thread of the device busy for `seconds` by the device's own clock (cuda: %globaltimer;
// cpu: steady clock).
void spin(Device& device, double seconds, Stream& stream);

}  // namespace pairmark
