// Plans of earlier runs, on disk: {"pairmark_gemm_plans": 1, "plans": {key: plan}}.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "harness/base/json.h"
#include "kernels/gemm/gemm.h"

namespace pairmark {

// All that a plan depends on: device, its driver, the library's version, the product and the
// alignment of its operands.
std::string plan_key(Device& device, const std::string& library, const GemmShape& shape,
                     std::size_t alignment_bytes);

// The largest power of two up to 256 that divides all the addresses.
std::size_t common_alignment(std::initializer_list<const void*> addresses);

// Takes the plan of `key` from the file if `use` accepts it, else calls `measure`, uses and stores
// its plan. `use` throws Error to refuse a plan. A missing, broken, foreign or unwritable file
// never fails the run: the plan's cache_note says what was wrong. An empty path means no cache.
// Writers may race: the file stays valid, the last one wins.
Json choose_with_cache(const std::filesystem::path& file, const std::string& key,
                       const std::function<void(const Json&)>& use,
                       const std::function<Json()>& measure);

}  // namespace pairmark
