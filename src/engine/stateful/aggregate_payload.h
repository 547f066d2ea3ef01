#pragma once

#include <memory>
#include <span>
#include <vector>

#include "data/rowformat/unsafe_row_reader.h"
#include "data/rowformat/unsafe_row_writer.h"
#include "engine/state/state_table.h"
#include "sql/expr/function.h"

namespace thalweg::engine {

using AggregateList = std::vector<std::shared_ptr<const sql::BoundAggregate>>;

/// The columns of Spark's aggregation buffers, one aggregate after the other.
std::vector<data::DataType> BufferTypes(const AggregateList& aggregates);

/// Accumulators of several aggregates, one after the other, each at an 8-byte aligned place. Stored
/// as the row of their buffers. Thread: confined to the table's.
class AggregatePayload final : public StatePayload {
 public:
  explicit AggregatePayload(AggregateList aggregates);
  int size() const override { return size_; }
  void Init(std::span<uint8_t* const> payloads) override;
  Status Encode(std::span<uint8_t* const> payloads, data::RowBatch* values) override;
  Status Decode(std::span<const std::string_view> values,
                std::span<uint8_t* const> payloads) override;
  void Destroy(std::span<uint8_t* const> payloads) override;

  /// Adds partial buffers: row i of `buffers` to payload i.
  Status Merge(std::span<const data::ColumnPtr> buffers, std::span<uint8_t* const> payloads,
               sql::EvalContext& context);
  /// One column per aggregate.
  Result<std::vector<data::ColumnPtr>> Finish(std::span<uint8_t* const> payloads,
                                              sql::EvalContext& context) const;

 private:
  /// The accumulators of aggregate `i`.
  std::vector<uint8_t*> At(size_t i, std::span<uint8_t* const> payloads) const;

  const AggregateList aggregates_;
  std::vector<int> offsets_;
  int size_ = 0;
  bool owns_ = false;
  data::UnsafeRowWriter writer_;
  data::UnsafeRowReader reader_;
};

}  // namespace thalweg::engine
