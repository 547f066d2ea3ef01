#pragma once

// Maintenance commands of a Delta table. Source: Delta's documentation, "Optimizations".

#include <memory>

#include "connectors/delta/delta_commit.h"
#include "sql/datasource/table_command.h"

namespace thalweg::connectors {

/// By the request's name, with the keys of its arguments:
/// DESCRIBE HISTORY (limit), DESCRIBE DETAIL, VACUUM (retainHours, dryRun, lite), OPTIMIZE (predicate: the condition's text;
/// full), RESTORE (version, timestamp), UPGRADE PROTOCOL (readerVersion, writerVersion), ADD FEATURE (feature).
/// Errors: UNSUPPORTED_FEATURE.THALWEG for other names; each command's own.
Result<sql::TableCommandAnswer> RunDeltaCommand(const std::shared_ptr<DeltaLog>& log, const sql::TableCommandRequest& request);

/// One command's run.
struct DeltaCommandRun {
  const std::shared_ptr<DeltaLog>& log;
  DeltaSnapshotPtr snapshot;              ///< the newest when the command began
  const sql::TableCommandRequest& request;
  std::string table_name() const { return "delta.`" + log->table_path() + "`"; }
};

Result<sql::TableCommandAnswer> DescribeDeltaHistory(const DeltaCommandRun& run);
Result<sql::TableCommandAnswer> DescribeDeltaDetail(const DeltaCommandRun& run);
Result<sql::TableCommandAnswer> VacuumDelta(const DeltaCommandRun& run);
Result<sql::TableCommandAnswer> OptimizeDelta(const DeltaCommandRun& run);
Result<sql::TableCommandAnswer> RestoreDelta(const DeltaCommandRun& run);
Result<sql::TableCommandAnswer> UpgradeDeltaProtocol(const DeltaCommandRun& run);
Result<sql::TableCommandAnswer> AddDeltaFeature(const DeltaCommandRun& run);

/// "interval 7 days", "168 hours" in ms; nullopt for anything else, months and years among it.
std::optional<int64_t> ParseDeltaInterval(std::string_view text);

}  // namespace thalweg::connectors
