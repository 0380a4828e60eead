// The result in the file format of Google Benchmark, for its tools (compare.py) and for dashboards
// that read it.
#pragma once

#include "harness/base/json.h"

namespace pairmark {

// {context, benchmarks[]}. For each row with a figure: one entry a launch (run_type "iteration",
// real_time = the median of that launch in ns), and from two launches on the aggregates mean,
// median and stddev over the launches. cpu_time repeats real_time, as the context says: CPU time is
// not measured and the readers demand the key. The rate of each entry is a counter named after its
// unit. A row without figure is one entry "<id>/failed" with error_occurred and error_message and
// no time. It is filed as an aggregate, because compare.py takes a time from every other entry, and
// the 0 that Google Benchmark itself writes there would read as "100 % faster". No host name.
Json google_benchmark_json(const Json& result);

}  // namespace pairmark
