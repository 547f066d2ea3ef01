#pragma once

#include <utility>
#include <vector>

#include "sql/datasource/data_source.h"

namespace thalweg::streaming {

/// The rows of one micro-batch in memory. Thread: immutable.
class ChunkRelation final : public sql::BatchRelation {
 public:
  ChunkRelation(data::Schema schema, std::vector<data::Chunk> chunks)
      : schema_(std::move(schema)), chunks_(std::move(chunks)) {
    for (const data::Chunk& chunk : chunks_) num_rows_ += chunk.num_rows();
  }
  const data::Schema& schema() const override { return schema_; }
  int64_t num_rows() const override { return num_rows_; }
  std::vector<data::Chunk> chunks() const override { return chunks_; }

 private:
  data::Schema schema_;
  std::vector<data::Chunk> chunks_;
  int64_t num_rows_ = 0;
};

}  // namespace thalweg::streaming
