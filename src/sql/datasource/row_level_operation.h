#pragma once

// Contract: changing rows of a table: MERGE, UPDATE, DELETE. A table's rows lie in groups (files); a statement finds the groups
// with rows that it changes, reads those, and writes what takes their place, in one commit. Source: Spark's
// SupportsRowLevelOperations, group-based; the roles of names are ours.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/datasource/data_source.h"

namespace thalweg::sql {

enum class RowLevelCommand : uint8_t { kMerge, kUpdate, kDelete };

/// One WHEN clause as a table's history tells it.
struct RowLevelClauseText {
  std::optional<std::string> predicate;
  std::string action;                         ///< "update", "delete", "insert"
};

struct RowLevelRequest {
  RowLevelCommand command = RowLevelCommand::kMerge;
  /// Conjuncts over the table's columns: the statement neither reads nor changes rows for which one of them is not true. What
  /// others commit meanwhile to rows beyond them is no conflict.
  ExprList filters;
  AttributeList attributes;                   ///< the table's columns, with the ids that `filters` use
  data::Schema schema;                        ///< of the table, as the statement was resolved
  data::Schema written;                       ///< of the rows written: `schema`, and columns new to the table behind it
  std::string predicate;                      ///< for the history; empty: none
  std::vector<RowLevelClauseText> matched, not_matched, not_matched_by_source;
  std::shared_ptr<const EvalConfig> config;
  std::shared_ptr<const SettingsMap> settings;
};

/// What a statement has done.
struct RowLevelCounts {
  int64_t source_rows = 0;
  int64_t copied = 0, inserted = 0;
  int64_t updated_matched = 0, updated_by_source = 0;
  int64_t deleted_matched = 0, deleted_by_source = 0;
  int64_t source_ms = 0, scan_ms = 0, rewrite_ms = 0;
  int64_t updated() const { return updated_matched + updated_by_source; }
  int64_t deleted() const { return deleted_matched + deleted_by_source; }
};

/// One statement on one version of a table. Owner: the statement. Thread: confined, but writers run in tasks.
class RowLevelOperation {
 public:
  /// Columns that `Rows` has behind the table's own: which group (INT, from 0) and where in it (BIGINT, ascending in a chunk).
  static constexpr std::string_view kGroupColumn = "__group";
  static constexpr std::string_view kPositionColumn = "__position";

  virtual ~RowLevelOperation() = default;
  /// True: a transaction of this name and number has been here (txnAppId, txnVersion); nothing is to be done.
  virtual bool done_before() const { return false; }
  /// More conjuncts over the table's columns, that only skip groups.
  virtual Status Narrow(const ExprList& filters) = 0;
  /// The groups that may hold rows for which all filters are true, ascending.
  virtual std::vector<int32_t> Candidates() const = 0;
  /// True: in the candidates every row satisfies the filters.
  virtual bool filters_are_exact() const = 0;
  /// Rows in a group when that is known without reading it.
  virtual std::optional<int64_t> GroupRows(int32_t group) const = 0;
  /// A table of the rows in some groups; has `kGroupColumn` and `kPositionColumn` behind the columns of `schema`.
  virtual TablePtr Rows(const std::vector<int32_t>& groups) const = 0;
  /// Takes rows of `RowLevelRequest::written`.
  virtual Result<std::unique_ptr<DataWriter>> NewWriter(PartitionId partition) = 0;
  /// Puts what was written in place of those groups. Errors: the connector's conflicts.
  virtual Status Commit(const std::vector<int32_t>& replaced, const std::vector<CommitMessagePtr>& messages,
                        const RowLevelCounts& counts) = 0;
  virtual void Abort(const std::vector<CommitMessagePtr>& messages) = 0;
};

/// What a Table also is when its rows can be changed; found by dynamic_cast.
class SupportsRowLevelOperations {
 public:
  virtual ~SupportsRowLevelOperations() = default;
  /// Fixes the version that the statement works on. Errors: the connector's, for tables that may not be changed.
  virtual Result<std::unique_ptr<RowLevelOperation>> NewRowLevelOperation(const RowLevelRequest& request) = 0;
};

}  // namespace thalweg::sql
