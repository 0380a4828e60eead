#include "harness/cli/progress.h"

#include <fmt/ranges.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cmath>
#include <iostream>

#include "harness/base/units.h"

namespace pairmark {
namespace {

std::string clock_text(double seconds) {
  const long whole = std::lround(seconds);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

std::size_t terminal_width() {
  winsize size{};
  return ::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 20 ? size.ws_col - 1u
                                                                            : 79u;
}

}  // namespace

int terminal_columns() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 100;
}

ProgressLine::ProgressLine(int launches)
    : terminal_(::isatty(STDERR_FILENO) != 0), launches_(launches) {}

void ProgressLine::clear() {
  if (terminal_) std::cerr << "\r\033[K" << std::flush;
}

void ProgressLine::show(const Progress& progress) {
  if (progress.item == nullptr) return clear();
  const Item& item = *progress.item;
  const std::string left =
      progress.left_s < 0 ? "" : fmt::format(", about {} left", clock_text(progress.left_s));
  std::string line = fmt::format("[{}/{}{}] launch {}/{} {}", progress.done + 1, progress.total,
                                 left, item.launch + 1, launches_, item.row_id());
  if (terminal_) {
    std::cerr << "\r\033[K" << line.substr(0, terminal_width()) << std::flush;
  } else {
    std::cerr << line << "\n";
  }
}

void ProgressLine::finished(const Item& item, const ItemResult& result) {
  if (has_figure(result.outcome)) return;
  clear();
  std::cerr << fmt::format("{}: {}: {}\n", to_string(result.outcome), item.row_id(), result.reason);
}

}  // namespace pairmark
