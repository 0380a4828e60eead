#include "kernels/gemm/plan_cache.h"

#include <cstdint>

#include "harness/base/error.h"

namespace pairmark {
namespace {

constexpr const char* kFormatKey = "pairmark_gemm_plans";
constexpr int kFormat = 1;

Json empty_cache() {
  return {{kFormatKey, kFormat}, {"plans", Json::object()}};
}

// The file's content; an empty cache and a note when it is not ours.
Json read_cache(const std::filesystem::path& file, std::string& note) {
  std::error_code error;
  if (!std::filesystem::exists(file, error)) return empty_cache();
  try {
    Json cache = read_json_file(file);
    if (cache.is_object() && cache.value(kFormatKey, Json()) == kFormat &&
        cache.contains("plans") && cache["plans"].is_object()) {
      return cache;
    }
    note = fmt::format("{} is not a plan cache of this version; ignored", file.string());
  } catch (const std::exception& failure) {
    note = fmt::format("the plan cache was ignored: {}", failure.what());
  }
  return empty_cache();
}

void store(const std::filesystem::path& file, const std::string& key, const Json& plan,
           std::string& note) {
  try {
    std::string ignored;
    Json cache =
        read_cache(file, ignored);  // again: another process may have added plans meanwhile
    cache["plans"][key] = plan;
    if (file.has_parent_path()) std::filesystem::create_directories(file.parent_path());
    write_file_atomic(file, to_text(cache, 1) + "\n");
  } catch (const std::exception& failure) {
    note +=
        fmt::format("{}the plan could not be stored: {}", note.empty() ? "" : "; ", failure.what());
  }
}

}  // namespace

std::string plan_key(Device& device, const std::string& library, const GemmShape& shape,
                     std::size_t alignment_bytes) {
  const Json facts = device.describe();
  const Json libraries = facts.value("libraries", Json::object());
  return fmt::format("{}; driver {}; {}; m={},n={},k={},dtype={},layout={}; {}-byte aligned",
                     device.name(), libraries.value("cuda_driver", "none"), library, shape.m,
                     shape.n, shape.k, to_string(shape.dtype), shape.layout, alignment_bytes);
}

std::size_t common_alignment(std::initializer_list<const void*> addresses) {
  std::uintptr_t bits = 256;
  for (const void* address : addresses) bits |= reinterpret_cast<std::uintptr_t>(address);
  return bits & (~bits + 1);
}

Json choose_with_cache(const std::filesystem::path& file, const std::string& key,
                       const std::function<void(const Json&)>& use,
                       const std::function<Json()>& measure) {
  std::string note;
  if (!file.empty()) {
    const Json cache = read_cache(file, note);
    if (auto found = cache["plans"].find(key); found != cache["plans"].end()) {
      try {
        use(*found);
        Json plan = *found;
        plan["chosen_by"] = "cache";
        return plan;
      } catch (const std::exception& refusal) {
        note = fmt::format("the cached plan was refused: {}", refusal.what());
      }
    }
  }
  Json plan = measure();
  plan["chosen_by"] = "measurement";
  use(plan);
  if (!file.empty()) store(file, key, plan, note);
  if (!note.empty()) plan["cache_note"] = note;
  return plan;
}

}  // namespace pairmark
