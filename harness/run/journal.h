// The journal of a run: one JSON object a line, each on disk before the next item starts.
// result.json is made from it alone, so that a run killed at any moment has lost nothing finished.
#pragma once

#include <filesystem>
#include <vector>

#include "harness/base/json.h"

namespace pairmark {

class Journal {
 public:
  // Opens for appending; creates the file when `fresh`, and then refuses one that exists. Another
  // process that holds the journal open is refused. Throws UsageError.
  Journal(const std::filesystem::path& file, bool fresh);
  ~Journal();
  Journal(const Journal&) = delete;
  Journal& operator=(const Journal&) = delete;

  // Writes one line and fsyncs. Throws Error (disk full, say); what was written before stays
  // readable.
  void append(const Json& record);

 private:
  std::filesystem::path file_;
  int fd_;
};

// All whole records. A torn or unreadable last line (the process was killed, the disk was full) is
// dropped; an unreadable line before that throws UsageError with its number.
std::vector<Json> read_journal(const std::filesystem::path& file);

}  // namespace pairmark
