#pragma once

#include <memory>

#include "connectors/delta/delta_log.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// A batch write into the table of `log` (`snapshot` null: it is made). Null for SaveMode.Ignore on an existing table, and for an
/// idempotent write (txnAppId, txnVersion) that has happened. Errors: DELTA_PATH_EXISTS and those of PlanDeltaWrite.
Result<std::unique_ptr<sql::BatchWrite>> NewDeltaBatchWrite(std::shared_ptr<DeltaLog> log, DeltaSnapshotPtr snapshot,
                                                            const sql::WriteRequest& request);

/// The streaming sink: one commit per micro-batch with `txn` {query id, batch id}. Errors: DELTA_UNSUPPORTED_OUTPUT_MODE.
Result<std::unique_ptr<sql::StreamingWrite>> NewDeltaSink(std::shared_ptr<DeltaLog> log, const sql::StreamWriteRequest& request);
/// Append and complete. Errors: DELTA_UNSUPPORTED_OUTPUT_MODE.
Status CheckDeltaSinkMode(sql::OutputMode mode);

}  // namespace thalweg::connectors
