#include "harness/machine/files.h"

#include <algorithm>
#include <charconv>
#include <fstream>

namespace pairmark {

std::optional<std::string> read_small_file(const std::filesystem::path& path) {
  constexpr std::size_t kMost = 1 << 20;
  std::ifstream in(path, std::ios::binary);
  if (!in) return std::nullopt;
  std::string text;
  char chunk[4096];
  while (text.size() < kMost && in.read(chunk, sizeof chunk).gcount() > 0)
    text.append(chunk, static_cast<std::size_t>(in.gcount()));
  if (in.bad()) return std::nullopt;
  return text;
}

std::string trimmed(const std::string& text) {
  const char* spaces = " \t\r\n\f\v";
  const auto first = text.find_first_not_of(spaces);
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(spaces) - first + 1);
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (;;) {
    const auto end = text.find(separator, start);
    parts.push_back(text.substr(start, end - start));
    if (end == std::string::npos) return parts;
    start = end + 1;
  }
}

std::vector<int> parse_cpu_list(const std::string& text) {
  std::vector<int> cpus;
  for (const std::string& raw : split(text, ',')) {
    const std::string part = trimmed(raw);
    int first = 0;
    const char* end = part.data() + part.size();
    auto [at, error] = std::from_chars(part.data(), end, first);
    if (error != std::errc()) continue;
    int last = first;
    if (at != end && *at == '-') std::from_chars(at + 1, end, last);
    for (int cpu = first; cpu <= last; ++cpu) cpus.push_back(cpu);
  }
  return cpus;
}

std::string format_cpu_list(const std::vector<int>& cpus) {
  std::vector<int> sorted = cpus;
  std::sort(sorted.begin(), sorted.end());
  std::string out;
  for (std::size_t i = 0; i < sorted.size();) {
    std::size_t j = i;
    while (j + 1 < sorted.size() && sorted[j + 1] == sorted[j] + 1) ++j;
    if (!out.empty()) out += ',';
    out += std::to_string(sorted[i]);
    if (j > i) out += '-' + std::to_string(sorted[j]);
    i = j + 1;
  }
  return out;
}

}  // namespace pairmark
