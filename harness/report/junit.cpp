#include "harness/report/junit.h"

#include <fmt/format.h>

#include <map>
#include <vector>

#include "harness/report/fields.h"

namespace pairmark {
namespace {

enum class Status { kPass, kFailure, kError, kSkipped };

struct TestCase {
  std::string classname, name, type, message, details;
  Status status = Status::kPass;
  double seconds = 0;
};

struct TestSuite {
  std::string name;
  std::vector<TestCase> cases;
  int count(Status status) const {
    int total = 0;
    for (const TestCase& each : cases) total += each.status == status;
    return total;
  }
  double seconds() const {
    double total = 0;
    for (const TestCase& each : cases) total += each.seconds;
    return total;
  }
};

// XML 1.0 cannot hold most control characters, U+FFFE and U+FFFF, not even as references.
std::string escape(const std::string& raw) {
  // The round trip through JSON turns bytes that are not UTF-8 into U+FFFD.
  const std::string text =
      Json::parse(Json(raw).dump(-1, ' ', false, Json::error_handler_t::replace))
          .get<std::string>();
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (c == '\n' || c == '\t' || c == '\r')
      out += fmt::format("&#{};", static_cast<int>(c));
    else if (static_cast<unsigned char>(c) < 0x20)
      out += '?';
    else if (text.compare(i, 2, "\xEF\xBF") == 0 && i + 2 < text.size() &&
             (text[i + 2] == '\xBE' || text[i + 2] == '\xBF')) {
      out += '?';
      i += 2;
    } else
      out += c;
  }
  return out;
}

Status status_of(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
    case Outcome::kUnstable:
      return Status::kPass;
    case Outcome::kIncorrect:
    case Outcome::kInvalid:
      return Status::kFailure;
    case Outcome::kSkipped:
    case Outcome::kUnsupported:
      return Status::kSkipped;
    case Outcome::kError:
    case Outcome::kHang:
      break;
  }
  return Status::kError;
}

double sampled_seconds(const Json& row) {
  double total = 0;
  for (const Json& launch : list_of(row, "samples_s")) {
    if (!launch.is_array()) continue;
    for (const Json& sample : launch) total += number_of(sample).value_or(0);
  }
  return total * number_of(row, "batch").value_or(1);
}

TestCase test_case(const Json& row) {
  const Outcome outcome = outcome_of(row);
  const std::string prefix = text_of(row, "suite") + "/" + text_of(row, "benchmark") + "/";
  TestCase result;
  result.classname = text_of(row, "suite") + "." + text_of(row, "benchmark");
  result.name = text_of(row, "id", "row without id");
  if (result.name.starts_with(prefix)) result.name.erase(0, prefix.size());
  result.type = to_string(outcome);
  result.message = text_of(row, "reason", has_figure(outcome) ? "" : "no reason given");
  if (auto phase = text_of(row, "phase"); !phase.empty())
    result.details += "phase: " + phase + "\n";
  if (auto repeat = text_of(row, "repeat"); !repeat.empty())
    result.details += "repeat: " + repeat + "\n";
  result.status = status_of(outcome);
  result.seconds = sampled_seconds(row);
  return result;
}

TestCase skipped_case(const Json& skip) {
  const std::string what = text_of(skip, "what", "item without name");
  const std::string suite = what.substr(0, what.find('/'));
  return {suite,
          what,
          text_of(skip, "outcome", "skipped"),
          text_of(skip, "reason", "no reason given"),
          "",
          Status::kSkipped,
          0};
}

// The testcase that stands for what is not there.
std::optional<TestCase> run_problem(const Json& result) {
  const Json& run = member(result, "run");
  TestCase problem{"pairmark", "run", "incomplete", "", "", Status::kError, 0};
  if (!flag_of(run, "complete", true)) {
    problem.message =
        "the run was stopped early: " + text_of(run, "incomplete_reason", "no reason given");
    return problem;
  }
  for (const Json& row : list_of(result, "rows")) {
    if (status_of(outcome_of(row)) != Status::kSkipped) return std::nullopt;
  }
  problem.type = "nothing-ran";
  problem.message = "nothing was measured";
  return problem;
}

std::string case_xml(const TestCase& test) {
  std::string out = fmt::format("    <testcase classname=\"{}\" name=\"{}\" time=\"{:.6f}\"",
                                escape(test.classname), escape(test.name), test.seconds);
  if (test.status == Status::kPass && test.message.empty()) return out + "/>\n";
  if (test.status == Status::kPass)
    return out + fmt::format(">\n      <system-out>{}: {}</system-out>\n    </testcase>\n",
                             escape(test.type), escape(test.message));
  const char* tag = test.status == Status::kFailure ? "failure"
                    : test.status == Status::kError ? "error"
                                                    : "skipped";
  // <skipped> has no type attribute in the common schema.
  out += test.status == Status::kSkipped
             ? fmt::format(">\n      <skipped message=\"{}\"/>\n",
                           escape(test.type + ": " + test.message))
             : fmt::format(">\n      <{0} type=\"{1}\" message=\"{2}\">{3}</{0}>\n", tag,
                           escape(test.type), escape(test.message), escape(test.details));
  return out + "    </testcase>\n";
}

std::string counts_xml(const std::vector<TestSuite>& suites) {
  std::size_t tests = 0;
  int failures = 0, errors = 0, skipped = 0;
  double seconds = 0;
  for (const TestSuite& suite : suites) {
    tests += suite.cases.size();
    failures += suite.count(Status::kFailure);
    errors += suite.count(Status::kError);
    skipped += suite.count(Status::kSkipped);
    seconds += suite.seconds();
  }
  return fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.6f}\"",
                     tests, failures, errors, skipped, seconds);
}

}  // namespace

std::string junit_xml(const Json& result) {
  std::vector<TestSuite> suites;
  auto add = [&](const std::string& name, TestCase test) {
    for (TestSuite& suite : suites) {
      if (suite.name == name) return suite.cases.push_back(std::move(test));
    }
    suites.push_back({name, {std::move(test)}});
  };
  for (const Json& row : list_of(result, "rows"))
    add(text_of(row, "suite", "unnamed"), test_case(row));
  for (const Json& skip : list_of(result, "skipped")) {
    TestCase test = skipped_case(skip);
    const std::string name = test.classname;
    add(name, std::move(test));
  }
  if (auto problem = run_problem(result)) add("pairmark", *problem);
  std::string out = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  out += fmt::format("<testsuites name=\"pairmark\" {}>\n", counts_xml(suites));
  const std::string started = text_of(member(result, "run"), "started_utc");
  for (const TestSuite& suite : suites) {
    out += fmt::format("  <testsuite name=\"{}\" {} timestamp=\"{}\">\n", escape(suite.name),
                       counts_xml({suite}), escape(started));
    for (const TestCase& test : suite.cases) out += case_xml(test);
    out += "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

}  // namespace pairmark
