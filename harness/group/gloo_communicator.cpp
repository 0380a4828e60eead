#include <gloo/allgather.h>
#include <gloo/config.h>

#include "harness/base/error.h"
#include "harness/group/communicator.h"
#include "harness/group/gloo_context.h"

namespace pairmark {
namespace {

std::string gloo_version() {
  return fmt::format("{}.{}.{}", GLOO_VERSION_MAJOR, GLOO_VERSION_MINOR, GLOO_VERSION_PATCH);
}

class GlooCommunicator final : public Communicator {
 public:
  explicit GlooCommunicator(GroupSpec spec) : size_(spec.size) {
    if (size_ > 1) context_ = connect_gloo(spec, address_);
  }
  Json describe() const override {
    return {{"backend", "gloo"},
            {"version", gloo_version()},
            {"transport", size_ > 1 ? "tcp " + address_ : "none"}};
  }
  void all_gather(void* buffer, std::size_t bytes, Stream& stream) override {
    if (size_ == 1) return;
    run_on(stream, [this, buffer, bytes] {
      gloo::AllgatherOptions options(context_);
      options.setOutput(static_cast<char*>(buffer), bytes * static_cast<std::size_t>(size_));
      options.setTag(++tag_);
      gloo::allgather(options);
    });
  }

 private:
  int size_;
  std::string address_;
  std::shared_ptr<gloo::Context> context_;
  std::uint32_t tag_ = 0;
};

}  // namespace

std::unique_ptr<Communicator> make_gloo_communicator(Group& group) {
  return std::make_unique<GlooCommunicator>(group.next_subgroup());
}

std::unique_ptr<Communicator> make_communicator(Group& group, const Device& device) {
  return device.kind() == DeviceKind::kCuda ? make_nccl_communicator(group)
                                            : make_gloo_communicator(group);
}

#ifdef PAIRMARK_CUDA
std::string nccl_library();  // nccl_communicator.cpp
#endif

Json communication_libraries() {
  Json libraries = {{"gloo", gloo_version()}};
#ifdef PAIRMARK_CUDA
  libraries["nccl"] = nccl_library();
#endif
  return libraries;
}

#ifndef PAIRMARK_CUDA
std::unique_ptr<Communicator> make_nccl_communicator(Group&) {
  throw UnsupportedError("this build has no NCCL; configure with the preset cuda");
}
#endif

}  // namespace pairmark
