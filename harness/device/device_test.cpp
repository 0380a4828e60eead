#include "harness/device/device.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>

#include "harness/base/error.h"

namespace pairmark {
namespace {

std::unique_ptr<Device> one_core() {
  return open_cpu_device(0, {sched_getcpu()});
}

TEST(CpuDevice, BackgroundStreamKeepsOrderAndOverlaps) {
  auto device = one_core();
  auto inline_stream = device->make_stream(), background = device->make_stream(true);
  std::atomic<bool> release{false};
  std::vector<int> order;
  run_on(*background, [&] {
    while (!release) std::this_thread::yield();
    order.push_back(1);
  });
  run_on(*background, [&] { order.push_back(2); });
  run_on(*inline_stream, [&] { release = true; });
  background->synchronize();
  EXPECT_EQ(order, (std::vector<int>{1, 2}));
}

TEST(CpuDevice, EventsOrderStreamsAndTime) {
  auto device = one_core();
  auto first = device->make_stream(), second = device->make_stream(true);
  auto start = device->make_event(), done = device->make_event(), end = device->make_event();
  std::atomic<int> value{0};
  start->record(*first);
  run_on(*second, [&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    value = 7;
  });
  done->record(*second);
  done->block(*first);
  EXPECT_EQ(value, 7);
  end->record(*first);
  EXPECT_GE(end->seconds_since(*start), 0.02);
  EXPECT_LT(end->seconds_since(*start), 5);
}

TEST(CpuDevice, BackgroundFailureIsThrownBySynchronize) {
  auto device = one_core();
  auto stream = device->make_stream(true);
  run_on(*stream, [] { throw std::runtime_error("broken"); });
  EXPECT_THROW(stream->synchronize(), std::runtime_error);
  stream->synchronize();
}

TEST(CpuDevice, BuffersMoveAndCopy) {
  auto device = one_core();
  auto stream = device->make_stream();
  Buffer a(*device, 1000), b(*device, 1000);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(a.data()) % 256, 0u);
  device->fill_bytes(a.data(), 0xAB, 1000, *stream);
  device->copy(b.data(), a.data(), 1000, *stream);
  void* where = b.data();
  Buffer c = std::move(b);
  EXPECT_EQ(c.data(), where);
  EXPECT_EQ(static_cast<unsigned char*>(c.data())[999], 0xAB);
  EXPECT_THROW(Buffer(*device, std::size_t{1} << 60), Error);
}

TEST(CpuDevice, CoresThatDoNotExistAreRefused) {
  EXPECT_THROW(open_cpu_device(0, {1023}), Error);
}

}  // namespace
}  // namespace pairmark
