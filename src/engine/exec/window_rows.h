#pragma once

// Sorted rows of whole partitions, and what each row sees of its own.

#include <cstdint>
#include <optional>
#include <vector>

#include "data/columnar/chunk.h"
#include "engine/exec/sorter.h"
#include "sql/expr/window_call.h"

namespace thalweg::engine {

/// A frame of a physical plan. Offsets of rows are numbers (negative: before the row); offsets of a
/// range were added to the order's value below, so that here they are columns with the bound
/// itself.
struct FrameSpec {
  sql::WindowFrame frame;
  int64_t lower_rows = 0;
  int64_t upper_rows = 0;
  int lower_column = -1;
  int upper_column = -1;
};

/// `changed[i]` becomes 1 where row i > 0 differs from row i - 1; nulls are equal to each other, so
/// are all NaN, and -0.0 to 0.0. Flat column. The one definition of "the same partition" and of
/// peers.
void MarkChanges(const data::Column& column, int64_t rows, uint8_t* changed);

/// Finds where partitions begin in chunks that follow each other, sorted by partition. Thread:
/// confined.
class PartitionFinder {
 public:
  explicit PartitionFinder(const std::vector<int>& columns) : columns_(columns) {}
  /// The last row of the chunk at which a partition begins that is not the one of the rows before;
  /// -1 without one. Flat columns, no selection, not empty.
  int64_t LastStart(const data::Chunk& chunk);
  /// As if nothing had come.
  void Clear() { before_ = {}; }

 private:
  const std::vector<int>& columns_;
  std::vector<data::ColumnPtr> before_;  ///< the last row's keys
};

/// Of one dense chunk that begins and ends with a partition, each in order. Thread: confined.
class WindowRows {
 public:
  WindowRows(data::Chunk chunk, const std::vector<int>& partition_columns,
             const std::vector<SortKey>& orders);

  const data::Chunk& chunk() const { return chunk_; }
  int64_t rows() const { return chunk_.num_rows(); }
  /// First rows of the partitions, and rows() behind the last.
  const std::vector<int32_t>& partitions() const { return partitions_; }
  /// The same of rows that are equal in the order; without an order a partition is one.
  const std::vector<int32_t>& peers();

  /// Per row the first row of its frame and the one behind the last; equal where the frame is
  /// empty.
  struct Frames {
    std::vector<int32_t> begin;
    std::vector<int32_t> end;
  };
  Frames FramesOf(const FrameSpec& spec);
  /// One end alone.
  std::vector<int32_t> FrameBegins(const FrameSpec& spec);
  std::vector<int32_t> FrameEnds(const FrameSpec& spec);
  /// Held beside the chunk.
  int64_t index_bytes() const;

 private:
  std::vector<int32_t> StartsOf(std::vector<uint8_t> changed) const;
  /// Per row the first of the partition's rows that do not stand before its bound (`behind`: that
  /// stand behind it).
  std::vector<int32_t> RangeBounds(int column, bool behind) const;

  data::Chunk chunk_;
  const std::vector<SortKey>& orders_;
  std::vector<int32_t> partitions_;
  std::vector<uint8_t> partition_changes_;
  std::vector<int32_t> peers_;
};

}  // namespace thalweg::engine
