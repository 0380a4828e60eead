// What n devices do against one: speed-up, efficiency and where the rest went, for every case.
#pragma once

#include <cstdint>
#include <vector>

#include "harness/base/json.h"
#include "harness/report/rows.h"

namespace pairmark {

// One entry of the schema's "scaling" for each case and world size of at least 2 whose benchmark
// has solo arms, in the order of the rows. `ranks` are the rank objects of the header, for names.
std::vector<Json> build_scaling(const std::vector<Row>& rows, const Json& ranks,
                                std::uint64_t seed);

}  // namespace pairmark
