// Reading result files that this program did not write, or that are damaged. Strict first; what
// cannot be true becomes null with a note that names its place; nothing is guessed. Every failure
// is one UsageError sentence with file, line and column.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "harness/base/json.h"

namespace pairmark {

struct ImportNote {
  std::size_t line = 0, column = 0;  // from 1; column in bytes
  std::string text;                  // "-nan is not a number: read as null"
};

struct ImportedJson {
  Json value;
  std::vector<ImportNote> notes;
};

// Numbers from here up are overflow marks of other tools (2^63 / 1000 and above), not measurements:
// read as null with a note.
inline constexpr double kSentinel = 9.2e15;

// A result of pairmark must be strict JSON and is taken as it is. In any other file NaN, Infinity,
// inf and their signed forms (in any case, outside strings), numbers too large for a double, and
// sentinels become null with a note. Throws UsageError when it is not JSON even then.
ImportedJson import_json(std::string_view text, const std::string& name);

struct CsvCell {
  std::string text;  // all digits as they stand in the file
  Json value;        // null (empty, or nan and inf with a note), number, or string
  std::size_t line = 0, column = 0;
};

struct ImportedCsv {
  std::string name;  // of the file, for messages
  std::vector<std::string> header;
  std::vector<std::vector<CsvCell>> rows;  // each as long as the header
  std::vector<ImportNote> notes;

  // The number in a row under a title. Throws UsageError with line and column when it is missing or
  // not a number.
  double number(std::size_t row, std::string_view title) const;
};

// Cells are separated by ',' (or by ';' when the header has ';' and no ','), quoted as in RFC 4180;
// the first line is the header. Throws UsageError with line and column for what looks like a number
// but is not one, such as "1,234", and for rows of another length.
ImportedCsv import_csv(std::string_view text, const std::string& name);

}  // namespace pairmark
