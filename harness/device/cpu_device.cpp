#include <sched.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <mutex>
#include <new>
#include <thread>

#include "harness/base/error.h"
#include "harness/device/device.h"

namespace pairmark {
namespace {

using Clock = std::chrono::steady_clock;
static_assert(Clock::is_steady);

// Runs work at once, or in order in a thread of its own. The first failure of that thread is thrown
// by synchronize().
class CpuStream final : public Stream {
 public:
  explicit CpuStream(bool background) {
    if (background) thread_ = std::thread([this] { loop(); });
  }
  ~CpuStream() override {
    {
      std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  void run(std::function<void()> work) {
    if (!thread_.joinable()) return work();
    {
      std::lock_guard lock(mutex_);
      queue_.push_back(std::move(work));
    }
    changed_.notify_all();
  }
  void synchronize() override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return queue_.empty() && !busy_; });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
  }
  void* native() override { return nullptr; }

 private:
  void loop() {
    std::unique_lock lock(mutex_);
    while (true) {
      changed_.wait(lock, [this] { return stopping_ || !queue_.empty(); });
      if (queue_.empty()) return;
      auto work = std::move(queue_.front());
      queue_.pop_front();
      busy_ = true;
      lock.unlock();
      std::exception_ptr failure;
      try {
        work();
      } catch (...) {
        failure = std::current_exception();
      }
      lock.lock();
      busy_ = false;
      if (failure && !failure_) failure_ = failure;
      changed_.notify_all();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  std::exception_ptr failure_;
  bool busy_ = false, stopping_ = false;
  std::thread thread_;
};

class CpuEvent final : public Event {
 public:
  void record(Stream& stream) override {
    std::uint64_t ticket = 0;
    {
      std::lock_guard lock(state_->mutex);
      ticket = ++state_->recorded;
    }
    run_on(stream, [state = state_, ticket] {
      {
        std::lock_guard lock(state->mutex);
        state->reached = std::max(state->reached, ticket);
        state->time = Clock::now();
      }
      state->changed.notify_all();
    });
  }
  void block(Stream& stream) override {
    std::uint64_t ticket = last_record();
    run_on(stream, [state = state_, ticket] { state->wait(ticket); });
  }
  void synchronize() override { state_->wait(last_record()); }
  double seconds_since(const Event& earlier) const override {
    const auto& other = dynamic_cast<const CpuEvent&>(earlier);
    return std::chrono::duration<double>(state_->time - other.state_->time).count();
  }

 private:
  struct State {
    std::mutex mutex;
    std::condition_variable changed;
    std::uint64_t recorded = 0, reached = 0;
    Clock::time_point time;
    void wait(std::uint64_t ticket) {
      std::unique_lock lock(mutex);
      changed.wait(lock, [&] { return reached >= ticket; });
    }
  };
  std::uint64_t last_record() {
    std::lock_guard lock(state_->mutex);
    return state_->recorded;
  }
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

class CpuDevice final : public Device {
 public:
  CpuDevice(int index, std::vector<int> cores) : index_(index), cores_(std::move(cores)) {
    check(!cores_.empty(), "cpu:{} has no cores", index);
    cpu_set_t set;
    CPU_ZERO(&set);
    for (int core : cores_) CPU_SET(core, &set);
    check(sched_setaffinity(0, sizeof set, &set) == 0, "cannot bind to the cores of cpu:{}: {}",
          index, std::strerror(errno));
  }
  DeviceKind kind() const override { return DeviceKind::kCpu; }
  std::string id() const override { return fmt::format("cpu:{}", index_); }
  std::string name() const override {
    return fmt::format("{} CPU core{}", cores_.size(), cores_.size() == 1 ? "" : "s");
  }
  Json describe() const override { return {{"cores", cores_}, {"libraries", Json::object()}}; }
  std::unique_ptr<Stream> make_stream(bool background) override {
    return std::make_unique<CpuStream>(background);
  }
  std::unique_ptr<Event> make_event() override { return std::make_unique<CpuEvent>(); }
  void copy(void* to, const void* from, std::size_t bytes, Stream& stream) override {
    run_on(stream, [=] { std::memcpy(to, from, bytes); });
  }
  void fill_bytes(void* at, unsigned char value, std::size_t bytes, Stream& stream) override {
    run_on(stream, [=] { std::memset(at, value, bytes); });
  }
  std::size_t free_bytes() const override {
    return static_cast<std::size_t>(sysconf(_SC_AVPHYS_PAGES)) *
           static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  }
  void synchronize() override {}

 private:
  void* allocate(std::size_t bytes) override {
    void* data = ::operator new(bytes, std::align_val_t(256), std::nothrow);
    check(data != nullptr, "out of memory: {} bytes on {}", bytes, id());
    return data;
  }
  void release(void* data) noexcept override { ::operator delete(data, std::align_val_t(256)); }

  int index_;
  std::vector<int> cores_;
};

}  // namespace

void run_on(Stream& cpu_stream, std::function<void()> work) {
  dynamic_cast<CpuStream&>(cpu_stream).run(std::move(work));
}

std::unique_ptr<Device> open_cpu_device(int index, const std::vector<int>& cores) {
  return std::make_unique<CpuDevice>(index, cores);
}

}  // namespace pairmark
