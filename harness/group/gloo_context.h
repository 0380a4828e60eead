// How both planes connect through Gloo. Private to harness/group.
#pragma once

#include <gloo/context.h>

#include <memory>
#include <string>

#include "harness/group/group.h"

namespace pairmark {

// Connects all ranks of the spec; `address` is set to the one listened on. Throws Error within the
// spec's timeout.
std::shared_ptr<gloo::Context> connect_gloo(const GroupSpec& spec, std::string& address);

}  // namespace pairmark
