// The program `thalweg`: reads the command line and hands over to a subcommand.
#include <CLI/CLI.hpp>

#include "apps/commands.h"

int main(int argc, char** argv) {
  CLI::App app{"Spark Structured Streaming as one native program"};
  app.require_subcommand(1);
  int exit_code = 0;
  thalweg::apps::AddVersionCommand(app, &exit_code);
#ifdef TW_WITH_SERVER
  thalweg::apps::AddServerCommand(app, &exit_code);
  thalweg::apps::AddSubmitCommand(app, &exit_code);
#endif
  CLI11_PARSE(app, argc, argv);
  return exit_code;
}
