// The program `thalweg`: reads the command line and hands over to the front floor.
#include <CLI/CLI.hpp>
#include <iostream>

namespace {

int PrintVersion() {
  std::cout << "thalweg " << TW_VERSION << " (Spark 4.2.0)\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Spark Structured Streaming as one native program"};
  app.require_subcommand(1);
  app.add_subcommand("version", "Print the version and the version of Spark it follows");
  CLI11_PARSE(app, argc, argv);
  return PrintVersion();
}
