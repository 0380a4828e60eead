#include "harness/report/rows.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>

#include "harness/base/error.h"
#include "harness/base/units.h"

namespace pairmark {
namespace {

constexpr double kPeakMargin = 1.01;  // clocks and timers are not read better than this

struct Problem {
  Outcome outcome;
  std::string reason;
};

// From worst to best, in the order of the exit codes they lead to.
constexpr std::array kWorstFirst{Outcome::kHang,     Outcome::kError,       Outcome::kIncorrect,
                                 Outcome::kInvalid,  Outcome::kUnsupported, Outcome::kSkipped,
                                 Outcome::kUnstable, Outcome::kOk};

bool worse(Outcome a, Outcome b) {
  auto place = [](Outcome o) { return std::find(kWorstFirst.begin(), kWorstFirst.end(), o); };
  return place(a) < place(b);
}

std::string base_id(const Json& item) {
  return fmt::format("{}/{}/{}/{}[{}]", item.at("suite").get<std::string>(),
                     item.at("benchmark").get<std::string>(), item.at("case").get<std::string>(),
                     item.at("arm").get<std::string>(),
                     fmt::join(item.at("ranks").get<std::vector<int>>(), ","));
}

// Every rank of the item once, in order, each with the same number of samples: else samples cannot
// be put together.
std::optional<Problem> check_ranks(const Json& item) {
  std::vector<int> ranks;
  for (const Json& entry : item.at("per_rank")) ranks.push_back(entry.at("rank").get<int>());
  if (ranks != item.at("ranks").get<std::vector<int>>()) {
    return Problem{Outcome::kError,
                   fmt::format("ranks [{}] were to report and ranks [{}] did; run it again",
                               fmt::join(item.at("ranks").get<std::vector<int>>(), ","),
                               fmt::join(ranks, ","))};
  }
  const std::size_t samples = item["per_rank"].at(0).at("samples_s").size();
  if (samples == 0) return Problem{Outcome::kError, "no sample was recorded; run it again"};
  for (const Json& entry : item["per_rank"]) {
    if (entry.at("samples_s").size() != samples) {
      return Problem{
          Outcome::kError,
          fmt::format("rank {} recorded {} samples and rank {} {}; run it again", ranks[0], samples,
                      entry["rank"].get<int>(), entry["samples_s"].size())};
    }
  }
  return std::nullopt;
}

std::optional<Problem> check_times(const Json& entry) {
  const int rank = entry.at("rank").get<int>();
  for (std::size_t i = 0; i < entry.at("samples_s").size(); ++i) {
    const Json& sample = entry["samples_s"][i];
    if (!sample.is_number() || !std::isfinite(sample.get<double>())) {
      return Problem{Outcome::kInvalid,
                     fmt::format("sample {} of rank {} is not a finite number", i, rank)};
    }
    if (rounded(sample.get<double>()) <= 0) {
      return Problem{Outcome::kInvalid,
                     fmt::format("sample {} of rank {} is {} s; a time must be above 0", i, rank,
                                 sample.dump())};
    }
  }
  return std::nullopt;
}

std::optional<Problem> check_verify(const Json& entry) {
  const Json& verify = entry.at("verify");
  if (!verify.is_object() || verify.at("passed").get<bool>()) return std::nullopt;
  return Problem{Outcome::kIncorrect, fmt::format("rank {} failed its check against the reference",
                                                  entry.at("rank").get<int>())};
}

// What the worker said about the item, or what is wrong with its figures.
Problem judge(const Json& item) {
  const auto said = outcome_from_string(item.at("outcome").get<std::string>());
  if (!said)
    return {Outcome::kError, "outcome '" + item["outcome"].get<std::string>() + "' is not known"};
  const Json& reason = item.at("reason");
  if (!has_figure(*said))
    return {*said, reason.is_string() ? reason.get<std::string>() : "no reason was recorded"};
  if (auto problem = check_ranks(item)) return *problem;
  for (const Json& entry : item["per_rank"]) {
    if (auto problem = check_verify(entry)) return *problem;
    if (auto problem = check_times(entry)) return *problem;
    if (!entry.at("work").is_object())
      return {Outcome::kError, "a rank recorded no work; run it again"};
  }
  return {*said, reason.is_string() ? reason.get<std::string>() : ""};
}

void set_outcome(Row& row, int launches) {
  for (const Json& item : row.records) {
    const Problem problem = judge(item);
    if (&item != &row.records.front() && !worse(problem.outcome, row.outcome)) continue;
    row.outcome = problem.outcome;
    row.reason = problem.reason;
    if (launches > 1 && !problem.reason.empty()) {
      row.reason = fmt::format("launch {} of {}: {}", item.at("launch").get<int>() + 1, launches,
                               problem.reason);
    }
    row.phase = item.at("phase").is_string() ? item["phase"].get<std::string>() : "";
  }
}

void withhold(Row& row, const Problem& problem) {
  row.outcome = problem.outcome;
  row.reason = problem.reason;
  row.samples.clear();
  row.rank_samples.clear();
  row.rank_work.clear();
  row.total_work = 0;
}

void take_samples(Row& row, const Json& item) {
  const auto launch = item.at("launch").get<std::size_t>();
  if (row.samples.size() <= launch) row.samples.resize(launch + 1);
  auto& slowest = row.samples[launch];
  slowest.clear();
  for (std::size_t r = 0; r < row.ranks.size(); ++r) {
    auto& launches = row.rank_samples[r];
    if (launches.size() <= launch) launches.resize(launch + 1);
    launches[launch].clear();
    for (const Json& sample : item["per_rank"][r]["samples_s"]) {
      launches[launch].push_back(rounded(sample.get<double>()));
    }
    if (r == 0) slowest = launches[launch];
    for (std::size_t i = 0; i < slowest.size(); ++i)
      slowest[i] = std::max(slowest[i], launches[launch][i]);
  }
}

std::vector<double> work_of(const Row& row, const Json& item) {
  std::vector<double> work;
  for (const Json& entry : item["per_rank"])
    work.push_back(entry.at("work").value(row.rate_work, 0.0));
  return work;
}

void note_launches(Row& row, int launches) {
  for (int l = 0; l < launches; ++l) {
    const auto index = static_cast<std::size_t>(l);
    if (index >= row.samples.size() || row.samples[index].empty()) {
      row.notes.push_back(fmt::format("launch {} of {} is missing", l + 1, launches));
    }
  }
}

void note_record(Row& row, const Json& item) {
  for (const Json& entry : item["per_rank"]) {
    if (entry.at("verify").is_null()) {
      row.notes.push_back("the result was not checked against a reference");
    }
    for (const Json& note : entry.value("notes", Json::array()))
      row.notes.push_back(note.get<std::string>());
  }
}

// A launch whose median is faster than the hardware can be makes the row invalid.
std::optional<Problem> check_peak(const Row& row) {
  const auto peak = peak_of(row, "boost");
  if (!peak || !row.has_rate()) return std::nullopt;
  for (std::size_t l = 0; l < row.samples.size(); ++l) {
    if (row.samples[l].empty()) continue;
    const double rate = row.rate_times_s() / median(row.samples[l]);
    if (rate <= *peak * kPeakMargin) continue;
    return Problem{
        Outcome::kInvalid,
        fmt::format("{} {} is above the physical peak of {} {} at boost clock (launch {})",
                    format_significant(rate), row.rate_unit, format_significant(*peak),
                    row.rate_unit, l + 1)};
  }
  return std::nullopt;
}

void take_figures(Row& row, int launches) {
  // Read only here: a worker that died may not have told them.
  const Json& first = row.records.front();
  row.rate_unit = first.at("rate_unit").get<std::string>();
  row.rate_work = first.at("rate_work").get<std::string>();
  row.rate_scale = first.at("rate_scale").get<double>();
  row.rank_samples.resize(row.ranks.size());
  row.rank_work = work_of(row, first);
  for (double work : row.rank_work) row.total_work += work;
  for (const Json& item : row.records) {
    if (work_of(row, item) != row.rank_work) {
      return withhold(row,
                      {Outcome::kInvalid, "launches differ in the work they did; run it again"});
    }
    take_samples(row, item);
    note_record(row, item);
  }
  note_launches(row, launches);
  if (auto problem = check_peak(row)) return withhold(row, *problem);
  if (row.total_work <= 0) row.notes.push_back("no rate: the work counted by it is 0");
}

Row start_row(const Json& item) {
  Row row;
  row.suite = item.at("suite").get<std::string>();
  row.benchmark = item.at("benchmark").get<std::string>();
  row.case_text = item.at("case").get<std::string>();
  row.scaling = item.at("scaling").get<std::string>();
  row.arm = item.at("arm").get<std::string>();
  row.ranks = item.at("ranks").get<std::vector<int>>();
  return row;
}

}  // namespace

double rounded(double value) {
  const std::string text =
      fmt::format("{:.7g}", value);  // with from_chars: a way that no locale bends
  double out = value;
  std::from_chars(text.data(), text.data() + text.size(), out);
  return out;
}

Json rounded_or_null(double value) {
  return std::isfinite(value) ? Json(rounded(value)) : Json(nullptr);
}

Json interval_json(const std::optional<Interval>& interval) {
  if (!interval || !std::isfinite(interval->low) || !std::isfinite(interval->high)) return nullptr;
  return Json::array({rounded(interval->low), rounded(interval->high)});
}

std::vector<Row> build_rows(const std::vector<Json>& items, int launches) {
  std::vector<Row> rows;
  std::map<std::string, std::size_t> known;  // by id and scaling
  std::map<std::string, std::string> scaling_of;
  for (const Json& item : items) {
    const std::string id = base_id(item);
    const std::string scaling = item.at("scaling").get<std::string>();
    const auto [place, is_new] = known.emplace(id + " " + scaling, rows.size());
    if (is_new) {
      Row& row = rows.emplace_back(start_row(item));
      // The same case may be run in both scalings: the second gets the word, so that ids stay
      // unique.
      row.id = scaling_of.emplace(id, scaling).first->second == scaling ? id : id + "/" + scaling;
    }
    rows[place->second].records.push_back(item);
  }
  for (Row& row : rows) {
    set_outcome(row, launches);
    if (has_figure(row.outcome)) take_figures(row, launches);
    std::vector<std::string> notes;
    for (const std::string& note : row.notes) {
      if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
    }
    row.notes = notes;
  }
  return rows;
}

}  // namespace pairmark
