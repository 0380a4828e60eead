// Tells a person how far a run is: one live line on a terminal, plain lines elsewhere.
#pragma once

#include "harness/run/session.h"

namespace pairmark {

// Columns of the terminal on standard output, 100 where there is none.
int terminal_columns();

class ProgressLine {
 public:
  explicit ProgressLine(int launches);  // to standard error
  void show(const Progress& progress);
  void finished(const Item& item, const ItemResult& result);
  void clear();  // leaves the terminal line empty

 private:
  bool terminal_;
  int launches_;
  std::string last_;
};

}  // namespace pairmark
