// The data plane: collectives on device memory.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "harness/base/json.h"
#include "harness/device/device.h"
#include "harness/group/group.h"

namespace pairmark {

class Communicator {
 public:
  virtual ~Communicator() = default;
  // {backend: "gloo"|"nccl", version, ...}
  virtual Json describe() const = 0;
  // `buffer` holds size() parts of `bytes`; this rank's own part, at rank * bytes, is filled.
  // Afterwards all are. Ordered in `stream`; on a failure that the backend sees, the stream's
  // synchronize() (or this call) throws.
  virtual void all_gather(void* buffer, std::size_t bytes, Stream& stream) = 0;
};

// Gloo for cpu devices, on connections of its own (so that it may run beside the group's own
// calls). Every rank calls it.
std::unique_ptr<Communicator> make_gloo_communicator(Group& group);

// NCCL for cuda devices; throws UnsupportedError in a build without cuda, Error when the loaded
// NCCL is not the one built for (major.minor differ).
std::unique_ptr<Communicator> make_nccl_communicator(Group& group);

// The usual one for the device: NCCL on cuda, Gloo on cpu.
std::unique_ptr<Communicator> make_communicator(Group& group, const Device& device);

// {"gloo": "0.5.0", "nccl": "2.28.9 (/usr/lib/...)"}: versions as loaded, and where NCCL came from.
Json communication_libraries();

}  // namespace pairmark
