#include <dlfcn.h>
#include <nccl.h>

#include <cstring>

#include "harness/base/error.h"
#include "harness/group/communicator.h"

namespace pairmark {
namespace {

void nccl_check(ncclResult_t status, const char* what) {
  if (status == ncclSuccess) return;
  throw Error(fmt::format("{} failed: {} (set NCCL_DEBUG=INFO to see more)", what,
                          ncclGetErrorString(status)));
}

std::string version_text(int code) {
  return fmt::format("{}.{}.{}", code / 10000, code % 10000 / 100, code % 100);
}

const char* loaded_from() {
  Dl_info where{};
  return ::dladdr(reinterpret_cast<void*>(&ncclGetVersion), &where) != 0 ? where.dli_fname
                                                                         : "an unknown place";
}

int loaded_version() {
  int code = 0;
  nccl_check(ncclGetVersion(&code), "ncclGetVersion");
  check(code / 100 == NCCL_VERSION_CODE / 100,
        "NCCL {} is loaded from {}, but this program was built for {}; check LD_LIBRARY_PATH",
        version_text(code), loaded_from(), version_text(NCCL_VERSION_CODE));
  return code;
}

class NcclCommunicator final : public Communicator {
 public:
  explicit NcclCommunicator(Group& group) : rank_(group.rank()), version_(loaded_version()) {
    ncclUniqueId id;
    std::memset(&id, 0, sizeof id);
    if (rank_ == 0) nccl_check(ncclGetUniqueId(&id), "ncclGetUniqueId");
    const std::string text = group.broadcast({reinterpret_cast<const char*>(&id), sizeof id}, 0);
    check(text.size() == sizeof id, "the NCCL id arrived cut off");
    std::memcpy(&id, text.data(), sizeof id);
    nccl_check(ncclCommInitRank(&communicator_, group.size(), id, rank_), "ncclCommInitRank");
  }
  ~NcclCommunicator() override { ncclCommAbort(communicator_); }
  NcclCommunicator(const NcclCommunicator&) = delete;
  NcclCommunicator& operator=(const NcclCommunicator&) = delete;

  Json describe() const override {
    return {{"backend", "nccl"}, {"version", version_text(version_)}};
  }

  void all_gather(void* buffer, std::size_t bytes, Stream& stream) override {
    const char* own = static_cast<const char*>(buffer) + static_cast<std::size_t>(rank_) * bytes;
    nccl_check(ncclAllGather(own, buffer, bytes, ncclInt8, communicator_,
                             static_cast<cudaStream_t>(stream.native())),
               "ncclAllGather");
  }

 private:
  int rank_;
  int version_;
  ncclComm_t communicator_ = nullptr;
};

}  // namespace

std::string nccl_library() {
  return fmt::format("{} ({})", version_text(loaded_version()), loaded_from());
}

std::unique_ptr<Communicator> make_nccl_communicator(Group& group) {
  return std::make_unique<NcclCommunicator>(group);
}

}  // namespace pairmark
