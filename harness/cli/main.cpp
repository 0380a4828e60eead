// pairmark: plans, launches and supervises the suite programs; itself it links nothing that it
// measures.
#include <csignal>
#include <iostream>
#include <map>

#include "harness/base/build_info.h"
#include "harness/base/error.h"
#include "harness/base/units.h"
#include "harness/cli/commands.h"

namespace {

using pairmark::Command;

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// One sentence for a command line that CLI11 refuses, with the nearest word that exists.
std::string sentence(const CLI::App& app, const std::vector<std::string>& arguments,
                     const CLI::ParseError& error) {
  const CLI::App* command = &app;
  std::vector<std::string> known;
  for (const CLI::App* sub : app.get_subcommands()) command = sub;
  if (command == &app) {
    for (const CLI::App* sub : app.get_subcommands({})) known.push_back(sub->get_name());
  } else {
    known = option_names(*command);
  }
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr || command == &app) {
    for (const auto& argument : arguments) {
      const std::string word = argument.substr(0, argument.find('='));
      if (std::find(known.begin(), known.end(), word) != known.end() || word == command->get_name())
        continue;
      const bool option = word.starts_with("--");
      if (command != &app && !option) continue;
      const std::string near = pairmark::nearest_match(word, known);
      return fmt::format("there is no {} '{}'{}; see {} --help", option ? "option" : "command",
                         word, near.empty() ? "" : fmt::format(" (did you mean {}?)", near),
                         command == &app ? "pairmark" : "pairmark " + command->get_name());
    }
  }
  return error.what();
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGPIPE, SIG_IGN);
  CLI::App app(
      "What is a second GPU worth on this machine, why is it not worth more, and is the machine "
      "healthy?",
      "pairmark");
  app.set_version_flag("--version", std::string("pairmark ") + pairmark::version() +
                                        (pairmark::built_with_cuda() ? " (cpu, cuda)" : " (cpu)"));
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 all ok; 1 something is incorrect, invalid or slower; 2 usage; 3 error, hang "
      "or stopped early;\n"
      "4 nothing ran.");
  const std::vector<std::string> command_line(argv, argv + argc);
  std::map<std::string, Command> commands;
  commands["run"] =
      pairmark::add_run(*app.add_subcommand("run", "measure and write a result"), command_line);
  commands["list"] =
      pairmark::add_list(*app.add_subcommand("list", "show suites, cases, axes and arms"));
  commands["report"] = pairmark::add_report(
      *app.add_subcommand("report", "make HTML, Markdown and pictures of a result"));
  commands["compare"] =
      pairmark::add_compare(*app.add_subcommand("compare", "compare two results row by row"));
  try {
    app.parse(argc, argv);
    return commands.at(app.get_subcommands().front()->get_name())();
  } catch (const CLI::Success& success) {
    return app.exit(success);
  } catch (const CLI::ParseError& error) {
    std::cerr << "pairmark: "
              << sentence(app, {command_line.begin() + 1, command_line.end()}, error) << "\n";
    return pairmark::kExitUsage;
  } catch (const pairmark::UsageError& error) {
    std::cerr << "pairmark: " << error.what() << "\n";
    return pairmark::kExitUsage;
  } catch (const std::exception& error) {
    std::cerr << "pairmark: " << error.what() << "\n";
    return pairmark::kExitError;
  }
}
