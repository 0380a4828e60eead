// result.json from the journal of a run: the journal alone is read, nothing is measured or looked
// up.
#pragma once

#include <vector>

#include "harness/base/json.h"

namespace pairmark {

// The result (schema/result.schema.json) of the journal's records, in the order in which they were
// written. Records of a type not known are passed over. Throws UsageError naming the record when
// one is damaged or the header is missing.
//
// A row is merged over launches; one launch that is incorrect, invalid, an error or a hang makes
// the whole row so, and its figures and samples are withheld. Raw samples are kept with 7
// significant digits and every figure is made from those.
Json build_result(const std::vector<Json>& journal);

}  // namespace pairmark
