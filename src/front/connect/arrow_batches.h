#pragma once

// Result rows as ArrowBatch messages. Source: spark/connect/base.proto.

#include <functional>
#include <vector>

#include "base/status.h"
#include "data/columnar/arrow_bridge.h"
#include "data/columnar/chunk.h"

namespace spark::connect {
class ExecutePlanResponse;
}

namespace thalweg::front {

struct ArrowBatchOptions {
  data::ExportOptions arrow;
  int64_t max_rows = 10'000;              ///< spark.sql.execution.arrow.maxRecordsPerBatch; <= 0: no limit
  int64_t max_bytes = 8 << 20;            ///< a batch is closed when it has reached this size
  bool allow_chunking = false;            ///< the client asked for it
  int64_t max_chunk_bytes = 64 << 20;     ///< of one message, when chunking
};

/// Collects rows into batches and hands over finished messages. Thread: confined.
class ArrowBatches {
 public:
  using Sink = std::function<void(::spark::connect::ExecutePlanResponse* response)>;
  ArrowBatches(data::Schema schema, ArrowBatchOptions options, Sink sink);
  Status Add(const data::Chunk& chunk);
  /// Sends what is left; at least one batch in all, so that the client sees the Arrow schema.
  Status Finish();
  int64_t rows() const { return sent_rows_ + pending_rows_; }

 private:
  Status Flush();
  Status Send(const data::Chunk& rows);

  const data::Schema schema_;
  const ArrowBatchOptions options_;
  const Sink sink_;
  std::vector<data::DataType> types_;
  std::vector<data::Chunk> pending_;
  int64_t pending_rows_ = 0, pending_bytes_ = 0, sent_rows_ = 0;
  bool sent_any_ = false;
};

}  // namespace thalweg::front
