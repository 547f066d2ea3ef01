#pragma once

// Grouping and accumulating, without the operator around it: hash aggregate, observe.

#include <memory>
#include <optional>
#include <vector>

#include "engine/exec/group_table.h"
#include "sql/expr/eval_context.h"
#include "sql/expr/function.h"

namespace thalweg::engine {

/// One aggregate function of an aggregation.
struct AggregateSpec {
  std::shared_ptr<const sql::BoundAggregate> bound;
  std::vector<int> arguments;      ///< input columns: arguments, or with `merge` the buffers
  std::optional<int> filter;       ///< input column, boolean: only rows where it is true
  bool merge = false;              ///< takes partial buffers instead of arguments
  /// DISTINCT: layout of the group's keys and the arguments; of equal rows of a group only the first is added.
  std::shared_ptr<const KeyLayout> distinct;
};

/// What to group by and to compute. Input columns are those of the chunks given to Add. Immutable, shared by instances.
struct AggregationSpec {
  std::vector<int> key_columns;
  std::shared_ptr<const KeyLayout> layout;  ///< of the key columns
  std::vector<AggregateSpec> aggregates;
};
/// Errors: as KeyLayout::Make.
Result<std::shared_ptr<const AggregationSpec>> MakeAggregationSpec(std::vector<int> key_columns,
                                                                   std::vector<data::DataType> key_types,
                                                                   std::vector<AggregateSpec> aggregates);

/// Groups and their accumulators. Thread: confined to its user.
class Aggregator {
 public:
  explicit Aggregator(std::shared_ptr<const AggregationSpec> spec);
  ~Aggregator();
  /// Adds the rows of a chunk. Errors: those of the functions.
  Status Add(const data::Chunk& chunk, sql::EvalContext& context);
  /// Without keys there is one group also when no row came.
  void AddEmptyGroup();
  int64_t groups() const { return table_.size(); }
  /// Groups [first, first + count) in the order they appeared: keys, then results or (buffers) the partial buffers.
  Result<data::Chunk> Emit(int64_t first, int64_t count, bool buffers, sql::EvalContext& context);
  void Clear();
  /// Table, keys and what accumulators own (the latter measured now and then).
  int64_t bytes() const;

 private:
  Status Update(size_t index, const data::Chunk& chunk, sql::EvalContext& context);
  /// Rows of a dense chunk for which the filter is true and, with DISTINCT, that are new.
  std::vector<int32_t> SelectedRows(size_t index, const data::Chunk& chunk);
  void InitRows(int64_t first);
  void MeasureOwned();

  const std::shared_ptr<const AggregationSpec> spec_;
  std::vector<int> offsets_;       // of accumulators in the row
  GroupTable table_;
  KeyEncoder encoder_;
  std::vector<uint8_t*> rows_;     // of the chunk being added, moved on by rows_offset_: to the accumulators that are next
  int rows_offset_ = 0;
  std::vector<uint8_t*> accumulators_;
  struct Seen {
    explicit Seen(const std::shared_ptr<const KeyLayout>& layout) : encoder(*layout), table(layout, 8) {}
    KeyEncoder encoder;
    GroupTable table;
  };
  std::vector<std::unique_ptr<Seen>> seen_;  // by aggregate; null without DISTINCT
  bool owns_ = false;
  int64_t owned_bytes_ = 0;
  int64_t measure_at_rows_ = 0;
  int64_t added_rows_ = 0;
};

}  // namespace thalweg::engine
