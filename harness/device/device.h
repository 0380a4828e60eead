// One device to work on: a set of CPU cores, or a GPU. The rest of the house sees only this
// interface.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace pairmark {

enum class DeviceKind { kCpu, kCuda };

std::string_view to_string(DeviceKind kind);  // cpu, cuda

// Work given to one stream runs in the order given. There is no default stream: every call names
// one.
class Stream {
 public:
  virtual ~Stream() = default;
  virtual void synchronize() = 0;  // waits until all work given so far is done; throws what failed
  virtual void* native() = 0;      // cudaStream_t on cuda, nullptr on cpu
};

// A point in a stream's work, with the time at which the device reached it.
class Event {
 public:
  virtual ~Event() = default;
  virtual void record(Stream& stream) = 0;
  virtual void block(
      Stream& stream) = 0;  // work given to `stream` later waits for the last record()
  virtual void synchronize() = 0;
  // Device time from `earlier` to this event, seconds; both recorded and reached.
  virtual double seconds_since(const Event& earlier) const = 0;
};

class Device;

// Memory of a device, freed with the object. Aligned to 256 bytes, content undefined.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Device& device, std::size_t bytes);
  ~Buffer();
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  void* data() const { return data_; }
  std::byte* bytes_at(std::size_t offset) const { return static_cast<std::byte*>(data_) + offset; }
  std::size_t size() const { return size_; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }
  Device* device_ = nullptr;
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

// Every call throws Error with the library's own words on failure; a full memory is Error "out of
// memory ...".
class Device {
 public:
  virtual ~Device() = default;
  virtual DeviceKind kind() const = 0;
  virtual std::string id() const = 0;    // "cpu:0", "cuda:1"
  virtual std::string name() const = 0;  // "NVIDIA H200"
  // Facts for the result: cuda: uuid, bus_id, compute_capability, sm_count, l2_bytes, boost_mhz,
  // libraries; cpu: cores, isa.
  virtual Json describe() const = 0;

  // `background` (cpu): a thread of its own runs the stream's work; otherwise work runs inside the
  // call that gives it. On cuda every stream is a non-blocking CUDA stream.
  virtual std::unique_ptr<Stream> make_stream(bool background = false) = 0;
  virtual std::unique_ptr<Event> make_event() = 0;

  // Host or device memory to host or device memory. On cuda asynchronous to the host where the host
  // side is pinned.
  virtual void copy(void* to, const void* from, std::size_t bytes, Stream& stream) = 0;
  virtual void fill_bytes(void* at, unsigned char value, std::size_t bytes, Stream& stream) = 0;
  virtual std::size_t free_bytes() const = 0;
  virtual void synchronize() = 0;

 protected:
  friend class Buffer;
  virtual void* allocate(std::size_t bytes) = 0;
  virtual void release(void* data) noexcept = 0;
};

// A device made of these cores. Binds the whole process to them, so that libraries start their
// threads there.
std::unique_ptr<Device> open_cpu_device(int index, const std::vector<int>& cores);

// The GPU with this UUID ("GPU-..."); throws Error when CUDA does not show it, UnsupportedError
// when built without cuda.
std::unique_ptr<Device> open_cuda_device(int index, const std::string& uuid);

// Runs a host function in a stream of a cpu device, in order with its other work.
void run_on(Stream& cpu_stream, std::function<void()> work);

}  // namespace pairmark
