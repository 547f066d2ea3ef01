#pragma once

// Functions over windows, without the operator around them.

#include <memory>
#include <optional>
#include <vector>

#include "engine/exec/window_rows.h"
#include "sql/expr/eval_context.h"
#include "sql/expr/function.h"

namespace thalweg::engine {

/// An argument: a column of the rows, or the same value for all.
struct WindowArgument {
  int column = -1;
  data::DataType type;
  data::Value constant;  ///< when column < 0
};

/// One function over a window. Immutable.
struct WindowFunctionSpec {
  enum class Kind : uint8_t {
    kRowNumber,
    kRank,
    kDenseRank,
    kPercentRank,
    kCumeDist,
    kNtile,
    kOffset,
    kFirst,
    kLast,
    kNth,
    kAggregate
  };
  Kind kind = Kind::kAggregate;
  data::DataType type;                                   ///< of the result
  std::shared_ptr<const sql::BoundAggregate> aggregate;  ///< kAggregate
  std::vector<WindowArgument> arguments;                 ///< kOffset: value and default
  std::optional<int> filter;  ///< kAggregate: column, boolean: only rows where it is true
  FrameSpec frame;
  int64_t number = 0;  ///< buckets; rows ahead (negative: back); n of kNth, from 1
  bool ignore_nulls = false;
};

/// One function over the rows, computed a piece at a time in their order, so that whoever drives it
/// can stop between pieces and no more results are held than were asked for. Shape: a frame that
/// begins with its partition costs one step per row, as does one that is the whole partition; of
/// other frames equal ones that follow each other are computed once, each by adding its rows in
/// their order, as Spark does. Owner: borrows what it was made of. Thread: confined.
class WindowFunctionRun {
 public:
  virtual ~WindowFunctionRun() = default;
  /// Values of the next rows: of at most `most` (> 0, no more than are left), of fewer where they
  /// are large. Null: it worked and has none yet. A call takes about a millisecond, the first one
  /// of a function as long as a pass over the rows. Errors: those of the function.
  virtual Result<data::ColumnPtr> Next(int64_t most) = 0;
  /// What it holds beside the rows.
  virtual int64_t bytes() const = 0;
};

std::unique_ptr<WindowFunctionRun> NewWindowFunctionRun(const WindowFunctionSpec& spec,
                                                        WindowRows& rows,
                                                        sql::EvalContext& context);

}  // namespace thalweg::engine
