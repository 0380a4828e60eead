// The one exception family. what() is a whole sentence for a person: what is wrong and what to do.
#pragma once

#include <fmt/format.h>

#include <stdexcept>
#include <string>
#include <utility>

#include "harness/base/outcome.h"

namespace pairmark {

// A failure that ends a case (or the program, at top level); `outcome` says how the case is filed.
class Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, Outcome outcome = Outcome::kError)
      : std::runtime_error(message), outcome_(outcome) {}
  Outcome outcome() const { return outcome_; }

 private:
  Outcome outcome_;
};

// Bad input from the user: a flag, a file, a variable. The program ends with exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

// The device or a library cannot do this case.
class UnsupportedError : public Error {
 public:
  explicit UnsupportedError(const std::string& message) : Error(message, Outcome::kUnsupported) {}
};

// Throws Error with a formatted message when the condition is false. Always compiled in.
template <typename... Args>
void check(bool condition, fmt::format_string<Args...> format, Args&&... args) {
  if (!condition) throw Error(fmt::format(format, std::forward<Args>(args)...));
}

}  // namespace pairmark
