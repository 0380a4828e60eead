#include "harness/report/result.h"

#include <string>

#include "harness/base/error.h"
#include "harness/report/rows.h"
#include "harness/report/scaling.h"
#include "harness/report/summary.h"

namespace pairmark {
namespace {

constexpr const char* kNoEnd =
    "the journal has no end record: the run was killed or still goes on; continue it with --resume";

struct Journal {
  Json header;
  std::vector<Json> items;
  Json skipped = Json::array();
  Json end;  // of the last stretch; null when it has none
  int resumed = 0;
  double measured_s = 0;
  double open_s = 0;  // wall time of the items since the last end
};

// A worker that failed may leave keys out; with them in place, what follows needs no special cases.
Json completed(Json item) {
  for (const char* key : {"reason", "phase"}) item.emplace(key, nullptr);
  if (!item.contains("per_rank") || item["per_rank"].is_null()) item["per_rank"] = Json::array();
  for (Json& entry : item["per_rank"]) {
    for (const char* key : {"verify", "work"}) entry.emplace(key, nullptr);
    entry.emplace("samples_s", Json::array());
  }
  if (item.at("launch").get<int>() < 0 || item.at("ranks").empty()) {
    throw UsageError("an item needs a launch of at least 0 and at least one rank");
  }
  return item;
}

// What the workers told about their devices once they had started, added to the ranks of the
// header.
void take_workers(Json& ranks, const Json& told) {
  for (const Json& worker : told) {
    for (Json& rank : ranks) {
      if (rank.at("rank") != worker.at("rank")) continue;
      for (const char* key : {"libraries", "compute_capability", "sm_count", "boost_mhz",
                              "l2_bytes", "memory_bytes"}) {
        if (worker.at("device").contains(key)) rank[key] = worker.at("device").at(key);
      }
    }
  }
}

void take(Journal& journal, const Json& record) {
  const std::string type = record.at("type").get<std::string>();
  if (type == "header" && journal.header.is_null()) {
    journal.header = record;
  } else if (type == "item") {
    journal.items.push_back(completed(record));
    journal.open_s += record.value("wall_s", 0.0);
  } else if (type == "workers") {
    take_workers(journal.header["ranks"], record.at("ranks"));
  } else if (type == "skip") {
    journal.skipped.push_back({{"what", record.at("what")},
                               {"reason", record.at("reason")},
                               {"outcome", record.at("outcome")}});
  } else if (type == "resume") {
    ++journal.resumed;
    journal.measured_s += journal.open_s;
    journal.open_s = 0;
    journal.end = nullptr;
  } else if (type == "end") {
    journal.end = record;
    journal.measured_s += record.at("measured_s").get<double>();
    journal.open_s = 0;
  }
}

Journal read(const std::vector<Json>& records) {
  Journal journal;
  for (std::size_t i = 0; i < records.size(); ++i) {
    try {
      take(journal, records[i]);
    } catch (const std::exception& error) {
      throw UsageError(
          fmt::format("record {} of the journal is damaged ({}); remove it and use --resume", i + 1,
                      error.what()));
    }
  }
  if (journal.header.is_null())
    throw UsageError("the journal has no header record; start the run again");
  return journal;
}

Json run_json(const Journal& journal) {
  const Json& run = journal.header.at("run");
  const bool ended = !journal.end.is_null();
  const bool complete = ended && journal.end.at("complete").get<bool>();
  Json out = {{"started_utc", run.at("started_utc")},
              {"ended_utc", ended ? journal.end.at("ended_utc") : Json(nullptr)},
              {"duration_s", rounded(journal.measured_s + journal.open_s)},
              {"complete", complete},
              {"incomplete_reason", nullptr}};
  if (!ended) out["incomplete_reason"] = kNoEnd;
  if (ended && !complete) {
    const Json& reason = journal.end.at("reason");
    out["incomplete_reason"] = reason.is_string() ? reason : Json("no reason was recorded");
  }
  for (const char* key : {"command", "profile", "device", "seed", "launches", "gpus"})
    out[key] = run.at(key);
  out["resumed"] = journal.resumed;
  return out;
}

}  // namespace

Json build_result(const std::vector<Json>& records) {
  const Journal journal = read(records);
  try {
    const Json& header = journal.header;
    Json result = {{"schema", {{"name", "pairmark-result"}, {"major", 1}, {"minor", 0}}},
                   {"pairmark", header.at("pairmark")},
                   {"run", run_json(journal)},
                   {"machine", header.at("machine")},
                   {"ranks", header.at("ranks")}};
    const auto seed = header["run"]["seed"].get<std::uint64_t>();
    const std::vector<Row> rows = build_rows(journal.items, header["run"]["launches"].get<int>());
    result["rows"] = Json::array();
    for (const Row& row : rows) result["rows"].push_back(row_json(row, seed));
    result["scaling"] = build_scaling(rows, header["ranks"], seed);
    result["skipped"] = journal.skipped;
    result["findings"] = header.value("findings", Json::array());
    result["summary"] = build_summary(result);
    return result;
  } catch (const Json::exception& error) {
    throw UsageError(fmt::format("the journal is damaged ({}); start the run again", error.what()));
  }
}

}  // namespace pairmark
