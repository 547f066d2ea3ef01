// What of a DataFrame runs or asks; data_frame.cc builds.
#include <arrow/buffer.h>
#include <arrow/c/bridge.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/reader.h>
#include <arrow/record_batch.h>
#include <spark/connect/base.pb.h>

#include <cstdio>

#include "data/columnar/arrow_bridge.h"
#include "front/dataframe/nodes.h"
#include "front/dataframe/result_rows.h"
#include "front/dataframe/session_state.h"
#include "sql/protocol/type_proto.h"
#include "thalweg/data_frame.h"

namespace thalweg {

using internal::DataFrameAccess;
namespace proto = ::spark::connect;

namespace {

// An answer about the plan of a frame: fill(request) -> the plan to fill in.
template <typename Fill>
Result<proto::AnalyzePlanResponse> Ask(internal::SessionState& session, const proto::Relation& relation, Fill&& fill) {
  proto::AnalyzePlanRequest request;
  *fill(&request)->mutable_root() = relation;
  return session.Analyze(&request);
}

template <typename T>
Result<T> SingleValue(const std::vector<Row>& rows, std::string_view what) {
  if (rows.size() == 1 && rows[0].size() == 1) {
    if (const T* value = rows[0][0].Get<T>()) return *value;
  }
  return InternalError("the server answered " + std::string(what) + " with something else than one value");
}

}  // namespace

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

Result<std::vector<Row>> DataFrame::Take(int rows) const { return Limit(rows).Collect(); }

Result<std::vector<Row>> DataFrame::Tail(int rows) const {
  proto::Relation relation;
  *relation.mutable_tail()->mutable_input() = relation_->relation;
  relation.mutable_tail()->set_limit(rows);
  return DataFrameAccess::Make(session_, std::move(relation)).Collect();
}

Result<int64_t> DataFrame::Count() const {
  TW_ASSIGN_OR_RETURN(const std::vector<Row> rows, GroupBy(std::vector<Column>()).Count().Collect());
  return SingleValue<int64_t>(rows, "count()");
}

Result<bool> DataFrame::IsEmpty() const {
  TW_ASSIGN_OR_RETURN(const std::vector<Row> rows, Select(std::vector<Column>()).Limit(1).Collect());
  return rows.empty();
}

Result<std::string> DataFrame::ShowString(int rows, int truncate, bool vertical) const {
  proto::Relation relation;
  *relation.mutable_show_string()->mutable_input() = relation_->relation;
  relation.mutable_show_string()->set_num_rows(rows);
  relation.mutable_show_string()->set_truncate(truncate);
  relation.mutable_show_string()->set_vertical(vertical);
  TW_ASSIGN_OR_RETURN(const std::vector<Row> answer, DataFrameAccess::Make(session_, std::move(relation)).Collect());
  return SingleValue<std::string>(answer, "show()");
}

Status DataFrame::Show(int rows, int truncate) const {
  TW_ASSIGN_OR_RETURN(const std::string text, ShowString(rows, truncate));
  std::printf("%s\n", text.c_str());
  return Status::OK();
}

Result<std::vector<std::pair<std::string, std::string>>> DataFrame::Schema() const {
  TW_ASSIGN_OR_RETURN(const proto::AnalyzePlanResponse response,
                      Ask(*session_, relation_->relation, [](auto* request) { return request->mutable_schema()->mutable_plan(); }));
  TW_ASSIGN_OR_RETURN(const data::DataType type, sql::TypeFromProto(response.schema().schema()));
  std::vector<std::pair<std::string, std::string>> columns;
  for (const data::StructField& field : type.fields()) columns.emplace_back(field.name, field.type.SimpleString());
  return columns;
}

Result<std::vector<std::string>> DataFrame::Columns() const {
  TW_ASSIGN_OR_RETURN(const auto schema, Schema());
  std::vector<std::string> names;
  for (const auto& [name, type] : schema) names.push_back(name);
  return names;
}

Result<std::string> DataFrame::TreeString() const {
  TW_ASSIGN_OR_RETURN(const proto::AnalyzePlanResponse response,
                      Ask(*session_, relation_->relation, [](auto* request) { return request->mutable_tree_string()->mutable_plan(); }));
  return response.tree_string().tree_string();
}

Result<std::string> DataFrame::Explain(std::string_view mode) const {
  using Explain = proto::AnalyzePlanRequest::Explain;
  constexpr std::pair<std::string_view, Explain::ExplainMode> kModes[] = {{"simple", Explain::EXPLAIN_MODE_SIMPLE},
                                                                          {"extended", Explain::EXPLAIN_MODE_EXTENDED},
                                                                          {"codegen", Explain::EXPLAIN_MODE_CODEGEN},
                                                                          {"cost", Explain::EXPLAIN_MODE_COST},
                                                                          {"formatted", Explain::EXPLAIN_MODE_FORMATTED}};
  const auto* const found = std::find_if(std::begin(kModes), std::end(kModes), [mode](const auto& one) { return one.first == mode; });
  if (found == std::end(kModes)) {
    return Error("ILLEGAL_ARGUMENT").With("message", "explain has no mode '" + std::string(mode) + "'");
  }
  TW_ASSIGN_OR_RETURN(const proto::AnalyzePlanResponse response, Ask(*session_, relation_->relation, [found](auto* request) {
                        request->mutable_explain()->set_explain_mode(found->second);
                        return request->mutable_explain()->mutable_plan();
                      }));
  return response.explain().explain_string();
}

Result<bool> DataFrame::IsStreaming() const {
  TW_ASSIGN_OR_RETURN(const proto::AnalyzePlanResponse response,
                      Ask(*session_, relation_->relation, [](auto* request) { return request->mutable_is_streaming()->mutable_plan(); }));
  return response.is_streaming().is_streaming();
}

Result<std::vector<std::string>> DataFrame::InputFiles() const {
  TW_ASSIGN_OR_RETURN(const proto::AnalyzePlanResponse response,
                      Ask(*session_, relation_->relation, [](auto* request) { return request->mutable_input_files()->mutable_plan(); }));
  const auto& files = response.input_files().files();
  return std::vector<std::string>(files.begin(), files.end());
}

Status DataFrame::Cache() const {
  proto::AnalyzePlanRequest request;
  *request.mutable_persist()->mutable_relation() = relation_->relation;
  return session_->Analyze(&request).status();
}

Status DataFrame::Unpersist() const {
  proto::AnalyzePlanRequest request;
  *request.mutable_unpersist()->mutable_relation() = relation_->relation;
  return session_->Analyze(&request).status();
}

Status DataFrame::CreateView(std::string_view name, bool global, bool replace) const {
  proto::Command command;
  auto* view = command.mutable_create_dataframe_view();
  *view->mutable_input() = relation_->relation;
  view->set_name(std::string(name));
  view->set_is_global(global);
  view->set_replace(replace);
  return session_->ExecuteCommand(command);
}

Status DataFrame::CreateTempView(std::string_view name) const { return CreateView(name, false, false); }
Status DataFrame::CreateOrReplaceTempView(std::string_view name) const { return CreateView(name, false, true); }
Status DataFrame::CreateGlobalTempView(std::string_view name) const { return CreateView(name, true, false); }
Status DataFrame::CreateOrReplaceGlobalTempView(std::string_view name) const { return CreateView(name, true, true); }

DataFrameWriter DataFrame::Write() const { return DataFrameWriter(session_, relation_); }
DataFrameWriterV2 DataFrame::WriteTo(std::string_view table) const { return DataFrameWriterV2(session_, relation_, table); }
DataStreamWriter DataFrame::WriteStream() const { return DataStreamWriter(session_, relation_); }

}  // namespace thalweg
