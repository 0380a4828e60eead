// What a reader of a benchmark must know about the machine: a snapshot in, sentences out. Pure
// functions.
#pragma once

#include <string>
#include <vector>

#include "harness/base/json.h"

namespace pairmark {

enum class Severity { kInfo, kWarn, kFail };

struct Finding {
  Severity severity = Severity::kInfo;
  std::string text;       // one sentence
  std::string evidence;   // the value it rests on; may be empty
  std::string next_step;  // may be empty
};

// Of capture_snapshot()'s object. Sorted: failures, warnings, then what is good to know. Facts that
// are null give no finding: not known is not healthy, and not sick either.
std::vector<Finding> find_findings(const Json& snapshot);

// {"severity": "info" | "warn" | "fail", "text", "evidence", "next_step"}, null where empty
Json to_json(const Finding& finding);
Json to_json(const std::vector<Finding>& findings);

}  // namespace pairmark
