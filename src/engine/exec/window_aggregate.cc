#include "engine/exec/window_aggregate.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <span>
#include <utility>

#include "base/table_memory.h"
#include "engine/exec/window_pieces.h"

namespace thalweg::engine {
namespace {

using data::ColumnPtr;

/// Accumulators up to this size are copied after each row of a running frame.
constexpr int64_t kCopiedBytes = 64;
/// Partitions whose results must be made row by row are computed beside each other up to this
/// length.
constexpr int32_t kShortRows = 64;
/// To give out the value of an accumulator costs a step per so many bytes that it owns.
constexpr int64_t kOwnedBytesPerStep = 16;

/// Accumulators in one block, destroyed with it. Thread: confined.
class AccumulatorBlock {
 public:
  AccumulatorBlock(const sql::BoundAggregate& bound, int64_t count)
      : bound_(bound),
        count_(count),
        stride_(std::max(8, (bound.kernels->size + 7) / 8 * 8)),
        memory_(static_cast<size_t>(count * stride_)) {
    for (int64_t i = 0; bound.kernels->init != nullptr && i < count; ++i)
      bound.kernels->init(bound, at(i));
  }
  ~AccumulatorBlock() {
    for (int64_t i = 0; bound_.kernels->destroy != nullptr && i < count_; ++i)
      bound_.kernels->destroy(bound_, at(i));
  }
  AccumulatorBlock(const AccumulatorBlock&) = delete;
  AccumulatorBlock& operator=(const AccumulatorBlock&) = delete;

  uint8_t* at(int64_t i) const { return memory_.data() + i * stride_; }
  int64_t stride() const { return stride_; }
  std::vector<uint8_t*> pointers() const {
    std::vector<uint8_t*> out(count_);
    for (int64_t i = 0; i < count_; ++i) out[i] = at(i);
    return out;
  }
  int64_t owned_bytes() const {
    int64_t bytes = 0;
    for (int64_t i = 0; bound_.kernels->owned_bytes != nullptr && i < count_; ++i)
      bytes += bound_.kernels->owned_bytes(bound_, at(i));
    return bytes;
  }
  int64_t bytes() const { return count_ * stride_ + owned_bytes(); }

 private:
  const sql::BoundAggregate& bound_;
  const int64_t count_;
  const int64_t stride_;
  const TableMemory memory_;
};

/// What frames of each kind share: results of some frames are made by Work, then handed out.
class AggregateRun : public WindowFunctionRun {
 public:
  AggregateRun(AggregateInput input, WindowRows& rows, sql::EvalContext& context)
      : input_(std::move(input)),
        bound_(input_.bound),
        kernels_(*bound_.kernels),
        rows_(rows),
        context_(context) {}

  Result<ColumnPtr> Next(int64_t most) final {
    if (results_.empty()) TW_RETURN_NOT_OK(Work());
    return results_.empty() ? ColumnPtr() : results_.Next(most);
  }
  int64_t bytes() const final {
    return results_.bytes() + static_cast<int64_t>(input_.passes.capacity()) +
           (block_ != nullptr ? block_->bytes() : 0) + frame_bytes();
  }

 protected:
  /// kStepRows steps, or as many as the results of one frame need.
  virtual Status Work() = 0;
  virtual int64_t frame_bytes() const { return 0; }

  /// Adds row rows[i] to accumulators[i], whether it passes or not.
  Status Add(const AggregateInput& input, std::span<const int32_t> rows,
             uint8_t* const* accumulators) {
    if (rows.empty()) return Status::OK();
    slices_.resize(input.arguments.size());
    for (size_t i = 0; i < slices_.size(); ++i) slices_[i] = data::Take(input.arguments[i], rows);
    return kernels_.update(bound_, slices_, static_cast<int64_t>(rows.size()), accumulators,
                           context_);
  }

  /// Adds row begin + i to accumulators[i] if it passes.
  Status AddRange(const AggregateInput& input, int64_t begin, int64_t end,
                  uint8_t* const* accumulators) {
    if (input.passes.empty()) {
      slices_.resize(input.arguments.size());
      for (size_t i = 0; i < slices_.size(); ++i)
        slices_[i] = data::Slice(input.arguments[i], begin, end - begin);
      return kernels_.update(bound_, slices_, end - begin, accumulators, context_);
    }
    std::vector<int32_t> passing;
    std::vector<uint8_t*> theirs;
    for (int64_t row = begin; row < end; ++row) {
      if (!input.Passes(row)) continue;
      passing.push_back(static_cast<int32_t>(row));
      theirs.push_back(accumulators[row - begin]);
    }
    return Add(input, passing, theirs.data());
  }

  Result<ColumnPtr> Finish(std::span<uint8_t* const> accumulators) {
    return kernels_.finish(bound_, accumulators, context_);
  }

