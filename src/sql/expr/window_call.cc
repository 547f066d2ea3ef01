#include "sql/expr/window_call.h"

#include "base/invariant.h"

namespace thalweg::sql {
namespace {

std::string TextAs(const ExprPtr& expr, bool plan_text) { return plan_text ? expr->PlanText() : expr->Sql(); }

void AddList(const ExprList& list, const char* words, bool plan_text, std::string* text) {
  for (size_t i = 0; i < list.size(); ++i) *text += (i == 0 ? words : ", ") + TextAs(list[i], plan_text);
  if (!list.empty()) *text += " ";
}

/// The operand of a minus sign, or null.
ExprPtr Negated(const Expr& expr) {
  if (expr.children().size() != 1) return nullptr;
  const auto* call = expr.As<Call>();
  const bool minus = call != nullptr && call->function_name() == "negative";
  const auto* unresolved = expr.As<UnresolvedFunction>();
  const bool unresolved_minus = unresolved != nullptr && unresolved->name_parts().size() == 1 && unresolved->name_parts()[0] == "-";
  return minus || unresolved_minus ? expr.child() : nullptr;
}

std::string EdgeText(FrameEdge edge, const ExprPtr& offset, bool plan_text) {
  switch (edge) {
    case FrameEdge::kUnboundedPreceding: return "UNBOUNDED PRECEDING";
    case FrameEdge::kCurrentRow: return "CURRENT ROW";
    case FrameEdge::kUnboundedFollowing: return "UNBOUNDED FOLLOWING";
    case FrameEdge::kOffset: break;
  }
  if (const ExprPtr operand = Negated(*offset)) return TextAs(operand, plan_text) + " PRECEDING";
  return TextAs(offset, plan_text) + " FOLLOWING";
}

}  // namespace

WindowCall::WindowCall(ExprList children, size_t keys, size_t orders, WindowFrame frame, std::string reference)
    : Expr(kKind, std::move(children)), keys_(keys), orders_(orders), frame_(frame), reference_(std::move(reference)) {
  resolved_ = resolved_ && reference_.empty() && frame_.unit != FrameUnit::kUnspecified;
}

ExprPtr WindowCall::Make(Parts parts) {
  ExprList children = {std::move(parts.function)};
  children.insert(children.end(), parts.partition.begin(), parts.partition.end());
  children.insert(children.end(), parts.orders.begin(), parts.orders.end());
  if (parts.frame.lower == FrameEdge::kOffset) children.push_back(std::move(parts.lower_offset));
  if (parts.frame.upper == FrameEdge::kOffset) children.push_back(std::move(parts.upper_offset));
  return ExprPtr(new WindowCall(std::move(children), parts.partition.size(), parts.orders.size(), parts.frame, std::move(parts.reference)));
}

WindowCall::Parts WindowCall::parts() const {
  return {function(), partition(), orders(), frame_, lower_offset(), upper_offset(), reference_};
}

std::shared_ptr<Expr> WindowCall::Clone() const { return std::shared_ptr<Expr>(new WindowCall(*this)); }

ExprList WindowCall::partition() const {
  const auto first = children_.begin() + 1;
  return ExprList(first, first + static_cast<ptrdiff_t>(keys_));
}

ExprList WindowCall::orders() const {
  const auto first = children_.begin() + 1 + static_cast<ptrdiff_t>(keys_);
  return ExprList(first, first + static_cast<ptrdiff_t>(orders_));
}

ExprPtr WindowCall::lower_offset() const {
  return frame_.lower == FrameEdge::kOffset ? children_[1 + keys_ + orders_] : nullptr;
}

ExprPtr WindowCall::upper_offset() const { return frame_.upper == FrameEdge::kOffset ? children_.back() : nullptr; }

ExprPtr WindowCall::WithChildren(ExprList children) const {
  TW_DCHECK(children.size() == children_.size());
  std::shared_ptr<WindowCall> copy(new WindowCall(std::move(children), keys_, orders_, frame_, reference_));
  copy->origin_ = origin_;
  return copy;
}

std::string WindowCall::SpecText(bool plan_text) const {
  if (!reference_.empty()) return reference_;
  std::string text = "(";
  AddList(partition(), "PARTITION BY ", plan_text, &text);
  AddList(orders(), "ORDER BY ", plan_text, &text);
  if (frame_.unit != FrameUnit::kUnspecified) {
    text += frame_.unit == FrameUnit::kRows ? "ROWS" : "RANGE";
    text += " BETWEEN " + EdgeText(frame_.lower, lower_offset(), plan_text) + " AND " + EdgeText(frame_.upper, upper_offset(), plan_text);
  } else if (text.size() > 1) {
    text.pop_back();
  }
  return text + ")";
}

bool WindowCall::SameSpec(const WindowCall& other) const {
  return EqualLists(partition(), other.partition()) && EqualLists(orders(), other.orders());
}

std::string WindowCall::Sql() const { return function()->Sql() + " OVER " + SpecText(); }
std::string WindowCall::PlanText() const { return function()->PlanText() + " windowspecdefinition" + SpecText(true); }

bool WindowCall::Equals(const Expr& other) const {
  const auto* call = other.As<WindowCall>();
  return call != nullptr && keys_ == call->keys_ && orders_ == call->orders_ && frame_ == call->frame_ &&
         reference_ == call->reference_ && EqualLists(children_, call->children_);
}

const WindowFunctionData* AsWindowFunction(const Expr& expr) {
  const auto* call = expr.As<Call>();
  return call == nullptr ? nullptr : dynamic_cast<const WindowFunctionData*>(call->bound().data.get());
}

bool HasWindow(const ExprPtr& expr) { return Contains(expr, ExprKind::kWindowCall); }

}  // namespace thalweg::sql
