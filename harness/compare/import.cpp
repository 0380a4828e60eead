#include "harness/compare/import.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "harness/base/error.h"
#include "harness/report/fields.h"

namespace pairmark {
namespace {

std::pair<std::size_t, std::size_t> line_and_column(std::string_view text, std::size_t at) {
  at = std::min(at, text.size());
  const std::string_view before = text.substr(0, at);
  const std::size_t line =
      1 + static_cast<std::size_t>(std::count(before.begin(), before.end(), '\n'));
  const std::size_t start = before.rfind('\n');
  return {line, start == std::string_view::npos ? at + 1 : at - start};
}

bool ends_token(char c) {
  return std::string_view(" \t\r\n,:[]{}\"").find(c) != std::string_view::npos;
}

std::string lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

// Why this bare word or number must not be taken as a measurement, or "".
std::string reason_to_drop(std::string_view token) {
  std::string_view body = token;
  if (!body.empty() && (body[0] == '-' || body[0] == '+')) body.remove_prefix(1);
  static constexpr std::array<std::string_view, 3> kWords{"nan", "inf", "infinity"};
  if (std::find(kWords.begin(), kWords.end(), lower(body)) != kWords.end()) {
    return fmt::format("{} is not a number: read as null", token);
  }
  double value = 0;
  const auto [end, error] = std::from_chars(body.data(), body.data() + body.size(), value);
  if (body.empty() || end != body.data() + body.size()) return "";
  if (error == std::errc::result_out_of_range)
    return fmt::format("{} does not fit a number: read as null", token);
  if (error == std::errc() && value >= kSentinel) {
    return fmt::format("{} is an overflow mark, not a measurement (9.2e15 or more): read as null",
                       token);
  }
  return "";
}

// The text with dropped tokens replaced by null, and where each byte of it came from.
struct Cleaned {
  std::string text;
  std::vector<ImportNote> notes;
  std::vector<std::pair<std::size_t, std::size_t>>
      jumps;  // from this offset on, the original offset is ...

  std::size_t original(std::size_t offset) const {
    auto after = std::upper_bound(jumps.begin(), jumps.end(), std::pair(offset, std::string::npos));
    return after == jumps.begin() ? offset
                                  : std::prev(after)->second + (offset - std::prev(after)->first);
  }
};

std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\') {
      ++at;
    } else if (text[at] == '"') {
      return at + 1;
    }
  }
  return text.size();
}

Cleaned clean(std::string_view text) {
  Cleaned out;
  std::size_t line = 1, line_start = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    std::size_t end = at + 1;
    if (text[at] == '\n') {
      ++line;
      line_start = end;
    } else if (text[at] == '"') {
      end = end_of_string(text, at);
    } else if (!ends_token(text[at])) {
      while (end < text.size() && !ends_token(text[end])) ++end;
      const std::string reason = reason_to_drop(text.substr(at, end - at));
      if (!reason.empty()) {
        out.notes.push_back({line, at - line_start + 1, reason});
        out.text += "null";
        out.jumps.emplace_back(out.text.size(), end);
        at = end;
        continue;
      }
    }
    out.text += text.substr(at, end - at);
    at = end;
  }
  return out;
}

}  // namespace

ImportedJson import_json(std::string_view text, const std::string& name) {
  try {
    Json value = parse_json(text, name);
    if (text_of(member(value, "schema"), "name") == "pairmark-result")
      return {std::move(value), {}};
  } catch (const UsageError&) {  // read again below, where foreign tokens are known
  }
  Cleaned cleaned = clean(text);
  try {
    return {Json::parse(cleaned.text), std::move(cleaned.notes)};
  } catch (const Json::parse_error& error) {
    const auto [line, column] =
        line_and_column(text, cleaned.original(error.byte == 0 ? 0 : error.byte - 1));
    throw UsageError(
        fmt::format("{}: line {}, column {}: not JSON; the file may be cut off or of another kind",
                    name, line, column));
  } catch (const Json::exception&) {
    throw UsageError(fmt::format("{}: not JSON (a number is out of range)", name));
  }
}

