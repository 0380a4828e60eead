// Loopback is named on purpose: Gloo's own choice follows the host name, which in containers
// resolves to nothing, to the wrong interface or to an address nobody routes.
#include "harness/group/group.h"

#include <gloo/barrier.h>
#include <gloo/broadcast.h>
#include <gloo/rendezvous/context.h>
#include <gloo/rendezvous/file_store.h>
#include <gloo/transport/tcp/device.h>

#include <chrono>
#include <cstdint>

#include "harness/base/error.h"
#include "harness/group/gloo_context.h"

namespace pairmark {
namespace {

using Milliseconds = std::chrono::milliseconds;

std::shared_ptr<gloo::transport::Device> loopback_device(std::string& address) {
  std::string failures;
  for (const char* host : {"127.0.0.1", "::1"}) {
    try {
      gloo::transport::tcp::attr attributes;
      attributes.hostname = host;
      auto device = gloo::transport::tcp::CreateDevice(attributes);
      address = host;
      return device;
    } catch (const std::exception& error) {
      failures += fmt::format("; {}: {}", host, error.what());
    }
  }
  throw Error("no loopback address to listen on" + failures + "; bring the interface lo up");
}

// Gloo changed this call's parameter from a reference to a shared pointer in 2025; both are served.
template <typename Context, typename Store>
void connect(Context& context, std::shared_ptr<Store> store,
             std::shared_ptr<gloo::transport::Device> device) {
  if constexpr (requires { context.connectFullMesh(*store, device); }) {
    context.connectFullMesh(*store, device);
  } else {
    context.connectFullMesh(store, device);
  }
}

// Each rank leaves a mark; the ranks whose mark does not come in time are named.
void await_ranks(gloo::rendezvous::FileStore& store, const GroupSpec& spec) {
  store.set(fmt::format("here-{}", spec.rank), {'1'});
  auto deadline =
      std::chrono::steady_clock::now() + Milliseconds(static_cast<int>(spec.join_timeout_s * 1e3));
  std::string missing;
  for (int rank = 0; rank < spec.size; ++rank) {
    auto left =
        std::chrono::duration_cast<Milliseconds>(deadline - std::chrono::steady_clock::now());
    try {
      store.wait({fmt::format("here-{}", rank)}, std::max(left, Milliseconds(1)));
    } catch (const std::exception&) {
      missing += fmt::format("{}{}", missing.empty() ? "" : ", ", rank);
    }
  }
  check(missing.empty(), "rank {} did not join the group of {} within {} s", missing, spec.size,
        spec.join_timeout_s);
}

class SingleGroup final : public Group {
 public:
  int rank() const override { return 0; }
  int size() const override { return 1; }
  std::string address() const override { return "none"; }
  void barrier() override {}
  std::string broadcast(const std::string& text, int) override { return text; }
  std::vector<std::string> gather(const std::string& text) override { return {text}; }
  GroupSpec next_subgroup() override { return {}; }
};

class GlooGroup final : public Group {
 public:
  explicit GlooGroup(const GroupSpec& spec) : spec_(spec) {
    context_ = connect_gloo(spec, address_);
  }
  int rank() const override { return spec_.rank; }
  int size() const override { return spec_.size; }
  std::string address() const override { return address_; }
  GroupSpec next_subgroup() override {
    GroupSpec spec = spec_;
    spec.name += fmt::format("-{}", ++subgroups_);
    return spec;
  }

  void barrier() override {
    guarded("barrier", [&] {
      gloo::BarrierOptions options(context_);
      options.setTag(next_tag());
      gloo::barrier(options);
    });
  }

  std::string broadcast(const std::string& text, int root) override {
    std::string result = text;
    guarded("broadcast", [&] {
      std::uint64_t length = text.size();
      broadcast_bytes(reinterpret_cast<char*>(&length), sizeof length, root);
      result.resize(length);
      if (length > 0) broadcast_bytes(result.data(), length, root);
    });
    return result;
  }

  std::vector<std::string> gather(const std::string& text) override {
    std::vector<std::string> parts(static_cast<std::size_t>(spec_.size));
    guarded("gather", [&] {
      for (int root = 0; root < spec_.size; ++root) {
        parts[static_cast<std::size_t>(root)] = broadcast(text, root);
      }
    });
    return parts;
  }

 private:
  std::uint32_t next_tag() { return ++tag_; }

  void broadcast_bytes(char* data, std::size_t bytes, int root) {
    gloo::BroadcastOptions options(context_);
    options.setRoot(root);
    options.setOutput(data, bytes);
    options.setTag(next_tag());
    gloo::broadcast(options);
  }

  template <typename Call>
  void guarded(const char* what, Call call) {
    try {
      call();
    } catch (const Error&) {
      throw;
    } catch (const std::exception& error) {
      throw Error(fmt::format("{} of group {} failed on rank {}: {}", what, spec_.name, spec_.rank,
                              error.what()));
    }
  }

  GroupSpec spec_;
  std::string address_;
  std::shared_ptr<gloo::Context> context_;
  std::uint32_t tag_ = 0;
  int subgroups_ = 0;
};

}  // namespace

std::shared_ptr<gloo::Context> connect_gloo(const GroupSpec& spec, std::string& address) {
  try {
    const auto folder = spec.folder / spec.name;
    std::filesystem::create_directories(folder);
    auto store = std::make_shared<gloo::rendezvous::FileStore>(folder.string());
    await_ranks(*store, spec);
    auto device = loopback_device(address);
    auto context = std::make_shared<gloo::rendezvous::Context>(spec.rank, spec.size);
    context->setTimeout(Milliseconds(static_cast<int>(spec.timeout_s * 1e3)));
    connect(*context, store, device);
    return context;
  } catch (const Error&) {
    throw;
  } catch (const std::exception& error) {
    throw Error(fmt::format("rank {} could not connect to the others over {}: {}", spec.rank,
                            address.empty() ? "loopback" : address, error.what()));
  }
}

std::shared_ptr<Group> Group::join(const GroupSpec& spec) {
  check(spec.rank >= 0 && spec.rank < spec.size, "rank {} is not in a group of {}", spec.rank,
        spec.size);
  if (spec.size == 1) return std::make_shared<SingleGroup>();
  return std::make_shared<GlooGroup>(spec);
}

}  // namespace pairmark