  const AggregateInput input_;
  const sql::BoundAggregate& bound_;
  const sql::AggregateKernels& kernels_;
  WindowRows& rows_;
  sql::EvalContext& context_;
  std::unique_ptr<AccumulatorBlock> block_;  ///< between two calls of Work
  SharedResults results_;

 private:
  std::vector<ColumnPtr> slices_;
};

/// Frames that are the partition.
class PartitionRun final : public AggregateRun {
 public:
  using AggregateRun::AggregateRun;

 private:
  Status Work() override {
    const std::vector<int32_t>& starts = rows_.partitions();
    if (block_ == nullptr) {
      first_ = partition_ = last_;
      do {
        ++last_;
      } while (last_ + 1 < starts.size() && starts[last_ + 1] - starts[first_] <= kStepRows);
      block_ = std::make_unique<AccumulatorBlock>(bound_, static_cast<int64_t>(last_ - first_));
    }
    const int64_t end = std::min<int64_t>(starts[last_], next_ + kStepRows);
    std::vector<uint8_t*> accumulators;
    accumulators.reserve(end - next_);
    for (int64_t row = next_; row < end; ++row) {
      while (row >= starts[partition_ + 1]) ++partition_;
      accumulators.push_back(block_->at(static_cast<int64_t>(partition_ - first_)));
    }
    TW_RETURN_NOT_OK(AddRange(input_, next_, end, accumulators.data()));
    next_ = end;
    if (next_ < starts[last_]) return Status::OK();
    TW_ASSIGN_OR_RETURN(ColumnPtr results, Finish(block_->pointers()));
    std::vector<int32_t> of_row;
    of_row.reserve(starts[last_] - starts[first_]);
    for (size_t p = first_; p < last_; ++p)
      of_row.insert(of_row.end(), starts[p + 1] - starts[p], static_cast<int32_t>(p - first_));
    results_.Set(std::move(results), std::move(of_row));
    block_.reset();
    return Status::OK();
  }

  size_t first_ = 0;      ///< of the partitions that are computed together
  size_t last_ = 0;       ///< behind them
  size_t partition_ = 0;  ///< of the next row
  int64_t next_ = 0;      ///< row
};

/// Frames from the partition's first row up to before ends[row], which rises with the rows.
class RunningRun final : public AggregateRun {
 public:
  RunningRun(AggregateInput input, const FrameSpec& frame, WindowRows& rows,
             sql::EvalContext& context)
      : AggregateRun(std::move(input), rows, context),
        frame_(frame),
        // What owns nothing and is small can be copied: its results are made all at once.
        copies_(kernels_.destroy == nullptr && kernels_.size <= kCopiedBytes) {}

 private:
  Status Work() override {
    if (ends_.empty()) ends_ = rows_.FrameEnds(frame_);
    if (block_ != nullptr) return RowByRow();
    const std::vector<int32_t>& starts = rows_.partitions();
    const int32_t longest = copies_ ? static_cast<int32_t>(data::kChunkRows) : kShortRows;
    const size_t first = partition_;
    size_t last = first;
    while (last + 1 < starts.size() && starts[last + 1] - starts[last] <= longest &&
           starts[last + 1] - starts[first] <= data::kChunkRows)
      ++last;
    if (last <= first + 1) return RowByRow();
    partition_ = last;
    next_ = starts[last];
    return Together(std::span<const int32_t>(starts).subspan(first, last - first + 1));
  }
  int64_t frame_bytes() const override {
    return static_cast<int64_t>(ends_.capacity() * sizeof(int32_t));
  }

