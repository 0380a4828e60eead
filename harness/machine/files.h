// Small files of /proc and /sys: absent is normal there, not an error.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace pairmark {

// Content of at most 1 MiB, or nothing when the file cannot be read. Works for files whose size
// reads as 0.
std::optional<std::string> read_small_file(const std::filesystem::path& path);
std::string trimmed(const std::string& text);
std::vector<std::string> split(const std::string& text, char separator);

// "0-3,8" <-> {0,1,2,3,8}; what is no number is left out.
std::vector<int> parse_cpu_list(const std::string& text);
std::string format_cpu_list(const std::vector<int>& cpus);

}  // namespace pairmark
