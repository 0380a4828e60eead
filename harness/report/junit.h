// JUnit XML for build servers.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace pairmark {

// One testsuite a suite, one testcase a row or skipped item: <failure> for incorrect and invalid,
// <error> for error and hang, <skipped> for skipped and unsupported, each with its reason. A run
// that was stopped early or measured nothing adds one <error> testcase "pairmark/run", because the
// rows that are missing must not look like a pass. time = seconds of the raw samples. Always
// well-formed XML 1.0, whatever bytes the reasons hold.
std::string junit_xml(const Json& result);

}  // namespace pairmark
