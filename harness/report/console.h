// The summary of a result for a person at a terminal.
#pragma once

#include <string>

#include "harness/base/json.h"
#include "harness/report/console_table.h"

namespace pairmark {

// `result` follows schema/result.schema.json. In this order: the headline; how many rows ran, were
// skipped (why) and failed; what the machine check found; the scaling table; a table of all rows
// that have a figure; what was skipped and what failed, with the command that repeats it; where the
// files are. Figures of rows that are not ok or unstable are never printed.
std::string console_summary(const Json& result, const ConsoleOptions& options);

}  // namespace pairmark
