// What this program was built from; filled in by CMake.
#pragma once

#include "harness/base/json.h"

namespace pairmark {

const char* version();  // "0.1.0"
bool built_with_cuda();
const char* default_python();  // interpreter chosen at configure time for reports

// {version, commit, dirty, compiler, build_type, flags, cuda (toolkit version or null), sanitize}
Json build_info();

}  // namespace pairmark
