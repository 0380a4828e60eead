// The control plane: the ranks of a run find each other and agree on things. Built on Gloo over
// TCP.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace pairmark {

struct GroupSpec {
  int rank = 0;
  int size = 1;
  std::filesystem::path folder;  // fresh and private to this group; the ranks meet there (one host)
  std::string name = "world";    // groups of different names may share a folder
  double join_timeout_s = 30;
  double timeout_s = 300;  // of every later call
};

// All ranks call the same methods in the same order. Every call throws Error within the timeout
// when a rank is missing or lost. A group of one does nothing and opens no socket.
class Group {
 public:
  virtual ~Group() = default;
  // Throws Error naming the ranks that did not come.
  static std::shared_ptr<Group> join(const GroupSpec& spec);

  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual std::string address() const = 0;  // what the rank listens on, "none" for a group of one
  virtual void barrier() = 0;
  virtual std::string broadcast(const std::string& text,
                                int root) = 0;  // root's text, on every rank
  virtual std::vector<std::string> gather(
      const std::string& text) = 0;  // every rank's text, on every rank

  // Where the ranks of one more set of connections meet; each call, on every rank in the same
  // order, names a new one.
  virtual GroupSpec next_subgroup() = 0;
};

}  // namespace pairmark
