#include "harness/machine/host.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <set>

#include "harness/machine/files.h"

namespace pairmark {
namespace {

namespace fs = std::filesystem;

std::string lower(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return text;
}

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// The value of "key : value" in /proc/cpuinfo or "key=value" in /etc/os-release, first match.
Known<std::string> entry(const fs::path& file, const std::string& key, char separator) {
  const auto text = read_small_file(file);
  if (!text) return Known<std::string>::missing(file.string() + " cannot be read");
  for (const std::string& line : split(*text, '\n')) {
    const auto at = line.find(separator);
    if (at == std::string::npos || trimmed(line.substr(0, at)) != key) continue;
    std::string value = trimmed(line.substr(at + 1));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"')
      value = value.substr(1, value.size() - 2);
    return Known<std::string>::of(value);
  }
  return Known<std::string>::missing(file.string() + " has no '" + key + "'");
}

Known<std::vector<std::string>> instruction_sets(const fs::path& cpuinfo) {
  Known<std::string> flags = entry(cpuinfo, "flags", ':');
  if (!flags.value) flags = entry(cpuinfo, "Features", ':');  // Arm
  if (!flags.value) return Known<std::vector<std::string>>::missing(flags.reason);
  const std::vector<std::string> words = split(*flags.value, ' ');
  const std::set<std::string> there(words.begin(), words.end());
  std::vector<std::string> found;
  for (const char* name :
       {"sse4_2",      "avx",         "fma",         "avx2",     "avx_vnni", "avx512f",  "avx512bw",
        "avx512_vnni", "avx512_bf16", "avx512_fp16", "amx_tile", "amx_int8", "amx_bf16", "amx_fp16",
        "asimd",       "asimdhp",     "asimddp",     "sve",      "sve2",     "bf16",     "i8mm"})
    if (there.contains(name)) found.push_back(name);
  return Known<std::vector<std::string>>::of(std::move(found));
}

Known<std::uint64_t> kibibytes(const fs::path& meminfo, const std::string& key) {
  const auto text = entry(meminfo, key, ':');
  if (!text.value) return Known<std::uint64_t>::missing(text.reason);
  return Known<std::uint64_t>::of(std::strtoull(text.value->c_str(), nullptr, 10) * 1024);
}

Json virtual_machine(const HostRoots& roots) {
  if (auto type = read_small_file(roots.sys_path() / "hypervisor/type")) return trimmed(*type);
  const auto flags = entry(roots.proc_path() / "cpuinfo", "flags", ':');
  if (!flags.value) return nullptr;
  const std::string product =
      trimmed(read_small_file(roots.sys_path() / "class/dmi/id/product_name").value_or(""));
  if ((' ' + *flags.value + ' ').find(" hypervisor ") == std::string::npos) return false;
  return product.empty() ? Json(true) : Json(product);
}

}  // namespace

std::vector<int> allowed_cpus() {
  for (int size = CPU_SETSIZE; size <= (1 << 18); size *= 2) {
    cpu_set_t* set = CPU_ALLOC(size);
    const std::size_t bytes = CPU_ALLOC_SIZE(size);
    std::vector<int> cpus;
    const int failed = sched_getaffinity(0, bytes, set);
    const int error = errno;
    for (int cpu = 0; failed == 0 && cpu < size; ++cpu)
      if (CPU_ISSET_S(cpu, bytes, set)) cpus.push_back(cpu);
    CPU_FREE(set);
    if (failed == 0) return cpus;
    if (error != EINVAL) break;  // EINVAL: the kernel's mask is larger
  }
  return {};
}

ContainerFacts container_facts(const HostRoots& roots, const Environment& environment) {
  ContainerFacts facts;
  const std::string kernel =
      lower(read_small_file(roots.proc_path() / "sys/kernel/osrelease").value_or(""));
  facts.wsl = kernel.find("microsoft") != std::string::npos;
  const std::string groups = read_small_file(roots.proc_path() / "1/cgroup").value_or("");
  const auto says = [&](const char* word) { return groups.find(word) != std::string::npos; };
  if (environment.contains("KUBERNETES_SERVICE_HOST") || says("kubepods"))
    facts.kind = "kubernetes";
  else if (is_there(roots.root / "run/.containerenv"))
    facts.kind = "podman";
  else if (is_there(roots.root / ".dockerenv") || says("docker"))
    facts.kind = "docker";
  else if (environment.contains("SINGULARITY_NAME") || environment.contains("APPTAINER_NAME"))
    facts.kind = "apptainer";
  else if (says("/lxc/"))
    facts.kind = "lxc";
  else if (auto named = environment.find("container");
           named != environment.end() && !named->second.empty())
    facts.kind = named->second;
  facts.container = !facts.kind.empty();
  return facts;
}

Json describe_system(const HostRoots& roots, const Environment& environment) {
  Json out;
  put(out, "os", entry(roots.root / "etc/os-release", "PRETTY_NAME", '='));
  const auto kernel = read_small_file(roots.proc_path() / "sys/kernel/osrelease");
  put(out, "kernel",
      kernel ? Known<std::string>::of(trimmed(*kernel))
             : Known<std::string>::missing("proc gives no kernel release"));
  const ContainerFacts facts = container_facts(roots, environment);
  out["container"] = facts.container ? Json(facts.kind) : Json(false);
  out["virtual_machine"] = virtual_machine(roots);
  if (out["virtual_machine"].is_null())
    out["virtual_machine_reason"] = "the CPU's flags do not say";
  out["wsl"] = facts.wsl;
  return out;
}

Json describe_cpu(const HostRoots& roots) {
  Json out;
  const fs::path cpuinfo = roots.proc_path() / "cpuinfo";
  put(out, "model", entry(cpuinfo, "model name", ':'));
  put(out, "isa", instruction_sets(cpuinfo));
  const std::vector<int> allowed = allowed_cpus();
  out["logical_cpus_allowed"] = allowed.size();
  out["allowed_list"] = format_cpu_list(allowed);
  const fs::path cpus = roots.sys_path() / "devices/system/cpu";
  const auto online = read_small_file(cpus / "online");
  put(out, "logical_cpus_online",
      online ? Known<std::size_t>::of(parse_cpu_list(*online).size())
             : Known<std::size_t>::missing("sys does not list the CPUs"));
  const auto quota = cgroup_cpu_quota(roots);
  put(out, "quota_cpus",
      quota ? Known<double>::of(*quota) : Known<double>::missing("no CPU quota is set"));
  const auto governor = read_small_file(cpus / "cpu0/cpufreq/scaling_governor");
  put(out, "governor",
      governor ? Known<std::string>::of(trimmed(*governor))
               : Known<std::string>::missing("no frequency control is visible here"));
  const auto most = read_small_file(cpus / "cpu0/cpufreq/cpuinfo_max_freq");
  put(out, "max_mhz",
      most ? Known<double>::of(std::strtod(most->c_str(), nullptr) / 1e3)
           : Known<double>::missing("no frequency control is visible here"));
  return out;
}

Json describe_memory(const HostRoots& roots) {
  Json out;
  const fs::path meminfo = roots.proc_path() / "meminfo";
  put(out, "total_bytes", kibibytes(meminfo, "MemTotal"));
  put(out, "available_bytes", kibibytes(meminfo, "MemAvailable"));
  const auto limit = cgroup_memory_limit(roots);
  put(out, "limit_bytes",
      limit ? Known<std::uint64_t>::of(static_cast<std::uint64_t>(*limit))
            : Known<std::uint64_t>::missing("no memory limit is set"));
  return out;
}

Json describe_shm(const HostRoots& roots) {
  Json out;
  struct statvfs info {};
  Known<std::uint64_t> size, free;
  if (statvfs((roots.root / "dev/shm").c_str(), &info) == 0) {
    size.value = std::uint64_t{info.f_blocks} * info.f_frsize;
    free.value = std::uint64_t{info.f_bavail} * info.f_frsize;
  } else {
    size.reason = free.reason =
        fmt::format("/dev/shm cannot be looked at: {}", std::strerror(errno));
  }
  put(out, "size_bytes", size);
  put(out, "free_bytes", free);
  return out;
}

}  // namespace pairmark
