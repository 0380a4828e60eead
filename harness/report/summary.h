// The end of a result: counts, exit code and the headline.
#pragma once

#include "harness/base/json.h"

namespace pairmark {

// The schema's "summary" of a result that has everything else.
Json build_summary(const Json& result);

}  // namespace pairmark
