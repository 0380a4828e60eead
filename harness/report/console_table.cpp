#include "harness/report/console_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

namespace pairmark {
namespace {

constexpr std::size_t kGap = 2;         // between columns, and before the first
constexpr std::size_t kLeastWrap = 24;  // a wrapped column narrower than this cannot be read

// Bytes of the UTF-8 sequence that starts here, 0 when it is none.
std::size_t sequence_length(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  std::size_t length = lead < 0x80   ? 1
                       : lead < 0xC2 ? 0
                       : lead < 0xE0 ? 2
                       : lead < 0xF0 ? 3
                       : lead < 0xF5 ? 4
                                     : 0;
  if (length > text.size()) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  }
  return length;
}

std::size_t usable_width(const ConsoleOptions& options) {
  return static_cast<std::size_t>(std::max(40, options.width));
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::size_t used = display_width(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return right ? space + text : text + space;
}

// Byte offset of code point `count`.
std::size_t offset_of(std::string_view text, std::size_t count) {
  std::size_t at = 0;
  while (at < text.size() && count > 0) {
    at += std::max<std::size_t>(1, sequence_length(text.substr(at)));
    --count;
  }
  return at;
}

std::vector<std::string> broken(std::string_view text, std::size_t width) {
  std::vector<std::string> lines;
  while (display_width(text) > width) {
    std::size_t limit = offset_of(text, width);
    std::size_t cut = text.rfind(' ', limit);
    if (cut != std::string_view::npos && cut > 0 && text.substr(cut + 1, 1) == "%") {
      cut = text.rfind(' ', cut - 1);  // a number stays with its percent sign
    }
    if (cut == std::string_view::npos || cut == 0) cut = limit;
    lines.emplace_back(text.substr(0, cut));
    text.remove_prefix(cut);
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  }
  if (!text.empty() || lines.empty()) lines.emplace_back(text);
  return lines;
}

void strip_trailing_spaces(std::string& text) {
  while (!text.empty() && text.back() == ' ') text.pop_back();
}

}  // namespace

std::string paint(std::string_view text, Style style, const ConsoleOptions& options) {
  if (!options.color || style == Style::kPlain || text.empty()) return std::string(text);
  const char* code = style == Style::kBold   ? "1"
                     : style == Style::kGood ? "32"
                     : style == Style::kWarn ? "33"
                                             : "31";
  return fmt::format("\033[{}m{}\033[0m", code, text);
}

std::string plain(std::string_view text, const ConsoleOptions& options) {
  std::string out;
  while (!text.empty()) {
    std::size_t length = sequence_length(text);
    const auto lead = static_cast<unsigned char>(text[0]);
    // U+0080 to U+009F (C2 80..9F) are control characters too: some terminals obey them.
    const bool control =
        lead < 0x20 || lead == 0x7F ||
        (length == 2 && lead == 0xC2 && static_cast<unsigned char>(text[1]) < 0xA0);
    if (control) {
      out += ' ';
    } else if (length == 0 || (length > 1 && !options.unicode)) {
      out += '?';
    } else {
      out += text.substr(0, length);
    }
    text.remove_prefix(std::max<std::size_t>(1, length));
  }
  return out;
}

std::size_t display_width(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

std::string wrap(std::string_view text, const ConsoleOptions& options, std::size_t indent,
                 const std::string& first) {
  const std::size_t width = usable_width(options);
  const std::size_t hang = std::max(indent, display_width(first));
  std::string out;
  for (const std::string& line : broken(text, width > hang + 10 ? width - hang : 10)) {
    out += out.empty() ? padded(first, hang, false) : std::string(hang, ' ');
    out += line + "\n";
  }
  return out;
}

std::string more_rows(std::size_t left_out, const ConsoleOptions& options) {
  if (left_out == 0) return "";
  return fmt::format("  {} {} more {} in result.json\n", options.unicode ? "…" : "...", left_out,
                     left_out == 1 ? "row" : "rows");
}

void Table::heading(std::string text) {
  lines_.push_back({Kind::kHeading, {std::move(text)}});
}

void Table::row(std::vector<std::string> cells) {
  cells.resize(columns_.size());
  lines_.push_back({Kind::kRow, std::move(cells)});
}

void Table::note(std::string text) {
  lines_.push_back({Kind::kNote, {std::move(text)}});
}

Table::Layout Table::layout(std::size_t width) const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const Line& line : lines_) {
    if (line.kind != Kind::kRow) continue;
    for (std::size_t i = 0; i < widths.size(); ++i)
      widths[i] = std::max(widths[i], display_width(line.cells[i]));
  }
  Layout result;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    if (widths[i] == 0) continue;
    result.shown.push_back(i);
    result.widths.push_back(std::max(widths[i], display_width(columns_[i].title)));
  }
  while (!result.shown.empty()) {
    const bool wraps = !columns_[result.shown.back()].right;
    std::size_t total = kGap * result.shown.size();
    for (std::size_t w : result.widths) total += w;
    if (total <= width) break;
    std::size_t fixed = total - result.widths.back();
    if (wraps && fixed + kLeastWrap <= width) {
      result.widths.back() = width - fixed;
      break;
    }
    auto first = std::max_element(result.shown.begin(), result.shown.end(), [&](auto a, auto b) {
      return columns_[a].drop < columns_[b].drop;
    });
    if (columns_[*first].drop ==
        0) {  // nothing left to drop: lines run over rather than lose a figure
      if (wraps) result.widths.back() = kLeastWrap;
      break;
    }
    result.dropped.push_back(columns_[*first].title);
    result.widths.erase(result.widths.begin() + (first - result.shown.begin()));
    result.shown.erase(first);
  }
  return result;
}

std::string Table::line(const std::vector<std::string>& cells, const Layout& layout, bool title,
                        const ConsoleOptions& options) const {
  std::string out;
  std::size_t before = 0;
  for (std::size_t k = 0; k < layout.shown.size(); ++k) {
    const Column& column = columns_[layout.shown[k]];
    const std::string& cell = title ? column.title : cells[layout.shown[k]];
    const bool last = k + 1 == layout.shown.size();
    out += std::string(kGap, ' ');
    before += kGap;
    if (last && !column.right) {
      std::vector<std::string> parts = broken(cell, layout.widths[k]);
      for (std::size_t i = 0; i < parts.size(); ++i) {
        if (i > 0) out.append(1, '\n').append(before, ' ');
        out += parts[i];
      }
    } else {
      Style style = title || column.style == nullptr ? Style::kPlain : column.style(cell);
      out += paint(padded(cell, layout.widths[k], column.right), style, options);
    }
    before += layout.widths[k];
  }
  strip_trailing_spaces(out);
  return out + "\n";
}

std::string Table::text(const ConsoleOptions& options) const {
  const Layout where = layout(usable_width(options));
  std::string out = line({}, where, true, options);
  for (const Line& each : lines_) {
    if (each.kind == Kind::kRow) {
      out += line(each.cells, where, false, options);
    } else if (each.kind == Kind::kHeading) {
      out += wrap(each.cells[0], options);
    } else {
      out += wrap(each.cells[0], options, 6);
    }
  }
  if (!where.dropped.empty()) {
    std::string names = where.dropped[0];
    for (std::size_t i = 1; i < where.dropped.size(); ++i) names += ", " + where.dropped[i];
    out += wrap(fmt::format("Not shown in {} columns (it is in result.json): {}",
                            usable_width(options), names),
                options, 2);
  }
  return out;
}

}  // namespace pairmark
