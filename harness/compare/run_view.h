// One result as a comparison sees it: its devices by identity, and what would make two devices or
// runs incomparable.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"

namespace pairmark {

struct Difference {
  std::string what, a, b;
};

struct ViewedDevice {
  std::string identity;  // UUID, or "name #2" for the second of that name without UUID
  std::string name;
  std::string uuid;  // empty: none
  // What must agree besides, as text: {"SM count", "132"}; a property that one side does not know
  // is not compared.
  std::vector<std::pair<std::string, std::string>> properties;
};

class RunView {
 public:
  // Throws UsageError naming `name` when `result` is not a readable result. Keeps a reference to
  // `result`.
  RunView(const Json& result, std::string name);

  const Json& json() const { return json_; }
  const std::string& name() const { return name_; }
  std::string device_kind() const;  // cpu, cuda
  std::vector<const ViewedDevice*> devices_of(
      const Json& row) const;       // in the order of their identity
  std::string device_list() const;  // "2 x NVIDIA H200"
  // Why a row is absent, from the list of skipped items; empty when nothing is said.
  std::string skip_reason(const std::string& id) const;

 private:
  const Json& json_;
  std::string name_;
  std::vector<int> ranks_;
  std::vector<ViewedDevice> devices_;  // devices_[i] is that of ranks_[i]
};

// What stands in the way of comparing any row: cpu against cuda, other data.
std::vector<Difference> run_differences(const RunView& a, const RunView& b);

// What may have caused a difference: version, commit, build, libraries, profile.
std::vector<Difference> run_changes(const RunView& a, const RunView& b);

// Between the devices of two rows of as many ranks.
std::vector<Difference> device_differences(const std::vector<const ViewedDevice*>& a,
                                           const std::vector<const ViewedDevice*>& b);

}  // namespace pairmark
