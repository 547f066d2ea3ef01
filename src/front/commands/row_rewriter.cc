#include "front/commands/row_rewriter.h"

#include <algorithm>

namespace thalweg::front {

namespace {

using data::Chunk;

std::vector<int32_t> LogicalRows(const Chunk& chunk) {
  if (chunk.selection() != nullptr) return *chunk.selection();
  std::vector<int32_t> rows(static_cast<size_t>(chunk.physical_rows()));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int32_t>(i);
  return rows;
}

Chunk WithRows(const Chunk& chunk, std::vector<int32_t> rows) {
  Chunk part = chunk;
  part.set_selection(std::make_shared<const std::vector<int32_t>>(std::move(rows)));
  return part;
}

// The rows of `all` that are not in `taken`; both ascending over the same columns.
Chunk Without(const Chunk& all, const Chunk& taken) {
  if (taken.num_rows() == 0) return all;
  if (taken.num_rows() == all.num_rows()) return WithRows(all, {});
  const std::vector<int32_t> rows = LogicalRows(all);
  const std::vector<int32_t> gone = LogicalRows(taken);
  std::vector<int32_t> rest;
  rest.reserve(rows.size() - gone.size());
  std::set_difference(rows.begin(), rows.end(), gone.begin(), gone.end(), std::back_inserter(rest));
  return WithRows(all, std::move(rest));
}

Chunk FirstColumns(const Chunk& chunk, int count) {
  Chunk out({chunk.columns().begin(), chunk.columns().begin() + count}, chunk.physical_rows());
  out.set_selection(chunk.selection());
  return out;
}

class RewriteWriter final : public sql::DataWriter {
 public:
  RewriteWriter(const RewritePlan& plan, RewriteWrite::Rows rows, int partition, std::unique_ptr<sql::DataWriter> writer)
      : plan_(plan), rows_(rows), partition_(partition), writer_(std::move(writer)) {}

  Status Write(const Chunk& chunk) override {
    if (chunk.num_rows() == 0) return Status::OK();
    if (rows_ == RewriteWrite::Rows::kSource) {
      return Apply(chunk, plan_.not_matched, &plan_.counts.inserted, nullptr).status();
    }
    return WriteTarget(chunk.selection() == nullptr ? chunk : chunk.Dense());
  }
  Result<sql::CommitMessagePtr> Finish(std::shared_ptr<Signal>* blocked) override { return writer_->Finish(blocked); }
  void Abort() override { writer_->Abort(); }

 private:
  /// Clause by clause; answers the rows that none took.
  Result<Chunk> Apply(const Chunk& rows, const std::vector<CompiledClause>& clauses, std::atomic<int64_t>* written, std::atomic<int64_t>* deleted);
  Status WriteTarget(const Chunk& chunk);
  Status WriteGroup(int32_t group, const Chunk& chunk);
  Status Copy(const Chunk& rows);
  Chunk Joined(const Chunk& chunk, const std::vector<int32_t>& rows, const std::vector<int32_t>& source) const;

