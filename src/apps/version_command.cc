#include <CLI/CLI.hpp>
#include <iostream>

#include "apps/commands.h"

namespace thalweg::apps {

std::string VersionText() { return std::string("thalweg ") + TW_VERSION + " (Spark 4.2.0)"; }

void AddVersionCommand(CLI::App& app, int* exit_code) {
  CLI::App* command = app.add_subcommand("version", "Print the version and the version of Spark it follows");
  command->callback([exit_code] {
    std::cout << VersionText() << "\n";
    *exit_code = 0;
  });
}

}  // namespace thalweg::apps
