// The subcommands of pairmark. Each declares its options on `app` and returns what to do once they
// are parsed; that returns the exit code and may throw Error.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace pairmark {

using Command = std::function<int()>;

Command add_run(CLI::App& app, const std::vector<std::string>& command_line);
Command add_list(CLI::App& app);
Command add_report(CLI::App& app);
Command add_compare(CLI::App& app);

}  // namespace pairmark
