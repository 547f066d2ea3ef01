#pragma once

// MERGE, UPDATE and DELETE on a Delta table, copy on write: files with rows that change are rewritten. Source: Delta's protocol.

#include <memory>

#include "connectors/delta/delta_log.h"
#include "sql/datasource/row_level_operation.h"

namespace thalweg::connectors {

/// On that version. Settings read: spark.databricks.delta.write.txnAppId and txnVersion, commitInfo.userMetadata.
/// Errors: DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS, those of PlanDeltaWrite; UNSUPPORTED_FEATURE.THALWEG for a change data feed.
Result<std::unique_ptr<sql::RowLevelOperation>> NewDeltaRowLevelOperation(std::shared_ptr<DeltaLog> log, DeltaSnapshotPtr snapshot,
                                                                          const sql::RowLevelRequest& request);

}  // namespace thalweg::connectors
