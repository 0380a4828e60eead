// Opening NVML, and what to tell a person when it cannot be opened.
#include <dlfcn.h>
#include <fmt/format.h>
#include <link.h>

#include <cstdlib>
#include <regex>

#include "harness/machine/deadline.h"
#include "harness/machine/files.h"
#include "harness/machine/nvml.h"
#include "harness/machine/nvml_abi.h"

namespace pairmark {
namespace {

// The file's real name carries the driver's version: libnvidia-ml.so.570.124.06.
std::string version_of_library(void* library) {
  link_map* map = nullptr;
  if (dlinfo(library, RTLD_DI_LINKMAP, &map) != 0 || map == nullptr) return "";
  std::error_code ignored;
  const std::string file = std::filesystem::canonical(map->l_name, ignored).filename().string();
  std::smatch match;
  return std::regex_search(file, match, std::regex(R"(\.so\.(\d+\.\d[\d.]*)$)")) ? match[1].str()
                                                                                 : "";
}

void* load_library(std::string& why) {
  if (const char* chosen = std::getenv("PAIRMARK_NVML_PATH")) {
    void* library = dlopen(chosen, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) why = dlerror();
    return library;
  }
  // Some clouds' device plugins, and WSL, put the driver where the loader does not look.
  for (const char* name : {"libnvidia-ml.so.1", "/usr/local/nvidia/lib64/libnvidia-ml.so.1",
                           "/usr/lib/wsl/lib/libnvidia-ml.so.1"}) {
    if (void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL)) return library;
    if (why.empty()) why = dlerror();
  }
  return nullptr;
}

std::string mismatch_sentence(const NvmlResult& result) {
  const auto or_unknown = [](const std::string& version) {
    return version.empty() ? "unknown" : version;
  };
  return fmt::format(
      "the NVIDIA library is of driver {} and the loaded kernel module of driver {}: reboot or "
      "reload the nvidia module "
      "after a driver update; in a container remove the image's own driver libraries",
      or_unknown(result.library_version), or_unknown(result.module_version));
}

void explain_failed_init(int code, NvmlResult& result) {
  switch (code) {
    case nvml_abi::kDriverNotLoaded:
      result.state = NvmlState::kDriverNotLoaded;
      result.reason =
          "the NVIDIA kernel module is not loaded: install the driver or run 'modprobe nvidia', "
          "then try again";
      return;
    case nvml_abi::kVersionMismatch:
      result.state = NvmlState::kVersionMismatch;
      result.reason = mismatch_sentence(result);
      return;
    case nvml_abi::kNoPermission:
      result.state = NvmlState::kNoPermission;
      result.reason =
          "no permission to talk to the NVIDIA driver: check the rights of /dev/nvidiactl and "
          "/dev/nvidia*";
      return;
    case nvml_abi::kUnknown:
      result.state = NvmlState::kUnknownError;
      result.reason =
          "the NVIDIA library fails with an unknown error (999): in a container that lost its "
          "devices (after a daemon "
          "reload, for instance) restart the container; elsewhere look for NVRM lines in the "
          "kernel log and reboot";
      return;
    default:
      result.state = NvmlState::kOtherError;
      result.reason = fmt::format(
          "nvmlInit_v2 failed with code {}: look for NVRM lines in the kernel log", code);
  }
}

}  // namespace

std::string kernel_module_version(const std::filesystem::path& root) {
  const auto text = read_small_file(root / "proc/driver/nvidia/version");
  std::smatch match;
  if (text && std::regex_search(*text, match,
                                std::regex(R"(Module\D*?(?:x86_64|aarch64)?\s+(\d+\.\d[\d.]*))")))
    return match[1].str();
  return trimmed(read_small_file(root / "sys/module/nvidia/version").value_or(""));
}

NvmlResult Nvml::open(const std::filesystem::path& root) {
  NvmlResult result;
  result.module_version = kernel_module_version(root);
  std::string why;
  void* library = load_library(why);
  if (library == nullptr) {
    result.reason = "the NVIDIA driver library libnvidia-ml.so.1 cannot be loaded (" + why + ")";
    return result;
  }
  result.library_version = version_of_library(library);
  std::shared_ptr<Nvml> nvml(new Nvml(library));
  const int code = nvml->call("nvmlInit_v2").code;
  if (code == nvml_abi::kSuccess) {
    result.state = NvmlState::kReady;
    result.nvml = std::move(nvml);
    return result;
  }
  nvml->initialized_ = false;
  explain_failed_init(code, result);
  return result;
}

NvmlResult Nvml::open_within(double seconds, const std::filesystem::path& root) {
  if (auto result = call_within<NvmlResult>(seconds, [root] { return open(root); })) return *result;
  NvmlResult late;
  late.state = NvmlState::kTimeout;
  late.module_version = kernel_module_version(root);
  late.reason = fmt::format(
      "the NVIDIA driver did not answer within {:.0f} s: a GPU may be lost; look for Xid lines in "
      "the kernel log",
      seconds);
  return late;
}

}  // namespace pairmark
