#pragma once

// Test double: rows of a Delta table by way of the data source, as a session would read and write it.

#include <string>
#include <vector>

#include "base/clock.h"
#include "connectors/delta/delta_source.h"
#include "data/columnar/builder.h"
#include "data/columnar/chunk.h"
#include "data/io/file_system.h"

namespace thalweg::connectors {

/// A session's view of one disk. Thread: its methods from one at a time; several may share a disk.
class DeltaBench {
 public:
  explicit DeltaBench(data::FileSystem& disk, Clock& clock = SystemClock::Get());

  const sql::DataSource& source() const { return *source_; }
  std::shared_ptr<const sql::EvalConfig> config() const { return config_; }
  Result<sql::TablePtr> Load(const std::string& path, const sql::OptionMap& options = {}, bool for_write = false) const;
  /// All rows of a table's version; `columns` empty: all of them.
  Result<std::vector<data::ValueList>> Rows(const sql::TablePtr& table, std::vector<std::string> columns = {},
                                            const sql::ExprList& filters = {}) const;
  Result<std::vector<data::ValueList>> Rows(const std::string& path) const;
  /// Writes chunks with `tasks` writers in turn. Answers false for writes that had nothing to do (ignore).
  Result<bool> Write(const std::string& path, const data::Schema& schema, const std::vector<data::Chunk>& chunks, sql::SaveMode mode,
                     const std::vector<std::string>& partition_columns = {}, const sql::OptionMap& options = {}, int tasks = 1) const;
  /// One epoch through a sink.
  Status RunEpoch(sql::StreamingWrite& sink, int64_t epoch, const std::vector<data::Chunk>& chunks) const;
  Result<std::unique_ptr<sql::StreamingWrite>> Sink(const std::string& path, const data::Schema& schema, const Uuid& query_id,
                                                    sql::OutputMode mode = sql::OutputMode::kAppend,
                                                    const std::vector<std::string>& partition_columns = {}) const;

 private:
  sql::ConnectorServices services_;
  std::shared_ptr<const sql::DataSource> source_;
  std::shared_ptr<const sql::EvalConfig> config_;
};

}  // namespace thalweg::connectors
