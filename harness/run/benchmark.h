// What a suite writes: a Benchmark says what there is to measure, a Trial is one case ready to run
// on one rank.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "harness/device/device.h"
#include "harness/group/communicator.h"
#include "harness/machine/telemetry.h"
#include "harness/run/case.h"
#include "harness/verify/verify.h"

namespace pairmark {

enum class Arm { kSolo, kApart, kTogether };
std::string_view to_string(Arm arm);  // solo apart together

struct Info {
  std::string id;         // "gemm": unique in the suite
  std::string summary;    // one line
  std::string scaling;    // "weak": each rank does the whole case; "strong": the ranks share it
  bool communicates;      // has a `together` arm
  std::string rate_unit;  // "TFLOPS"
  double rate_scale;      // rate = rate_scale * work / seconds
  std::string rate_work;  // which part of Work the rate counts: flops, bytes or items
  std::string direction = "higher";
};

// What one operation on one rank really does.
struct Work {
  double flops = 0;
  double bytes = 0;       // moved at the least: each input read once, each output written once
  double items = 0;       // units of useful work, e.g. whole products
  std::string formula;    // where flops and bytes come from
  std::string rate_unit;  // empty: that of the benchmark
};

// One worker's place in an arm.
struct Rank {
  int rank;
  int world_size;  // ranks that work in this arm; 1 in solo
  Arm arm;
  Device& device;
  Stream& stream;
  Group& group;             // of the ranks that work
  GpuTelemetry& telemetry;  // of the device
  std::function<Communicator&()>
      communicator;  // made at the first call; every rank of the arm calls it
  std::uint64_t seed;
  std::filesystem::path plan_cache;  // file; empty: none
  double plan_budget_s;              // for choosing an algorithm by measurement
};

class Trial {
 public:
  virtual ~Trial() = default;
  virtual Work work() const = 0;
  virtual void reset() = 0;    // untimed: restores inputs, poisons outputs
  virtual void enqueue() = 0;  // gives one operation to the rank's stream: no wait, no allocation
  // Compares the outputs of the last operation with a reference. Runs before timing and again on
  // the buffers that were timed. On a trial over several ranks every rank calls it.
  virtual Verdict verify() = 0;
  virtual Json plan() const { return nullptr; }  // library and algorithm
};

// Theoretical peak of the rank's device in the unit of the rate at `clock_mhz`, or a reason why
// none is known.
struct Peak {
  double value = 0;
  std::string source;
  std::string reason;  // not empty: no value
};

class Benchmark {
 public:
  virtual ~Benchmark() = default;
  virtual Info info() const = 0;
  virtual Space space() const = 0;
  // Why the device cannot do the case, or "".
  virtual std::string unsupported(const Case& c, Device& device) const = 0;
  virtual std::unique_ptr<Trial> prepare(const Case& c, Rank& rank) const = 0;
  virtual Peak peak(const Case& c, const Json& device_description, double clock_mhz) const = 0;
};

// All benchmarks of a suite program.
struct Suite {
  std::string name;
  std::string summary;
  std::vector<std::unique_ptr<Benchmark>> benchmarks;
  // Versions of what is measured, as loaded: {"cublasLt": "13.1.0"}. May be empty.
  std::function<Json(const Device&)> libraries;
};

// The main() of every suite program: a Google Benchmark program by hand, a worker when the parent
// starts it.
int suite_main(const Suite& suite, int argc, char** argv);

}  // namespace pairmark
