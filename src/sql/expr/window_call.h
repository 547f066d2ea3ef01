#pragma once

// Contract: functions over windows, `f(...) OVER (PARTITION BY ... ORDER BY ... frame)`. Source: Spark's WindowExpression,
// WindowSpecDefinition and SpecifiedWindowFrame.

#include <string>

#include "sql/expr/expression.h"
#include "sql/expr/function.h"

namespace thalweg::sql {

enum class FrameUnit : uint8_t {
  kUnspecified,  ///< until the analyzer says which frame that means
  kRows,
  kRange,
};

enum class FrameEdge : uint8_t { kUnboundedPreceding, kCurrentRow, kUnboundedFollowing, kOffset };

/// Which rows of its partition a row sees. An offset is an expression of the call: negative ones lie before the row in the order.
struct WindowFrame {
  FrameUnit unit = FrameUnit::kUnspecified;
  FrameEdge lower = FrameEdge::kUnboundedPreceding;
  FrameEdge upper = FrameEdge::kUnboundedFollowing;
  bool operator==(const WindowFrame&) const = default;
};

/// children = function, keys of the partition, orders, then the frame's offsets.
/// The function is an AggregateCall or a Call with WindowFunctionData once resolved.
class WindowCall final : public Expr {
 public:
  static constexpr ExprKind kKind = ExprKind::kWindowCall;
  struct Parts {
    ExprPtr function;
    ExprList partition;
    ExprList orders;           ///< SortOrder
    WindowFrame frame;
    ExprPtr lower_offset;      ///< set where the frame says kOffset
    ExprPtr upper_offset;
    std::string reference;     ///< OVER name: not resolved until the WINDOW clause has put its definition here
  };
  static ExprPtr Make(Parts parts);
  Parts parts() const;
  const ExprPtr& function() const { return children_[0]; }
  ExprList partition() const;
  ExprList orders() const;
  const WindowFrame& frame() const { return frame_; }
  ExprPtr lower_offset() const;  ///< null without one
  ExprPtr upper_offset() const;
  const std::string& reference() const { return reference_; }
  /// Spark's text of what stands behind OVER: "(PARTITION BY k ORDER BY v ASC NULLS FIRST ROWS BETWEEN ...)".
  std::string SpecText(bool plan_text = false) const;
  /// Whether the other call sees the same partitions in the same order.
  bool SameSpec(const WindowCall& other) const;

  const DataType& type() const override { return function()->type(); }
  bool nullable() const override { return function()->nullable(); }
  ExprPtr WithChildren(ExprList children) const override;
  std::string Sql() const override;
  std::string PlanText() const override;
  bool Equals(const Expr& other) const override;

 private:
  WindowCall(ExprList children, size_t keys, size_t orders, WindowFrame frame, std::string reference);
  std::shared_ptr<Expr> Clone() const override;
  size_t keys_;
  size_t orders_;
  WindowFrame frame_;
  std::string reference_;
};

/// What only a window can compute.
enum class WindowFunctionKind : uint8_t { kRowNumber, kRank, kDenseRank, kPercentRank, kCumeDist, kNtile, kLag, kLead, kNthValue };

/// The data of a bound window function: a Call of it has no kernel; WindowCall gives it its rows.
struct WindowFunctionData final : BoundData {
  WindowFunctionKind kind = WindowFunctionKind::kRowNumber;
  int64_t number = 1;          ///< buckets of ntile, rows of lag (back) and lead (forward), n of nth_value
  bool ignore_nulls = false;
};
/// Null for everything but a bound window function.
const WindowFunctionData* AsWindowFunction(const Expr& expr);

bool HasWindow(const ExprPtr& expr);

}  // namespace thalweg::sql
