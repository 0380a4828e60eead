#include "harness/compare/import.h"

#include <gtest/gtest.h>

#include <locale>

#include "harness/base/error.h"
#include "harness/base/rng.h"
#include "harness/compare/figures.h"
#include "harness/report/sample_result.h"

namespace pairmark {
namespace {

// The sentence of the UsageError; "" when there is none.
template <typename F>
std::string refusal(F call) {
  try {
    call();
  } catch (const UsageError& error) {
    return error.what();
  }
  return "";
}
std::string json_refusal(std::string_view text) {
  return refusal([&] { import_json(text, "file.json"); });
}
std::string csv_refusal(std::string_view text) {
  return refusal([&] { import_csv(text, "file.csv"); });
}

TEST(ImportJson, I1NanAndSentinelsBecomeNullWithANote) {
  const ImportedJson read =
      import_json("{\n  \"avg\": -nan, \"min\": 9223372036854776.000\n}", "file.json");
  EXPECT_TRUE(read.value["avg"].is_null());
  EXPECT_TRUE(read.value["min"].is_null());
  ASSERT_EQ(read.notes.size(), 2u);
  EXPECT_EQ(read.notes[0].line, 2u);
  EXPECT_EQ(read.notes[0].column, 10u);
  EXPECT_EQ(read.notes[0].text, "-nan is not a number: read as null");
  EXPECT_EQ(read.notes[1].column, 23u);
  EXPECT_NE(read.notes[1].text.find("overflow mark"), std::string::npos);
}

TEST(ImportJson, EverySpellingOfNotANumber) {
  for (const char* token : {"NaN", "nan", "-NaN", "+nan", "Infinity", "-Infinity", "inf", "-inf",
                            "INF", "1e999", "-1e999", "-9.3e15", "18446744073709551616"}) {
    const ImportedJson read =
        import_json(std::string("[1.5, ") + token + ", \"nan, inf \\\" nan\"]", "f");
    EXPECT_EQ(read.value.size(), 3u) << token;
    EXPECT_TRUE(read.value[1].is_null()) << token;
    EXPECT_EQ(read.value[0], 1.5);
    EXPECT_EQ(read.value[2], "nan, inf \" nan");
    EXPECT_EQ(read.notes.size(), 1u) << token;
  }
}

TEST(ImportJson, OrdinaryNumbersStayAsTheyAre) {
  const ImportedJson read =
      import_json("[9.1e15, -1.25, 0, 9007199254740993, 12766912345678.123, 1e-300]", "f");
  EXPECT_TRUE(read.notes.empty());
  EXPECT_EQ(read.value[3], 9007199254740993);
  EXPECT_EQ(to_text(read.value), "[9.1e+15,-1.25,0,9007199254740993,12766912345678.123,1e-300]");
}

TEST(ImportJson, OwnResultsKeepLargeNumbers) {
  Json result = sample_pair_result();
  result["rows"][0]["work"]["flops"] = 1.1e18;
  const ImportedJson read = import_json(to_text(result), "f");
  EXPECT_TRUE(read.notes.empty());
  EXPECT_EQ(read.value, result);
}

TEST(ImportJson, ErrorsNameThePlaceInTheFileAsItIs) {
  EXPECT_EQ(json_refusal("{\"a\": nan, \"b\": inf, \"c\": oops}"),
            "file.json: line 1, column 27: not JSON; the file may be cut off or of another kind");
  EXPECT_EQ(json_refusal("[1,\n 2,\n 3"),
            "file.json: line 3, column 3: not JSON; the file may be cut off or of another kind");
  EXPECT_NE(json_refusal("nanometre"), "");
  EXPECT_NE(json_refusal("nan nan"), "");
  EXPECT_NE(json_refusal("1,5"), "");
  EXPECT_NE(json_refusal(""), "");
}

TEST(ImportJson, CutAtEveryByteIsRefusedInOneSentence) {
  const std::string text =
      R"({"schema":{"name":"x"},"v":[1.5,nan,-inf,"a\"b\u00e9é",true,null,{"k":9223372036854776.0}]})";
  EXPECT_EQ(json_refusal(text), "");
  for (std::size_t size = 0; size < text.size(); ++size) {
    const std::string sentence = json_refusal(text.substr(0, size));
    EXPECT_TRUE(sentence.starts_with("file.json: line 1, column ")) << size << ": " << sentence;
    EXPECT_EQ(sentence.find("[json.exception"), std::string::npos);
  }
}

