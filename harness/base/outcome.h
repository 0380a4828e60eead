// What can become of one case, and the exit code a set of them gives.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace pairmark {

enum class Outcome {
  kOk,           // measured and verified
  kIncorrect,    // the result differs from the reference: the figure is withheld
  kInvalid,      // the figure cannot be true (above a physical limit, not positive, not finite)
  kError,        // crash, out of memory, lost device, failed call
  kHang,         // a phase passed its deadline
  kUnsupported,  // this device or library cannot do the case
  kSkipped,      // not run, with a reason
  kUnstable,     // measured and verified, but warm-up never became steady: read with care
};

std::string_view to_string(Outcome outcome);
std::optional<Outcome> outcome_from_string(std::string_view text);

// True for outcomes whose figures may be shown (ok, unstable).
bool has_figure(Outcome outcome);

enum ExitCode { kExitOk = 0, kExitBad = 1, kExitUsage = 2, kExitError = 3, kExitNothingRan = 4 };

// 0: something ran and all of it is ok (unstable counts as run, and is shown); 1: something is
// incorrect or invalid; 3: an error or a hang (stronger than 1); 4: nothing ran.
int exit_code(const std::map<Outcome, int>& counts);

}  // namespace pairmark
