#pragma once

#include <memory>

#include "connectors/delta/delta_log.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// A Delta table as a stream: the files of a first snapshot, then those that each later commit adds. `snapshot` fixes the
/// schema of the rows. Positions are Delta's own: a checkpoint of Spark continues here, and back.
/// With startingVersion = latest the first micro-batch is empty: it makes the place durable at which the stream begins.
/// Errors: DELTA_ILLEGAL_OPTION and others of the options; DELTA_SCHEMA_CHANGED_WITH_VERSION. While it runs:
/// DELTA_SOURCE_TABLE_IGNORE_CHANGES, DELTA_SOURCE_IGNORE_DELETE, DELTA_VERSION_NOT_FOUND, DELTA_TIMESTAMP_GREATER_THAN_COMMIT,
/// DELTA_MISSING_FILES_UNEXPECTED_VERSION, DELTA_STREAMING_TRAILING_COMMIT_MISSING,
/// DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE, DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG.
Result<std::unique_ptr<sql::MicroBatchStream>> NewDeltaStream(std::shared_ptr<DeltaLog> log, DeltaSnapshotPtr snapshot,
                                                              const sql::OptionMap& options, const sql::StreamContext& context);

/// What of a streaming read can be refused before it starts. Errors: DELTA_READ_SOURCE_SCHEMA_CONFLICT, DELTA_SCHEMA_NOT_SET,
/// UNSUPPORTED_FEATURE.THALWEG for the change data feed and schema tracking.
Status CheckDeltaStream(const DeltaSnapshot& snapshot, const sql::LoadRequest& request);

/// Whether rows of a table whose schema became `change` at `version` may still be read with the schema of `read`.
/// Errors: DELTA_SCHEMA_CHANGED_WITH_VERSION and others, see NewDeltaStream.
Status CheckDeltaStreamSchema(const DeltaSnapshot& read, const DeltaMetadata& change, int64_t version);

}  // namespace thalweg::connectors
