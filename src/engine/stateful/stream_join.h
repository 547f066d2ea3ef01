#pragma once

#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/exec/operator.h"
#include "engine/exec/operators/hash_join.h"
#include "engine/state/state_services.h"
#include "engine/state/state_table.h"

namespace thalweg::engine {

/// Until when rows of a side may still find a partner. A row is given up once its event time is at or before
/// BoundMs(eviction watermark).
struct JoinExpiry {
  bool of_key = false;           ///< `time` names a key column, else a column of the side
  KeyEventTime time;
  /// One per usable conjunct of the condition: this side's time > the other's + offset_us (>= when inclusive).
  struct Range {
    int64_t offset_us = 0;
    bool inclusive = false;
  };
  std::vector<Range> ranges;     ///< none: the watermark itself is the bound
  int64_t BoundMs(int64_t watermark_ms) const;
};

/// One input. Its columns are the side's, then what of the keys is no column of its own.
struct StreamJoinSide {
  std::vector<data::DataType> types;             ///< the side's columns: what is kept
  std::vector<int> key_columns;                  ///< of the input
  std::optional<KeyEventTime> late;              ///< the side's event time column; absent: no row is late
  std::optional<JoinExpiry> expiry;              ///< absent: rows are kept for ever
  std::shared_ptr<const sql::Program> filter;    ///< over the input; rows that fail it never match. May be null
};

struct StreamJoinSpec {
  OperatorId operator_id{0};
  JoinKind kind = JoinKind::kInner;              ///< not kLeftAnti
  std::vector<data::DataType> key_types;
  std::array<StreamJoinSide, 2> sides;           ///< left, right
  std::optional<JoinCondition> condition;        ///< beside equal keys; over columns of the sides
  std::shared_ptr<QueryState> state;
};

/// Join of two streams by equal keys. Ports 0 and 1 are left and right, both partitioned by Murmur3 of the keys. Rows of each
/// side are kept as long as a partner may come; each row meets the other side's rows that came before it, in its epoch the
/// left ones come first (left semi: the right ones). Outer joins give rows without a partner when they are given up, after
/// all pairs. Late rows are dropped before anything else; null keys match nothing.
/// Output: left columns, right columns; left semi: the left columns, once per row.
/// Source: Spark's StreamingSymmetricHashJoinExec.
/// For PhysicalNode::make: one instance per partition.
std::function<Result<std::unique_ptr<Operator>>(PartitionId)> MakeStreamJoin(StreamJoinSpec spec);

}  // namespace thalweg::engine
