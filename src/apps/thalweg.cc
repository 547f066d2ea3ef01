// The program `thalweg`: reads the command line and hands over to a subcommand.
#include <signal.h>
#include <sys/resource.h>

#include <CLI/CLI.hpp>
#include <iostream>

#include "apps/commands.h"
#include "base/fault_point.h"

namespace {

/// A file of a limit's size fails like a full disk instead of ending the process, and as many files as the system allows may be
/// open: a write has one per task, a stream one per partition of its state.
void TakeWhatLimitsAllow() {
  signal(SIGXFSZ, SIG_IGN);
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0 || files.rlim_cur == files.rlim_max) return;
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
}

constexpr int kUsageError = 2;

/// The subcommand that was named, else the program.
const CLI::App& Chosen(const CLI::App& app) {
  const std::vector<const CLI::App*> chosen = app.get_subcommands({});
  for (const CLI::App* command : chosen) {
    if (command->count() > 0) return *command;
  }
  return app;
}

/// What nobody took: a command's name, else the first option among it, for what follows that may be its value.
std::string NotTaken(const CLI::App& app, const CLI::App& chosen) {
  std::vector<std::string> rest = chosen.remaining();
  if (rest.empty()) rest = app.remaining();
  if (rest.empty()) return {};
  if (&chosen == &app && !rest.front().starts_with("-")) return "there is no command '" + rest.front() + "'";
  for (const std::string& part : rest) {
    if (part.starts_with("-")) return "there is no option " + part;
  }
  return "nothing is expected at '" + rest.front() + "'";
}

int TellUsageError(const CLI::App& app, const CLI::ParseError& error) {
  const CLI::App& chosen = Chosen(app);
  const std::string name = &chosen == &app ? app.get_name() : app.get_name() + " " + chosen.get_name();
  const std::string not_taken = NotTaken(app, chosen);
  std::cerr << name << ": " << (not_taken.empty() ? error.what() : not_taken) << "\nRun '" << name << " --help' for more.\n";
  return kUsageError;
}

}  // namespace

int main(int argc, char** argv) {
  TakeWhatLimitsAllow();
  CLI::App app{"Spark Structured Streaming as one native program", "thalweg"};
  app.require_subcommand(0, 1);
  int exit_code = 0;
  if (const thalweg::Status armed = thalweg::ArmFaultPointsFromEnvironment(); !armed.ok()) {
    std::cerr << "THALWEG_FAULT: " << armed.message() << "\n";
    return 2;
  }
  app.set_version_flag("--version", thalweg::apps::VersionText(), "Print the version and the version of Spark it follows");
  thalweg::apps::AddVersionCommand(app, &exit_code);
  thalweg::apps::AddServerCommand(app, &exit_code);
  thalweg::apps::AddSubmitCommand(app, &exit_code);
  thalweg::apps::AddDemoCommand(app, &exit_code);
  thalweg::apps::AddSqlCommand(app, &exit_code);
  thalweg::apps::AddCheckpointCommand(app, &exit_code);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return error.get_exit_code() == 0 ? app.exit(error) : TellUsageError(app, error);
  }
  if (argc > 1) return exit_code;
  std::cerr << app.help();
  return kUsageError;
}
