#include "engine/exec/window_aggregate.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

namespace thalweg::engine {
namespace {

using data::ColumnPtr;

/// Rows that go into one call of a kernel.
constexpr size_t kBatchRows = 16 << 10;
/// Accumulators up to this size are copied after each row of a running frame.
constexpr int64_t kCopiedBytes = 64;

int64_t StrideOf(const sql::BoundAggregate& bound) { return std::max(8, (bound.kernels->size + 7) / 8 * 8); }

}  // namespace

AccumulatorBlock::AccumulatorBlock(const sql::BoundAggregate& bound, int64_t count)
    : bound_(bound), count_(count), stride_(StrideOf(bound)), owning_(bound.kernels->destroy != nullptr),
      bytes_(new uint8_t[static_cast<size_t>(count * stride_)]()) {
  for (int64_t i = 0; bound.kernels->init != nullptr && i < count; ++i) bound.kernels->init(bound, at(i));
}

AccumulatorBlock::~AccumulatorBlock() {
  for (int64_t i = 0; owning_ && i < count_; ++i) bound_.kernels->destroy(bound_, at(i));
}

std::vector<uint8_t*> AccumulatorBlock::pointers() const {
  std::vector<uint8_t*> out(count_);
  for (int64_t i = 0; i < count_; ++i) out[i] = at(i);
  return out;
}

WindowAggregate::WindowAggregate(const sql::BoundAggregate& bound, std::vector<ColumnPtr> arguments, std::vector<uint8_t> passes,
                                 sql::EvalContext& context)
    : bound_(bound), kernels_(*bound.kernels), arguments_(std::move(arguments)), passes_(std::move(passes)), context_(context) {}

Status WindowAggregate::Update(std::span<const int32_t> rows, uint8_t* const* accumulators) {
  if (rows.empty()) return Status::OK();
  std::vector<ColumnPtr> taken;
  taken.reserve(arguments_.size());
  for (const ColumnPtr& argument : arguments_) taken.push_back(data::Take(argument, rows));
  return kernels_.update(bound_, taken, static_cast<int64_t>(rows.size()), accumulators, context_);
}

Result<ColumnPtr> WindowAggregate::Finish(std::span<uint8_t* const> accumulators) { return kernels_.finish(bound_, accumulators, context_); }

Result<ColumnPtr> WindowAggregate::OfPartitions(const std::vector<int32_t>& starts) {
  const auto partitions = static_cast<int64_t>(starts.size()) - 1;
  const AccumulatorBlock block(bound_, partitions);
  std::vector<int32_t> of_row(starts.back());
  std::vector<uint8_t*> accumulators;
  std::vector<int32_t> rows;
  accumulators.reserve(of_row.size());
  for (int64_t p = 0; p < partitions; ++p) {
    for (int32_t row = starts[p]; row < starts[p + 1]; ++row) {
      of_row[row] = static_cast<int32_t>(p);
      if (!Passes(row)) continue;
      accumulators.push_back(block.at(p));
      if (!passes_.empty()) rows.push_back(row);
    }
  }
  if (passes_.empty()) {
    TW_RETURN_NOT_OK(kernels_.update(bound_, arguments_, starts.back(), accumulators.data(), context_));
  } else {
    TW_RETURN_NOT_OK(Update(rows, accumulators.data()));
  }
  TW_ASSIGN_OR_RETURN(const ColumnPtr results, Finish(block.pointers()));
  return data::Take(results, of_row);
}

WindowAggregate::Steps WindowAggregate::StepsOf(const std::vector<int32_t>& starts) {
  const size_t partitions = starts.size() - 1;
  std::vector<int32_t> longest(partitions);
  std::iota(longest.begin(), longest.end(), 0);
  const auto size = [&](int32_t p) { return starts[p + 1] - starts[p]; };
  std::stable_sort(longest.begin(), longest.end(), [&](int32_t a, int32_t b) { return size(a) > size(b); });
  Steps steps;
  steps.order.reserve(starts.back());
  size_t active = partitions;
  for (int32_t step = 0; active > 0; ++step) {
    while (active > 0 && size(longest[active - 1]) <= step) --active;
    if (active == 0) break;
    steps.begins.push_back(static_cast<int32_t>(steps.order.size()));
    for (size_t i = 0; i < active; ++i) steps.order.push_back(starts[longest[i]] + step);
  }
  steps.begins.push_back(static_cast<int32_t>(steps.order.size()));
  return steps;
}

Result<ColumnPtr> WindowAggregate::AfterEach(const Steps& steps) {
  const auto rows = static_cast<int64_t>(steps.order.size());
  const AccumulatorBlock block(bound_, steps.begins.size() > 1 ? steps.begins[1] : 0);
  const AccumulatorBlock none(bound_, 1);
  const std::vector<uint8_t*> accumulators = block.pointers();
  std::vector<ColumnPtr> arguments;
  for (const ColumnPtr& argument : arguments_) arguments.push_back(argument->is_constant() ? argument : data::Take(argument, steps.order));
  // What owns nothing and is small can be copied: its results are made all at once.
  const bool copies = kernels_.destroy == nullptr && block.stride() <= kCopiedBytes;
  const int64_t stride = block.stride();
  std::unique_ptr<uint8_t[]> snapshots(copies ? new uint8_t[static_cast<size_t>((rows + 1) * stride)] : nullptr);
  std::vector<ColumnPtr> results;
  std::vector<ColumnPtr> slices(arguments.size());
  for (size_t step = 0; step + 1 < steps.begins.size(); ++step) {
    const int64_t begin = steps.begins[step];
    const int64_t count = steps.begins[step + 1] - begin;
    if (passes_.empty()) {
      for (size_t i = 0; i < arguments.size(); ++i) slices[i] = data::Slice(arguments[i], begin, count);
      TW_RETURN_NOT_OK(kernels_.update(bound_, slices, count, accumulators.data(), context_));
    } else {
      std::vector<int32_t> passing;
      std::vector<uint8_t*> theirs;
      for (int64_t i = 0; i < count; ++i) {
        if (!Passes(steps.order[begin + i])) continue;
        passing.push_back(steps.order[begin + i]);
        theirs.push_back(accumulators[i]);
      }
      TW_RETURN_NOT_OK(Update(passing, theirs.data()));
    }
    if (copies) {
      std::memcpy(snapshots.get() + begin * stride, block.at(0), static_cast<size_t>(count * stride));
    } else {
      TW_ASSIGN_OR_RETURN(ColumnPtr after, Finish(std::span(accumulators).first(count)));
      results.push_back(std::move(after));
    }
  }
  if (!copies) {
    TW_ASSIGN_OR_RETURN(ColumnPtr empty, Finish(none.pointers()));
    results.push_back(std::move(empty));
    return data::Concat(results);
  }
  std::memcpy(snapshots.get() + rows * stride, none.at(0), static_cast<size_t>(stride));
  std::vector<uint8_t*> all(rows + 1);
  for (int64_t i = 0; i <= rows; ++i) all[i] = snapshots.get() + i * stride;
  return Finish(all);
}

Result<ColumnPtr> WindowAggregate::Running(const std::vector<int32_t>& starts, std::vector<int32_t> ends) {
  const Steps steps = StepsOf(starts);
  TW_ASSIGN_OR_RETURN(const ColumnPtr after, AfterEach(steps));
  std::vector<int32_t> place(steps.order.size());
  for (size_t i = 0; i < steps.order.size(); ++i) place[steps.order[i]] = static_cast<int32_t>(i);
  for (size_t p = 0; p + 1 < starts.size(); ++p) {
    for (int32_t row = starts[p]; row < starts[p + 1]; ++row) {
      ends[row] = ends[row] <= starts[p] ? static_cast<int32_t>(steps.order.size()) : place[ends[row] - 1];
    }
  }
  return data::Take(after, ends);
}

Result<ColumnPtr> WindowAggregate::OfSomeFrames(const WindowRows::Frames& frames, std::span<const int32_t> rows) {
  const AccumulatorBlock block(bound_, static_cast<int64_t>(rows.size()));
  std::vector<int32_t> batch;
  std::vector<uint8_t*> accumulators;
  const auto flush = [&] {
    Status status = Update(batch, accumulators.data());
    batch.clear();
    accumulators.clear();
    return status;
  };
  for (size_t i = 0; i < rows.size(); ++i) {
    for (int32_t seen = frames.begin[rows[i]]; seen < frames.end[rows[i]]; ++seen) {
      if (!Passes(seen)) continue;
      batch.push_back(seen);
      accumulators.push_back(block.at(static_cast<int64_t>(i)));
      if (batch.size() >= kBatchRows) TW_RETURN_NOT_OK(flush());
    }
  }
  TW_RETURN_NOT_OK(flush());
  return Finish(block.pointers());
}

Result<ColumnPtr> WindowAggregate::OfFrames(const WindowRows::Frames& frames) {
  std::vector<int32_t> of_row(frames.begin.size());
  std::vector<int32_t> first_rows;  // with each frame
  for (size_t row = 0; row < of_row.size(); ++row) {
    const bool same = row > 0 && frames.begin[row] == frames.begin[row - 1] && frames.end[row] == frames.end[row - 1];
    if (!same) first_rows.push_back(static_cast<int32_t>(row));
    of_row[row] = static_cast<int32_t>(first_rows.size()) - 1;
  }
  std::vector<ColumnPtr> results;
  for (size_t at = 0; at < first_rows.size(); at += kBatchRows) {
    const std::span<const int32_t> some = std::span<const int32_t>(first_rows).subspan(at, std::min(kBatchRows, first_rows.size() - at));
    TW_ASSIGN_OR_RETURN(ColumnPtr column, OfSomeFrames(frames, some));
    results.push_back(std::move(column));
  }
  return data::Take(results.size() == 1 ? results[0] : data::Concat(results), of_row);
}

}  // namespace thalweg::engine
