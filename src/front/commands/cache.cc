// Every read sees the data as it is: there is nothing to fill or to drop but the names that are told back.
#include <algorithm>

#include "base/string_case.h"
#include "front/commands/handlers.h"

namespace thalweg::front {

namespace {

Status CheckRelation(CommandRun& run, const sql::NameParts& name) {
  return run.session.Analyze(std::make_shared<sql::UnresolvedRelation>(name, sql::OptionMap(), false), run.stop).status();
}

Status CheckStorageLevel(const std::map<std::string, std::string>& options) {
  static constexpr std::string_view kLevels[] = {
      "NONE", "DISK_ONLY", "DISK_ONLY_2", "DISK_ONLY_3", "MEMORY_ONLY", "MEMORY_ONLY_2", "MEMORY_ONLY_SER", "MEMORY_ONLY_SER_2",
      "MEMORY_AND_DISK", "MEMORY_AND_DISK_2", "MEMORY_AND_DISK_SER", "MEMORY_AND_DISK_SER_2", "OFF_HEAP"};
  for (const auto& [key, value] : options) {
    if (!EqualsIgnoreCase(key, "storageLevel")) continue;
    const std::string level = ToAsciiUpper(value);
    if (std::find(std::begin(kLevels), std::end(kLevels), level) == std::end(kLevels)) {
      return Error("ILLEGAL_ARGUMENT").With("message", "Invalid StorageLevel: " + level);
    }
  }
  return Status::OK();
}

}  // namespace

Status Run(CommandRun& run, const sql::CacheTable& command) {
  TW_RETURN_NOT_OK(CheckStorageLevel(command.options));
  if (command.query == nullptr) {
    TW_RETURN_NOT_OK(CheckRelation(run, command.name));
    return run.session.SetCached(command.name, true);
  }
  if (command.name.size() > 1) {
    const sql::NameParts qualifier(command.name.begin(), command.name.end() - 1);
    return Error("_LEGACY_ERROR_TEMP_0037").With("quoted", sql::QuoteName(qualifier));
  }
  TW_ASSIGN_OR_RETURN(sql::PlanPtr analyzed, run.session.Analyze(command.query, run.stop));
  TW_RETURN_NOT_OK(run.session.CreateTempView(command.name.back(), std::move(analyzed), false, false));
  return run.session.SetCached(command.name, true);
}

Status Run(CommandRun& run, const sql::UncacheTable& command) {
  const Status found = CheckRelation(run, command.name);
  if (!found.ok()) return command.if_exists ? Status::OK() : found;
  return run.session.SetCached(command.name, false);
}

Status Run(CommandRun& run, const sql::ClearCache&) {
  run.session.ClearCached();
  return Status::OK();
}

Status Run(CommandRun&, const sql::RefreshPath&) { return Status::OK(); }
Status Run(CommandRun& run, const sql::RefreshTable& command) { return CheckRelation(run, command.name); }

}  // namespace thalweg::front
