#pragma once

// From the rows of a query to the rows of a table: schema enforcement, casts, new tables. Source: Delta's protocol.

#include "connectors/delta/delta_commit.h"
#include "connectors/delta/delta_files_writer.h"

namespace thalweg::connectors {

struct DeltaWriteRequest {
  data::Schema schema;                     ///< of the query
  std::vector<std::string> partition_columns;  ///< that the writer named
  sql::OptionMap options;
  bool overwrite = false;
  bool streaming = false;                  ///< casts implicitly, refuses void columns
  std::shared_ptr<const sql::EvalConfig> config;
};

/// A planned write. `metadata` and `protocol` are set when the commit has to carry them.
struct DeltaWriteTarget {
  DeltaSnapshotPtr snapshot;               ///< null: the table is new
  std::optional<DeltaMetadata> metadata;
  std::optional<DeltaProtocol> protocol;
  DeltaWritePlanPtr plan;
  bool merge_schema = false;               ///< the option was given
  bool overwrite_schema = false;
};

/// Errors: DELTA_METADATA_MISMATCH, DELTA_FAILED_TO_MERGE_FIELDS, DELTA_PARTITION_COLUMN_NOT_FOUND,
/// DELTA_MISSING_NOT_NULL_COLUMN_VALUE, DELTA_DUPLICATE_COLUMNS_FOUND.DATA, DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES,
/// DELTA_UNSUPPORTED_FEATURES_FOR_WRITE and others of table features; UNSUPPORTED_FEATURE.THALWEG for options not served.
Result<DeltaWriteTarget> PlanDeltaWrite(DeltaLog& log, DeltaSnapshotPtr snapshot, const DeltaWriteRequest& request);

/// Metadata and protocol of a new table; checks names, types and partition columns.
struct DeltaNewTable {
  DeltaMetadata metadata;
  DeltaProtocol protocol;
};
Result<DeltaNewTable> MakeNewDeltaTable(const DeltaLog& log, data::Schema schema, const std::vector<std::string>& partition_columns,
                                        StringPairs properties, bool case_sensitive);

/// The remove action of a live file, at `now_ms`.
RemoveFile RemoveOf(const AddFile& add, int64_t now_ms);

}  // namespace thalweg::connectors
