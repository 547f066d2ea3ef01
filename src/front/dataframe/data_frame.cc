#include "thalweg/data_frame.h"

#include <arrow/buffer.h>
#include <arrow/c/bridge.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <arrow/table.h>
#include <spark/connect/base.pb.h>

#include <atomic>

#include "data/columnar/arrow_bridge.h"
#include "front/dataframe/nodes.h"
#include "front/dataframe/result_rows.h"
#include "front/dataframe/session_state.h"
#include "sql/protocol/type_proto.h"
#include "thalweg/functions.h"

namespace thalweg {

using internal::ColumnAccess;
using internal::DataFrameAccess;
namespace proto = ::spark::connect;

namespace {

/// Ids of plans, as clients give them: a server tells DataFrames apart by them.
int64_t NextPlanId() {
  static std::atomic<int64_t> next{0};
  return next++;
}

proto::Join::JoinType JoinTypeOf(std::string_view how) {
  if (how == "left" || how == "left_outer" || how == "leftouter") return proto::Join::JOIN_TYPE_LEFT_OUTER;
  if (how == "right" || how == "right_outer" || how == "rightouter") return proto::Join::JOIN_TYPE_RIGHT_OUTER;
  if (how == "full" || how == "outer" || how == "full_outer") return proto::Join::JOIN_TYPE_FULL_OUTER;
  if (how == "left_semi" || how == "semi") return proto::Join::JOIN_TYPE_LEFT_SEMI;
  if (how == "left_anti" || how == "anti") return proto::Join::JOIN_TYPE_LEFT_ANTI;
  if (how == "cross") return proto::Join::JOIN_TYPE_CROSS;
  return how == "inner" ? proto::Join::JOIN_TYPE_INNER : proto::Join::JOIN_TYPE_UNSPECIFIED;  // which servers refuse
}

}  // namespace

DataFrame internal::DataFrameAccess::Make(std::shared_ptr<SessionState> session, proto::Relation relation) {
  relation.mutable_common()->set_plan_id(NextPlanId());
  return DataFrame(std::move(session), std::make_shared<const RelationNode>(RelationNode{std::move(relation)}));
}

DataFrame GroupedData::Agg(const std::vector<Column>& aggregates) const {
  proto::Relation relation;
  proto::Aggregate* aggregate = relation.mutable_aggregate();
  *aggregate->mutable_input() = input_->relation;
  aggregate->set_group_type(proto::Aggregate::GROUP_TYPE_GROUPBY);
  for (const Column& key : keys_) *aggregate->add_grouping_expressions() = ColumnAccess::Message(key);
  for (const Column& column : aggregates) *aggregate->add_aggregate_expressions() = ColumnAccess::Message(column);
  return DataFrameAccess::Make(session_, std::move(relation));
}

DataFrame GroupedData::Count() const { return Agg({functions::count().Alias("count")}); }

DataFrame DataFrame::Select(const std::vector<Column>& columns) const {
  proto::Relation relation;
  *relation.mutable_project()->mutable_input() = relation_->relation;
  for (const Column& column : columns) *relation.mutable_project()->add_expressions() = ColumnAccess::Message(column);
  return DataFrameAccess::Make(session_, std::move(relation));
}

DataFrame DataFrame::SelectExpr(const std::vector<std::string>& expressions) const {
  std::vector<Column> columns;
  for (const std::string& expression : expressions) columns.push_back(internal::SqlExpression(expression));
  return Select(columns);
}

DataFrame DataFrame::Filter(const Column& condition) const {
  proto::Relation relation;
  *relation.mutable_filter()->mutable_input() = relation_->relation;
  *relation.mutable_filter()->mutable_condition() = ColumnAccess::Message(condition);
  return DataFrameAccess::Make(session_, std::move(relation));
}

DataFrame DataFrame::Filter(std::string_view sql) const { return Filter(internal::SqlExpression(sql)); }

DataFrame DataFrame::WithColumn(std::string_view name, const Column& value) const {
  proto::Relation relation;
  *relation.mutable_with_columns()->mutable_input() = relation_->relation;
  *relation.mutable_with_columns()->add_aliases() = ColumnAccess::Message(value.Alias(name)).alias();
  return DataFrameAccess::Make(session_, std::move(relation));
}

DataFrame DataFrame::Drop(const std::vector<std::string>& names) const {
  proto::Relation relation;
  *relation.mutable_drop()->mutable_input() = relation_->relation;
  for (const std::string& name : names) relation.mutable_drop()->add_column_names(name);
  return DataFrameAccess::Make(session_, std::move(relation));
}

DataFrame DataFrame::Alias(std::string_view name) const {
  proto::Relation relation;
  *relation.mutable_subquery_alias()->mutable_input() = relation_->relation;
  relation.mutable_subquery_alias()->set_alias(std::string(name));
  return DataFrameAccess::Make(session_, std::move(relation));
}

DataFrame DataFrame::Limit(int rows) const {
  proto::Relation relation;
  *relation.mutable_limit()->mutable_input() = relation_->relation;
  relation.mutable_limit()->set_limit(rows);
  return DataFrameAccess::Make(session_, std::move(relation));
}

DataFrame DataFrame::OrderBy(const std::vector<Column>& orders) const {
  proto::Relation relation;
  proto::Sort* sort = relation.mutable_sort();
  *sort->mutable_input() = relation_->relation;
  sort->set_is_global(true);
  for (const Column& order : orders) {
    const proto::Expression& message = ColumnAccess::Message(order);
    *sort->add_order() = message.has_sort_order() ? message.sort_order() : ColumnAccess::Message(order.Asc()).sort_order();
  }
  return DataFrameAccess::Make(session_, std::move(relation));
}

DataFrame DataFrame::Distinct() const {
  proto::Relation relation;
  *relation.mutable_deduplicate()->mutable_input() = relation_->relation;
  relation.mutable_deduplicate()->set_all_columns_as_keys(true);
  return DataFrameAccess::Make(session_, std::move(relation));
}

DataFrame DataFrame::Union(const DataFrame& other) const {
  proto::Relation relation;
  proto::SetOperation* operation = relation.mutable_set_op();
  *operation->mutable_left_input() = relation_->relation;
  *operation->mutable_right_input() = other.relation_->relation;
  operation->set_set_op_type(proto::SetOperation::SET_OP_TYPE_UNION);
  operation->set_is_all(true);
  return DataFrameAccess::Make(session_, std::move(relation));
}

DataFrame DataFrame::Join(const DataFrame& other, const std::vector<std::string>& using_columns, std::string_view how) const {
  proto::Relation relation;
  proto::Join* join = relation.mutable_join();
  *join->mutable_left() = relation_->relation;
  *join->mutable_right() = other.relation_->relation;
  join->set_join_type(JoinTypeOf(how));
  for (const std::string& column : using_columns) join->add_using_columns(column);
  return DataFrameAccess::Make(session_, std::move(relation));
}

DataFrame DataFrame::Join(const DataFrame& other, const Column& condition, std::string_view how) const {
  proto::Relation relation;
  proto::Join* join = relation.mutable_join();
  *join->mutable_left() = relation_->relation;
  *join->mutable_right() = other.relation_->relation;
  join->set_join_type(JoinTypeOf(how));
  *join->mutable_join_condition() = ColumnAccess::Message(condition);
  return DataFrameAccess::Make(session_, std::move(relation));
}

GroupedData DataFrame::GroupBy(const std::vector<Column>& keys) const { return GroupedData(session_, relation_, keys); }

DataFrame DataFrame::WithWatermark(std::string_view event_time, std::string_view delay) const {
  proto::Relation relation;
  *relation.mutable_with_watermark()->mutable_input() = relation_->relation;
  relation.mutable_with_watermark()->set_event_time(std::string(event_time));
  relation.mutable_with_watermark()->set_delay_threshold(std::string(delay));
  return DataFrameAccess::Make(session_, std::move(relation));
}

Result<std::vector<Row>> DataFrame::Collect() const {
  std::vector<Row> rows;
  TW_RETURN_NOT_OK(session_->ExecuteRelation(relation_->relation, [&](const std::string& ipc) -> Status {
    TW_ASSIGN_OR_RETURN(const data::IpcStream batch, data::ReadIpcStream(ipc));
    std::vector<Row> more = internal::RowsOf(batch);
    std::move(more.begin(), more.end(), std::back_inserter(rows));
    return Status::OK();
  }));
  return rows;
}

Status DataFrame::CollectArrow(ArrowArrayStream* out) const {
  arrow::RecordBatchVector batches;
  std::shared_ptr<arrow::Schema> schema;
  TW_RETURN_NOT_OK(session_->ExecuteRelation(relation_->relation, [&](const std::string& ipc) -> Status {
    const auto input = std::make_shared<arrow::io::BufferReader>(arrow::Buffer::FromString(ipc));
    arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> reader = arrow::ipc::RecordBatchStreamReader::Open(input);
    if (!reader.ok()) return data::FromArrowStatus(reader.status(), "read a result batch");
    schema = (*reader)->schema();
    arrow::Result<arrow::RecordBatchVector> read = (*reader)->ToRecordBatches();
    if (!read.ok()) return data::FromArrowStatus(read.status(), "read a result batch");
    batches.insert(batches.end(), read->begin(), read->end());
    return Status::OK();
  }));
  if (schema == nullptr) return InternalError("the server sent no batch, not even an empty one");
  arrow::Result<std::shared_ptr<arrow::RecordBatchReader>> all = arrow::RecordBatchReader::Make(std::move(batches), schema);
  if (!all.ok()) return data::FromArrowStatus(all.status(), "join result batches");
  return data::FromArrowStatus(arrow::ExportRecordBatchReader(*all, out), "export the result");
}

Result<int64_t> DataFrame::Count() const {
  TW_ASSIGN_OR_RETURN(const std::vector<Row> rows, GroupBy({}).Count().Collect());
  if (rows.size() != 1 || rows[0].size() != 1) return InternalError("count() answered no single value");
  return std::get<int64_t>(rows[0][0].value);
}

Result<std::string> DataFrame::ShowString(int rows, int truncate) const {
  proto::Relation relation;
  *relation.mutable_show_string()->mutable_input() = relation_->relation;
  relation.mutable_show_string()->set_num_rows(rows);
  relation.mutable_show_string()->set_truncate(truncate);
  TW_ASSIGN_OR_RETURN(const std::vector<Row> answer, DataFrameAccess::Make(session_, std::move(relation)).Collect());
  if (answer.size() != 1 || answer[0].size() != 1) return InternalError("show answered no single text");
  return std::get<std::string>(answer[0][0].value);
}

Result<std::vector<std::pair<std::string, std::string>>> DataFrame::Schema() const {
  proto::AnalyzePlanRequest request;
  *request.mutable_schema()->mutable_plan()->mutable_root() = relation_->relation;
  TW_ASSIGN_OR_RETURN(const proto::AnalyzePlanResponse response, session_->Analyze(&request));
  TW_ASSIGN_OR_RETURN(const data::DataType type, sql::TypeFromProto(response.schema().schema()));
  std::vector<std::pair<std::string, std::string>> columns;
  for (const data::StructField& field : type.fields()) columns.emplace_back(field.name, field.type.SimpleString());
  return columns;
}

Result<std::string> DataFrame::Explain(std::string_view mode) const {
  using Explain = proto::AnalyzePlanRequest::Explain;
  proto::AnalyzePlanRequest request;
  *request.mutable_explain()->mutable_plan()->mutable_root() = relation_->relation;
  const std::pair<std::string_view, Explain::ExplainMode> modes[] = {
      {"simple", Explain::EXPLAIN_MODE_SIMPLE}, {"extended", Explain::EXPLAIN_MODE_EXTENDED}, {"codegen", Explain::EXPLAIN_MODE_CODEGEN},
      {"cost", Explain::EXPLAIN_MODE_COST}, {"formatted", Explain::EXPLAIN_MODE_FORMATTED}};
  for (const auto& [name, value] : modes) {
    if (name == mode) request.mutable_explain()->set_explain_mode(value);
  }
  TW_ASSIGN_OR_RETURN(const proto::AnalyzePlanResponse response, session_->Analyze(&request));
  return response.explain().explain_string();
}

Result<bool> DataFrame::IsStreaming() const {
  proto::AnalyzePlanRequest request;
  *request.mutable_is_streaming()->mutable_plan()->mutable_root() = relation_->relation;
  TW_ASSIGN_OR_RETURN(const proto::AnalyzePlanResponse response, session_->Analyze(&request));
  return response.is_streaming().is_streaming();
}

Status DataFrame::CreateOrReplaceTempView(std::string_view name) const {
  proto::Command command;
  auto* view = command.mutable_create_dataframe_view();
  *view->mutable_input() = relation_->relation;
  view->set_name(std::string(name));
  view->set_replace(true);
  return session_->ExecuteCommand(command);
}

DataFrameWriter DataFrame::Write() const { return DataFrameWriter(session_, relation_); }
DataStreamWriter DataFrame::WriteStream() const { return DataStreamWriter(session_, relation_); }

struct DataFrameWriter::Spec {
  proto::WriteOperation operation;
};

DataFrameWriter::DataFrameWriter(std::shared_ptr<internal::SessionState> session, std::shared_ptr<const internal::RelationNode> input)
    : session_(std::move(session)), input_(std::move(input)), spec_(std::make_shared<Spec>()) {
  spec_->operation.set_mode(proto::WriteOperation::SAVE_MODE_ERROR_IF_EXISTS);
}

DataFrameWriter& DataFrameWriter::Format(std::string_view format) {
  spec_->operation.set_source(std::string(format));
  return *this;
}

DataFrameWriter& DataFrameWriter::Mode(std::string_view mode) {
  using Write = proto::WriteOperation;
  spec_->operation.set_mode(mode == "append"      ? Write::SAVE_MODE_APPEND
                            : mode == "overwrite" ? Write::SAVE_MODE_OVERWRITE
                            : mode == "ignore"    ? Write::SAVE_MODE_IGNORE
                            : mode == "errorifexists" || mode == "error" ? Write::SAVE_MODE_ERROR_IF_EXISTS
                                                                         : Write::SAVE_MODE_UNSPECIFIED);
  return *this;
}

DataFrameWriter& DataFrameWriter::Option(std::string_view key, std::string_view value) {
  (*spec_->operation.mutable_options())[std::string(key)] = std::string(value);
  return *this;
}

DataFrameWriter& DataFrameWriter::PartitionBy(std::vector<std::string> columns) {
  for (std::string& column : columns) spec_->operation.add_partitioning_columns(std::move(column));
  return *this;
}

Status DataFrameWriter::Save(std::string_view path) {
  proto::Command command;
  *command.mutable_write_operation() = spec_->operation;
  *command.mutable_write_operation()->mutable_input() = input_->relation;
  if (!path.empty()) command.mutable_write_operation()->set_path(std::string(path));
  return session_->ExecuteCommand(command);
}

Status DataFrameWriter::SaveAsTable(std::string_view name) {
  using SaveTable = proto::WriteOperation::SaveTable;
  proto::Command command;
  *command.mutable_write_operation() = spec_->operation;
  *command.mutable_write_operation()->mutable_input() = input_->relation;
  command.mutable_write_operation()->mutable_table()->set_table_name(std::string(name));
  command.mutable_write_operation()->mutable_table()->set_save_method(SaveTable::TABLE_SAVE_METHOD_SAVE_AS_TABLE);
  return session_->ExecuteCommand(command);
}

}  // namespace thalweg
