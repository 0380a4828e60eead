// Which variables go into a result file, and how private parts are kept out of it.
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <regex>

#include "harness/machine/host.h"

extern char** environ;

namespace pairmark {
namespace {

constexpr const char* kExact[] = {"CUDA_VISIBLE_DEVICES",        "CUDA_DEVICE_ORDER",
                                  "CUDA_MODULE_LOADING",         "CUDA_LAUNCH_BLOCKING",
                                  "CUDA_DEVICE_MAX_CONNECTIONS", "LD_LIBRARY_PATH"};
constexpr const char* kPrefixes[] = {"NCCL_", "GLOO_",   "OMP_",   "KMP_",
                                     "DNNL_", "ONEDNN_", "NVIDIA_"};

// Labels that container images carry; the second is pages long.
constexpr const char* kNotSettings[] = {"NCCL_VERSION", "NVIDIA_REQUIRE_CUDA",
                                        "NVIDIA_PRODUCT_NAME"};

bool allowed(const std::string& name) {
  for (const char* label : kNotSettings)
    if (name == label) return false;
  return std::any_of(std::begin(kExact), std::end(kExact),
                     [&](const char* exact) { return name == exact; }) ||
         std::any_of(std::begin(kPrefixes), std::end(kPrefixes),
                     [&](const char* prefix) { return name.starts_with(prefix); });
}

// Names that tell a secret or the host, and values in the shape of a token: long, one word, letters
// and digits mixed.
bool private_variable(const std::string& name, const std::string& value) {
  for (const char* word : {"KEY", "TOKEN", "SECRET", "PASS", "CREDENTIAL", "AUTH", "HOST", "USER"})
    if (name.find(word) != std::string::npos) return true;
  if (value.starts_with("GPU-") || value.starts_with("MIG-")) return false;
  static const std::regex kToken("[A-Za-z0-9_+=-]{24,}");
  const auto is_digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  const auto is_letter = [](unsigned char c) { return std::isalpha(c) != 0; };
  return std::regex_match(value, kToken) && std::any_of(value.begin(), value.end(), is_digit) &&
         std::any_of(value.begin(), value.end(), is_letter);
}

std::string without_home(const std::string& value) {
  static const std::regex kHome("/(home|Users)/[^/:;,]+");
  return std::regex_replace(value, kHome, "/$1/USER");
}

// A variable may hold bytes that no JSON can.
std::string printable(std::string value) {
  for (char& c : value)
    if (static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) > 0x7e) c = '?';
  return value;
}

}  // namespace

Environment current_environment() {
  Environment all;
  for (char** at = environ; at != nullptr && *at != nullptr; ++at) {
    const std::string entry = *at;
    if (const auto equals = entry.find('='); equals != std::string::npos)
      all.emplace(entry.substr(0, equals), entry.substr(equals + 1));
  }
  return all;
}

Json describe_environment(const Environment& environment) {
  Json out = Json::object();
  for (const auto& [name, value] : environment) {
    if (!allowed(name)) continue;
    if (private_variable(name, value)) {
      out[name] = nullptr;
      out[name + "_reason"] = "withheld: it may hold something private";
    } else {
      out[name] = printable(without_home(value));
    }
  }
  return out;
}

}  // namespace pairmark