  const RewritePlan& plan_;
  const RewriteWrite::Rows rows_;
  const int partition_;
  std::unique_ptr<sql::DataWriter> writer_;
  int64_t rows_seen_ = 0;
};

Result<Chunk> RewriteWriter::Apply(const Chunk& rows, const std::vector<CompiledClause>& clauses, std::atomic<int64_t>* written,
                                   std::atomic<int64_t>* deleted) {
  Chunk rest = rows;
  for (const CompiledClause& clause : clauses) {
    if (rest.num_rows() == 0) break;
    sql::EvalContext context{.config = plan_.config.get(), .epoch = &plan_.epoch, .partition = partition_, .row_base = rows_seen_};
    Chunk taken = rest;
    if (clause.condition != nullptr) {
      TW_ASSIGN_OR_RETURN(taken, clause.condition->Filter(rest, context));
    }
    rest = Without(rest, taken);
    if (taken.num_rows() == 0) continue;
    if (clause.deletes) {
      *deleted += taken.num_rows();
      continue;
    }
    TW_ASSIGN_OR_RETURN(const Chunk values, clause.values->Run(taken, context));
    rows_seen_ += taken.physical_rows();
    TW_RETURN_NOT_OK(writer_->Write(values.Dense()));
    *written += taken.num_rows();
  }
  return rest;
}

Status RewriteWriter::Copy(const Chunk& rows) {
  if (rows.num_rows() == 0) return Status::OK();
  plan_.counts.copied += rows.num_rows();
  return writer_->Write(FirstColumns(rows, plan_.written_columns).Dense());
}

// Chunks come from one group as a rule.
Status RewriteWriter::WriteTarget(const Chunk& chunk) {
  const data::ColumnPtr group = chunk.column(plan_.written_columns);
  if (group->is_constant()) return WriteGroup(group->values<int32_t>()[0], chunk);
  const data::ColumnPtr flat = data::Flatten(group);
  const auto numbers = flat->values<int32_t>();
  for (int64_t begin = 0; begin < chunk.num_rows();) {
    int64_t end = begin + 1;
    while (end < chunk.num_rows() && numbers[static_cast<size_t>(end)] == numbers[static_cast<size_t>(begin)]) ++end;
    const bool whole = begin == 0 && end == chunk.num_rows();
    TW_RETURN_NOT_OK(WriteGroup(numbers[static_cast<size_t>(begin)], whole ? chunk : chunk.Slice(begin, end - begin).Dense()));
    begin = end;
  }
  return Status::OK();
}

Chunk RewriteWriter::Joined(const Chunk& chunk, const std::vector<int32_t>& rows, const std::vector<int32_t>& source) const {
  std::vector<data::ColumnPtr> columns;
  for (int i = 0; i < plan_.written_columns; ++i) columns.push_back(data::Take(chunk.column(i), rows));
  for (const data::ColumnPtr& column : plan_.source.columns()) columns.push_back(data::Take(column, source));
  return Chunk(std::move(columns), static_cast<int64_t>(rows.size()));
}

Status RewriteWriter::WriteGroup(int32_t group, const Chunk& chunk) {
  const data::ColumnPtr flat = data::Flatten(chunk.column(plan_.written_columns + 1));
  const auto positions = flat->values<int64_t>();
  std::vector<int32_t> rows, source;
  if (static_cast<size_t>(group) < plan_.matches.size()) {
    const std::vector<RowMatch>& matches = plan_.matches[static_cast<size_t>(group)];
    auto match = std::lower_bound(matches.begin(), matches.end(), positions.front(),
                                  [](const RowMatch& a, int64_t position) { return a.position < position; });
    auto at = positions.begin();
    for (; match != matches.end() && match->position <= positions.back(); ++match) {
      at = std::lower_bound(at, positions.end(), match->position);
      if (*at != match->position) continue;
      rows.push_back(static_cast<int32_t>(at - positions.begin()));
      source.push_back(match->source);
    }
  }
  Chunk rest = chunk;
  if (!rows.empty()) {
    Chunk matched;
    if (plan_.matched.empty()) {
      matched = WithRows(chunk, rows);
    } else {
      TW_ASSIGN_OR_RETURN(matched, Apply(Joined(chunk, rows, source), plan_.matched, &plan_.counts.updated_matched, &plan_.counts.deleted_matched));
    }
    TW_RETURN_NOT_OK(Copy(matched));
    rest = Without(chunk, WithRows(chunk, std::move(rows)));
  }
  if (!plan_.by_source.empty()) {
    TW_ASSIGN_OR_RETURN(rest, Apply(rest, plan_.by_source, &plan_.counts.updated_by_source, &plan_.counts.deleted_by_source));
  }
  return Copy(rest);
}

}  // namespace

Result<std::vector<CompiledClause>> CompileClauses(const std::vector<sql::RowLevelClause>& clauses, const sql::AttributeList& input,
                                                   const std::shared_ptr<const sql::EvalConfig>& config) {
  std::vector<CompiledClause> out;
  for (const sql::RowLevelClause& clause : clauses) {
    CompiledClause compiled;
    compiled.deletes = clause.kind == sql::RowLevelClause::Kind::kDelete;
    if (clause.condition != nullptr) {
      TW_ASSIGN_OR_RETURN(compiled.condition, sql::Program::Compile({clause.condition}, input, config));
    }
    if (!compiled.deletes) {
      TW_ASSIGN_OR_RETURN(compiled.values, sql::Program::Compile(clause.values, input, config));
    }
    out.push_back(std::move(compiled));
  }
  return out;
}

Result<std::unique_ptr<sql::DataWriter>> RewriteWrite::NewWriter(PartitionId partition) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<sql::DataWriter> writer, operation_.NewWriter(partition));
  return std::unique_ptr<sql::DataWriter>(std::make_unique<RewriteWriter>(plan_, rows_, static_cast<int>(partition.value()), std::move(writer)));
}

Status RewriteWrite::Commit(const std::vector<sql::CommitMessagePtr>& messages) {
  messages_.insert(messages_.end(), messages.begin(), messages.end());
  return Status::OK();
}

}  // namespace thalweg::front
