#pragma once

#include <memory>
#include <vector>

#include "base/mutex.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// Rows kept in memory: the table behind a memory sink. Readers see the batches stored when their
/// scan was planned. Thread: synchronised.
class MemoryTable final : public sql::Table, public std::enable_shared_from_this<MemoryTable> {
 public:
  explicit MemoryTable(data::Schema schema) : schema_(std::move(schema)) {}

  std::string name() const override { return "memory"; }
  data::Schema schema() const override { return schema_; }
  sql::TableCapabilities capabilities() const override;
  Result<std::unique_ptr<sql::Scan>> NewScan(
      const sql::ScanRequest& request, std::shared_ptr<const sql::EvalConfig> config) override;
  Result<std::variant<std::unique_ptr<sql::StreamingWrite>, std::unique_ptr<sql::BatchSink>>>
  NewStreamingWrite(const sql::StreamWriteRequest& request) override;

  /// Stores a batch unless it was stored before; `replace`: instead of all earlier rows.
  void Store(BatchId epoch, std::vector<data::Chunk> rows, bool replace);
  std::vector<data::Chunk> rows() const;
  int64_t version() const;

 private:
  const data::Schema schema_;
  mutable Mutex mutex_;
  std::vector<data::Chunk> rows_ TW_GUARDED_BY(mutex_);
  BatchId last_ TW_GUARDED_BY(mutex_){-1};
  int64_t version_ TW_GUARDED_BY(mutex_) = 0;
};

/// The format "memory". Errors: _LEGACY_ERROR_TEMP_1194 without a query name, when the sink is
/// made.
std::shared_ptr<const sql::DataSource> MakeMemoryDataSource();

}  // namespace thalweg::connectors
