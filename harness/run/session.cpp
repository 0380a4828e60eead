#include "harness/run/session.h"

#include <map>
#include <set>

#include "harness/base/error.h"

namespace pairmark {
namespace {

constexpr int kMaxFailedStarts = 2;

std::string key_of(int launch, const std::string& row) {
  return fmt::format("{}/{}", launch, row);
}

// What earlier items tell: which are done, which rows failed, how long rows take.
class History {
 public:
  void add(int launch, const std::string& row, Outcome outcome, double wall_s) {
    done_.insert(key_of(launch, row));
    if (!has_figure(outcome)) failed_.insert(row);
    wall_s_[row] = wall_s;
    sum_s_ += wall_s;
    ++count_;
  }
  bool pending(const Item& item) const {
    const std::string row = item.row_id();
    return !done_.contains(key_of(item.launch, row)) && !failed_.contains(row);
  }
  double expected_s(const std::string& row) const {
    auto known = wall_s_.find(row);
    return known != wall_s_.end() ? known->second : sum_s_ / count_;
  }
  bool empty() const { return count_ == 0; }

 private:
  std::set<std::string> done_, failed_;
  std::map<std::string, double> wall_s_;
  double sum_s_ = 0;
  int count_ = 0;
};

History history_of(const std::vector<Json>& records) {
  History history;
  for (const Json& record : records) {
    if (record.at("type") != "item") continue;
    Item item{0,
              record.at("launch"),
              record.at("suite"),
              record.at("benchmark"),
              Case::parse(record.at("case").get<std::string>()),
              record.at("arm"),
              record.at("ranks").get<std::vector<int>>()};
    history.add(
        item.launch, item.row_id(),
        outcome_from_string(record.at("outcome").get<std::string>()).value_or(Outcome::kError),
        record.at("wall_s"));
  }
  return history;
}

Json record_of(const Item& item, const ItemResult& result, const Json& facts) {
  Json record = {{"type", "item"},
                 {"launch", item.launch},
                 {"suite", item.suite},
                 {"benchmark", item.benchmark},
                 {"case", item.c.text()},
                 {"axes", item.c.axes()},
                 {"arm", item.arm},
                 {"ranks", item.ranks},
                 {"outcome", to_string(result.outcome)},
                 {"reason", result.reason.empty() ? Json(nullptr) : Json(result.reason)},
                 {"phase", result.phase.empty() ? Json(nullptr) : Json(result.phase)},
                 {"per_rank", result.per_rank},
                 {"wall_s", result.wall_s}};
  for (const auto& [key, value] : facts.items()) record[key] = value;
  // A trial may know its unit better than the benchmark does: integer products are not
  // floating-point operations.
  if (!result.per_rank.empty() && result.per_rank[0].contains("work")) {
    const std::string unit = result.per_rank[0].at("work").value("rate_unit", "");
    if (!unit.empty()) record["rate_unit"] = unit;
  }
  return record;
}

}  // namespace

bool run_session(const std::vector<Item>& items, const std::vector<Json>& done, Executor& executor,
                 Journal& journal, const SessionOptions& options) {
  History history = history_of(done);
  const double start = options.now();
  int launch = -1, failed_starts = 0;
  std::string suite, start_failure;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Item& item = items[i];
    if (!history.pending(item)) continue;
    if (*options.stop) return false;
    if (item.launch != launch || item.suite != suite) {
      if (item.suite != suite) failed_starts = 0;
      launch = item.launch;
      suite = item.suite;
      executor.begin_launch(suite);
    }
    double left = history.empty() ? -1 : 0;
    for (std::size_t j = i; j < items.size() && !history.empty(); ++j) {
      if (history.pending(items[j])) left += history.expected_s(items[j].row_id());
    }
    options.progress(
        {&item, static_cast<int>(i), static_cast<int>(items.size()), options.now() - start, left});

    ItemResult result;
    if (failed_starts < kMaxFailedStarts) {
      const double began = options.now();
      result = executor.run(item);
      result.wall_s = options.now() - began;
    } else {
      result = {Outcome::kError, "not tried: " + start_failure, "join", {}, false, 0};
    }
    if (*options.stop && !has_figure(result.outcome))
      return false;  // the stop broke it: try again on resume
    if (result.workers_started) {
      failed_starts = 0;
    } else if (failed_starts < kMaxFailedStarts) {
      ++failed_starts;
      start_failure = result.reason;
    }
    journal.append(record_of(item, result, options.facts(item)));
    history.add(item.launch, item.row_id(), result.outcome, result.wall_s);
    options.finished(item, result);
  }
  options.progress({nullptr, static_cast<int>(items.size()), static_cast<int>(items.size()),
                    options.now() - start, 0});
  return true;
}

}  // namespace pairmark
