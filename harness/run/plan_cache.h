// Where chosen library algorithms are kept between runs.
#pragma once

#include <filesystem>

namespace pairmark {

// $PAIRMARK_PLAN_CACHE, else $XDG_CACHE_HOME/pairmark/plans.json, else
// ~/.cache/pairmark/plans.json; its folder is made. Where that cannot be, or the variable is empty:
// plans.json in `fallback`, so that all arms of one run still share their plans.
std::filesystem::path plan_cache_file(const std::filesystem::path& fallback);

}  // namespace pairmark
