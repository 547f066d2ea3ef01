#include "connectors/delta/delta_testing.h"

namespace thalweg::connectors {

DeltaBench::DeltaBench(data::FileSystem& disk, Clock& clock) {
  services_.file_system = &disk;
  services_.clock = &clock;
  source_ = MakeDeltaDataSource(services_);
  config_ = std::make_shared<const sql::EvalConfig>();
}

Result<sql::TablePtr> DeltaBench::Load(const std::string& path, const sql::OptionMap& options, bool for_write) const {
  sql::LoadRequest request;
  request.paths = {path};
  request.options = options;
  request.for_write = for_write;
  request.config = config_;
  return source_->Load(request);
}

Result<std::vector<data::ValueList>> DeltaBench::Rows(const sql::TablePtr& table, std::vector<std::string> columns,
                                                      const sql::ExprList& filters) const {
  sql::ScanRequest request;
  request.columns = std::move(columns);
  if (request.columns.empty()) {
    for (const auto& field : table->schema()) request.columns.push_back(field.name);
  }
  request.filters = filters;
  TW_ASSIGN_OR_RETURN(const auto scan, table->NewScan(request, config_));
  TW_ASSIGN_OR_RETURN(const auto splits, scan->PlanSplits());
  std::vector<data::ValueList> rows;
  for (const auto& split : splits) {
    TW_ASSIGN_OR_RETURN(const auto reader, split->Open(*config_));
    while (true) {
      TW_ASSIGN_OR_RETURN(const sql::ReadStep step, reader->Next());
      const auto* read = std::get_if<sql::ReadChunk>(&step);
      if (read == nullptr) break;
      const data::Chunk chunk = read->chunk.Dense();
      for (int64_t row = 0; row < chunk.num_rows(); ++row) {
        data::ValueList values;
        for (int c = 0; c < chunk.num_columns(); ++c) values.push_back(chunk.column(c)->GetValue(row));
        rows.push_back(std::move(values));
      }
    }
  }
  return rows;
}

Result<std::vector<data::ValueList>> DeltaBench::Rows(const std::string& path) const {
  TW_ASSIGN_OR_RETURN(const sql::TablePtr table, Load(path));
  return Rows(table);
}

Result<bool> DeltaBench::Write(const std::string& path, const data::Schema& schema, const std::vector<data::Chunk>& chunks,
                               sql::SaveMode mode, const std::vector<std::string>& partition_columns, const sql::OptionMap& options,
                               int tasks) const {
  TW_ASSIGN_OR_RETURN(const sql::TablePtr table, Load(path, options, true));
  sql::WriteRequest request;
  request.schema = schema;
  request.options = options;
  request.partition_columns = partition_columns;
  request.mode = mode;
  request.config = config_;
  TW_ASSIGN_OR_RETURN(const auto write, table->NewBatchWrite(request));
  if (write == nullptr) return false;
  std::vector<std::unique_ptr<sql::DataWriter>> writers;
  for (int task = 0; task < tasks; ++task) {
    TW_ASSIGN_OR_RETURN(auto writer, write->NewWriter(PartitionId(task)));
    writers.push_back(std::move(writer));
  }
  for (size_t i = 0; i < chunks.size(); ++i) TW_RETURN_NOT_OK(writers[i % writers.size()]->Write(chunks[i]));
  std::vector<sql::CommitMessagePtr> messages;
  for (auto& writer : writers) {
    TW_ASSIGN_OR_RETURN(auto message, writer->Finish(nullptr));
    messages.push_back(std::move(message));
  }
  const Status committed = write->Commit(messages);
  if (!committed.ok()) {
    write->Abort(messages);
    return committed;
  }
  return true;
}

Result<std::unique_ptr<sql::StreamingWrite>> DeltaBench::Sink(const std::string& path, const data::Schema& schema, const Uuid& query_id,
                                                              sql::OutputMode mode,
                                                              const std::vector<std::string>& partition_columns) const {
  TW_ASSIGN_OR_RETURN(const sql::TablePtr table, Load(path, {}, true));
  sql::StreamWriteRequest request;
  request.schema = schema;
  request.mode = mode;
  request.partition_columns = partition_columns;
  request.query_id = QueryId(query_id);
  request.config = config_;
  TW_ASSIGN_OR_RETURN(auto sink, table->NewStreamingWrite(request));
  return std::move(std::get<0>(sink));
}

Status DeltaBench::RunEpoch(sql::StreamingWrite& sink, int64_t epoch, const std::vector<data::Chunk>& chunks) const {
  TW_ASSIGN_OR_RETURN(const auto writer, sink.NewWriter(PartitionId(0), BatchId(epoch)));
  for (const auto& chunk : chunks) TW_RETURN_NOT_OK(writer->Write(chunk));
  TW_ASSIGN_OR_RETURN(const auto message, writer->Finish(nullptr));
  const Status committed = sink.Commit(BatchId(epoch), {message});
  if (!committed.ok()) sink.Abort(BatchId(epoch), {message});
  return committed;
}

}  // namespace thalweg::connectors
