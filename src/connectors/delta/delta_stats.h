#pragma once

// Statistics of data files: `stats` of an add action, written and used for skipping. Source: the Delta protocol,
// "Per-file statistics".

#include <string>
#include <vector>

#include "connectors/delta/delta_actions.h"
#include "data/formats/parquet/column_predicate.h"
#include "data/formats/parquet/parquet_writer.h"
#include "data/text/time_zone.h"

namespace thalweg::connectors {

struct DeltaStatsOptions {
  int indexed_columns = 32;                 ///< delta.dataSkippingNumIndexedCols; -1: all
  std::vector<std::string> only_columns;    ///< delta.dataSkippingStatsColumns, dotted; empty: not set
  int string_prefix = 32;
  bool tight_bounds = false;                ///< write tightBounds:true (tables with deletion vectors)
  std::vector<std::string> partition_columns;  ///< physical names, left out
  std::vector<std::string> void_columns;    ///< in the table, not in files: all null
  data::TimeZone zone;                      ///< timestamps are written with its offset
};
/// Options from table properties.
DeltaStatsOptions StatsOptionsFor(const DeltaMetadata& metadata);

/// The stats JSON of a written file; keys in Delta's order.
std::string DeltaStatsJson(const data::ParquetFileSummary& summary, const DeltaStatsOptions& options);

/// Cut for min: the first `prefix` code points. For max: nullopt when no short text is above all that begin so.
std::string TruncateMin(std::string_view text, int prefix);
std::optional<std::string> TruncateMax(std::string_view text, int prefix);

/// numRecords, if the stats say so.
std::optional<int64_t> StatsRecordCount(const AddFile& add);
/// Whether a file may hold a row for the conjunction. Predicates name physical top-level columns.
bool FileMayMatch(const AddFile& add, const std::vector<data::ColumnPredicate>& predicates);

}  // namespace thalweg::connectors
