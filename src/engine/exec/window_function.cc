#include "engine/exec/window_function.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include "data/columnar/builder.h"
#include "engine/exec/window_aggregate.h"
#include "engine/exec/window_pieces.h"

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
    ForEachRun(rows.partitions(),
               [&](int32_t first, int32_t end) { std::iota(out + first, out + end, 1); });
  });
}

/// f(first row of the partition, of the peers, end of the peers, how many peers came before, end of
/// the partition).
template <typename F>
void ForEachPeers(WindowRows& rows, F&& f) {
  const std::vector<int32_t>& peers = rows.peers();
  size_t at = 0;
  ForEachRun(rows.partitions(), [&](int32_t first, int32_t end) {
    for (int32_t group = 0; peers[at] < end; ++at, ++group)
      f(first, peers[at], peers[at + 1], group, end);
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
    ForEachPeers(
        rows, [&](int32_t partition, int32_t first, int32_t end, int32_t, int32_t partition_end) {
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
        const auto until =
            static_cast<int32_t>(std::min<int64_t>(end, row + size + (bucket <= longer ? 1 : 0)));
        std::fill(out + row, out + until, bucket);
        row = until;
      }
    });
  });
}

/// Rows whose value is not null, and per row how many of them stand before it (one entry more than
/// rows).
struct Present {
  std::vector<int32_t> rows;
  std::vector<int32_t> before;
  explicit Present(const data::Column& column) {
    before.reserve(column.length() + 1);
    for (int64_t row = 0; row < column.length(); ++row) {
      before.push_back(static_cast<int32_t>(rows.size()));
      if (column.physical() != data::PhysicalType::kNull && !column.IsNull(row))
        rows.push_back(static_cast<int32_t>(row));
    }
    before.push_back(static_cast<int32_t>(rows.size()));
  }
};

ColumnPtr ArgumentColumn(const WindowArgument& argument, const WindowRows& rows) {
  return argument.column >= 0
             ? data::Flatten(rows.chunk().column(argument.column))
             : data::Column::Constant(argument.type, argument.constant, rows.rows());
}

/// The row that many rows ahead, or -1.
std::vector<int32_t> RowsAhead(const WindowFunctionSpec& spec, const data::Column& values,
                               const WindowRows& rows) {
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
      // Behind the row come those from the next on; before it, counted backwards, the last that
      // stands before it.
      const int64_t at =
          ahead > 0 ? present.before[row + 1] + ahead - 1 : present.before[row] + ahead;
      if (at >= present.before[first] && at < present.before[end]) out[row] = present.rows[at];
    }
  });
  return out;
}

/// first, last and nth_value: one row of the frame, or -1.
std::vector<int32_t> RowsOfFrames(const WindowFunctionSpec& spec, const data::Column& values,
                                  WindowRows& rows) {
  const WindowRows::Frames frames = rows.FramesOf(spec.frame);
  std::vector<int32_t> from(rows.rows(), -1);
  const auto pick = [&](int64_t row, int64_t begin, int64_t end, const std::vector<int32_t>* of) {
    const int64_t at = spec.kind == Kind::kLast
                           ? end - 1
                           : begin + (spec.kind == Kind::kNth ? spec.number - 1 : 0);
    if (at >= begin && at < end) from[row] = of == nullptr ? static_cast<int32_t>(at) : (*of)[at];
  };
  if (!spec.ignore_nulls) {
    for (int64_t row = 0; row < rows.rows(); ++row)
      pick(row, frames.begin[row], frames.end[row], nullptr);
  } else {
    const Present present(values);
    for (int64_t row = 0; row < rows.rows(); ++row) {
      pick(row, present.before[frames.begin[row]], present.before[frames.end[row]], &present.rows);
    }
  }
  return from;
}

/// Functions of a row's place: numbers for all rows at once.
class PlaceRun final : public WindowFunctionRun {
 public:
  PlaceRun(const WindowFunctionSpec& spec, WindowRows& rows) : spec_(spec), rows_(rows) {}

  Result<ColumnPtr> Next(int64_t most) override {
    if (column_ == nullptr) {
      column_ = Compute();
      return ColumnPtr();
    }
    next_ += most;
    return data::Slice(column_, next_ - most, most);
  }
  int64_t bytes() const override { return column_ != nullptr ? column_->bytes() : 0; }

