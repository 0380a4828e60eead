#include "harness/compare/compare.h"

#include <gtest/gtest.h>

#include <locale>
#include <sstream>

#include "harness/base/error.h"
#include "harness/base/rng.h"
#include "harness/report/sample_result.h"

namespace pairmark {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// One row on device 0 that takes `time_s`, known to within 0.1 %.
Json single(double time_s = 2e-3) {
  Json result = sample_result();
  SampleRow row;
  row.time_s = time_s;
  row.half_width = 0.001;
  add_sample_row(result, sample_row(row));
  return result;
}

std::string status(const Json& comparison, std::size_t row = 0) {
  return comparison["rows"][row]["status"];
}
std::string reason(const Json& comparison, std::size_t row = 0) {
  return comparison["rows"][row]["reason"];
}

std::string refusal(const Json& a, const Json& b) {
  try {
    compare_results(a, b);
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}

TEST(Compare, FasterSlowerSame) {
  const Json base = single(2e-3);
  EXPECT_EQ(status(compare_results(base, single(1.8e-3))), "FASTER");
  EXPECT_EQ(status(compare_results(base, single(2.2e-3))), "SLOWER");
  EXPECT_EQ(status(compare_results(base, base)), "SAME");
  EXPECT_NEAR(compare_results(base, single(1.6e-3))["rows"][0]["speed_ratio"], 1.25, 1e-9);
}

TEST(Compare, SmallOrUncertainDifferencesAreNoRegression) {
  EXPECT_EQ(status(compare_results(single(2e-3), single(2.008e-3))),
            "SAME");  // 0.4 %, below the least effect
  Json noisy = single(2.03e-3);
  noisy["rows"][0]["samples_s"] = {{1.8e-3, 1.9e-3}, {2.03e-3, 2.03e-3}, {2.2e-3, 2.3e-3}};
  const Json comparison = compare_results(single(2e-3), noisy);
  EXPECT_EQ(status(comparison), "UNDECIDED");
  EXPECT_EQ(comparison["exit_code"], 0);
}

TEST(Compare, ExitCodeCountsRegressionsOnly) {
  Json slower = single(2.2e-3);
  EXPECT_EQ(compare_results(single(), slower)["exit_code"], 1);
  EXPECT_EQ(compare_results(single(), single())["exit_code"], 0);
  EXPECT_EQ(compare_results(single(), sample_result())["exit_code"], 4);  // nothing was compared
  slower["rows"][0]["rate"]["unit"] = "GB/s";
  EXPECT_NE(compare_results(single(), slower)["exit_code"], 1);
}

TEST(Compare, I5ZeroOrFailedBaseline) {
  Json zero = single();
  zero["rows"][0]["rate"]["value"] = 0;
  EXPECT_EQ(status(compare_results(zero, single())), "INVALID-BASELINE");
  EXPECT_EQ(reason(compare_results(zero, single())),
            "no figure in A: the rate is 0, which cannot be");
  zero = single();
  zero["rows"][0]["time_s"]["median"] = 0;
  EXPECT_EQ(status(compare_results(zero, single())), "INVALID-BASELINE");
  Json failed = single();
  failed["rows"][0]["outcome"] = "incorrect";
  failed["rows"][0]["reason"] = "one element differs";
  EXPECT_EQ(reason(compare_results(failed, single())),
            "no figure in A: incorrect: one element differs");
  EXPECT_EQ(status(compare_results(single(), failed)), "BROKEN");
  EXPECT_EQ(reason(compare_results(single(), failed)),
            "no figure in B: incorrect: one element differs");
}

TEST(Compare, I5AbsentRows) {
  const Json one = single();
  Json two = single();
  SampleRow extra;
  extra.name = "m=8";
  add_sample_row(two, sample_row(extra));
  const Json grown = compare_results(one, two), shrunk = compare_results(two, one);
  EXPECT_EQ(grown["counts"]["NEW"], 1);
  EXPECT_EQ(grown["counts"]["SAME"], 1);
  EXPECT_EQ(status(grown, 1), "NEW");
  EXPECT_EQ(shrunk["counts"]["GONE"], 1);
  EXPECT_EQ(shrunk["exit_code"], 0);
  Json said = single();
  said["skipped"].push_back(
      {{"what", "gemm/gemm/m=8"}, {"reason", "out of memory"}, {"outcome", "skipped"}});
  EXPECT_EQ(reason(compare_results(two, said), 1), "not in B, where it was skipped: out of memory");
}

TEST(Compare, I5UnitsDiffer) {
  Json other = single();
  other["rows"][0]["rate"]["unit"] = "s";
  Json base = single();
  base["rows"][0]["rate"]["unit"] = "ms";
  EXPECT_EQ(status(compare_results(base, other)), "UNIT-MISMATCH");
  EXPECT_EQ(reason(compare_results(base, other)), "unit: 'ms' in A, 's' in B");
  other = single();
  other["rows"][0]["rate"]["direction"] = "lower";
  EXPECT_EQ(status(compare_results(single(), other)), "UNIT-MISMATCH");
  other["rows"][0]["rate"].erase("direction");  // not stated: an older file
  EXPECT_EQ(status(compare_results(single(), other)), "SAME");
}

TEST(Compare, I5SchemaVersions) {
  Json newer_minor = single(), newer_major = single(), older_minor = single();
  newer_minor["schema"]["minor"] = 7;
  EXPECT_EQ(status(compare_results(single(), newer_minor)), "SAME");
  EXPECT_TRUE(
      has(compare_results(single(), newer_minor)["notes"][0], "B was written by a newer pairmark"));
  newer_major["schema"]["major"] = 2;
  EXPECT_EQ(refusal(single(), newer_major),
            "B: schema version 2 is newer than this program reads (1); use a newer pairmark");
  for (const char* key : {"peak", "clock_mhz", "throttle", "notes", "verify", "work"})
    older_minor["rows"][0].erase(key);
  older_minor.erase("findings");
  EXPECT_EQ(status(compare_results(older_minor, single())), "SAME");
  EXPECT_EQ(refusal(single(), Json::object()), "B: not a result of pairmark; name a result.json");
}

TEST(Compare, I4DevicesAreMatchedByUuidNotIndex) {
  Json base = sample_result(), swapped = sample_result();
  std::swap(swapped["ranks"][0]["uuid"], swapped["ranks"][1]["uuid"]);
  for (int rank : {0, 1}) {
    SampleRow row;
    row.ranks = {rank};
    row.half_width = 0.001;
    row.time_s = rank == 0 ? 2e-3 : 3e-3;  // GPU-0001 is slow in both
    add_sample_row(base, sample_row(row));
    row.time_s = rank == 1 ? 2e-3 : 3e-3;
    add_sample_row(swapped, sample_row(row));
  }
  const Json comparison = compare_results(base, swapped);
  EXPECT_EQ(comparison["counts"]["SAME"], 2);
  EXPECT_EQ(comparison["rows"][0]["id_a"], base["rows"][1]["id"]);
}

TEST(Compare, I4OtherGpuIsNotComparable) {
  Json h100 = single(), h200 = single(1e-3);
  for (int i : {0, 1}) {
    h100["ranks"][i]["name"] = "NVIDIA H100 PCIe";
    h100["ranks"][i]["uuid"] = "GPU-x" + std::to_string(i);
    h100["ranks"][i]["sm_count"] = 114;
    h200["ranks"][i]["sm_count"] = 132;
  }
  const Json refused = compare_results(h100, h200);
  EXPECT_EQ(status(refused), "NOT-COMPARABLE");
  EXPECT_EQ(reason(refused),
            "GPU: NVIDIA H100 PCIe in A, NVIDIA H200 in B; SM count: 114 in A, 132 in B");
  EXPECT_EQ(refused["differences"].size(), 2u);
  EXPECT_TRUE(refused["banner"].is_null());
  ResultCompareOptions across;
  across.across_machines = true;
  const Json allowed = compare_results(h100, h200, across);
  EXPECT_EQ(status(allowed), "FASTER");
  EXPECT_EQ(comparison_text(allowed, {}).find("*** ACROSS MACHINES"), 0u);
  EXPECT_EQ(allowed["differences"].size(), 2u);
}

TEST(Compare, I4OtherCardCpuAndDataAreNotComparable) {
  Json other = single();
  other["ranks"][0]["uuid"] = "GPU-9999";
  EXPECT_EQ(reason(compare_results(single(), other)), "UUID: GPU-0000 in A, GPU-9999 in B");
  Json cpu = sample_result("cpu");
  add_sample_row(cpu, sample_row({}));
  EXPECT_TRUE(has(reason(compare_results(single(), cpu)), "device: cuda in A, cpu in B"));
  Json zeros = single();
  zeros["run"]["data"] = "zeros";
  EXPECT_EQ(reason(compare_results(single(), zeros)), "data: random in A, zeros in B");
  Json fewer_cores = cpu;
  fewer_cores["ranks"][0]["cores"] = {0};
  EXPECT_EQ(reason(compare_results(cpu, fewer_cores)), "CPU cores: 2 in A, 1 in B");
  EXPECT_EQ(status(compare_results(cpu, cpu)), "SAME");
}

TEST(Compare, PowerLimitIsPartOfTheMachine) {
  Json capped = single(), open = single();
  capped["machine"]["gpus"] = Json::array({{{"uuid", "GPU-0000"}, {"power_limit_w", 500.0}}});
  open["machine"]["gpus"] = Json::array({{{"uuid", "GPU-0000"}, {"power_limit_w", 700.0}}});
  EXPECT_EQ(reason(compare_results(open, capped)), "power limit in W: 700 in A, 500 in B");
}

TEST(Compare, OtherWorkIsNeverComparable) {
  Json other = single();
  other["rows"][0]["work"]["items"] = 2.0;
  ResultCompareOptions across;
  across.across_machines = true;
  EXPECT_EQ(status(compare_results(single(), other, across)), "NOT-COMPARABLE");
}

TEST(Compare, I4OneAgainstTwoDevicesIsScaling) {
  Json one = sample_result("cuda", 1), two = sample_result();
  add_sample_row(one, sample_row({}));
  SampleRow both;
  both.arm = "together";
  both.ranks = {0, 1};
  both.tflop = 2;
  both.time_s = 2.5e-3;  // each product takes longer, and there are two
  add_sample_row(two, sample_row(both));
  for (const auto& [a, b, devices_a] : {std::tuple(one, two, 1), std::tuple(two, one, 2)}) {
    const Json comparison = compare_results(a, b);
    EXPECT_EQ(comparison["counts"]["SLOWER"], 0);
    EXPECT_EQ(comparison["exit_code"], 0);
    ASSERT_EQ(comparison["scaling"].size(), 1u);
    EXPECT_EQ(comparison["scaling"][0]["devices_a"], devices_a);
    EXPECT_NEAR(comparison["scaling"][0]["speedup"], 1.6, 1e-9);
    EXPECT_NEAR(comparison["scaling"][0]["efficiency"], 0.8, 1e-9);
    EXPECT_TRUE(has(reason(comparison, 0) + reason(comparison, 1), "scaling, not a change"));
  }
}

TEST(Compare, ChangesAreListed) {
  Json after = single();
  after["pairmark"]["commit"] = "ba9876543210";
  after["ranks"][0]["libraries"]["nccl"] = "2.27.3";
  const Json changes = compare_results(single(), after)["changes"];
  ASSERT_EQ(changes.size(), 2u);
  EXPECT_EQ(changes[1], (Json{{"what", "nccl"}, {"a", "not stated"}, {"b", "2.27.3"}}));
}

TEST(Compare, GoldenText) {
  Json base = sample_pair_result(), after = sample_pair_result();
  SampleRow slow;
  slow.time_s = 2.5e-3;
  after["rows"][0] = sample_row(slow);
  after["rows"][2]["rate"]["unit"] = "GB/s";
  after["pairmark"]["commit"] = "ba9876543210";
  ResultCompareOptions names;
  names.name_a = "old.json";
  names.name_b = "new.json";
  const std::string text = comparison_text(compare_results(base, after, names), {});
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) EXPECT_LE(display_width(line), 80u) << line;
  EXPECT_EQ(text,
            R"txt(2 rows compared: 1 slower, 0 faster, 1 the same, 0 undecided. Not compared: 1 in
different units.
  old.json  2 x NVIDIA H200: cuda, profile quick, 2026-01-02T03:04:05Z
  new.json  2 x NVIDIA H200: cuda, profile quick, 2026-01-02T03:04:05Z

What changed
  what    baseline      candidate
  commit  0123456789ab  ba9876543210

Rows (speed: candidate / baseline, above 1 is faster)
  status          speed  99.5 % interval    baseline   candidate
  SLOWER         0.800x   0.800 to 0.800  500 TFLOPS  400 TFLOPS
      gemm/gemm/m=1024,n=1024,k=1024,dtype=bf16/solo[0]
  UNIT-MISMATCH
      gemm/gemm/m=1024,n=1024,k=1024,dtype=bf16/together[0,1]
      unit: 'TFLOPS' in old.json, 'GB/s' in new.json
  SAME           1.000x   1.000 to 1.000  500 TFLOPS  500 TFLOPS
      gemm/gemm/m=1024,n=1024,k=1024,dtype=bf16/solo[1]
)txt");
}

struct CommaDecimal : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Compare, TextDoesNotDependOnTheLocale) {
  const std::string before = comparison_text(compare_results(single(), single(2.5e-3)), {});
  const std::locale old =
      std::locale::global(std::locale(std::locale::classic(), new CommaDecimal));
  const std::string after = comparison_text(compare_results(single(), single(2.5e-3)), {});
  std::locale::global(old);
  EXPECT_EQ(before, after);
}

// All values inside `json`, itself first.
void collect(Json& json, std::vector<Json*>& out) {
  out.push_back(&json);
  if (json.is_structured()) {
    for (Json& child : json) collect(child, out);
  }
}

TEST(Compare, DamagedResultsAreRefusedOrComparedNeverThrown) {
  const std::vector<Json> odd{
      nullptr, true, -1, 1e300, "text", Json::array(), Json::object(), Json::array({nullptr, "x"})};
  int refused = 0, compared = 0;
  for (std::size_t i = 0;; ++i) {
    Json damaged = sample_pair_result();
    std::vector<Json*> values;
    collect(damaged, values);
    if (i == values.size()) break;
    *values[i] = odd[random_bits(3, i) % odd.size()];
    for (bool first : {true, false}) {  // anything but a UsageError would end the test
      const Json good = sample_pair_result();
      try {
        const Json comparison =
            first ? compare_results(damaged, good) : compare_results(good, damaged);
        EXPECT_FALSE(comparison_text(comparison, {}).empty());
        to_text(comparison);
        ++compared;
      } catch (const UsageError&) {
        ++refused;
      }
    }
  }
  EXPECT_GT(compared, 500);
  EXPECT_GT(refused, 5);
}

}  // namespace
}  // namespace pairmark
