#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <set>

#include "harness/base/build_info.h"
#include "harness/base/error.h"
#include "harness/cli/commands.h"
#include "harness/cli/progress.h"
#include "harness/cli/run_options.h"
#include "harness/health/findings.h"
#include "harness/machine/snapshot.h"
#include "harness/report/console.h"
#include "harness/report/gbench_json.h"
#include "harness/report/junit.h"
#include "harness/report/result.h"
#include "harness/run/journal.h"
#include "harness/run/plan_cache.h"
#include "harness/run/pool.h"
#include "harness/run/suites.h"

namespace pairmark {
namespace {

namespace fs = std::filesystem;

std::atomic<bool> g_stop{false};  // the one variable that a signal handler may touch
static_assert(std::atomic<bool>::is_always_lock_free);

void on_signal(int) {
  if (g_stop.exchange(true))
    ::_exit(kExitError);  // a second Ctrl-C does not wait; the kernel ends the workers
}

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  for (int number : {SIGINT, SIGTERM, SIGHUP}) ::sigaction(number, &action, nullptr);
}

double steady_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// Everything known before the first worker starts.
struct Prepared {
  RunOptions options;
  DeviceSelection selection;
  SuiteSet suites;
  Plan plan;
  fs::path folder;
  std::vector<Json> earlier;  // records, when resumed
};

DeviceSelection select(const RunOptions& options) {
  DeviceRequest request;
  request.device = options.device;
  request.devices = options.devices;
  request.gpus = options.gpus;
  request.build_has_cuda = built_with_cuda();
  return select_devices(request);
}

void say_devices(const Prepared& p) {
  std::vector<std::string> names;
  for (const auto& device : p.selection.devices)
    names.push_back(fmt::format("{} ({})", device.id, device.name));
  std::cerr << fmt::format("pairmark {}: measuring on {} device{}: {}", version(), p.selection.kind,
                           names.size() == 1 ? "" : "s", fmt::join(names, ", "));
  for (const auto& reason : p.selection.reasons) std::cerr << "; " << reason;
  std::cerr << "\n";
}

// The same devices as when the run began, or the figures would be mixed.
void require_same_devices(const Json& header, const DeviceSelection& selection) {
  Json now = Json::array();
  for (const auto& device : selection.devices) now.push_back(to_json(device));
  const Json& before = header.at("ranks");
  bool same = before.size() == now.size();
  for (std::size_t i = 0; same && i < now.size(); ++i) {
    for (const char* key : {"device", "name", "uuid", "cores"})
      same = same && before[i].at(key) == now[i].at(key);
  }
  if (!same) throw UsageError("the devices are not those the run began with; start a new run");
}

// The same build and the same plan, or figures of two programs would stand in one result under one
// name.
void require_same_run(const std::vector<Json>& earlier, const Plan& plan) {
  const Json& build = earlier[0].at("pairmark");
  for (const char* key : {"version", "commit", "dirty"}) {
    if (build.at(key) != build_info().at(key)) {
      throw UsageError("the run was begun by another build of pairmark; start a new run");
    }
  }
  std::set<std::string> planned;
  for (const Item& item : plan.items) planned.insert(item.row_id());
  for (const Json& record : earlier) {
    if (record.at("type") != "item") continue;
    const std::string row =
        fmt::format("{}/{}/{}/{}[{}]", record.at("suite").get<std::string>(),
                    record.at("benchmark").get<std::string>(), record.at("case").get<std::string>(),
                    record.at("arm").get<std::string>(),
                    fmt::join(record.at("ranks").get<std::vector<int>>(), ","));
    if (!planned.contains(row)) {
      throw UsageError(fmt::format(
          "the journal holds {}, which this run does not measure; start a new run", row));
    }
  }
}

// Before anything is measured: a report file that cannot be written must not cost the run.
void require_writable_folder(const std::string& file) {
  if (file.empty()) return;
  const fs::path folder =
      fs::path(file).has_parent_path() ? fs::path(file).parent_path() : fs::path(".");
  if (::access(folder.c_str(), W_OK) != 0) {
    throw UsageError(fmt::format("cannot write {}: {}", file, std::strerror(errno)));
  }
  if (fs::exists(file) && !fs::is_regular_file(file)) {
    throw UsageError(fmt::format("cannot write {}: it is there and is not a file", file));
  }
}

// The command line without the caller's home folder, whose name is often that of a person.
std::vector<std::string> without_home(std::vector<std::string> words) {
  if (!words.empty()) words[0] = fs::path(words[0]).filename().string();
  const char* home = std::getenv("HOME");
  if (home == nullptr || std::string_view(home).size() < 2) return words;
  for (auto& word : words) {
    for (std::size_t at; (at = word.find(home)) != std::string::npos;)
      word.replace(at, std::strlen(home), "~");
  }
  return words;
}

// Other work on the machine is the commonest reason for a figure that does not repeat.
Json load_finding() {
  double load = 0;
  const long cpus = ::sysconf(_SC_NPROCESSORS_ONLN);
  if (::getloadavg(&load, 1) != 1 || load < 0.5 * static_cast<double>(cpus)) return nullptr;
  return {{"severity", "warn"},
          {"text", "the machine was busy when the run began: figures may be low and scattered"},
          {"evidence", fmt::format("load average {:.1f} on {} CPUs", load, cpus)},
          {"next_step", "run again when nothing else works on the machine"}};
}

Prepared prepare(const RunOptions& given) {
  require_writable_folder(given.junit);
  require_writable_folder(given.gbench);
  Prepared p;
  p.options = given;
  if (!given.resume.empty()) {
    p.folder = given.resume;
    p.earlier = read_journal(p.folder / "journal.jsonl");
    if (p.earlier.empty() || p.earlier[0].at("type") != "header") {
      throw UsageError(fmt::format("{} holds no run that can be resumed", given.resume));
    }
    p.options = run_options_from_json(p.earlier[0].at("run").at("options"));
    p.options.junit = given.junit;
    p.options.gbench = given.gbench;
  } else {
    std::string time = utc_now();
    std::erase(time, ':');
    p.folder = given.output.empty() ? fs::path("pairmark-results") / time : fs::path(given.output);
  }
  p.suites = find_suites(suite_folder(), p.options.suites);
  p.selection = select(p.options);
  if (!p.earlier.empty()) require_same_devices(p.earlier[0], p.selection);
  p.plan = make_plan(p.suites.suites, plan_request(p.options, p.selection));
  if (!p.earlier.empty()) require_same_run(p.earlier, p.plan);
  p.plan.skips.insert(p.plan.skips.end(), p.suites.broken.begin(), p.suites.broken.end());
  return p;
}

Json header_of(const Prepared& p, const std::vector<std::string>& command_line) {
  SnapshotOptions wanted;
  wanted.include_host_name = p.options.include_host_name;
  const Json machine = capture_snapshot(wanted);
  Json findings = to_json(find_findings(machine));
  if (const Json busy = load_finding(); !busy.is_null()) findings.push_back(busy);
  Json ranks = Json::array();
  for (std::size_t i = 0; i < p.selection.devices.size(); ++i) {
    Json rank = to_json(p.selection.devices[i]);
    rank["rank"] = i;
    ranks.push_back(rank);
  }
  return {{"type", "header"},
          {"schema", 1},
          {"pairmark", build_info()},
          {"run",
           {{"started_utc", utc_now()},
            {"command", without_home(command_line)},
            {"profile", p.options.profile},
            {"device", p.selection.kind},
            {"seed", p.options.seed},
            {"launches", launches_of(p.options)},
            {"gpus", p.options.gpus},
            {"options", to_json(p.options)}}},
          {"machine", machine},
          {"ranks", ranks},
          {"findings", findings}};
}

PoolOptions pool_options(const Prepared& p) {
  PoolOptions options;
  for (const auto& suite : p.suites.suites) options.programs[suite.name] = suite.program;
  for (std::size_t i = 0; i < p.selection.devices.size(); ++i) {
    const DeviceRef& device = p.selection.devices[i];
    WorkerSpec spec;
    spec.rank = static_cast<int>(i);
    spec.world_size = static_cast<int>(p.selection.devices.size());
    spec.device = device.id;
    spec.uuid = device.uuid.value_or("");
    spec.cores = device.cores;
    spec.plan_cache = plan_cache_file(p.folder);
    options.workers.push_back(spec);
  }
  options.timing = timing_of(profile_from_string(p.options.profile));
  options.phase_timeout_s = phase_timeout_s(p.options);
  options.join_timeout_s = std::clamp(options.phase_timeout_s, 5.0, 30.0);
  options.seed = p.options.seed;
  options.log = p.folder / "log";
  options.stop = &g_stop;
  return options;
}

// What every record of an item carries besides its figures.
Json facts_of(const Prepared& p, const Item& item) {
  for (const auto& suite : p.suites.suites) {
    for (const auto& b : suite.benchmarks) {
      if (suite.name != item.suite || b.id != item.benchmark) continue;
      return {
          {"scaling", b.scaling},       {"rate_unit", b.rate_unit},
          {"rate_scale", b.rate_scale}, {"rate_work", b.rate_work},
          {"direction", b.direction},   {"repeat", repeat_command(p.options, p.selection, item)}};
    }
  }
  throw Error("internal error: an item without benchmark");
}

// Measures what is left to measure. Returns false when stopped early.
bool measure(const Prepared& p, Journal& journal) {
  WorkerPool pool(pool_options(p));
  ProgressLine line(launches_of(p.options));
  const double start = steady_now();
  bool told = false;
  SessionOptions session;
  session.facts = [&](const Item& item) { return facts_of(p, item); };
  session.now = steady_now;
  session.progress = [&](const Progress& progress) { line.show(progress); };
  session.finished = [&](const Item& item, const ItemResult& result) {
    line.finished(item, result);
    if (told || pool.hellos().size() < p.selection.devices.size()) return;
    Json ranks = Json::array();
    for (const auto& [rank, hello] : pool.hellos()) ranks.push_back(hello);
    journal.append({{"type", "workers"}, {"ranks", ranks}});
    told = true;
  };
  session.stop = &g_stop;
  const bool complete = run_session(p.plan.items, p.earlier, pool, journal, session);
  line.clear();
  const Json reason =
      complete ? Json(nullptr) : Json("stopped by a signal; pairmark run --resume goes on");
  journal.append({{"type", "end"},
                  {"complete", complete},
                  {"reason", reason},
                  {"ended_utc", utc_now()},
                  {"measured_s", steady_now() - start}});
  return complete;
}

int write_results(const Prepared& p) {
  const Json result = build_result(read_journal(p.folder / "journal.jsonl"));
  write_file_atomic(p.folder / "result.json", to_text(result) + "\n");
  if (!p.options.junit.empty()) write_file_atomic(p.options.junit, junit_xml(result));
  if (!p.options.gbench.empty())
    write_file_atomic(p.options.gbench, to_text(google_benchmark_json(result), 2) + "\n");
  ConsoleOptions console;
  console.color = ::isatty(STDOUT_FILENO) != 0 && std::getenv("NO_COLOR") == nullptr;
  console.width = terminal_columns();
  console.folder = p.folder.string();
  std::cout << console_summary(result, console) << std::flush;
  return result.at("summary").at("exit_code");
}

int run(const RunOptions& given, const std::vector<std::string>& command_line) {
  const Prepared p = prepare(given);
  say_devices(p);
  std::error_code error;
  fs::create_directories(p.folder, error);
  if (error)
    throw UsageError(
        fmt::format("cannot make the folder {}: {}", p.folder.string(), error.message()));
  Journal journal(p.folder / "journal.jsonl", p.earlier.empty());
  catch_signals();
  if (p.earlier.empty()) {
    journal.append(header_of(p, command_line));
    for (const Skip& skip : p.plan.skips) {
      journal.append(
          {{"type", "skip"}, {"what", skip.what}, {"reason", skip.reason}, {"outcome", "skipped"}});
    }
  } else {
    journal.append({{"type", "resume"}, {"utc", utc_now()}});
  }
  const bool complete = measure(p, journal);
  const int code = write_results(p);
  return complete ? code : std::max<int>(code, kExitError);
}

}  // namespace

Command add_run(CLI::App& app, const std::vector<std::string>& command_line) {
  auto options = declare_run_options(app);
  return [options, command_line] { return run(*options, command_line); };
}

}  // namespace pairmark
