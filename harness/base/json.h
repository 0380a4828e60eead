// Strict JSON in and out: no NaN or Infinity tokens, files written whole or not at all.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace pairmark {

// Keeps the order in which keys were written, so that files read well.
using Json = nlohmann::ordered_json;

// The number, or null when it is not finite: result files hold null and a reason beside it, never
// NaN.
Json number_or_null(double value);

// Text for a file or a pipe. Throws Error when a non-finite number is inside (it would become an
// unexplained null) or a string is not UTF-8.
std::string to_text(const Json& value, int indent = -1);

// Parses text; throws UsageError "<name>: line L, column C: ..." when it is not strict JSON.
Json parse_json(std::string_view text, const std::string& name);
Json read_json_file(const std::filesystem::path& path);

// Writes to a temporary file in the same folder, fsyncs and renames. Throws Error naming the path
// and the cause; an older file of that name is then untouched.
void write_file_atomic(const std::filesystem::path& path, std::string_view content);

// Whole content of a file. Throws UsageError with the cause.
std::string read_file(const std::filesystem::path& path);

}  // namespace pairmark