TEST(ImportJson, FlippedBytesNeverEscapeAsOtherErrors) {
  const std::string text = to_text(sample_result());
  int refused = 0;
  for (std::uint64_t i = 0; i < 3000; ++i) {
    std::string damaged = text;
    damaged[random_bits(1, i) % text.size()] = static_cast<char>(random_bits(2, i));
    refused += !json_refusal(damaged).empty();  // anything but a UsageError would end the test
  }
  EXPECT_GT(refused, 300);
}

TEST(ImportCsv, I2KeepsAllDigits) {
  const ImportedCsv read =
      import_csv("name,ops\na,12766912345678.123\nb,1.27669e+13\nc,9007199254740993\n", "f");
  ASSERT_EQ(read.rows.size(), 3u);
  EXPECT_EQ(read.rows[0][1].text, "12766912345678.123");
  EXPECT_EQ(to_text(read.rows[0][1].value), "12766912345678.123");
  EXPECT_EQ(read.number(1, "ops"), 1.27669e+13);
  EXPECT_EQ(to_text(read.rows[2][1].value), "9007199254740993");
}

TEST(ImportCsv, I2NeverGuessesSeparators) {
  EXPECT_EQ(csv_refusal("name,ms\r\na,\"1,234\"\r\n"),
            "file.csv: line 2, column 3: '1,234' is not a number; write digits with '.' as decimal "
            "point and no separators of thousands");
  EXPECT_EQ(
      csv_refusal("name,ms\na,1,234\n"),
      "file.csv: line 2, column 5: 3 cells under a header of 2; is a number written with a comma?");
  EXPECT_TRUE(csv_refusal("name;ms\na;5\nb;1,234\n")
                  .starts_with("file.csv: line 3, column 3: '1,234' is not a number"));
  for (const char* bad :
       {"\"1.234,5\"", "\"1,234.5\"", "1 234", "1'234", "1_000", "+-1", "1e", "--5", "1e+-5"}) {
    EXPECT_TRUE(
        csv_refusal(std::string("x\n") + bad + "\n").starts_with("file.csv: line 2, column 1: "))
        << bad;
  }
}

TEST(ImportCsv, TextEmptyAndNanCells) {
  const ImportedCsv read =
      import_csv("\xEF\xBB\xBFgpu,ms,note\n\"2x \"\"H200\"\", x\",nan,\n\nA100 80GB,-2.5,N/A", "f");
  ASSERT_EQ(read.rows.size(), 2u);
  EXPECT_EQ(read.header[0], "gpu");
  EXPECT_EQ(read.rows[0][0].value, "2x \"H200\", x");
  EXPECT_TRUE(read.rows[0][1].value.is_null());
  EXPECT_TRUE(read.rows[0][2].value.is_null());
  ASSERT_EQ(read.notes.size(), 1u);
  EXPECT_EQ(read.notes[0].line, 2u);
  EXPECT_EQ(read.number(1, "ms"), -2.5);
  EXPECT_EQ(refusal([&] { read.number(1, "note"); }),
            "f: line 4, column 16: 'N/A' under 'note' is not a number");
  EXPECT_NE(refusal([&] { read.number(0, "watts"); }), "");
}

TEST(ImportCsv, DatesAndVersionsAreText) {
  const ImportedCsv read = import_csv("date,driver,gpu\n2026-01-02,570.124.06,2x\n", "f");
  for (const CsvCell& cell : read.rows[0]) EXPECT_TRUE(cell.value.is_string()) << cell.text;
  EXPECT_EQ(refusal([&] { read.number(0, "driver"); }),
            "f: line 2, column 12: '570.124.06' under 'driver' is not a number");
}

TEST(ImportCsv, CutAtEveryByte) {
  const std::string text = "name,\"m\"\"s\"\nab,\"1\"\ncd,22\n";
  for (std::size_t size = 0; size <= text.size(); ++size) {
    const std::string sentence =
        csv_refusal(text.substr(0, size));  // anything but a UsageError would end the test
    if (size == 0) {
      EXPECT_EQ(sentence, "file.csv: no header line; the file is empty");
    }
    if (size == text.size()) {
      EXPECT_EQ(sentence, "");
    }
  }
}

struct CommaDecimal : std::numpunct<char> {
  char do_decimal_point() const override { return ','; }
  char do_thousands_sep() const override { return '.'; }
  std::string do_grouping() const override { return "\3"; }
};

TEST(Import, DoesNotDependOnTheLocale) {
  const std::locale old =
      std::locale::global(std::locale(std::locale::classic(), new CommaDecimal));
  const ImportedCsv csv = import_csv("x\n1234.5\n", "f");
  const std::string refused = csv_refusal("x\n\"1234,5\"\n");
  const ImportedJson json = import_json("[1234.5, nan]", "f");
  std::locale::global(old);
  EXPECT_EQ(csv.number(0, "x"), 1234.5);
  EXPECT_NE(refused, "");
  EXPECT_EQ(json.value[0], 1234.5);
}