 private:
  ColumnPtr Compute() {
    switch (spec_.kind) {
      case Kind::kRank:
        return Ranks(spec_, rows_, false);
      case Kind::kDenseRank:
        return Ranks(spec_, rows_, true);
      case Kind::kPercentRank:
        return Shares(spec_, rows_, false);
      case Kind::kCumeDist:
        return Shares(spec_, rows_, true);
      case Kind::kNtile:
        return Ntiles(spec_, rows_);
      default:
        return RowNumbers(spec_, rows_);
    }
  }

  const WindowFunctionSpec& spec_;
  WindowRows& rows_;
  ColumnPtr column_;
  int64_t next_ = 0;
};

/// Values of other rows.
class PickRun final : public WindowFunctionRun {
 public:
  PickRun(const WindowFunctionSpec& spec, WindowRows& rows)
      : spec_(spec), rows_(rows), values_(data::Flatten(ArgumentColumn(spec.arguments[0], rows))) {
    if (spec.kind != Kind::kOffset) return;
    const WindowArgument& otherwise = spec.arguments[1];
    if (otherwise.column >= 0 || !otherwise.constant.is_null())
      otherwise_ = ArgumentColumn(otherwise, rows);
  }

  Result<ColumnPtr> Next(int64_t most) override {
    if (picked_.empty()) {
      from_ = spec_.kind == Kind::kOffset ? RowsAhead(spec_, *values_, rows_)
                                          : RowsOfFrames(spec_, *values_, rows_);
      picked_.Set(values_, from_);
      if (otherwise_ == nullptr) from_ = std::vector<int32_t>();
      return ColumnPtr();
    }
    ColumnPtr out = picked_.Next(most);
    next_ += out->length();
    return otherwise_ == nullptr ? std::move(out) : WithDefaults(std::move(out));
  }
  int64_t bytes() const override {
    return picked_.index_bytes() + static_cast<int64_t>(from_.capacity() * sizeof(int32_t));
  }

 private:
  /// Rows without a row to take from have a value of their own.
  ColumnPtr WithDefaults(ColumnPtr picked) const {
    const auto count = static_cast<int32_t>(picked->length());
    const int64_t first = next_ - count;
    std::vector<int32_t> which(count);
    bool all = true;
    for (int32_t i = 0; i < count; ++i) {
      const bool given = from_[first + i] >= 0;
      which[i] = given ? i : count + i;
      all = all && given;
    }
    if (all) return picked;
    const std::vector<ColumnPtr> both = {std::move(picked),
                                         data::Flatten(data::Slice(otherwise_, first, count))};
    return data::Take(data::Concat(both), which);
  }

  const WindowFunctionSpec& spec_;
  WindowRows& rows_;
  const ColumnPtr values_;
  ColumnPtr otherwise_;        ///< null when that is null
  std::vector<int32_t> from_;  ///< kept for `otherwise_`
  SharedResults picked_;
  int64_t next_ = 0;
};

AggregateInput InputOf(const WindowFunctionSpec& spec, const WindowRows& rows) {
  AggregateInput input{*spec.aggregate, {}, {}};
  for (const WindowArgument& argument : spec.arguments)
    input.arguments.push_back(ArgumentColumn(argument, rows));
  if (spec.filter) {
    const ColumnPtr condition = data::Flatten(rows.chunk().column(*spec.filter));
    input.passes.resize(rows.rows());
    for (int64_t row = 0; row < rows.rows(); ++row)
      input.passes[row] = !condition->IsNull(row) && condition->values<uint8_t>()[row] != 0;
  }
  return input;
}

}  // namespace

std::unique_ptr<WindowFunctionRun> NewWindowFunctionRun(const WindowFunctionSpec& spec,
                                                        WindowRows& rows,
                                                        sql::EvalContext& context) {
  switch (spec.kind) {
    case Kind::kRowNumber:
    case Kind::kRank:
    case Kind::kDenseRank:
    case Kind::kPercentRank:
    case Kind::kCumeDist:
    case Kind::kNtile:
      return std::make_unique<PlaceRun>(spec, rows);
    case Kind::kOffset:
    case Kind::kFirst:
    case Kind::kLast:
    case Kind::kNth:
      return std::make_unique<PickRun>(spec, rows);
    case Kind::kAggregate:
      break;
  }
  return NewAggregateRun(InputOf(spec, rows), spec.frame, rows, context);
}

}  // namespace thalweg::engine
