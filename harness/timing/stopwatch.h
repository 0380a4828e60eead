// Times operations on a device.
#pragma once

#include <functional>
#include <memory>

#include "harness/device/device.h"

namespace pairmark {

// Device time of a batch of operations given to one stream: events of the device before and after,
// so that the host's launch work is outside as long as it keeps ahead. On cpu the same reads the
// steady clock.
class Stopwatch {
 public:
  Stopwatch(Device& device, Stream& stream);
  // Calls `enqueue` `batch` times and waits. Seconds for one operation (whole / batch).
  double time(int batch, const std::function<void()>& enqueue);

 private:
  Stream& stream_;
  std::unique_ptr<Event> start_, end_;
};

}  // namespace pairmark
