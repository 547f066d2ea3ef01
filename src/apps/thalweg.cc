// The program `thalweg`: reads the command line and hands over to a subcommand.
#include <CLI/CLI.hpp>
#include <iostream>

#include "apps/commands.h"
#include "base/fault_point.h"

int main(int argc, char** argv) {
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
