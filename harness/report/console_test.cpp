#include "harness/report/console.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <locale>
#include <sstream>

#include "harness/report/sample_result.h"

namespace pairmark {
namespace {

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

Json demonstration(const std::string& device) {
  Json result = sample_pair_result(device);
  SampleRow wrong;
  wrong.name = "m=4096,n=4096,k=4096,dtype=fp16";
  add_sample_row(
      result, failed_sample_row(wrong, "incorrect", "element 17 is 3.0, expected 2.0, bound 0.01"));
  result["skipped"].push_back({{"what", "gemm/gemm/m=1024,n=1024,k=1024,dtype=fp8/solo[0]"},
                               {"reason", "this device has no fp8"},
                               {"outcome", "unsupported"}});
  result["summary"]["skipped"] = 1;
  result["findings"].push_back({{"severity", "warn"},
                                {"text", "GPU 1 runs at x4 of x16."},
                                {"evidence", nullptr},
                                {"next_step", "Check the slot."}});
  return result;
}

void expect_width(const std::string& text, std::size_t width) {
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    if (!has(line, "repeat: ")) {
      EXPECT_LE(display_width(line), width) << line;
    }
    EXPECT_TRUE(line.empty() || line.back() != ' ') << "[" << line << "]";
  }
}

TEST(Console, GoldenAt80) {
  ConsoleOptions options;
  options.folder = "out";
  const std::string text = console_summary(demonstration("cuda"), options);
  expect_width(text, 80);
  EXPECT_EQ(text, R"txt(Two devices do 1.90 times the work of one (95 % interval 1.88 to 1.92).
Device: cuda; 2 x NVIDIA H200; profile quick, 3 launches
Ran 3, skipped 1 (1 x this device has no fp8), failed 1 (1 incorrect).

What to know about this machine and run
  WARN  GPU 1 runs at x4 of x16. Next: Check the slot.

Scaling: several devices against one
  devices  speed-up  95 % interval  efficiency  where the loss goes
gemm/gemm  m=1024,n=1024,k=1024,dtype=bf16
  2, weak     1.90x   1.88 to 1.92        95 %  shared host, power and heat
                                                3.1 %; exposed communication
                                                1.8 % (may be 0)
      worth it: 1.90 times one device

Cases: time of one operation, the slowest device of each sample
  arm              median   95 % interval        rate  of peak   power   n
gemm/gemm  m=1024,n=1024,k=1024,dtype=bf16
  solo[0]        2.000 ms  1.990 to 2.010  500 TFLOPS     51 %   650 W  12
  solo[1]        2.000 ms  1.990 to 2.010  500 TFLOPS     51 %   650 W  12
  together[0,1]  2.105 ms  2.095 to 2.116  950 TFLOPS     48 %  1300 W  12
  Not shown in 80 columns (it is in result.json): energy

Skipped
  unsupported  gemm/gemm/m=1024,n=1024,k=1024,dtype=fp8/solo[0]: this device has
               no fp8

Failed: figures withheld
  incorrect  gemm/gemm/m=4096,n=4096,k=4096,dtype=fp16/solo[0]
    in phase verify: element 17 is 3.0, expected 2.0, bound 0.01
    repeat: pairmark run --suite gemm --filter 'gemm/gemm/m=4096,n=4096,k=4096,dtype=fp16/solo[0]'

Files
  out/result.json
  out/journal.jsonl
)txt");
}

TEST(Console, GoldenAt120OnCpu) {
  ConsoleOptions options;
  options.width = 120;
  const std::string text = console_summary(demonstration("cpu"), options);
  expect_width(text, 120);
  EXPECT_EQ(text, R"txt(Two devices do 1.90 times the work of one (95 % interval 1.88 to 1.92).
Device: cpu (cpu figures, not GPU figures); 2 x Example CPU; profile quick, 3 launches
Ran 3, skipped 1 (1 x this device has no fp8), failed 1 (1 incorrect).

What to know about this machine and run
  WARN  GPU 1 runs at x4 of x16. Next: Check the slot.

Scaling: several cpu devices against one
  cpu devices  speed-up  95 % interval  efficiency  where the loss goes
gemm/gemm  m=1024,n=1024,k=1024,dtype=bf16
  2, weak         1.90x   1.88 to 1.92        95 %  shared host, power and heat 3.1 %; exposed communication 1.8 % (may
                                                    be 0)
      worth it: 1.90 times one device

Cases (cpu): time of one operation, the slowest device of each sample
  arm              median   95 % interval        rate  of peak   power  energy   n
gemm/gemm  m=1024,n=1024,k=1024,dtype=bf16
  solo[0]        2.000 ms  1.990 to 2.010  500 TFLOPS     51 %   650 W  1.30 J  12
  solo[1]        2.000 ms  1.990 to 2.010  500 TFLOPS     51 %   650 W  1.30 J  12
  together[0,1]  2.105 ms  2.095 to 2.116  950 TFLOPS     48 %  1300 W  2.74 J  12

Skipped
  unsupported  gemm/gemm/m=1024,n=1024,k=1024,dtype=fp8/solo[0]: this device has no fp8

Failed: figures withheld
  incorrect  gemm/gemm/m=4096,n=4096,k=4096,dtype=fp16/solo[0]
    in phase verify: element 17 is 3.0, expected 2.0, bound 0.01
    repeat: pairmark run --suite gemm --filter 'gemm/gemm/m=4096,n=4096,k=4096,dtype=fp16/solo[0]'
)txt");
}

TEST(Console, HeadlineComesFirstAndCountsFollow) {
  const std::string text = console_summary(demonstration("cuda"), {});
  EXPECT_EQ(text.find("Two devices do 1.90 times"), 0u);
  EXPECT_TRUE(has(text, "Ran 3, skipped 1 (1 x this device has no fp8), failed 1 (1 incorrect)."));
}

TEST(Console, WithheldFiguresAreNotPrinted) {
  Json result = sample_pair_result();
  for (Json& row :
       result["rows"]) {  // the figures are still in the file: the console must not show them
    row["outcome"] = "invalid";
    row["reason"] = "above the physical peak";
  }
  result["scaling"][0]["outcome"] = "invalid";
  result["scaling"][0]["reason"] = "a row is invalid";
  const std::string text = console_summary(result, {});
  EXPECT_TRUE(has(text, "withheld"));
  EXPECT_TRUE(has(text, "above the physical peak"));
  for (const char* figure : {"TFLOPS", "2.000 ms", "1.90x", "95 %\n", " W "})
    EXPECT_FALSE(has(text, figure)) << figure;
}

TEST(Console, UnknownOutcomeCountsAsFailed) {
  Json result = sample_pair_result();
  result["rows"][0]["outcome"] = "splendid";
  EXPECT_TRUE(has(console_summary(result, {}), "(1 error)"));
}

TEST(Console, ColourOnlyRepeatsWords) {
  ConsoleOptions plain_text, colored;
  colored.color = true;
  std::string text = console_summary(demonstration("cuda"), colored);
  EXPECT_TRUE(has(text, "\033["));
  std::string stripped;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\033') {
      i = text.find('m', i);
    } else {
      stripped += text[i];
    }
  }
  EXPECT_EQ(stripped, console_summary(demonstration("cuda"), plain_text));
}