namespace {

// Digits with commas, separators or an exponent: meant as a number. Dates, ranges and versions
// (1.2.3) are text.
bool looks_numeric(std::string_view text) {
  while (!text.empty() && (text[0] == '+' || text[0] == '-')) text.remove_prefix(1);
  const std::size_t exponent = text.find_first_of("eE");
  const std::string_view body = text.substr(0, exponent);
  const std::string_view power =
      exponent == std::string_view::npos ? "" : text.substr(exponent + 1);
  if (body.empty() || std::string_view("0123456789.,").find(body[0]) == std::string_view::npos)
    return false;
  if (body.find_first_of("0123456789") == std::string_view::npos) return false;
  if (std::count(body.begin(), body.end(), '.') > 1 && body.find(',') == std::string_view::npos)
    return false;
  return body.find_first_not_of("0123456789.,'_ ") == std::string_view::npos &&
         power.find_first_not_of("0123456789+-") == std::string_view::npos;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// The whole text as a number, or nothing. Integers stay integers, so that all digits are kept.
std::optional<Json> exact_number(std::string_view text) {
  const char* const last = text.data() + text.size();
  std::int64_t whole = 0;
  auto [end, error] = std::from_chars(text.data(), last, whole);
  if (error == std::errc() && end == last) return Json(whole);
  double value = 0;
  auto [stop, problem] = std::from_chars(text.data(), last, value);
  if (problem == std::errc() && stop == last && std::isfinite(value)) return Json(value);
  return std::nullopt;
}

class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  ImportedCsv read() {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    const std::string_view first = text_.substr(at_, text_.find('\n', at_) - at_);
    if (first.find(',') == std::string_view::npos && first.find(';') != std::string_view::npos)
      separator_ = ';';
    ImportedCsv table;
    table.name = name_;
    while (at_ < text_.size()) {
      std::vector<CsvCell> row = read_row();
      if (row.size() == 1 && row[0].text.empty()) continue;  // an empty line
      if (table.header.empty()) {
        for (CsvCell& cell : row) table.header.push_back(std::move(cell.text));
      } else {
        add(table, std::move(row));
      }
    }
    if (table.header.empty())
      throw UsageError(fmt::format("{}: no header line; the file is empty", name_));
    return table;
  }

 private:
  [[noreturn]] void fail(std::size_t line, std::size_t column, const std::string& what) const {
    throw UsageError(fmt::format("{}: line {}, column {}: {}", name_, line, column, what));
  }

  void add(ImportedCsv& table, std::vector<CsvCell> row) const {
    if (row.size() != table.header.size()) {
      fail(row[0].line, row.back().column,
           fmt::format("{} cells under a header of {}; is a number written with a comma?",
                       row.size(), table.header.size()));
    }
    for (CsvCell& cell : row) {
      if (cell.text.empty()) continue;
      if (std::string reason = reason_to_drop(cell.text); !reason.empty()) {
        table.notes.push_back({cell.line, cell.column, reason});
      } else if (auto number = exact_number(cell.text)) {
        cell.value = *number;
      } else if (looks_numeric(cell.text)) {
        fail(cell.line, cell.column,
             fmt::format("'{}' is not a number; write digits with '.' as decimal point and no "
                         "separators of thousands",
                         cell.text));
      } else {
        cell.value = cell.text;
      }
    }
    table.rows.push_back(std::move(row));
  }

  std::vector<CsvCell> read_row() {
    std::vector<CsvCell> row;
    while (true) {
      row.push_back(read_cell());
      if (at_ >= text_.size()) return row;
      const char c = text_[at_++];
      if (c == '\n') {
        ++line_;
        line_start_ = at_;
        return row;
      }
    }
  }

  CsvCell read_cell() {
    CsvCell cell;
    cell.line = line_;
    cell.column = at_ - line_start_ + 1;
    if (at_ < text_.size() && text_[at_] == '"') {
      read_quoted(cell);
    } else {
      const std::size_t end =
          std::min(text_.find_first_of(separator_ == ',' ? ",\n" : ";\n", at_), text_.size());
      std::string_view raw = text_.substr(at_, end - at_);
      if (!raw.empty() && raw.back() == '\r') raw.remove_suffix(1);
      cell.text = trim(raw);
      at_ = end;
    }
    return cell;
  }

  void read_quoted(CsvCell& cell) {
    for (++at_;; ++at_) {
      if (at_ >= text_.size())
        fail(cell.line, cell.column, "a quoted cell has no end; the file may be cut off");
      if (text_[at_] == '"') {
        if (text_.substr(at_ + 1, 1) != "\"") break;
        ++at_;
      } else if (text_[at_] == '\n') {
        ++line_;
        line_start_ = at_ + 1;
      }
      cell.text += text_[at_];
    }
    ++at_;
    if (at_ < text_.size() && text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] != separator_ && text_[at_] != '\n') {
      fail(line_, at_ - line_start_ + 1, "text after the closing quote of a cell");
    }
  }

  std::string_view text_;
  std::string name_;
  char separator_ = ',';
  std::size_t at_ = 0, line_ = 1, line_start_ = 0;
};

}  // namespace

double ImportedCsv::number(std::size_t row, std::string_view title) const {
  const auto found = std::find(header.begin(), header.end(), title);
  if (found == header.end()) throw UsageError(fmt::format("{}: no column '{}'", name, title));
  const CsvCell& cell = rows.at(row)[static_cast<std::size_t>(found - header.begin())];
  if (auto value = number_of(cell.value)) return *value;
  throw UsageError(fmt::format("{}: line {}, column {}: '{}' under '{}' is not a number", name,
                               cell.line, cell.column, cell.text, title));
}

ImportedCsv import_csv(std::string_view text, const std::string& name) {
  return CsvReader(text, name).read();
}

}  // namespace pairmark
