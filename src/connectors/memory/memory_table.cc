#include "connectors/memory/memory_table.h"

#include <algorithm>

namespace thalweg::connectors {
namespace {

class RowsReader final : public sql::PartitionReader {
 public:
  RowsReader(std::vector<data::Chunk> rows, std::vector<int> columns)
      : rows_(std::move(rows)), columns_(std::move(columns)) {}

  Result<sql::ReadStep> Next() override {
    if (next_ == rows_.size()) return sql::ReadStep(sql::ReadEnd{});
    const data::Chunk& stored = rows_[next_++];
    std::vector<data::ColumnPtr> columns;
    for (const int ordinal : columns_) columns.push_back(stored.column(ordinal));
    return sql::ReadStep(sql::ReadChunk{data::Chunk(std::move(columns), stored.physical_rows())});
  }

 private:
  std::vector<data::Chunk> rows_;  // dense
  std::vector<int> columns_;
  size_t next_ = 0;
};

class RowsSplit final : public sql::InputSplit {
 public:
  RowsSplit(std::vector<data::Chunk> rows, std::vector<int> columns)
      : rows_(std::move(rows)), columns_(std::move(columns)) {}
  Result<std::unique_ptr<sql::PartitionReader>> Open(const sql::EvalConfig&) const override {
    return std::unique_ptr<sql::PartitionReader>(std::make_unique<RowsReader>(rows_, columns_));
  }
  std::string Describe() const override { return "memory"; }

 private:
  std::vector<data::Chunk> rows_;
  std::vector<int> columns_;
};

class MemoryScan final : public sql::Scan {
 public:
  MemoryScan(std::shared_ptr<MemoryTable> table, std::vector<int> columns)
      : table_(std::move(table)), columns_(std::move(columns)) {}

  data::Schema schema() const override {
    const data::Schema all = table_->schema();
    data::Schema picked;
    for (const int ordinal : columns_) picked.push_back(all[ordinal]);
    return picked;
  }
  std::string Describe() const override { return "MemoryTableScan"; }
  Result<std::vector<sql::InputSplitPtr>> PlanSplits() override {
    return std::vector<sql::InputSplitPtr>{std::make_shared<RowsSplit>(table_->rows(), columns_)};
  }
  Result<sql::LeafVersion> Version() override {
    return sql::LeafVersion{std::to_string(table_->version())};
  }
  std::optional<int64_t> EstimatedRows() const override {
    int64_t rows = 0;
    for (const data::Chunk& chunk : table_->rows()) rows += chunk.num_rows();
    return rows;
  }

 private:
  std::shared_ptr<MemoryTable> table_;
  std::vector<int> columns_;
};

class MemorySink final : public sql::BatchSink {
 public:
  MemorySink(std::shared_ptr<MemoryTable> table, sql::OutputMode mode)
      : table_(std::move(table)), mode_(mode) {}
  sql::DeliveryGuarantee guarantee() const override { return sql::DeliveryGuarantee::kAtLeastOnce; }
  Status AddBatch(BatchId epoch, std::shared_ptr<const sql::BatchRelation> rows) override {
    table_->Store(epoch, rows->chunks(), mode_ == sql::OutputMode::kComplete);
    return Status::OK();
  }
  std::string Description() const override { return "MemorySink"; }
  bool recoverable() const override { return mode_ == sql::OutputMode::kComplete; }

 private:
  std::shared_ptr<MemoryTable> table_;
  sql::OutputMode mode_;
};

class MemoryDataSource final : public sql::DataSource {
 public:
  std::string short_name() const override { return "memory"; }
  Result<sql::TablePtr> Load(const sql::LoadRequest& request) const override {
    if (!request.for_write) return Error("DATA_SOURCE_NOT_FOUND").With("provider", "memory");
    return sql::TablePtr(std::make_shared<MemoryTable>(request.schema.value_or(data::Schema{})));
  }
};

}  // namespace

sql::TableCapabilities MemoryTable::capabilities() const {
  return {.batch_read = true, .streaming_write = true, .shown_as_view = true};
}

Result<std::unique_ptr<sql::Scan>> MemoryTable::NewScan(const sql::ScanRequest& request,
                                                        std::shared_ptr<const sql::EvalConfig>) {
  std::vector<int> columns;
  for (const std::string& wanted : request.columns) {
    const auto found =
        std::find_if(schema_.begin(), schema_.end(),
                     [&](const data::StructField& field) { return field.name == wanted; });
    if (found == schema_.end()) return InternalError("memory table has no column " + wanted);
    columns.push_back(static_cast<int>(found - schema_.begin()));
  }
  return std::unique_ptr<sql::Scan>(
      std::make_unique<MemoryScan>(shared_from_this(), std::move(columns)));
}

Result<std::variant<std::unique_ptr<sql::StreamingWrite>, std::unique_ptr<sql::BatchSink>>>
MemoryTable::NewStreamingWrite(const sql::StreamWriteRequest& request) {
  if (request.query_name.empty()) return Error("_LEGACY_ERROR_TEMP_1194");
  if (!request.partition_columns.empty())
    return Error("_LEGACY_ERROR_TEMP_1197").With("operation", "memory");
  std::unique_ptr<sql::BatchSink> sink =
      std::make_unique<MemorySink>(shared_from_this(), request.mode);
  return std::variant<std::unique_ptr<sql::StreamingWrite>, std::unique_ptr<sql::BatchSink>>(
      std::move(sink));
}

void MemoryTable::Store(BatchId epoch, std::vector<data::Chunk> rows, bool replace) {
  for (data::Chunk& chunk : rows) chunk = chunk.Dense();
  const MutexLock lock(mutex_);
  if (epoch <= last_) return;
  last_ = epoch;
  ++version_;
  if (replace) rows_.clear();
  rows_.insert(rows_.end(), rows.begin(), rows.end());
}

std::vector<data::Chunk> MemoryTable::rows() const {
  const MutexLock lock(mutex_);
  return rows_;
}

int64_t MemoryTable::version() const {
  const MutexLock lock(mutex_);
  return version_;
}

std::shared_ptr<const sql::DataSource> MakeMemoryDataSource() {
  return std::make_shared<MemoryDataSource>();
}

}  // namespace thalweg::connectors
