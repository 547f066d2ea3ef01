#pragma once

// The built side of a hash join.

#include <memory>
#include <vector>

#include "base/memory.h"
#include "base/mutex.h"
#include "base/signal.h"
#include "data/columnar/chunk.h"
#include "engine/exec/group_table.h"

namespace thalweg::engine {

/// Rows of one join side, found by key. Built by one task, then immutable; many tasks may probe it.
class JoinTable {
 public:
  /// `null_safe`: by key column, nulls equal nulls; rows with another null key are kept but never found.
  JoinTable(std::shared_ptr<const KeyLayout> layout, std::vector<int> key_columns, std::vector<bool> null_safe,
            std::vector<data::DataType> types, MemoryReservation memory);
  /// Errors: OUT_OF_MEMORY.
  Status Add(const data::Chunk& chunk);
  Status Finish();

  const data::Chunk& rows() const { return rows_; }  ///< dense, after Finish
  /// First row of a key found by `table()`.Find: chains go on by Next; -1 ends them. In the order rows were added.
  int32_t First(const uint8_t* group) const {
    int32_t first;
    __builtin_memcpy(&first, group + table_.payload_offset(), sizeof(first));
    return first - 1;
  }
  int32_t Next(int32_t row) const { return next_.empty() ? -1 : next_[row]; }
  const GroupTable& table() const { return table_; }

 private:
  const std::vector<int> key_columns_;
  const std::vector<bool> null_safe_;
  const std::vector<data::DataType> types_;
  GroupTable table_;
  MemoryReservation memory_;
  std::vector<data::Chunk> chunks_;
  int64_t num_rows_ = 0;
  data::Chunk rows_;
  std::vector<int32_t> next_;  // empty: every key is unique
};

/// 1 for rows whose key has a null in a column that is not null safe; empty when there is none. `columns` are the keys.
std::vector<uint8_t> UnmatchableRows(const std::vector<data::ColumnPtr>& columns, const std::vector<bool>& null_safe,
                                     int64_t rows);

/// A join table that several instances read and the first one to come builds: each instance of a broadcast join sees all
/// rows, one keeps them. Thread: synchronised.
class SharedJoinTable {
 public:
  struct Build {
    std::unique_ptr<JoinTable> table;
    std::shared_ptr<Signal> ready = std::make_shared<Signal>();
  };
  /// The build of that epoch; `*builder` for the one caller that has to do it.
  std::shared_ptr<Build> Acquire(int64_t epoch_sequence, bool* builder) TW_EXCLUDES(mutex_);
  /// The last build, null before the first.
  std::shared_ptr<Build> Current() const TW_EXCLUDES(mutex_);
  /// Forgets the last build: the query that paid for it ends. (A plan is run by one execution at a time.)
  void Drop() TW_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  int64_t epoch_sequence_ TW_GUARDED_BY(mutex_) = -1;
  std::shared_ptr<Build> build_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg::engine
