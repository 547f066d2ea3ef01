#pragma once

// What the tests of this room share: a query that reads and writes without an engine.

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/signal.h"
#include "connectors/kafka/kafka_source.h"
#include "data/columnar/builder.h"
#include "data/io/memory_file_system.h"

namespace thalweg::connectors {

using Row = data::ValueList;

/// Reads and writes the topics of one broker as a query would. Thread: confined.
class KafkaTester {
 public:
  explicit KafkaTester(std::string bootstrap)
      : bootstrap_(std::move(bootstrap)), more_(std::make_shared<Signal>()) {
    services_.file_system = &files_;
    services_.clock = &SystemClock::Get();
    services_.console = [](std::string_view) {};
    source_ = MakeKafkaDataSource(services_);
  }

  using OptionList = std::vector<std::pair<std::string, std::string>>;
  sql::OptionMap Options(const OptionList& more) const {
    sql::OptionMap options;
    options.Set("kafka.bootstrap.servers", bootstrap_);
    for (const auto& [key, value] : more) options.Set(key, value);
    return options;
  }
  Result<sql::TablePtr> Load(const OptionList& options, bool streaming = true) {
    sql::LoadRequest request;
    request.options = Options(options);
    request.streaming = streaming;
    return source_->Load(request);
  }
  /// A stream with the checkpoint of that name.
  Result<std::unique_ptr<sql::MicroBatchStream>> Open(const OptionList& options,
                                                      const std::string& checkpoint) {
    TW_ASSIGN_OR_RETURN(const sql::TablePtr table, Load(options));
    sql::StreamContext context;
    context.checkpoint_root = "/" + checkpoint;
    context.metadata_path = "/" + checkpoint + "/sources/0";
    context.on_more_data = [more = more_] { more->Set(); };
    context.config = config_;
    context.stop = stop_.get_token();
    return table->NewMicroBatchStream(context);
  }

  /// Every row of the splits, one reader after the other.
  Result<std::vector<Row>> Read(const std::vector<sql::InputSplitPtr>& splits) {
    std::vector<Row> rows;
    for (const sql::InputSplitPtr& split : splits) {
      TW_ASSIGN_OR_RETURN(const std::unique_ptr<sql::PartitionReader> reader,
                          split->Open(*config_));
      while (true) {
        TW_ASSIGN_OR_RETURN(const sql::ReadStep step, reader->Next());
        if (std::holds_alternative<sql::ReadEnd>(step)) break;
        if (const auto* blocked = std::get_if<sql::ReadBlocked>(&step)) {
          if (!blocked->signal->WaitFor({}, std::chrono::seconds(30)))
            return InternalError("nothing came for 30 s");
          continue;
        }
        const data::Chunk& chunk = std::get<sql::ReadChunk>(step).chunk;
        for (int64_t i = 0; i < chunk.num_rows(); ++i) {
          Row row;
          for (const data::ColumnPtr& column : chunk.columns()) row.push_back(column->GetValue(i));
          rows.push_back(std::move(row));
        }
      }
    }
    return rows;
  }
  Result<std::vector<Row>> Read(sql::MicroBatchStream& stream, const sql::Offset& start,
                                const sql::Offset& end,
                                std::vector<std::string> columns = {"value"}) {
    sql::ScanRequest scan;
    scan.columns = std::move(columns);
    TW_ASSIGN_OR_RETURN(const std::vector<sql::InputSplitPtr> splits,
                        stream.PlanSplits(start, end, scan));
    return Read(splits);
  }
  /// A batch read.
  Result<std::vector<Row>> ReadBatch(const OptionList& options,
                                     std::vector<std::string> columns = {"value"}) {
    TW_ASSIGN_OR_RETURN(const sql::TablePtr table, Load(options, /*streaming=*/false));
    sql::ScanRequest request;
    request.columns = std::move(columns);
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<sql::Scan> scan, table->NewScan(request, config_));
    TW_ASSIGN_OR_RETURN(const std::vector<sql::InputSplitPtr> splits, scan->PlanSplits());
    return Read(splits);
  }

  /// A batch write of rows with this schema; returns when the broker has them.
  Status Write(const data::Schema& schema, const std::vector<Row>& rows,
               const OptionList& options) {
    sql::LoadRequest load;
    load.options = Options(options);
    load.for_write = true;
    TW_ASSIGN_OR_RETURN(const sql::TablePtr table, source_->Load(load));
    sql::WriteRequest request;
    request.schema = schema;
    request.options = load.options;
    request.mode = sql::SaveMode::kAppend;
    request.config = config_;
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<sql::BatchWrite> write,
                        table->NewBatchWrite(request));
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<sql::DataWriter> writer,
                        write->NewWriter(PartitionId(0)));
    std::vector<data::DataType> types;
    for (const data::StructField& field : schema) types.push_back(field.type);
    TW_RETURN_NOT_OK(writer->Write(data::ChunkFromRows(types, rows)));
    return Finish(*write, *writer);
  }
  /// Values into partition 0, or another one.
  Status Send(const std::string& topic, const std::vector<std::string>& values,
              int32_t partition = 0) {
    std::vector<Row> rows;
    for (const std::string& value : values)
      rows.push_back({data::Value(value), data::Value(partition)});
    return Write({{"value", data::DataType::String()}, {"partition", data::DataType::Integer()}},
                 rows, {{"topic", topic}});
  }
  static Status Finish(sql::BatchWrite& write, sql::DataWriter& writer) {
    while (true) {
      std::shared_ptr<Signal> blocked;
      TW_ASSIGN_OR_RETURN(const sql::CommitMessagePtr message, writer.Finish(&blocked));
      if (blocked == nullptr) return write.Commit({message});
      if (!blocked->WaitFor({}, std::chrono::seconds(60)))
        return InternalError("no delivery report for 60 s");
    }
  }

  data::MemoryFileSystem& files() { return files_; }
  Signal& more() { return *more_; }
  std::stop_source& stop() { return stop_; }
  const std::string& bootstrap() const { return bootstrap_; }

 private:
  const std::string bootstrap_;
  data::MemoryFileSystem files_;
  sql::ConnectorServices services_;
  std::shared_ptr<const sql::DataSource> source_;
  std::shared_ptr<const sql::EvalConfig> config_ = std::make_shared<sql::EvalConfig>();
  std::shared_ptr<Signal> more_;
  std::stop_source stop_;
};

/// The text of the first column of each row; "NULL" for null.
inline std::vector<std::string> FirstTexts(const std::vector<Row>& rows) {
  std::vector<std::string> texts;
  for (const Row& row : rows)
    texts.push_back(row[0].is_null() ? "NULL" : row[0].get<std::string>());
  return texts;
}

inline std::vector<std::string> Numbered(const std::string& prefix, int count) {
  std::vector<std::string> values;
  for (int i = 0; i < count; ++i) values.push_back(prefix + std::to_string(i));
  return values;
}

}  // namespace thalweg::connectors
