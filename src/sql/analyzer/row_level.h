#pragma once

// MERGE, UPDATE and DELETE resolved: names, types, which columns are written. Source: Spark's and Delta's analysis of MERGE.

#include <memory>
#include <vector>

#include "sql/analyzer/analyzer.h"

namespace thalweg::sql {

struct RowLevelClause {
  enum class Kind : uint8_t { kUpdate, kDelete, kInsert } kind = Kind::kUpdate;
  ExprPtr condition;                           ///< null: always
  ExprList values;                             ///< updates and inserts: one for each column of `written`, of its type
};

struct RowLevelStatement {
  std::shared_ptr<const Relation> target;
  PlanPtr source;                              ///< null for UPDATE and DELETE
  /// MERGE: over target and source; UPDATE and DELETE: over the target, null for all rows.
  ExprPtr condition;
  std::vector<RowLevelClause> matched;         ///< over target and source
  std::vector<RowLevelClause> not_matched;     ///< over the source
  std::vector<RowLevelClause> not_matched_by_source;  ///< over the target
  /// Whether one of the clauses takes a row, true or not; null: one always does.
  ExprPtr matched_acts, by_source_acts;
  data::Schema written;                        ///< the table's columns, then those that schema evolution adds
};

/// `evolve`: columns of the source that the table lacks are added (also by MERGE WITH SCHEMA EVOLUTION).
/// Errors: UNRESOLVED_COLUMN.*, AMBIGUOUS_REFERENCE, DELTA_MERGE_*, DELTA_NON_LAST_*, DELTA_CONFLICT_SET_COLUMN, DATATYPE_MISMATCH.*,
/// DELTA_AGGREGATION_NOT_SUPPORTED, DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED; DELTA_TABLE_ONLY_OPERATION for a target that is no table.
Result<RowLevelStatement> AnalyzeMerge(const MergeIntoTable& merge, bool evolve, AnalyzerEnvironment& environment);
Result<RowLevelStatement> AnalyzeUpdate(const UpdateTable& update, AnalyzerEnvironment& environment);
Result<RowLevelStatement> AnalyzeDelete(const DeleteFromTable& del, AnalyzerEnvironment& environment);

}  // namespace thalweg::sql