  /// Rows by their place in the partition, then longer partitions first: the first partitions have
  /// a row number `step`.
  struct Steps {
    std::vector<int32_t> order;   ///< rows
    std::vector<int32_t> begins;  ///< of steps in `order`, and its size behind the last
  };
  static Steps StepsOf(std::span<const int32_t> starts) {
    const size_t partitions = starts.size() - 1;
    std::vector<int32_t> longest(partitions);
    std::iota(longest.begin(), longest.end(), 0);
    const auto size = [&](int32_t p) { return starts[p + 1] - starts[p]; };
    std::stable_sort(longest.begin(), longest.end(),
                     [&](int32_t a, int32_t b) { return size(a) > size(b); });
    Steps steps;
    steps.order.reserve(starts.back() - starts.front());
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

  /// Short partitions beside each other, so that each call of a kernel gets many rows.
  Status Together(std::span<const int32_t> starts) {
    const Steps steps = StepsOf(starts);
    TW_ASSIGN_OR_RETURN(ColumnPtr after, AfterEach(steps));
    const int32_t begin = starts.front();
    std::vector<int32_t> place(steps.order.size());
    for (size_t i = 0; i < steps.order.size(); ++i)
      place[steps.order[i] - begin] = static_cast<int32_t>(i);
    std::vector<int32_t> of_row(steps.order.size());
    for (size_t p = 0; p + 1 < starts.size(); ++p) {
      for (int32_t row = starts[p]; row < starts[p + 1]; ++row) {
        of_row[row - begin] = ends_[row] <= starts[p] ? static_cast<int32_t>(steps.order.size())
                                                      : place[ends_[row] - 1 - begin];
      }
    }
    results_.Set(std::move(after), std::move(of_row));
    return Status::OK();
  }

  /// The result after each row of `steps.order`, and behind them that of no row at all.
  Result<ColumnPtr> AfterEach(const Steps& steps) {
    const auto rows = static_cast<int64_t>(steps.order.size());
    const AccumulatorBlock block(bound_, steps.begins[1]);
    const AccumulatorBlock none(bound_, 1);
    const std::vector<uint8_t*> accumulators = block.pointers();
    const int64_t stride = block.stride();
    const TableMemory snapshots(copies_ ? static_cast<size_t>((rows + 1) * stride) : 0);
    const AggregateInput ordered = InOrder(steps.order);
    std::vector<ColumnPtr> results;
    for (size_t step = 0; step + 1 < steps.begins.size(); ++step) {
      const int64_t begin = steps.begins[step];
      const int64_t count = steps.begins[step + 1] - begin;
      TW_RETURN_NOT_OK(AddRange(ordered, begin, begin + count, accumulators.data()));
      if (copies_) {
        std::memcpy(snapshots.data() + begin * stride, block.at(0),
                    static_cast<size_t>(count * stride));
      } else {
        TW_ASSIGN_OR_RETURN(ColumnPtr after, Finish(std::span(accumulators).first(count)));
        results.push_back(std::move(after));
      }
    }
    if (!copies_) {
      TW_ASSIGN_OR_RETURN(ColumnPtr empty, Finish(none.pointers()));
      results.push_back(std::move(empty));
      return data::Concat(results);
    }
    std::memcpy(snapshots.data() + rows * stride, none.at(0), static_cast<size_t>(stride));
    return FinishSnapshots(snapshots, rows + 1, stride);
  }

  AggregateInput InOrder(const std::vector<int32_t>& order) const {
    AggregateInput out{bound_, {}, {}};
    for (const ColumnPtr& argument : input_.arguments)
      out.arguments.push_back(data::Take(argument, order));
    if (input_.passes.empty()) return out;
    out.passes.reserve(order.size());
    for (const int32_t row : order) out.passes.push_back(input_.passes[row]);
    return out;
  }

  Result<ColumnPtr> FinishSnapshots(const TableMemory& snapshots, int64_t count, int64_t stride) {
    std::vector<uint8_t*> all(count);
    for (int64_t i = 0; i < count; ++i) all[i] = snapshots.data() + i * stride;
    return Finish(all);
  }

  /// Rows of a long partition, as many as kStepRows steps and kPieceBytes of results allow.
  Status RowByRow() {
    const int32_t first = rows_.partitions()[partition_];
    const int32_t end = rows_.partitions()[partition_ + 1];
    if (block_ == nullptr) {
      block_ = std::make_unique<AccumulatorBlock>(bound_, 1);
      seen_ = next_ = first;
    }
    const std::vector<uint8_t*> same(std::min<int64_t>(kStepRows, end - first), block_->at(0));
    const int64_t stride = block_->stride();
    const TableMemory snapshots(copies_ ? static_cast<size_t>(data::kChunkRows * stride) : 0);
    std::vector<ColumnPtr> pieces;
    std::vector<int32_t> of_row;
    int32_t results = 0;
    bool changed = true;  // since the last result
    int64_t piece_bytes = 0;
    for (int64_t steps = 0; next_ < end && steps < kStepRows && piece_bytes < kPieceBytes &&
                            of_row.size() < data::kChunkRows;
         ++next_, ++steps) {
      const int32_t until = std::max(first, ends_[next_]);
      if (seen_ < until) {
        const int32_t upto = static_cast<int32_t>(std::min<int64_t>(until, seen_ + kStepRows));
        TW_RETURN_NOT_OK(AddRange(input_, seen_, upto, same.data()));
        steps += upto - seen_;
        seen_ = upto;
        changed = true;
        if (seen_ < until) break;
      }
      if (changed && copies_) {
        std::memcpy(snapshots.data() + results * stride, block_->at(0),
                    static_cast<size_t>(stride));
      } else if (changed) {
        TW_ASSIGN_OR_RETURN(ColumnPtr piece, Finish(std::span(same).first(1)));
        piece_bytes += piece->bytes();
        pieces.push_back(std::move(piece));
        steps += block_->owned_bytes() / kOwnedBytesPerStep;
      }
      if (changed) ++results;
      changed = false;
      of_row.push_back(results - 1);
    }
    if (next_ == end) ++partition_;
    if (!of_row.empty()) {
      ColumnPtr column;
      if (copies_) {
        TW_ASSIGN_OR_RETURN(column, FinishSnapshots(snapshots, results, stride));
      } else {
        column = data::Concat(pieces);
      }
      results_.Set(std::move(column), std::move(of_row));
    }
    if (next_ == end) block_.reset();
    return Status::OK();
  }

  const FrameSpec& frame_;
  const bool copies_;
  std::vector<int32_t> ends_;
  size_t partition_ = 0;
  int32_t next_ = 0;  ///< row
  int32_t seen_ = 0;  ///< the first row that was not yet added to the accumulator of the partition
};

/// Any frames.
class FrameRun final : public AggregateRun {
 public:
  FrameRun(AggregateInput input, const FrameSpec& frame, WindowRows& rows,
           sql::EvalContext& context)
      : AggregateRun(std::move(input), rows, context), frame_(frame) {}

