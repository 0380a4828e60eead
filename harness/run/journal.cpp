#include "harness/run/journal.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "harness/base/error.h"

namespace pairmark {
namespace {

// Bytes up to the end of the last whole line that is JSON: what stands after it was torn.
std::size_t whole_size(const std::string& text) {
  const std::size_t newline = text.rfind('\n');
  if (newline == std::string::npos) return 0;
  const std::size_t before = newline == 0 ? std::string::npos : text.rfind('\n', newline - 1);
  const std::size_t last = before == std::string::npos ? 0 : before + 1;
  return Json::accept(text.begin() + static_cast<std::ptrdiff_t>(last),
                      text.begin() + static_cast<std::ptrdiff_t>(newline))
             ? newline + 1
             : last;
}

}  // namespace

Journal::Journal(const std::filesystem::path& file, bool fresh) : file_(file) {
  fd_ =
      ::open(file.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | (fresh ? O_CREAT | O_EXCL : 0), 0644);
  if (fd_ < 0 && errno == EEXIST) {
    throw UsageError(fmt::format(
        "{} holds a run already; go on with it by --resume {}, or choose another folder",
        file.parent_path().string(), file.parent_path().string()));
  }
  if (fd_ < 0)
    throw UsageError(fmt::format("cannot write {}: {}", file.string(), std::strerror(errno)));
  if (::flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    ::close(fd_);
    throw UsageError(
        fmt::format("another pairmark is writing to {}; wait for it or choose another folder",
                    file.parent_path().string()));
  }
  if (!fresh) {
    const std::string text = read_file(file);
    if (::ftruncate(fd_, static_cast<off_t>(whole_size(text))) != 0) {
      ::close(fd_);
      throw Error(fmt::format("cannot mend {}: {}", file.string(), std::strerror(errno)));
    }
  }
}

Journal::~Journal() {
  ::close(fd_);
}

void Journal::append(const Json& record) {
  const std::string line = to_text(record) + "\n";
  std::string_view rest = line;
  while (!rest.empty()) {
    ssize_t n = ::write(fd_, rest.data(), rest.size());
    if (n < 0 && errno == EINTR) continue;
    check(n > 0, "cannot write {}: {}; free some space and go on with --resume", file_.string(),
          std::strerror(errno));
    rest.remove_prefix(static_cast<std::size_t>(n));
  }
  check(::fsync(fd_) == 0, "cannot write {}: {}", file_.string(), std::strerror(errno));
}

std::vector<Json> read_journal(const std::filesystem::path& file) {
  const std::string text = read_file(file);
  std::vector<Json> records;
  std::string_view rest = std::string_view(text).substr(0, whole_size(text));
  int line_number = 0;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(line.size() + 1);
    ++line_number;
    try {
      records.push_back(Json::parse(line));
    } catch (const Json::exception&) {
      if (rest.empty()) break;
      throw UsageError(fmt::format("{}: line {} is damaged; the run cannot be read", file.string(),
                                   line_number));
    }
  }
  return records;
}

}  // namespace pairmark
