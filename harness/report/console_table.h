// Aligned text for a terminal of known width. Widths are counted in code points; colour is added
// after alignment and never says anything that the words do not say.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace pairmark {

struct ConsoleOptions {
  int width = 80;       // columns; at least 40 are used
  bool color = false;   // ANSI colours
  bool unicode = true;  // false: ASCII only
  int max_rows = 30;    // longer lists are cut, saying how many more there are
  std::string folder;   // where result.json and its companions lie; empty: not shown
};

enum class Style { kPlain, kBold, kGood, kWarn, kBad };

// The text in a style, when colours are on.
std::string paint(std::string_view text, Style style, const ConsoleOptions& options);

// Text from a file made safe for a terminal: control characters become spaces, bytes that are not
// UTF-8 (and without `unicode` all that is not ASCII) become '?'.
std::string plain(std::string_view text, const ConsoleOptions& options);

std::size_t display_width(std::string_view text);

// Breaks at spaces; every line starts with `indent` spaces, the first with `first` instead. A word
// longer than a line is cut. Lines end with '\n'.
std::string wrap(std::string_view text, const ConsoleOptions& options, std::size_t indent = 0,
                 const std::string& first = "");

// "... 12 more rows in result.json", or "" when nothing was left out.
std::string more_rows(std::size_t left_out, const ConsoleOptions& options);

struct Column {
  std::string title;
  bool right = false;  // numbers: aligned right
  int drop = 0;        // 0: kept always; the largest goes first where space is short
  Style (*style)(const std::string& cell) = nullptr;
};

// A table whose rows may stand in groups under a heading. A column without any cell is left out;
// the last column, when aligned left, is wrapped.
class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void heading(std::string text);
  void row(std::vector<std::string> cells);
  void note(std::string text);  // a line under the row before it
  std::string text(const ConsoleOptions& options) const;

 private:
  enum class Kind { kHeading, kRow, kNote };
  struct Line {
    Kind kind;
    std::vector<std::string> cells;
  };
  struct Layout {
    std::vector<std::size_t> shown;   // indices of columns
    std::vector<std::size_t> widths;  // of each shown column
    std::vector<std::string> dropped;
  };
  Layout layout(std::size_t width) const;
  std::string line(const std::vector<std::string>& cells, const Layout& layout, bool title,
                   const ConsoleOptions& options) const;

  std::vector<Column> columns_;
  std::vector<Line> lines_;
};

}  // namespace pairmark
