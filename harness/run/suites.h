// The suite programs: pairmark-<name>, beside pairmark itself.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "harness/run/plan.h"

namespace pairmark {

struct SuiteSet {
  std::vector<SuiteFacts> suites;
  std::vector<Skip>
      broken;  // programs that do not start here (a missing library, say), with the loader's reason
};

// Asks every program in `folder` what it measures; only those named when `wanted` is not empty.
// Throws UsageError for an unknown name (with the nearest match) or when there is no suite at all.
SuiteSet find_suites(const std::filesystem::path& folder, const std::vector<std::string>& wanted);

// The folder of the running program, or $PAIRMARK_SUITE_DIR.
std::filesystem::path suite_folder();

}  // namespace pairmark
