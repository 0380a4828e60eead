// Calls into a driver may never come back; they run in a thread that can be left behind.
#pragma once

#include <chrono>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <thread>

namespace pairmark {

// What `work` returns, or nothing when it took longer. `work` must own all it uses: it may outlive
// the caller. What it throws is thrown here.
template <typename T>
std::optional<T> call_within(double seconds, std::function<T()> work) {
  auto task = std::make_shared<std::packaged_task<T()>>(std::move(work));
  std::future<T> answer = task->get_future();
  std::thread([task] { (*task)(); }).detach();
  if (answer.wait_for(std::chrono::duration<double>(seconds)) != std::future_status::ready)
    return std::nullopt;
  return answer.get();
}

}  // namespace pairmark
