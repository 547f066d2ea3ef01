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

}  // namespace

int main(int argc, char** argv) {
  TakeWhatLimitsAllow();
  CLI::App app{"Spark Structured Streaming as one native program"};
  app.require_subcommand(1);
  int exit_code = 0;
  if (const thalweg::Status armed = thalweg::ArmFaultPointsFromEnvironment(); !armed.ok()) {
    std::cerr << "THALWEG_FAULT: " << armed.message() << "\n";
    return 2;
  }
  thalweg::apps::AddVersionCommand(app, &exit_code);
  thalweg::apps::AddServerCommand(app, &exit_code);
  thalweg::apps::AddSubmitCommand(app, &exit_code);
  thalweg::apps::AddDemoCommand(app, &exit_code);
  thalweg::apps::AddSqlCommand(app, &exit_code);
  CLI11_PARSE(app, argc, argv);
  return exit_code;
}
