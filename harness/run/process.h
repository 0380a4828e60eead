// One child process with pipes for commands, events and output.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace pairmark {

// The child has a process group of its own and is killed by the kernel when this process ends,
// however it ends. Not copyable; the destructor kills the whole group and waits for the child.
class Process {
 public:
  // `environment`: "NAME=value" entries that replace or add to this process's. Throws Error when
  // fork fails. An exec that fails shows as exit code 127 with the reason in its output.
  Process(const std::vector<std::string>& command, const std::vector<std::string>& environment);
  ~Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  // False when the child no longer reads.
  bool send(const std::string& line);
  int event_fd() const { return event_fd_; }    // the child's fd 3, non-blocking
  int output_fd() const { return output_fd_; }  // its stdout and stderr together, non-blocking
  pid_t pid() const { return pid_; }

  // Reaps the child when it has ended. Afterwards status_text() says how: "exit code 3", "signal 11
  // (Segmentation fault)".
  bool ended();
  bool ended_well() const;  // ended with exit code 0
  std::string status_text() const;
  int exit_code() const;  // -1 while running or after a signal
  void kill();            // SIGKILL to the group, then reaps

 private:
  pid_t pid_ = -1;
  int command_fd_ = -1, event_fd_ = -1, output_fd_ = -1;
  bool reaped_ = false;
  int status_ = 0;
};

// Runs a command to its end, at most `timeout_s`; returns its whole output (at most 4 MiB kept).
// Throws Error on time-out.
struct Finished {
  int exit_code;  // -1: ended by a signal
  std::string status;
  std::string output;
};
Finished run_to_end(const std::vector<std::string>& command, double timeout_s);

}  // namespace pairmark
