// Speed-up from a few figures with units, such as people copy out of progress bars.
#pragma once

#include <string>

#include "harness/base/json.h"

namespace pairmark {

// figures: [{"gpus": 1, "value": 2.61, "unit": "it/s", "batch_per_gpu": 1}, ...], one with the
// fewest devices (the baseline) and one or more with more. Units: it/s, s/it, ms/it (also step,
// iter), samples/s, s/sample (also image, img, token; each counts its own kind of work), and s, ms,
// min, h for a whole run, which need "samples": how many it processed. Iterations need
// "batch_per_gpu": samples of one iteration = batch_per_gpu * gpus. Returns {"unit": "samples/s",
// "baseline": {gpus, value}, "scaling": [{gpus, value, speedup, efficiency, global_batch, text}]};
// speedup = value / baseline value, efficiency = speedup * baseline gpus / gpus.
// Throws UsageError in one sentence when a unit is missing or unknown, kinds of work are mixed, or
// a figure is not positive.
Json scaling_from_figures(const Json& figures, const std::string& name);

}  // namespace pairmark
