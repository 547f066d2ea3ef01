#pragma once

#include <memory>

#include "connectors/delta/delta_log.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// Files to read instead of a version's live ones. Their scan may also ask for the columns `RowLevelOperation::kGroupColumn`
/// (the number beside the file) and `kPositionColumn` (the row's place in the file, deleted rows counted).
struct DeltaScanGroups {
  std::vector<AddFilePtr> files;
  std::vector<int32_t> numbers;
};

/// A batch scan: files pruned by partition values and statistics, columns projected, deletion vectors applied. `pinned`: of that
/// version alone (time travel); else of the newest one whenever splits are planned.
/// `config` gives the session's zone and case rule. Errors: INTERNAL_ERROR for unknown columns; when splits are planned,
/// DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS for columns that are no longer what they were.
Result<std::unique_ptr<sql::Scan>> NewDeltaScan(std::shared_ptr<DeltaLog> log, DeltaSnapshotPtr snapshot,
                                                const sql::ScanRequest& request, std::shared_ptr<const sql::EvalConfig> config,
                                                bool pinned, std::shared_ptr<const DeltaScanGroups> groups = nullptr);

/// Splits that read all rows of some of the table's files, in their order, whatever else is live. The columns are those of
/// `snapshot`; files that lack one have nulls there.
Result<std::vector<sql::InputSplitPtr>> PlanDeltaFiles(std::shared_ptr<DeltaLog> log, DeltaSnapshotPtr snapshot,
                                                       const sql::ScanRequest& request, const std::shared_ptr<const sql::EvalConfig>& config,
                                                       const std::vector<AddFilePtr>& files);

}  // namespace thalweg::connectors
