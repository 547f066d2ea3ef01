#include "engine/exec/window_evaluator.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "data/columnar/builder.h"
#include "engine/exec/window_aggregate.h"

namespace thalweg::engine {
namespace {

using data::ColumnPtr;
using data::DataType;
using Kind = WindowFunctionSpec::Kind;

template <typename T, typename F>
ColumnPtr Fixed(const DataType& type, int64_t rows, F&& fill) {
  std::vector<T> values(static_cast<size_t>(rows));
  fill(values.data());
  data::FixedBuilder<T> builder(type);
  builder.Reserve(rows);
  builder.AppendMany(values.data(), rows);
  return builder.Finish();
}

/// f(first, end) of each run; `starts` ends with the number of rows.
template <typename F>
void ForEachRun(const std::vector<int32_t>& starts, F&& f) {
  for (size_t i = 0; i + 1 < starts.size(); ++i) f(starts[i], starts[i + 1]);
}

ColumnPtr RowNumbers(const WindowFunctionSpec& spec, const WindowRows& rows) {
  return Fixed<int32_t>(spec.type, rows.rows(), [&](int32_t* out) {
    ForEachRun(rows.partitions(), [&](int32_t first, int32_t end) { std::iota(out + first, out + end, 1); });
  });
}

/// f(first row of the partition, of the peers, end of the peers, how many peers came before, end of the partition).
template <typename F>
void ForEachPeers(WindowRows& rows, F&& f) {
  const std::vector<int32_t>& peers = rows.peers();
  size_t at = 0;
  ForEachRun(rows.partitions(), [&](int32_t first, int32_t end) {
    for (int32_t group = 0; peers[at] < end; ++at, ++group) f(first, peers[at], peers[at + 1], group, end);
  });
}

ColumnPtr Ranks(const WindowFunctionSpec& spec, WindowRows& rows, bool dense) {
  return Fixed<int32_t>(spec.type, rows.rows(), [&](int32_t* out) {
    ForEachPeers(rows, [&](int32_t partition, int32_t first, int32_t end, int32_t group, int32_t) {
      std::fill(out + first, out + end, dense ? group + 1 : first - partition + 1);
    });
  });
}

ColumnPtr Shares(const WindowFunctionSpec& spec, WindowRows& rows, bool cumulative) {
  return Fixed<double>(spec.type, rows.rows(), [&](double* out) {
    ForEachPeers(rows, [&](int32_t partition, int32_t first, int32_t end, int32_t, int32_t partition_end) {
      const double all = partition_end - partition;
      double share = (end - partition) / all;
      if (!cumulative) share = all > 1 ? (first - partition) / (all - 1) : 0;
      std::fill(out + first, out + end, share);
    });
  });
}

ColumnPtr Ntiles(const WindowFunctionSpec& spec, const WindowRows& rows) {
  return Fixed<int32_t>(spec.type, rows.rows(), [&](int32_t* out) {
    ForEachRun(rows.partitions(), [&](int32_t first, int32_t end) {
      // The first buckets get one row more.
      const int64_t size = (end - first) / spec.number;
      const int64_t longer = (end - first) % spec.number;
      int32_t row = first;
      for (int32_t bucket = 1; row < end; ++bucket) {
        const auto until = static_cast<int32_t>(std::min<int64_t>(end, row + size + (bucket <= longer ? 1 : 0)));
        std::fill(out + row, out + until, bucket);
        row = until;
      }
    });
  });
}

/// Rows whose value is not null, and per row how many of them stand before it (one entry more than rows).
struct Present {
  std::vector<int32_t> rows;
  std::vector<int32_t> before;
  explicit Present(const data::Column& column) {
    before.reserve(column.length() + 1);
    for (int64_t row = 0; row < column.length(); ++row) {
      before.push_back(static_cast<int32_t>(rows.size()));
      if (column.physical() != data::PhysicalType::kNull && !column.IsNull(row)) rows.push_back(static_cast<int32_t>(row));
    }
    before.push_back(static_cast<int32_t>(rows.size()));
  }
};

ColumnPtr ArgumentColumn(const WindowArgument& argument, const WindowRows& rows) {
  return argument.column >= 0 ? data::Flatten(rows.chunk().column(argument.column))
                              : data::Column::Constant(argument.type, argument.constant, rows.rows());
}

/// The row that many rows ahead, or -1.
std::vector<int32_t> RowsAhead(const WindowFunctionSpec& spec, const data::Column& values, const WindowRows& rows) {
  std::vector<int32_t> out(rows.rows(), -1);
  const int64_t ahead = spec.number;
  if (!spec.ignore_nulls || ahead == 0) {
    ForEachRun(rows.partitions(), [&](int64_t first, int64_t end) {
      for (int64_t row = first; row < end; ++row) {
        if (row + ahead >= first && row + ahead < end) out[row] = static_cast<int32_t>(row + ahead);
      }
    });
    return out;
  }
  const Present present(values);
  ForEachRun(rows.partitions(), [&](int64_t first, int64_t end) {
    for (int64_t row = first; row < end; ++row) {
      // Behind the row come those from the next on; before it, counted backwards, the last that stands before it.
      const int64_t at = ahead > 0 ? present.before[row + 1] + ahead - 1 : present.before[row] + ahead;
      if (at >= present.before[first] && at < present.before[end]) out[row] = present.rows[at];
    }
  });
  return out;
}

ColumnPtr Offsets(const WindowFunctionSpec& spec, const WindowRows& rows) {
  const ColumnPtr values = data::Flatten(ArgumentColumn(spec.arguments[0], rows));
  std::vector<int32_t> from = RowsAhead(spec, *values, rows);
  const WindowArgument& otherwise = spec.arguments[1];
  if (otherwise.column < 0 && otherwise.constant.is_null()) return data::Take(values, from);
  // Values of other rows, then the defaults of the rows themselves.
  for (int64_t row = 0; row < rows.rows(); ++row) {
    if (from[row] < 0) from[row] = static_cast<int32_t>(rows.rows() + row);
  }
  const std::vector<ColumnPtr> both = {values, data::Flatten(ArgumentColumn(otherwise, rows))};
  return data::Take(data::Concat(both), from);
}

/// first, last and nth_value: one row of the frame.
ColumnPtr RowsOfFrames(const WindowFunctionSpec& spec, WindowRows& rows) {
  const ColumnPtr values = data::Flatten(ArgumentColumn(spec.arguments[0], rows));
  const WindowRows::Frames frames = rows.FramesOf(spec.frame);
  std::vector<int32_t> from(rows.rows(), -1);
  const auto pick = [&](int64_t row, int64_t begin, int64_t end, const std::vector<int32_t>* of) {
    const int64_t at = spec.kind == Kind::kLast ? end - 1 : begin + (spec.kind == Kind::kNth ? spec.number - 1 : 0);
    if (at >= begin && at < end) from[row] = of == nullptr ? static_cast<int32_t>(at) : (*of)[at];
  };
  if (!spec.ignore_nulls) {
    for (int64_t row = 0; row < rows.rows(); ++row) pick(row, frames.begin[row], frames.end[row], nullptr);
  } else {
    const Present present(*values);
    for (int64_t row = 0; row < rows.rows(); ++row) {
      pick(row, present.before[frames.begin[row]], present.before[frames.end[row]], &present.rows);
    }
  }
  return data::Take(values, from);
}

}  // namespace

Result<ColumnPtr> WindowEvaluator::Evaluate(const WindowFunctionSpec& spec, WindowRows& rows) {
  switch (spec.kind) {
    case Kind::kRowNumber: return RowNumbers(spec, rows);
    case Kind::kRank: return Ranks(spec, rows, false);
    case Kind::kDenseRank: return Ranks(spec, rows, true);
    case Kind::kPercentRank: return Shares(spec, rows, false);
    case Kind::kCumeDist: return Shares(spec, rows, true);
    case Kind::kNtile: return Ntiles(spec, rows);
    case Kind::kOffset: return Offsets(spec, rows);
    case Kind::kFirst:
    case Kind::kLast:
    case Kind::kNth: return RowsOfFrames(spec, rows);
    case Kind::kAggregate: break;
  }
  return Aggregate(spec, rows);
}

Result<ColumnPtr> WindowEvaluator::Aggregate(const WindowFunctionSpec& spec, WindowRows& rows) {
  std::vector<ColumnPtr> arguments;
  for (const WindowArgument& argument : spec.arguments) arguments.push_back(ArgumentColumn(argument, rows));
  std::vector<uint8_t> passes;
  if (spec.filter) {
    const ColumnPtr condition = data::Flatten(rows.chunk().column(*spec.filter));
    passes.resize(rows.rows());
    for (int64_t row = 0; row < rows.rows(); ++row) passes[row] = !condition->IsNull(row) && condition->values<uint8_t>()[row] != 0;
  }
  WindowAggregate aggregate(*spec.aggregate, std::move(arguments), std::move(passes), context_);
  const sql::WindowFrame& frame = spec.frame.frame;
  if (frame.lower != sql::FrameEdge::kUnboundedPreceding) return aggregate.OfFrames(rows.FramesOf(spec.frame));
  if (frame.upper == sql::FrameEdge::kUnboundedFollowing) return aggregate.OfPartitions(rows.partitions());
  return aggregate.Running(rows.partitions(), rows.FrameEnds(spec.frame));
}

}  // namespace thalweg::engine
