// scenario_runner [--points N] [--faults N] [--seed N] [--set KEY=VALUE] FILE...: runs scenarios; exit status 1 when an answer is wrong.
// --set: for every script that does not set KEY itself.

#include <charconv>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "data/io/local_file_system.h"
#include "scenario/runner.h"

namespace thalweg::scenario {
namespace {

bool ReadNumber(const char* text, int* out) {
  const std::string_view view(text);
  const auto [end, error] = std::from_chars(view.data(), view.data() + view.size(), *out);
  return error == std::errc{} && end == view.data() + view.size();
}

int Usage() {
  std::fprintf(stderr, "usage: scenario_runner [--points N] [--faults N] [--seed N] [--set KEY=VALUE] FILE...\n");
  return 2;
}

int Main(int argc, char** argv) {
  RunnerOptions options;
  int seed = 1;
  std::vector<std::string> files;
  std::map<std::string, std::string> settings;
  for (int i = 1; i < argc; ++i) {
    const std::string argument = argv[i];
    if (!argument.starts_with("--")) {
      files.push_back(argument);
      continue;
    }
    if (argument == "--set" && i + 1 < argc) {
      const std::string setting = argv[++i];
      const size_t equals = setting.find('=');
      if (equals == std::string::npos) return Usage();
      settings[setting.substr(0, equals)] = setting.substr(equals + 1);
      continue;
    }
    int* const number = argument == "--points" ? &options.points : argument == "--faults" ? &options.fault_points : argument == "--seed" ? &seed : nullptr;
    if (number == nullptr || i + 1 == argc || !ReadNumber(argv[++i], number)) return Usage();
  }
  options.seed = static_cast<uint64_t>(seed);
  ConfigureLog(LogLevel::kOff, LogFormat::kText);
  int failed = 0, runs = 0;
  for (const std::string& file : files) {
    const int64_t begin_ms = SystemClock::Get().NowMonotonic().count() / 1'000'000;
    const Result<std::string> text = data::LocalFileSystem::Get().ReadWhole(file);
    Result<Scenario> scenario = text.ok() ? ParseScenario(file, *text) : text.status();
    if (!scenario.ok()) {
      std::printf("FAILED %s\n  %s\n", file.c_str(), scenario.status().message().c_str());
      ++failed;
      continue;
    }
    scenario->settings.insert(settings.begin(), settings.end());
    const Report report = RunScenario(*scenario, options);
    runs += report.runs;
    const int64_t spent_ms = SystemClock::Get().NowMonotonic().count() / 1'000'000 - begin_ms;
    std::printf("%s %s: %d runs, %d durable steps, %lld ms\n", report.failures.empty() ? "ok" : "FAILED", file.c_str(), report.runs,
                report.durable_steps, static_cast<long long>(spent_ms));
    for (const std::string& failure : report.failures) std::printf("  %s\n", failure.c_str());
    std::fflush(stdout);
    if (!report.failures.empty()) ++failed;
  }
  std::printf("%zu scenarios, %d runs, %d failed\n", files.size(), runs, failed);
  return failed == 0 ? 0 : 1;
}

}  // namespace
}  // namespace thalweg::scenario

int main(int argc, char** argv) { return thalweg::scenario::Main(argc, argv); }
