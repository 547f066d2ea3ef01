#pragma once

#include <string>

// The subcommands: each adds itself to the program's command line and runs when it was chosen.

namespace CLI {
class App;
}

namespace thalweg::apps {

/// "thalweg 0.1.0 (Spark 4.2.0)".
std::string VersionText();

/// `exit_code` gets the program's exit status. It and `app` outlive the parsing.
void AddVersionCommand(CLI::App& app, int* exit_code);
void AddServerCommand(CLI::App& app, int* exit_code);
void AddSubmitCommand(CLI::App& app, int* exit_code);
void AddDemoCommand(CLI::App& app, int* exit_code);
void AddSqlCommand(CLI::App& app, int* exit_code);
void AddCheckpointCommand(CLI::App& app, int* exit_code);

}  // namespace thalweg::apps
