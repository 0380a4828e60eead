#include "harness/timing/stopwatch.h"

namespace pairmark {

Stopwatch::Stopwatch(Device& device, Stream& stream)
    : stream_(stream), start_(device.make_event()), end_(device.make_event()) {}

double Stopwatch::time(int batch, const std::function<void()>& enqueue) {
  start_->record(stream_);
  for (int i = 0; i < batch; ++i) enqueue();
  end_->record(stream_);
  end_->synchronize();
  return end_->seconds_since(*start_) / batch;
}

}  // namespace pairmark
