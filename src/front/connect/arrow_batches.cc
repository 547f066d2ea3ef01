#include "front/connect/arrow_batches.h"

#include <spark/connect/base.pb.h>

#include <algorithm>

namespace thalweg::front {

ArrowBatches::ArrowBatches(data::Schema schema, ArrowBatchOptions options, Sink sink)
    : schema_(std::move(schema)), options_(options), sink_(std::move(sink)) {
  for (const data::StructField& field : schema_) types_.push_back(field.type);
}

Status ArrowBatches::Add(const data::Chunk& chunk) {
  int64_t at = 0;
  const int64_t rows = chunk.num_rows();
  while (at < rows) {
    int64_t take = rows - at;
    if (options_.max_rows > 0) take = std::min(take, options_.max_rows - pending_rows_);
    data::Chunk part = take == rows ? chunk.Dense() : chunk.Slice(at, take).Dense();
    pending_rows_ += take;
    pending_bytes_ += part.bytes();
    pending_.push_back(std::move(part));
    at += take;
    const bool full = (options_.max_rows > 0 && pending_rows_ >= options_.max_rows) || pending_bytes_ >= options_.max_bytes;
    if (full) TW_RETURN_NOT_OK(Flush());
  }
  return Status::OK();
}

Status ArrowBatches::Finish() {
  if (pending_rows_ > 0 || !sent_any_) return Flush();
  return Status::OK();
}

Status ArrowBatches::Flush() {
  data::Chunk all = pending_.size() == 1 ? std::move(pending_[0]) : data::ConcatChunks(pending_, types_);
  pending_.clear();
  pending_rows_ = pending_bytes_ = 0;
  return Send(all);
}

Status ArrowBatches::Send(const data::Chunk& rows) {
  TW_ASSIGN_OR_RETURN(std::string stream, data::WriteIpcStream({rows}, schema_, options_.arrow));
  const auto size = static_cast<int64_t>(stream.size());
  // Half of the rows at a time until a message is small enough; a single large row needs chunking.
  if (size > options_.max_chunk_bytes && rows.num_rows() > 1) {
    const int64_t half = rows.num_rows() / 2;
    TW_RETURN_NOT_OK(Send(rows.Slice(0, half).Dense()));
    return Send(rows.Slice(half, rows.num_rows() - half).Dense());
  }
  const int64_t limit = options_.allow_chunking ? options_.max_chunk_bytes : size;
  const int64_t pieces = size <= limit ? 1 : (size + limit - 1) / limit;
  for (int64_t i = 0; i < pieces; ++i) {
    ::spark::connect::ExecutePlanResponse response;
    auto* batch = response.mutable_arrow_batch();
    batch->set_row_count(rows.num_rows());
    batch->set_start_offset(sent_rows_);
    batch->set_chunk_index(i);
    batch->set_num_chunks_in_batch(pieces);
    if (pieces == 1) {
      batch->set_data(std::move(stream));
    } else {
      batch->set_data(stream.substr(i * limit, limit));
    }
    sink_(&response);
  }
  sent_rows_ += rows.num_rows();
  sent_any_ = true;
  return Status::OK();
}

}  // namespace thalweg::front
