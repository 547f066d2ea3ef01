#pragma once

// The rows of a MERGE, UPDATE or DELETE: rows of groups that are rewritten, and rows of the source that nothing matched, through
// the clauses of the statement into the table's writers.

#include <atomic>
#include <memory>
#include <vector>

#include "sql/analyzer/row_level.h"
#include "sql/datasource/row_level_operation.h"
#include "sql/expr/evaluator.h"

namespace thalweg::front {

/// A row of the target that a row of the source matched.
struct RowMatch {
  int64_t position;  ///< in its group
  int32_t source;    ///< row of the source
};
/// By group; of a group by position, one for each row.
using RowMatches = std::vector<std::vector<RowMatch>>;

/// Clauses of one kind, compiled.
struct CompiledClause {
  bool deletes = false;
  std::shared_ptr<const sql::Program> condition;  ///< null: always
  std::shared_ptr<const sql::Program> values;     ///< null for deletes
};
Result<std::vector<CompiledClause>> CompileClauses(const std::vector<sql::RowLevelClause>& clauses, const sql::AttributeList& input,
                                                   const std::shared_ptr<const sql::EvalConfig>& config);

/// What all writers of a statement share. Immutable but for the counts.
struct RewritePlan {
  int written_columns = 0;
  /// Of the source, in one dense chunk.
  data::Chunk source;
  RowMatches matches;
  std::vector<CompiledClause> matched;      ///< over the written columns, then the source's
  std::vector<CompiledClause> by_source;    ///< over the written columns
  std::vector<CompiledClause> not_matched;  ///< over the source's columns
  std::shared_ptr<const sql::EvalConfig> config;
  sql::EpochContext epoch;
  struct Counts {
    std::atomic<int64_t> copied{0}, inserted{0}, updated_matched{0}, updated_by_source{0}, deleted_matched{0}, deleted_by_source{0};
  };
  mutable Counts counts;
};

/// Lets the writers of `operation` write what the clauses make of the rows; commits nothing: messages are collected. One run of the
/// session over it after the other. Thread: NewWriter from any task, the rest confined.
class RewriteWrite final : public sql::BatchWrite {
 public:
  enum class Rows : uint8_t {
    kTarget,  ///< the written columns as they are, then group and position
    kSource,  ///< rows of the source that nothing matched
  };
  RewriteWrite(const RewritePlan& plan, sql::RowLevelOperation& operation) : plan_(plan), operation_(operation) {}
  void set_rows(Rows rows) { rows_ = rows; }
  Result<std::unique_ptr<sql::DataWriter>> NewWriter(PartitionId partition) override;
  Status Commit(const std::vector<sql::CommitMessagePtr>& messages) override;
  void Abort(const std::vector<sql::CommitMessagePtr>& messages) override { operation_.Abort(messages); }
  const std::vector<sql::CommitMessagePtr>& messages() const { return messages_; }

 private:
  const RewritePlan& plan_;
  sql::RowLevelOperation& operation_;
  Rows rows_ = Rows::kTarget;
  std::vector<sql::CommitMessagePtr> messages_;
};

}  // namespace thalweg::front
