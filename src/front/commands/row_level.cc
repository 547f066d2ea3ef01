// MERGE INTO, UPDATE and DELETE FROM: find the groups of rows that change, then write what takes their place.

#include "sql/analyzer/row_level.h"

#include <algorithm>
#include <set>

#include "data/columnar/builder.h"
#include "front/commands/handlers.h"
#include "front/commands/row_rewriter.h"
#include "front/session/session_environment.h"
#include "sql/expr/evaluator.h"

namespace thalweg::front {

namespace {

using sql::AttributeList;
using sql::AttributePtr;
using sql::ExprList;
using sql::ExprPtr;
using sql::PlanPtr;
using sql::RowLevelClause;
using sql::RowLevelOperation;

constexpr int64_t kInsertChunkRows = 65536;

std::vector<sql::RowLevelClauseText> TextsOf(const std::vector<RowLevelClause>& clauses) {
  std::vector<sql::RowLevelClauseText> texts;
  for (const RowLevelClause& clause : clauses) {
    sql::RowLevelClauseText text;
    if (clause.condition != nullptr) text.predicate = clause.condition->PlanText();
    switch (clause.kind) {
      case RowLevelClause::Kind::kUpdate: text.action = "update"; break;
      case RowLevelClause::Kind::kDelete: text.action = "delete"; break;
      case RowLevelClause::Kind::kInsert: text.action = "insert"; break;
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

/// One statement. Thread: confined to the command.
class RowLevelRun {
 public:
  RowLevelRun(CommandRun& run, sql::RowLevelCommand command, sql::RowLevelStatement statement)
      : run_(run), command_(command), statement_(std::move(statement)), config_(run.session.eval_config()) {}

  /// False: nothing was done because it has been done before.
  Result<bool> Execute();
  const sql::RowLevelCounts& counts() const { return counts_; }

 private:
  int64_t NowMillis() const { return run_.session.server().connectors.clock->NowMillis(); }
  bool is_merge() const { return command_ == sql::RowLevelCommand::kMerge; }
  Status FixTime();
  Status Fold(ExprPtr* expr);
  Status Open();
  Status CollectSource();
  Status NarrowBySource();
  Status FindMatches();
  Status TakeMatches(const data::Chunk& chunk);
  Status OrderMatches();
  Status FindBySource();
  PlanPtr Scan(const std::vector<int32_t>& groups) const;
  Result<PlanPtr> RowsToRewrite(const std::vector<int32_t>& groups) const;
  Status DeleteWhole();
  Status Rewrite();
  Status Compile();
  std::vector<data::Chunk> UnmatchedSource() const;
  ExprList AllExpressions() const;

  CommandRun& run_;
  const sql::RowLevelCommand command_;
  sql::RowLevelStatement statement_;
  const std::shared_ptr<const sql::EvalConfig> config_;
  std::unique_ptr<RowLevelOperation> operation_;
  AttributePtr group_ = sql::Attribute::Make(std::string(RowLevelOperation::kGroupColumn), data::DataType::Integer(), false);
  AttributePtr position_ = sql::Attribute::Make(std::string(RowLevelOperation::kPositionColumn), data::DataType::Long(), false);
  AttributePtr source_row_ = sql::Attribute::Make("__source_row", data::DataType::Integer(), false);
  AttributeList source_columns_;        // those that are needed
  std::vector<bool> source_matched_;
  MemoryReservation memory_{*run_.session.memory().account()};  // of the source and the matches
  std::set<int32_t> touched_;
  RewritePlan plan_;
  sql::RowLevelCounts counts_;
};

// What is the same for all rows is computed once, so that every pass over the rows sees the same time.
Status RowLevelRun::Fold(ExprPtr* expr) {
  if (*expr == nullptr) return Status::OK();
  TW_ASSIGN_OR_RETURN(*expr, sql::TransformDown(*expr, [&](const ExprPtr& node) -> Result<ExprPtr> {
    if (node->kind() != sql::ExprKind::kCall || !node->foldable()) return ExprPtr();
    const Result<data::Value> value = sql::EvaluateConstant(node, *config_, plan_.epoch);
    if (!value.ok()) return ExprPtr();  // perhaps no row asks for it
    return sql::Literal::Make(*value, node->type());
  }));
  return Status::OK();
}

Status RowLevelRun::FixTime() {
  plan_.epoch.batch_timestamp_us = run_.session.server().connectors.clock->NowMicros();
  TW_RETURN_NOT_OK(Fold(&statement_.condition));
  TW_RETURN_NOT_OK(Fold(&statement_.matched_acts));
  TW_RETURN_NOT_OK(Fold(&statement_.by_source_acts));
  for (auto* clauses : {&statement_.matched, &statement_.not_matched, &statement_.not_matched_by_source}) {
    for (RowLevelClause& clause : *clauses) {
      TW_RETURN_NOT_OK(Fold(&clause.condition));
      for (ExprPtr& value : clause.values) TW_RETURN_NOT_OK(Fold(&value));
    }
  }
  return Status::OK();
}

Status RowLevelRun::Open() {
  const auto table = std::dynamic_pointer_cast<sql::SupportsRowLevelOperations>(statement_.target->table);
  if (table == nullptr) {
    const char* const operation = is_merge() ? "MERGE" : command_ == sql::RowLevelCommand::kUpdate ? "UPDATE" : "DELETE";
    return Error("UNSUPPORTED_FEATURE.TABLE_OPERATION").With("tableName", sql::QuoteName(statement_.target->catalog_name.empty()
            ? std::vector<std::string>{statement_.target->table->name()} : statement_.target->catalog_name))
        .With("operation", is_merge() ? "MERGE INTO TABLE" : operation == std::string("UPDATE") ? "UPDATE TABLE" : operation);
  }
  sql::RowLevelRequest request;
  request.command = command_;
  request.attributes = statement_.target->attributes;
  for (const AttributePtr& column : request.attributes) request.schema.push_back(column->ToField());
  request.written = statement_.written;
  request.config = config_;
  request.settings = std::make_shared<const SettingsMap>(run_.session.SettingsSnapshot());
  if (statement_.condition != nullptr) request.predicate = statement_.condition->PlanText();
  if (is_merge()) {
    request.matched = TextsOf(statement_.matched);
    request.not_matched = TextsOf(statement_.not_matched);
    request.not_matched_by_source = TextsOf(statement_.not_matched_by_source);
  }
  // Rows that no clause can change: with NOT MATCHED BY SOURCE there are none such.
  if (statement_.condition != nullptr && (!is_merge() || statement_.not_matched_by_source.empty())) {
    for (const ExprPtr& conjunct : sql::SplitConjunction(statement_.condition)) {
      if (RefersOnlyTo(conjunct, request.attributes)) request.filters.push_back(conjunct);
    }
  }
  TW_ASSIGN_OR_RETURN(operation_, table->NewRowLevelOperation(request));
  return Status::OK();
}

ExprList RowLevelRun::AllExpressions() const {
  ExprList all = {statement_.condition};
  for (const auto* clauses : {&statement_.matched, &statement_.not_matched}) {
    for (const RowLevelClause& clause : *clauses) {
      if (clause.condition != nullptr) all.push_back(clause.condition);
      all.insert(all.end(), clause.values.begin(), clause.values.end());
    }
  }
  return all;
}

// The source's rows are computed once, whatever it is.
Status RowLevelRun::CollectSource() {
  const ExprList all = AllExpressions();
  ExprList list;
  for (const AttributePtr& column : statement_.source->output()) {
    const bool used = std::any_of(all.begin(), all.end(), [&](const ExprPtr& expr) {
      const std::vector<ExprId> ids = sql::References(expr);
      return std::find(ids.begin(), ids.end(), column->id()) != ids.end();
    });
    if (!used) continue;
    source_columns_.push_back(column);
    list.push_back(column);
  }
  const auto needed = std::make_shared<sql::Project>(std::move(list), statement_.source);
  TW_ASSIGN_OR_RETURN(const std::vector<data::Chunk> chunks, run_.session.Collect(needed, run_.stop, &memory_));
  std::vector<data::DataType> types;
  for (const AttributePtr& column : source_columns_) types.push_back(column->type());
  int64_t rows = 0;
  for (const data::Chunk& chunk : chunks) rows += chunk.num_rows();
  if (rows > INT32_MAX) return Unsupported("a source of MERGE with more than 2147483647 rows");
  // Both stand beside each other for a moment; then each row has a mark.
  TW_RETURN_NOT_OK(memory_.Grow(memory_.bytes()));
  plan_.source = source_columns_.empty() ? data::Chunk({}, rows) : data::ConcatChunks(chunks, types);
  TW_RETURN_NOT_OK(memory_.Resize(plan_.source.bytes() + rows));
  counts_.source_rows = rows;
  source_matched_.assign(static_cast<size_t>(rows), false);
  return Status::OK();
}

// Equalities of a column with something of the source leave only groups within the source's bounds.
Status RowLevelRun::NarrowBySource() {
  if (!statement_.not_matched_by_source.empty() || operation_->Candidates().size() < 2 || counts_.source_rows == 0) return Status::OK();
  const auto& functions = *run_.session.server().functions;
  const sql::BindContext bind{*config_};
  AttributeList columns;
  ExprList bounds;
  for (const ExprPtr& conjunct : sql::SplitConjunction(statement_.condition)) {
    const auto* call = conjunct->As<sql::Call>();
    if (call == nullptr || call->function_name() != "==" || !conjunct->deterministic()) continue;
    for (const size_t side : {0, 1}) {
      const auto* column = call->child(side)->As<sql::Attribute>();
      const ExprPtr& other = call->child(1 - side);
      if (column == nullptr || !RefersOnlyTo(call->child(side), statement_.target->attributes)) continue;
      if (!RefersOnlyTo(other, source_columns_) || !other->type().SameType(column->type()) || other->type().IsNested()) continue;
      for (const char* name : {"min", "max"}) {
        TW_ASSIGN_OR_RETURN(ExprPtr bound, sql::BindAggregate(*functions.FindAggregate(name), {other}, false, nullptr, bind));
        bounds.push_back(sql::Alias::Make(std::move(bound), name));
      }
      columns.push_back(std::static_pointer_cast<const sql::Attribute>(call->child(side)));
      break;
    }
  }
  if (columns.empty()) return Status::OK();
  const auto rows = std::make_shared<sql::LocalRelation>(source_columns_, std::vector<data::Chunk>{plan_.source});
  const auto aggregate = std::make_shared<sql::Aggregate>(ExprList{}, bounds, rows);
  TW_ASSIGN_OR_RETURN(const std::vector<data::Chunk> answer, run_.session.Collect(aggregate, run_.stop));
  if (answer.size() != 1 || answer[0].num_rows() != 1) return InternalError("bounds of the source of a MERGE");
  const data::Chunk row = answer[0].Dense();
  ExprList filters;
  for (size_t i = 0; i < columns.size(); ++i) {
    for (const size_t end : {0, 1}) {
      const data::Value value = row.column(static_cast<int>(2 * i + end))->GetValue(0);
      if (value.is_null()) continue;  // no row of the source has a key
      TW_ASSIGN_OR_RETURN(ExprPtr filter, sql::BindScalar(*functions.FindScalar(end == 0 ? ">=" : "<="),
                                                          {columns[i], sql::Literal::Make(value, columns[i]->type())}, bind));
      filters.push_back(std::move(filter));
    }
  }
  return operation_->Narrow(filters);
}

// The rows of some groups, with the ids that the statement's expressions use.
PlanPtr RowLevelRun::Scan(const std::vector<int32_t>& groups) const {
  AttributeList attributes = statement_.target->attributes;
  attributes.push_back(group_);
  attributes.push_back(position_);
  auto relation = std::make_shared<sql::Relation>(operation_->Rows(groups), std::move(attributes), false);
  relation->format = statement_.target->format;
  return relation;
}

Status RowLevelRun::TakeMatches(const data::Chunk& given) {
  const data::Chunk chunk = given.Dense();
  const data::ColumnPtr source = data::Flatten(chunk.column(0));
  for (const int32_t row : source->values<int32_t>()) source_matched_[static_cast<size_t>(row)] = true;
  if (chunk.num_columns() == 1) return Status::OK();
  const data::ColumnPtr group = data::Flatten(chunk.column(1));
  const data::ColumnPtr position = data::Flatten(chunk.column(2));
  const data::ColumnPtr acts = data::Flatten(chunk.column(3));
  TW_RETURN_NOT_OK(memory_.Grow(chunk.num_rows() * static_cast<int64_t>(sizeof(RowMatch))));
  for (int64_t i = 0; i < chunk.num_rows(); ++i) {
    const auto at = static_cast<size_t>(i);
    const int32_t number = group->values<int32_t>()[at];
    if (plan_.matches.size() <= static_cast<size_t>(number)) plan_.matches.resize(static_cast<size_t>(number) + 1);
    plan_.matches[static_cast<size_t>(number)].push_back({position->values<int64_t>()[at], source->values<int32_t>()[at]});
    if (!acts->IsNull(i) && acts->values<uint8_t>()[at] != 0) touched_.insert(number);
  }
  return Status::OK();
}

// A target row that several source rows match is an error unless all that is done to it is to delete it.
Status RowLevelRun::OrderMatches() {
  const bool deletes_only = statement_.matched.size() == 1 && statement_.matched[0].kind == RowLevelClause::Kind::kDelete &&
                            statement_.matched[0].condition == nullptr;
  for (std::vector<RowMatch>& matches : plan_.matches) {
    std::sort(matches.begin(), matches.end(), [](const RowMatch& a, const RowMatch& b) { return a.position < b.position; });
    const auto same = [](const RowMatch& a, const RowMatch& b) { return a.position == b.position; };
    if (!deletes_only && std::adjacent_find(matches.begin(), matches.end(), same) != matches.end()) {
      return Error("DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE").With("usageReference", "https://docs.delta.io/latest/delta-update.html#upsert-into-a-table-using-merge");
    }
    matches.erase(std::unique(matches.begin(), matches.end(), same), matches.end());
  }
  return Status::OK();
}

Status RowLevelRun::FindMatches() {
  const std::vector<int32_t> candidates = operation_->Candidates();
  if (counts_.source_rows == 0 || candidates.empty()) return Status::OK();
  std::vector<data::ColumnPtr> columns = plan_.source.columns();
  data::FixedBuilder<int32_t> numbers(data::DataType::Integer());
  for (int32_t row = 0; row < counts_.source_rows; ++row) numbers.Append(row);
  columns.push_back(numbers.Finish());
  AttributeList attributes = source_columns_;
  attributes.push_back(source_row_);
  const auto source = std::make_shared<sql::LocalRelation>(std::move(attributes), std::vector<data::Chunk>{data::Chunk(std::move(columns), counts_.source_rows)});
  const auto join = std::make_shared<sql::Join>(Scan(candidates), source, sql::JoinType::kInner, statement_.condition);
  ExprList list = {source_row_};
  const bool insert_only = statement_.matched.empty() && statement_.not_matched_by_source.empty();
  if (!insert_only) {
    const ExprPtr acts = statement_.matched.empty() ? sql::Literal::Boolean(false)
                         : statement_.matched_acts == nullptr ? sql::Literal::Boolean(true) : statement_.matched_acts;
    list.insert(list.end(), {group_, position_, sql::Alias::Make(acts, "__acts")});
  }
  ResultConsumer consumer;
  consumer.on_chunk = [&](const data::Chunk& chunk) -> Result<bool> {
    TW_RETURN_NOT_OK(TakeMatches(chunk));
    return true;
  };
  TW_RETURN_NOT_OK(run_.session.Execute(std::make_shared<sql::Project>(std::move(list), join), consumer, run_.stop));
  return OrderMatches();
}

// Groups with a row that nothing matched and that a clause NOT MATCHED BY SOURCE, or the UPDATE or DELETE, takes.
Status RowLevelRun::FindBySource() {
  if (statement_.not_matched_by_source.empty()) return Status::OK();
  std::vector<int32_t> groups;
  for (const int32_t group : operation_->Candidates()) {
    if (touched_.count(group) == 0) groups.push_back(group);
  }
  if (groups.empty()) return Status::OK();
  if (!is_merge() && operation_->filters_are_exact()) {
    touched_.insert(groups.begin(), groups.end());
    return Status::OK();
  }
  PlanPtr rows = Scan(groups);
  if (statement_.by_source_acts != nullptr) rows = std::make_shared<sql::Filter>(statement_.by_source_acts, rows);
  ExprList list = {group_};
  if (is_merge()) list.push_back(position_);
  ResultConsumer consumer;
  consumer.on_chunk = [&](const data::Chunk& given) -> Result<bool> {
    const data::Chunk chunk = given.Dense();
    const data::ColumnPtr numbers = data::Flatten(chunk.column(0));
    const data::ColumnPtr positions = is_merge() ? data::Flatten(chunk.column(1)) : nullptr;
    for (size_t i = 0; i < static_cast<size_t>(chunk.num_rows()); ++i) {
      const int32_t group = numbers->values<int32_t>()[i];
      if (positions != nullptr && static_cast<size_t>(group) < plan_.matches.size()) {
        const int64_t position = positions->values<int64_t>()[i];
        const std::vector<RowMatch>& matches = plan_.matches[static_cast<size_t>(group)];
        const auto at = std::lower_bound(matches.begin(), matches.end(), position, [](const RowMatch& a, int64_t p) { return a.position < p; });
        if (at != matches.end() && at->position == position) continue;
      }
      touched_.insert(group);
    }
    return true;
  };
  return run_.session.Execute(std::make_shared<sql::Project>(std::move(list), rows), consumer, run_.stop);
}

// DELETE of all rows of the candidates: their files go without being read.
Status RowLevelRun::DeleteWhole() {
  const std::vector<int32_t> groups = operation_->Candidates();
  for (const int32_t group : groups) {
    const std::optional<int64_t> rows = operation_->GroupRows(group);
    counts_.deleted_by_source = rows && counts_.deleted_by_source >= 0 ? counts_.deleted_by_source + *rows : -1;
  }
  if (groups.empty()) return Status::OK();
  return operation_->Commit(groups, {}, counts_);
}

Status RowLevelRun::Compile() {
  AttributeList target = statement_.target->attributes;
  for (size_t i = target.size(); i < statement_.written.size(); ++i) {  // new columns: nothing refers to what they were
    target.push_back(sql::Attribute::Make(statement_.written[i].name, statement_.written[i].type, true));
  }
  plan_.written_columns = static_cast<int>(statement_.written.size());
  plan_.config = config_;
  AttributeList both = target;
  both.insert(both.end(), source_columns_.begin(), source_columns_.end());
  TW_ASSIGN_OR_RETURN(plan_.matched, CompileClauses(statement_.matched, both, config_));
  TW_ASSIGN_OR_RETURN(plan_.by_source, CompileClauses(statement_.not_matched_by_source, target, config_));
  TW_ASSIGN_OR_RETURN(plan_.not_matched, CompileClauses(statement_.not_matched, source_columns_, config_));
  return Status::OK();
}

// The columns that are written as they are now, group and position.
Result<PlanPtr> RowLevelRun::RowsToRewrite(const std::vector<int32_t>& groups) const {
  const AttributeList& columns = statement_.target->attributes;
  ExprList list(columns.begin(), columns.end());
  for (size_t i = columns.size(); i < statement_.written.size(); ++i) {
    list.push_back(sql::Alias::Make(sql::Literal::Null(statement_.written[i].type), statement_.written[i].name));
  }
  list.push_back(group_);
  list.push_back(position_);
  return PlanPtr(std::make_shared<sql::Project>(std::move(list), Scan(groups)));
}

std::vector<data::Chunk> RowLevelRun::UnmatchedSource() const {
  std::vector<data::Chunk> chunks;
  std::vector<int32_t> rows;
  const auto flush = [&] {
    if (rows.empty()) return;
    data::Chunk chunk = plan_.source;
    chunk.set_selection(std::make_shared<const std::vector<int32_t>>(std::exchange(rows, {})));
    chunks.push_back(chunk.Dense());
  };
  for (int64_t row = 0; row < counts_.source_rows; ++row) {
    if (source_matched_[static_cast<size_t>(row)]) continue;
    rows.push_back(static_cast<int32_t>(row));
    if (static_cast<int64_t>(rows.size()) == kInsertChunkRows) flush();
  }
  flush();
  return chunks;
}

Status RowLevelRun::Rewrite() {
  TW_RETURN_NOT_OK(Compile());
  const std::vector<int32_t> groups(touched_.begin(), touched_.end());
  RewriteWrite write(plan_, *operation_);
  if (!groups.empty()) {
    TW_ASSIGN_OR_RETURN(const PlanPtr rows, RowsToRewrite(groups));
    TW_RETURN_NOT_OK(run_.session.RunWrite(rows, write, run_.stop).status());
  }
  if (!statement_.not_matched.empty()) {
    std::vector<data::Chunk> unmatched = UnmatchedSource();
    if (!unmatched.empty()) {
      write.set_rows(RewriteWrite::Rows::kSource);
      const auto rows = std::make_shared<sql::LocalRelation>(source_columns_, std::move(unmatched));
      const Status written = run_.session.RunWrite(rows, write, run_.stop).status();
      if (!written.ok()) operation_->Abort(write.messages());
      TW_RETURN_NOT_OK(written);
    }
  }
  const RewritePlan::Counts& seen = plan_.counts;
  counts_.copied = seen.copied;
  counts_.inserted = seen.inserted;
  counts_.updated_matched = seen.updated_matched;
  counts_.updated_by_source = seen.updated_by_source;
  counts_.deleted_matched = seen.deleted_matched;
  counts_.deleted_by_source = seen.deleted_by_source;
  const Status committed = operation_->Commit(groups, write.messages(), counts_);
  if (!committed.ok()) operation_->Abort(write.messages());
  return committed;
}

Result<bool> RowLevelRun::Execute() {
  TW_RETURN_NOT_OK(FixTime());
  TW_RETURN_NOT_OK(Open());
  if (operation_->done_before()) return false;
  int64_t start = NowMillis();
  const auto lap = [&] { return NowMillis() - std::exchange(start, NowMillis()); };
  if (is_merge()) {
    TW_RETURN_NOT_OK(CollectSource());
    counts_.source_ms = lap();
    TW_RETURN_NOT_OK(NarrowBySource());
    TW_RETURN_NOT_OK(FindMatches());
  } else if (command_ == sql::RowLevelCommand::kDelete && operation_->filters_are_exact()) {
    TW_RETURN_NOT_OK(DeleteWhole());
    return true;
  }
  TW_RETURN_NOT_OK(FindBySource());
  counts_.scan_ms = lap();
  TW_RETURN_NOT_OK(Rewrite());
  return true;
}

// One row of counts; none when nothing was done.
Status AnswerCounts(CommandRun& run, bool done, std::initializer_list<std::pair<const char*, int64_t>> counts) {
  data::Schema schema;
  data::ValueList row;
  for (const auto& [name, count] : counts) {
    schema.push_back({.name = name, .type = data::DataType::Long()});
    row.emplace_back(count);
  }
  return run.Answer(std::move(schema), done ? std::vector<data::ValueList>{std::move(row)} : std::vector<data::ValueList>{});
}

}  // namespace

Status Run(CommandRun& run, const sql::MergeIntoTable& command) {
  SessionEnvironment environment(run.session, run.session.eval_config(), run.stop);
  sql::MergeIntoTable merge_command = command;
  TW_ASSIGN_OR_RETURN(merge_command.source, run.session.Analyze(command.source, run.stop));  // runs commands whose rows it reads
  TW_ASSIGN_OR_RETURN(sql::RowLevelStatement statement, sql::AnalyzeMerge(merge_command, AutoMerges(run.session), environment));
  RowLevelRun merge(run, sql::RowLevelCommand::kMerge, std::move(statement));
  TW_ASSIGN_OR_RETURN(const bool done, merge.Execute());
  const sql::RowLevelCounts& counts = merge.counts();
  return AnswerCounts(run, done,
                      {{"num_affected_rows", counts.updated() + counts.deleted() + counts.inserted}, {"num_updated_rows", counts.updated()},
                       {"num_deleted_rows", counts.deleted()}, {"num_inserted_rows", counts.inserted}});
}

Status Run(CommandRun& run, const sql::UpdateTable& command) {
  SessionEnvironment environment(run.session, run.session.eval_config(), run.stop);
  TW_ASSIGN_OR_RETURN(sql::RowLevelStatement statement, sql::AnalyzeUpdate(command, environment));
  RowLevelRun update(run, sql::RowLevelCommand::kUpdate, std::move(statement));
  TW_ASSIGN_OR_RETURN(const bool done, update.Execute());
  return AnswerCounts(run, done, {{"num_affected_rows", update.counts().updated()}});
}

Status Run(CommandRun& run, const sql::DeleteFromTable& command) {
  SessionEnvironment environment(run.session, run.session.eval_config(), run.stop);
  TW_ASSIGN_OR_RETURN(sql::RowLevelStatement statement, sql::AnalyzeDelete(command, environment));
  RowLevelRun del(run, sql::RowLevelCommand::kDelete, std::move(statement));
  TW_ASSIGN_OR_RETURN(const bool done, del.Execute());
  return AnswerCounts(run, done, {{"num_affected_rows", del.counts().deleted()}});
}

}  // namespace thalweg::front