TEST(Console, LongListsAreShortened) {
  Json result = sample_result();
  for (int i = 1; i <= 20; ++i) {
    SampleRow row;
    row.name = fmt::format("m={}", i);
    add_sample_row(result, sample_row(row));
  }
  ConsoleOptions options;
  options.max_rows = 8;
  EXPECT_TRUE(has(console_summary(result, options), "  … 12 more rows in result.json\n"));
  options.unicode = false;
  EXPECT_TRUE(has(console_summary(result, options), "  ... 12 more rows in result.json\n"));
  options.max_rows = 20;
  EXPECT_FALSE(has(console_summary(result, options), "more row"));
}

TEST(Console, IncompleteAndUnstableAreSaid) {
  Json result = sample_pair_result();
  result["run"]["complete"] = false;
  result["run"]["incomplete_reason"] = "stopped by Ctrl-C";
  result["rows"][0]["outcome"] = "unstable";
  result["rows"][0]["reason"] = "the clock never settled";
  const std::string text = console_summary(result, {});
  EXPECT_TRUE(has(text, "INCOMPLETE: stopped by Ctrl-C"));
  EXPECT_TRUE(has(text, "unstable, read with care: the clock never settled"));
}

TEST(Console, TextFromFilesCannotDriveTheTerminal) {
  Json result = demonstration("cuda");
  result["rows"][3]["reason"] =
      "bad \033[31m\a\n\xC2\x9B"
      "2J name \xFF gr\xC3\xB6\xC3\x9F"
      "er";
  ConsoleOptions options;
  options.width = 120;
  EXPECT_TRUE(has(console_summary(result, options),
                  "bad  [31m   2J name ? gr\xC3\xB6\xC3\x9F"
                  "er"));
  options.unicode = false;
  const std::string ascii = console_summary(result, options);
  for (char c : ascii) EXPECT_LT(static_cast<unsigned char>(c), 0x80);
}

struct CommaDecimal : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Console, TextDoesNotDependOnTheLocale) {
  const std::string before = console_summary(demonstration("cuda"), {});
  const std::locale old =
      std::locale::global(std::locale(std::locale::classic(), new CommaDecimal));
  const std::string custom = console_summary(demonstration("cuda"), {});
  std::locale::global(old);
  EXPECT_EQ(before, custom);
  try {
    std::locale::global(std::locale("de_DE.UTF-8"));
  } catch (const std::runtime_error&) {
    return;  // the custom locale above has already said what this one would
  }
  const std::string german = console_summary(demonstration("cuda"), {});
  std::locale::global(old);
  EXPECT_EQ(before, german);
}

TEST(Console, OddFilesAreShownWithoutThrowing) {
  for (
      const Json& odd :
      {Json(nullptr), Json::array(),
       Json::parse(
           R"({"rows":[1,null,{"outcome":"ok","time_s":{"median":"x"}}],"scaling":[[]],"summary":3})")}) {
    EXPECT_FALSE(console_summary(odd, {}).empty());
  }
}

TEST(ConsoleTable, LongWordsAndLastColumnWrap) {
  Table table({{"a"}, {"text"}});
  table.row({"1", "word word word word word word word word word word"});
  ConsoleOptions options;
  options.width = 40;
  EXPECT_EQ(table.text(options),
            "  a  text\n  1  word word word word word word word\n     word word word\n");
  EXPECT_EQ(wrap(std::string(50, 'x'), options),
            std::string(40, 'x') + "\n" + std::string(10, 'x') + "\n");
}

TEST(ConsoleTable, DropsTheLeastImportantColumnAndSaysSo) {
  Table table({{"name"}, {"kept", true}, {"luxury", true, 2}, {"extra", true, 1}});
  table.row({std::string(20, 'n'), "12345678", "1234567890", "12"});
  ConsoleOptions options;
  options.width = 40;
  const std::string text = table.text(options);
  EXPECT_TRUE(has(text, "12345678"));
  EXPECT_FALSE(has(text, "1234567890"));
  EXPECT_TRUE(has(text, "Not shown in 40 columns"));
  EXPECT_TRUE(has(text, "luxury"));
}

}  // namespace
}  // namespace pairmark