std::string figures_refusal(const char* text) {
  return refusal([&] { scaling_from_figures(Json::parse(text), "file"); });
}

TEST(Figures, A2SecondsPerIterationAgainstIterationsPerSecond) {
  const Json read = scaling_from_figures(
      Json::parse(
          R"([{"gpus":1,"value":2.61,"unit":"it/s","batch_per_gpu":1},{"gpus":2,"value":2.59,"unit":"s/it","batch_per_gpu":1}])"),
      "f");
  EXPECT_EQ(read["unit"], "samples/s");
  EXPECT_NEAR(read["baseline"]["value"], 2.61, 1e-12);
  EXPECT_NEAR(read["scaling"][0]["value"], 0.77, 0.005);
  EXPECT_NEAR(read["scaling"][0]["speedup"], 0.30, 0.005);
  EXPECT_NEAR(read["scaling"][0]["efficiency"], 0.15, 0.005);
  EXPECT_EQ(read["scaling"][0]["text"],
            "2 devices: 0.772 samples/s against 2.61 samples/s on 1: speed-up 0.30, efficiency 15 "
            "%; the global batch went from 1 to 2");
}

TEST(Figures, A3WeakScalingSaysThatTheBatchDoubled) {
  const Json read = scaling_from_figures(
      Json::parse(
          R"([{"gpus":1,"value":1.34,"unit":"it/s","batch_per_gpu":8},{"gpus":2,"value":1.38,"unit":"s/it","batch_per_gpu":8}])"),
      "f");
  EXPECT_NEAR(read["scaling"][0]["speedup"], 1.08, 0.005);
  EXPECT_NEAR(read["scaling"][0]["efficiency"], 0.54, 0.005);
  EXPECT_NE(read["scaling"][0]["text"].get<std::string>().find("from 8 to 16"), std::string::npos);
}

TEST(Figures, A1TimesOfTheSameWork) {
  const Json read = scaling_from_figures(
      Json::parse(
          R"([{"gpus":2,"value":286,"unit":"s","samples":60000},{"gpus":1,"value":197,"unit":"s","samples":60000}])"),
      "f");
  EXPECT_NEAR(read["scaling"][0]["speedup"], 0.69, 0.005);
  EXPECT_NEAR(read["scaling"][0]["efficiency"], 0.34, 0.005);
}

TEST(Figures, RefusesWhatCannotBeCompared) {
  EXPECT_EQ(figures_refusal(R"([{"gpus":1,"value":2.61},{"gpus":2,"value":2.59,"unit":"s/it"}])"),
            "file: figure 1: the unit is missing, and a bare number cannot be compared; add "
            "\"unit\", e.g. \"it/s\" or \"s/it\"");
  EXPECT_EQ(
      figures_refusal(
          R"([{"gpus":1,"value":5,"unit":"tokens/s"},{"gpus":2,"value":7,"unit":"samples/s"}])"),
      "file: tokens/s and samples/s cannot be converted into each other; give all figures in one "
      "kind of work");
  // A4: seconds without the samples processed.
  EXPECT_NE(
      figures_refusal(R"([{"gpus":1,"value":102,"unit":"s"},{"gpus":2,"value":110,"unit":"s"}])")
          .find("'samples' is missing"),
      std::string::npos);
  EXPECT_NE(
      figures_refusal(R"([{"gpus":1,"value":1,"unit":"it/s"},{"gpus":2,"value":1,"unit":"it/s"}])")
          .find("'batch_per_gpu' is missing"),
      std::string::npos);
  EXPECT_NE(figures_refusal(
                R"([{"gpus":1,"value":1,"unit":"furlongs"},{"gpus":2,"value":1,"unit":"it/s"}])")
                .find("'furlongs' is not known"),
            std::string::npos);
  for (const char* bad :
       {"{}", "[]", "[1,2]", R"([{"gpus":0,"value":1,"unit":"samples/s"},{}])",
        R"([{"gpus":1,"value":0,"unit":"samples/s"},{}])",
        R"([{"gpus":1.5,"value":1,"unit":"samples/s"},{}])",
        R"([{"gpus":1,"value":"2","unit":"samples/s"},{}])",
        R"([{"gpus":1,"value":1,"unit":"samples/s"},{"gpus":1,"value":1,"unit":"samples/s"}])"}) {
    EXPECT_TRUE(figures_refusal(bad).starts_with("file: ")) << bad;
  }
}

}  // namespace
}  // namespace pairmark
