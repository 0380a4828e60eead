#include "harness/run/plan_cache.h"

#include <cstdlib>

namespace pairmark {

std::filesystem::path plan_cache_file(const std::filesystem::path& fallback) {
  std::filesystem::path folder;
  if (const char* file = std::getenv("PAIRMARK_PLAN_CACHE")) {
    return *file != '\0' ? std::filesystem::path(file) : fallback / "plans.json";
  }
  if (const char* cache = std::getenv("XDG_CACHE_HOME"); cache != nullptr && *cache != '\0') {
    folder = cache;
  } else if (const char* home = std::getenv("HOME"); home != nullptr && *home != '\0') {
    folder = std::filesystem::path(home) / ".cache";
  }
  std::error_code error;
  if (!folder.empty()) std::filesystem::create_directories(folder / "pairmark", error);
  return folder.empty() || error ? fallback / "plans.json" : folder / "pairmark" / "plans.json";
}

}  // namespace pairmark
