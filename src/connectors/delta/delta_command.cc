#include "connectors/delta/delta_command.h"

#include "base/string_case.h"
#include "connectors/delta/delta_protocol.h"
#include "data/text/numbers.h"

namespace thalweg::connectors {

Result<sql::TableCommandAnswer> RunDeltaCommand(const std::shared_ptr<DeltaLog>& log, const sql::TableCommandRequest& request) {
  struct CommandEntry {
    std::string_view name;
    Result<sql::TableCommandAnswer> (*run)(const DeltaCommandRun&);
  };
  static constexpr CommandEntry kCommands[] = {
      {"ADD FEATURE", &AddDeltaFeature}, {"DESCRIBE DETAIL", &DescribeDeltaDetail}, {"DESCRIBE HISTORY", &DescribeDeltaHistory},
      {"OPTIMIZE", &OptimizeDelta},      {"RESTORE", &RestoreDelta},                {"UPGRADE PROTOCOL", &UpgradeDeltaProtocol},
      {"VACUUM", &VacuumDelta},
  };
  for (const CommandEntry& entry : kCommands) {
    if (entry.name != request.name) continue;
    TW_ASSIGN_OR_RETURN(DeltaSnapshotPtr snapshot, log->Update());
    DeltaCommandRun run{.log = log, .snapshot = std::move(snapshot), .request = request};
    if (run.snapshot == nullptr) return Error("DELTA_TABLE_NOT_FOUND").With("tableName", run.table_name());
    TW_RETURN_NOT_OK(CheckDeltaReadable(run.snapshot->protocol(), run.table_name()));
    return entry.run(run);
  }
  return Unsupported(request.name + " of a Delta table");
}

std::optional<int64_t> ParseDeltaInterval(std::string_view text) {
  static constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"millisecond", 1}, {"second", 1000}, {"minute", 60'000}, {"hour", 3'600'000}, {"day", 86'400'000}, {"week", 604'800'000}};
  std::vector<std::string> words;
  for (size_t at = 0; at < text.size();) {
    const size_t begin = text.find_first_not_of(" \t", at);
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(text.find_first_of(" \t", begin), text.size());
    words.push_back(ToAsciiLower(text.substr(begin, end - begin)));
    at = end;
  }
  const size_t first = !words.empty() && words[0] == "interval" ? 1 : 0;
  if (words.size() == first || (words.size() - first) % 2 != 0) return {};
  int64_t total = 0;
  for (size_t i = first; i < words.size(); i += 2) {
    int64_t count = 0;
    if (!data::ParseJavaLong(words[i], &count)) return {};
    const std::string_view name(words[i + 1]);
    int64_t unit = 0;
    for (const auto& [known, millis] : kUnits) {
      if (name == known || name == std::string(known) + "s") unit = millis;
    }
    int64_t part = 0;
    if (unit == 0 || __builtin_mul_overflow(count, unit, &part) || __builtin_add_overflow(total, part, &total)) return {};
  }
  return total;
}

}  // namespace thalweg::connectors
