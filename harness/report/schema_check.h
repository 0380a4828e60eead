// Is a result what the schema says?
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/base/json.h"

namespace pairmark {

// What differs from the JSON schema (draft 7), one line each with the place in the result; empty
// when nothing does. Throws UsageError when the schema file cannot be read.
std::vector<std::string> schema_errors(const Json& result, const std::filesystem::path& schema);

}  // namespace pairmark
