// A suite program as a worker of a run (see protocol.h).
#pragma once

#include "harness/run/benchmark.h"
#include "harness/run/protocol.h"

namespace pairmark {

// What the parent plans from: names, axes, default cases of every benchmark.
Json describe_suite(const Suite& suite);

// Serves commands until "exit" or the end of standard input. Returns the process's exit code.
int run_worker(const Suite& suite, const WorkerSpec& spec);

}  // namespace pairmark
