#include <cuda_runtime_api.h>

#include "harness/base/error.h"
#include "harness/device/cuda_check.h"
#include "harness/device/device.h"

namespace pairmark {
namespace {

std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", static_cast<unsigned char>(uuid.bytes[i]));
  }
  return text;
}

class CudaStream final : public Stream {
 public:
  CudaStream() {
    cuda_check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
               "cudaStreamCreateWithFlags");
  }
  ~CudaStream() override { cudaStreamDestroy(stream_); }
  CudaStream(const CudaStream&) = delete;
  CudaStream& operator=(const CudaStream&) = delete;
  void synchronize() override { cuda_check(cudaStreamSynchronize(stream_), "waiting for the GPU"); }
  void* native() override { return stream_; }

 private:
  cudaStream_t stream_ = nullptr;
};

cudaStream_t native(Stream& stream) {
  return static_cast<cudaStream_t>(stream.native());
}

class CudaEvent final : public Event {
 public:
  CudaEvent() { cuda_check(cudaEventCreate(&event_), "cudaEventCreate"); }
  ~CudaEvent() override { cudaEventDestroy(event_); }
  CudaEvent(const CudaEvent&) = delete;
  CudaEvent& operator=(const CudaEvent&) = delete;
  void record(Stream& stream) override {
    cuda_check(cudaEventRecord(event_, native(stream)), "cudaEventRecord");
  }
  void block(Stream& stream) override {
    cuda_check(cudaStreamWaitEvent(native(stream), event_, 0), "cudaStreamWaitEvent");
  }
  void synchronize() override { cuda_check(cudaEventSynchronize(event_), "waiting for the GPU"); }
  double seconds_since(const Event& earlier) const override {
    float milliseconds = 0;
    cuda_check(
        cudaEventElapsedTime(&milliseconds, dynamic_cast<const CudaEvent&>(earlier).event_, event_),
        "cudaEventElapsedTime");
    return milliseconds * 1e-3;
  }

 private:
  cudaEvent_t event_ = nullptr;
};

// The CUDA index of a UUID; throws when CUDA does not show it.
int find_device(const std::string& uuid, cudaDeviceProp& properties) {
  int count = 0;
  cuda_check(cudaGetDeviceCount(&count), "counting the GPUs");
  for (int i = 0; i < count; ++i) {
    cuda_check(cudaGetDeviceProperties(&properties, i), "cudaGetDeviceProperties");
    if (uuid_text(properties.uuid) == uuid) return i;
  }
  throw Error(fmt::format("CUDA shows {} GPU(s), but none with UUID {}; check CUDA_VISIBLE_DEVICES",
                          count, uuid));
}

class CudaDevice final : public Device {
 public:
  CudaDevice(int index, const std::string& uuid)
      : index_(index), ordinal_(find_device(uuid, properties_)), uuid_(uuid) {
    cuda_check(cudaSetDevice(ordinal_), "cudaSetDevice");
    cuda_check(cudaFree(nullptr), "creating a context on the GPU");
  }
  DeviceKind kind() const override { return DeviceKind::kCuda; }
  std::string id() const override { return fmt::format("cuda:{}", index_); }
  std::string name() const override { return properties_.name; }
  Json describe() const override {
    int runtime = 0, driver = 0, clock_khz = 0;
    cudaRuntimeGetVersion(&runtime);
    cudaDriverGetVersion(&driver);
    cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, ordinal_);
    char bus_id[32] = "";
    cudaDeviceGetPCIBusId(bus_id, sizeof bus_id, ordinal_);
    auto text = [](int v) { return fmt::format("{}.{}", v / 1000, v % 1000 / 10); };
    return {{"uuid", uuid_},
            {"bus_id", bus_id},
            {"compute_capability", fmt::format("{}.{}", properties_.major, properties_.minor)},
            {"sm_count", properties_.multiProcessorCount},
            {"boost_mhz", clock_khz > 0 ? Json(clock_khz / 1000) : Json(nullptr)},
            {"l2_bytes", properties_.l2CacheSize},
            {"memory_bytes", properties_.totalGlobalMem},
            {"libraries", {{"cuda_runtime", text(runtime)}, {"cuda_driver", text(driver)}}}};
  }
  std::unique_ptr<Stream> make_stream(bool) override { return std::make_unique<CudaStream>(); }
  std::unique_ptr<Event> make_event() override { return std::make_unique<CudaEvent>(); }
  void copy(void* to, const void* from, std::size_t bytes, Stream& stream) override {
    cuda_check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, native(stream)),
               "cudaMemcpyAsync");
  }
  void fill_bytes(void* at, unsigned char value, std::size_t bytes, Stream& stream) override {
    cuda_check(cudaMemsetAsync(at, value, bytes, native(stream)), "cudaMemsetAsync");
  }
  std::size_t free_bytes() const override {
    std::size_t free = 0, total = 0;
    cuda_check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    return free;
  }
  void synchronize() override { cuda_check(cudaDeviceSynchronize(), "waiting for the GPU"); }

 private:
  void* allocate(std::size_t bytes) override {
    void* data = nullptr;
    cudaError_t status = cudaMalloc(&data, bytes);
    if (status == cudaErrorMemoryAllocation) {
      cudaGetLastError();
      throw Error(fmt::format("out of memory: {} bytes asked of {}, {} free; choose a smaller case",
                              bytes, id(), free_bytes()));
    }
    cuda_check(status, "cudaMalloc");
    return data;
  }
  void release(void* data) noexcept override { cudaFree(data); }

  int index_;
  cudaDeviceProp properties_{};
  int ordinal_;
  std::string uuid_;
};

}  // namespace

std::unique_ptr<Device> open_cuda_device(int index, const std::string& uuid) {
  return std::make_unique<CudaDevice>(index, uuid);
}

}  // namespace pairmark