 private:
  int64_t frame_bytes() const override {
    return static_cast<int64_t>((frames_.begin.capacity() + frames_.end.capacity() +
                                 of_row_.capacity() + heads_.capacity()) *
                                sizeof(int32_t));
  }

  Status Work() override {
    if (frames_.begin.empty()) frames_ = rows_.FramesOf(frame_);
    if (block_ == nullptr) Gather();
    std::vector<int32_t> rows;
    std::vector<uint8_t*> accumulators;
    for (int64_t steps = 0; head_ < heads_.size() && steps < kStepRows;) {
      const int32_t end = frames_.end[heads_[head_]];
      const auto upto = static_cast<int32_t>(std::min<int64_t>(end, seen_ + kStepRows - steps));
      steps += upto - seen_ + 1;
      uint8_t* const accumulator = block_->at(static_cast<int64_t>(head_));
      for (; seen_ < upto; ++seen_) {
        if (!input_.Passes(seen_)) continue;
        rows.push_back(seen_);
        accumulators.push_back(accumulator);
      }
      if (seen_ < end) break;
      if (++head_ < heads_.size()) seen_ = frames_.begin[heads_[head_]];
    }
    TW_RETURN_NOT_OK(Add(input_, rows, accumulators.data()));
    if (head_ < heads_.size()) return Status::OK();
    TW_ASSIGN_OR_RETURN(ColumnPtr results, Finish(block_->pointers()));
    results_.Set(std::move(results), std::exchange(of_row_, {}));
    block_.reset();
    return Status::OK();
  }

  /// Next frames, one or as many as kStepRows rows stand in.
  void Gather() {
    heads_.clear();
    int64_t total = 0;
    const auto count = static_cast<int32_t>(frames_.begin.size());
    for (; next_ < count; ++next_) {
      const bool same = !heads_.empty() && frames_.begin[next_] == frames_.begin[next_ - 1] &&
                        frames_.end[next_] == frames_.end[next_ - 1];
      if (!same) {
        const int32_t size = frames_.end[next_] - frames_.begin[next_];
        if (!heads_.empty() && (total + size > kStepRows || heads_.size() == data::kChunkRows))
          break;
        heads_.push_back(next_);
        total += size;
      }
      of_row_.push_back(static_cast<int32_t>(heads_.size()) - 1);
    }
    block_ = std::make_unique<AccumulatorBlock>(bound_, static_cast<int64_t>(heads_.size()));
    head_ = 0;
    seen_ = frames_.begin[heads_[0]];
  }

  const FrameSpec& frame_;
  WindowRows::Frames frames_;
  std::vector<int32_t> heads_;   ///< rows whose frames are computed, each frame once
  std::vector<int32_t> of_row_;  ///< which of them, per row up to `next_`
  size_t head_ = 0;              ///< the frame that rows are added to
  int32_t seen_ = 0;             ///< its next row
  int32_t next_ = 0;             ///< the first row whose frame was not gathered
};

}  // namespace

std::unique_ptr<WindowFunctionRun> NewAggregateRun(AggregateInput input, const FrameSpec& frame,
                                                   WindowRows& rows, sql::EvalContext& context) {
  if (frame.frame.lower != sql::FrameEdge::kUnboundedPreceding)
    return std::make_unique<FrameRun>(std::move(input), frame, rows, context);
  if (frame.frame.upper != sql::FrameEdge::kUnboundedFollowing)
    return std::make_unique<RunningRun>(std::move(input), frame, rows, context);
  return std::make_unique<PartitionRun>(std::move(input), rows, context);
}

}  // namespace thalweg::engine
