#include "harness/run/process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>

#include "harness/base/error.h"

extern char** environ;

namespace pairmark {
namespace {

constexpr int kChildEventFd = 3;

struct Pipe {
  int read = -1, write = -1;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  check(::pipe2(ends.data(), O_CLOEXEC) == 0, "cannot make a pipe: {}", std::strerror(errno));
  return {ends[0], ends[1]};
}

void set_nonblocking(int fd) {
  ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
}

std::vector<std::string> merged_environment(const std::vector<std::string>& changes) {
  std::vector<std::string> result = changes;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::string_view name = text.substr(0, text.find('=') + 1);
    bool replaced = false;
    for (const auto& change : changes)
      replaced = replaced || std::string_view(change).starts_with(name);
    if (!replaced) result.emplace_back(text);
  }
  return result;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const auto& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

// In the child, after fork: only async-signal-safe calls.
[[noreturn]] void become(char** argv, char** envp, int commands, int events, int output,
                         pid_t parent) {
  ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) ::_exit(127);  // the parent went before the line above
  // Moved out of the way first: one of them may be fd 3 or below itself.
  const int high_events = ::fcntl(events, F_DUPFD, 10), high_output = ::fcntl(output, F_DUPFD, 10);
  ::dup2(commands, 0);
  ::dup2(high_output, 1);
  ::dup2(high_output, 2);
  ::dup2(high_events, kChildEventFd);
  ::close(high_events);
  ::close(high_output);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  for (int number : {SIGINT, SIGTERM, SIGPIPE}) ::signal(number, SIG_DFL);
  ::execve(argv[0], argv, envp);
  const char* reason = std::strerror(errno);
  if (::write(2, "cannot start: ", 14) < 0 || ::write(2, reason, std::strlen(reason)) < 0)
    ::_exit(126);
  ::_exit(127);
}

}  // namespace

Process::Process(const std::vector<std::string>& command,
                 const std::vector<std::string>& environment) {
  const auto variables = merged_environment(environment);
  auto argv = pointers(command), envp = pointers(variables);
  Pipe commands = make_pipe(), events = make_pipe(), output = make_pipe();
  const pid_t parent = ::getpid();
  pid_ = ::fork();
  if (pid_ == 0)
    become(argv.data(), envp.data(), commands.read, events.write, output.write, parent);
  const int fork_errno = errno;
  ::close(commands.read);
  ::close(events.write);
  ::close(output.write);
  command_fd_ = commands.write;
  event_fd_ = events.read;
  output_fd_ = output.read;
  if (pid_ < 0) {
    for (int fd : {command_fd_, event_fd_, output_fd_}) ::close(fd);
    throw Error(fmt::format("cannot start {}: {}", command.at(0), std::strerror(fork_errno)));
  }
  ::setpgid(pid_, pid_);
  for (int fd : {command_fd_, event_fd_, output_fd_}) set_nonblocking(fd);
}

Process::~Process() {
  kill();
  for (int fd : {command_fd_, event_fd_, output_fd_}) ::close(fd);
}

bool Process::send(const std::string& line) {
  const std::string text = line + "\n";
  // Commands are small and read one at a time: a full pipe means a child that does not read.
  return ::write(command_fd_, text.data(), text.size()) == static_cast<ssize_t>(text.size());
}

bool Process::ended() {
  if (!reaped_ && ::waitpid(pid_, &status_, WNOHANG) == pid_) reaped_ = true;
  return reaped_;
}

bool Process::ended_well() const {
  return reaped_ && WIFEXITED(status_) && WEXITSTATUS(status_) == 0;
}

int Process::exit_code() const {
  return reaped_ && WIFEXITED(status_) ? WEXITSTATUS(status_) : -1;
}

std::string Process::status_text() const {
  if (!reaped_) return "running";
  if (WIFEXITED(status_)) return fmt::format("exit code {}", WEXITSTATUS(status_));
  return fmt::format("signal {} ({})", WTERMSIG(status_), strsignal(WTERMSIG(status_)));
}

void Process::kill() {
  ::kill(-pid_, SIGKILL);
  while (!reaped_) {
    pid_t got = ::waitpid(pid_, &status_, 0);
    if (got == pid_ || (got < 0 && errno == ECHILD)) reaped_ = true;
  }
}

Finished run_to_end(const std::vector<std::string>& command, double timeout_s) {
  using Clock = std::chrono::steady_clock;
  constexpr std::size_t kKept = 4u << 20;
  Process process(command, {});
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(
                                           std::chrono::duration<double>(timeout_s));
  Finished result;
  std::array<char, 65536> chunk;
  while (true) {
    const bool last_look = process.ended();
    pollfd waiting{process.output_fd(), POLLIN, 0};
    ::poll(&waiting, 1, last_look ? 0 : 20);
    ssize_t n;
    while ((n = ::read(process.output_fd(), chunk.data(), chunk.size())) > 0) {
      if (result.output.size() < kKept)
        result.output.append(chunk.data(), static_cast<std::size_t>(n));
    }
    if (last_look) break;
    check(Clock::now() < deadline, "{} did not end within {} s", command.at(0), timeout_s);
  }
  result.exit_code = process.exit_code();
  result.status = process.status_text();
  return result;
}

}  // namespace pairmark
