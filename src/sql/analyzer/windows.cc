// OVER: what a window function may be and see, and the nodes that compute them. Source: Spark's ResolveWindowOrder,
// ResolveWindowFrame, WindowFrameCoercion, WindowSpecDefinition and ExtractWindowExpressions.

#include <algorithm>

#include "base/string_case.h"
#include "sql/analyzer/resolver.h"
#include "sql/expr/evaluator.h"
#include "sql/expr/type_coercion.h"
#include "sql/functions/registry.h"
#include "sql/plan/window.h"

namespace thalweg::sql {
namespace {

using data::TypeKind;

constexpr const char* kDocroot = "https://spark.apache.org/docs/latest";

// --- frames ---

/// The frame that a function has whatever the query says; nullopt for those that take any.
std::optional<WindowFrame> OwnFrame(const WindowFunctionData& function) {
  switch (function.kind) {
    case WindowFunctionKind::kNthValue: return std::nullopt;
    case WindowFunctionKind::kLag:
    case WindowFunctionKind::kLead: return WindowFrame{FrameUnit::kRows, FrameEdge::kOffset, FrameEdge::kOffset};
    case WindowFunctionKind::kCumeDist: return WindowFrame{FrameUnit::kRange, FrameEdge::kUnboundedPreceding, FrameEdge::kCurrentRow};
    default: return WindowFrame{FrameUnit::kRows, FrameEdge::kUnboundedPreceding, FrameEdge::kCurrentRow};
  }
}

WindowFrame DefaultFrame(const WindowCall::Parts& window) {
  if (window.orders.empty()) return {FrameUnit::kRows, FrameEdge::kUnboundedPreceding, FrameEdge::kUnboundedFollowing};
  return {FrameUnit::kRange, FrameEdge::kUnboundedPreceding, FrameEdge::kCurrentRow};
}

/// "(PARTITION BY k ROWS BETWEEN ...)" with the names of columns alone.
std::string PrettySpec(WindowCall::Parts window) {
  window.function = Literal::Null();
  return AutoName(WindowCall::Make(std::move(window))).substr(std::string_view("NULL OVER ").size());
}

std::string PrettyFrame(WindowCall::Parts window) {
  window.partition.clear();
  window.orders.clear();
  const std::string text = PrettySpec(std::move(window));
  return text.substr(1, text.size() - 2);
}

/// As Spark's tree prints.
std::string TreeEdge(FrameEdge edge, const ExprPtr& offset) {
  switch (edge) {
    case FrameEdge::kUnboundedPreceding: return "unboundedpreceding$()";
    case FrameEdge::kCurrentRow: return "currentrow$()";
    case FrameEdge::kUnboundedFollowing: return "unboundedfollowing$()";
    default: return offset->PlanText();
  }
}

std::string TreeFrame(const WindowFrame& frame, const ExprPtr& lower, const ExprPtr& upper) {
  return std::string("specifiedwindowframe(") + (frame.unit == FrameUnit::kRows ? "RowFrame, " : "RangeFrame, ") +
         TreeEdge(frame.lower, lower) + ", " + TreeEdge(frame.upper, upper) + ")";
}

/// Integers count days of dates; intervals stay what they are beside times; all else takes the type of the order.
ExprPtr BoundOf(const ExprPtr& offset, const DataType& order) {
  const DataType& type = offset->type();
  if (order.Is(TypeKind::kDate) || order.Is(TypeKind::kTimestamp) || order.Is(TypeKind::kTimestampNtz)) return offset;
  if (type.SameType(order) || !CanCast(type, order, EvalMode::kAnsi)) return offset;
  return Cast::Make(offset, order, EvalMode::kAnsi);
}

bool FitsOrder(const DataType& order, const DataType& bound) {
  switch (order.kind()) {
    case TypeKind::kDate:
      return bound.Is(TypeKind::kInteger) || bound.Is(TypeKind::kYearMonthInterval) ||
             (bound.Is(TypeKind::kDayTimeInterval) && bound.day_time_end() == data::DayTimeField::kDay);
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampNtz:
      return bound.Is(TypeKind::kCalendarInterval) || bound.Is(TypeKind::kYearMonthInterval) || bound.Is(TypeKind::kDayTimeInterval);
    default: return order.SameType(bound);
  }
}

/// Of one window call; `text` is what Spark names in the message.
class FrameChecks {
 public:
  FrameChecks(const WindowCall& call, const BindContext& bind) : call_(call), bind_(bind) {}

  Status Check() const {
    const WindowFrame& frame = call_.frame();
    const ExprList orders = call_.orders();
    const bool offsets = frame.lower == FrameEdge::kOffset || frame.upper == FrameEdge::kOffset;
    TW_RETURN_NOT_OK(CheckFrame());
    if (frame.unit != FrameUnit::kRange) return Status::OK();
    const bool unbounded = frame.lower == FrameEdge::kUnboundedPreceding && frame.upper == FrameEdge::kUnboundedFollowing;
    if (orders.empty() && !unbounded) return OfSpec("RANGE_FRAME_WITHOUT_ORDER");
    if (!offsets) return Status::OK();
    if (orders.size() > 1) {
      std::string text;
      for (const ExprPtr& order : orders) text += (text.empty() ? "" : ",") + order->PlanText();
      return OfSpec("RANGE_FRAME_MULTI_ORDER").With("orderSpec", text);
    }
    const ExprPtr bound = frame.lower == FrameEdge::kOffset ? call_.lower_offset() : call_.upper_offset();
    const DataType& type = orders[0]->type();
    if (FitsOrder(type, bound->type())) return Status::OK();
    return OfSpec("RANGE_FRAME_INVALID_TYPE").With("orderSpecType", QuoteType(type)).With("valueBoundaryType", QuoteType(bound->type()));
  }

 private:
  Status CheckFrame() const {
    const WindowFrame& frame = call_.frame();
    const ExprPtr lower = call_.lower_offset();
    const ExprPtr upper = call_.upper_offset();
    if (lower != nullptr) TW_RETURN_NOT_OK(CheckBound(lower, "lower"));
    if (upper != nullptr) TW_RETURN_NOT_OK(CheckBound(upper, "upper"));
    if (frame.lower == FrameEdge::kUnboundedFollowing || frame.upper == FrameEdge::kUnboundedPreceding) {
      return OfFrame("SPECIFIED_WINDOW_FRAME_INVALID_BOUND")
          .With("upper", EdgeText(frame.upper, upper))
          .With("lower", EdgeText(frame.lower, lower));
    }
    if (lower == nullptr || upper == nullptr) return Status::OK();
    if (!lower->type().SameType(upper->type())) {
      return OfFrame("SPECIFIED_WINDOW_FRAME_DIFF_TYPES")
          .With("lower", QuoteExpression(lower))
          .With("upper", QuoteExpression(upper))
          .With("lowerType", QuoteType(lower->type()))
          .With("upperType", QuoteType(upper->type()));
    }
    if (lower->type().Is(TypeKind::kCalendarInterval)) return Status::OK();
    TW_ASSIGN_OR_RETURN(const bool greater, Holds(">", {lower, upper}));
    return greater ? WrongOrder() : Status::OK();
  }

  Status CheckBound(const ExprPtr& bound, const char* location) const {
    if (!bound->foldable()) {
      return OfFrame("SPECIFIED_WINDOW_FRAME_WITHOUT_FOLDABLE").With("location", location).With("expression", QuoteExpression(bound));
    }
    const DataType& type = bound->type();
    const bool rows = call_.frame().unit == FrameUnit::kRows;
    const bool fits = rows ? type.Is(TypeKind::kInteger) : type.IsNumeric() || type.IsAnsiInterval() || type.Is(TypeKind::kCalendarInterval);
    if (fits) return Status::OK();
    return OfFrame("SPECIFIED_WINDOW_FRAME_UNACCEPTED_TYPE")
        .With("location", location)
        .With("exprType", QuoteType(type))
        .With("expectedType", rows ? "\"INT\"" : "(\"NUMERIC\" or \"INTERVAL DAY TO SECOND\" or \"INTERVAL YEAR TO MONTH\" or \"INTERVAL\")");
  }

  Result<bool> Holds(std::string_view comparison, ExprList operands) const {
    const ScalarFunction* function = BuiltinFunctions().FindScalar(comparison);
    TW_ASSIGN_OR_RETURN(const ExprPtr test, BindScalar(*function, std::move(operands), bind_));
    TW_ASSIGN_OR_RETURN(const Value value, EvaluateConstant(test, bind_.config));
    return !value.is_null() && value.get<bool>();
  }

  static std::string EdgeText(FrameEdge edge, const ExprPtr& offset) {
    switch (edge) {
      case FrameEdge::kUnboundedPreceding: return "\"UNBOUNDED PRECEDING\"";
      case FrameEdge::kCurrentRow: return "\"CURRENT ROW\"";
      case FrameEdge::kUnboundedFollowing: return "\"UNBOUNDED FOLLOWING\"";
      default: return QuoteExpression(offset);
    }
  }

  Status WrongOrder() const { return OfFrame("SPECIFIED_WINDOW_FRAME_WRONG_COMPARISON").With("comparison", "less than or equal"); }
  Error OfFrame(const std::string& condition) const {
    return Error("DATATYPE_MISMATCH." + condition).With("sqlExpr", "\"" + PrettyFrame(call_.parts()) + "\"");
  }
  Error OfSpec(const std::string& condition) const {
    return Error("DATATYPE_MISMATCH." + condition).With("sqlExpr", "\"" + PrettySpec(call_.parts()) + "\"");
  }

  const WindowCall& call_;
  const BindContext& bind_;
};

// --- binding ---

Status CheckOrders(const WindowCall& call) {
  for (const ExprPtr& order : call.orders()) {
    if (order->type().IsOrderable()) continue;
    return At(Error("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE")
                  .With("functionName", "`sortorder`")
                  .With("dataType", QuoteType(order->type()))
                  .With("sqlExpr", "\"" + AutoName(order) + "\""),
              order);
  }
  return Status::OK();
}

ExprList WindowsIn(const ExprPtr& expr) {
  ExprList calls;
  Visit(expr, [&](const ExprPtr& node) {
    if (node->kind() == ExprKind::kWindowCall) calls.push_back(node);
    return true;
  });
  return calls;
}

/// The call with its frame; children are resolved.
Result<ExprPtr> Bound(const WindowCall& given, const BindContext& bind) {
  WindowCall::Parts parts = given.parts();
  const WindowFunctionData* function = AsWindowFunction(*parts.function);
  const auto* aggregate = parts.function->As<AggregateCall>();
  if (function == nullptr && aggregate == nullptr) {
    if (IsGenerator(parts.function)) {
      if (parts.frame.unit == FrameUnit::kUnspecified) parts.frame = DefaultFrame(parts);
      return Error("UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS").With("expression", QuoteExpression(WindowCall::Make(std::move(parts))));
    }
    return Error("UNSUPPORTED_EXPR_FOR_WINDOW").With("sqlExpr", QuoteExpression(parts.function));
  }
  if (function != nullptr && parts.orders.empty()) {
    const std::string name(parts.function->As<Call>()->function_name());
    return Error("WINDOW_FUNCTION_FRAME_NOT_ORDERED").With("wf_name", name).With("wf_expr", parts.function->Sql());
  }
  const std::optional<WindowFrame> own = function == nullptr ? std::nullopt : OwnFrame(*function);
  const bool offset = function != nullptr && (function->kind == WindowFunctionKind::kLag || function->kind == WindowFunctionKind::kLead);
  const ExprPtr rows = offset ? Literal::Integer(static_cast<int32_t>(function->kind == WindowFunctionKind::kLag ? -function->number : function->number))
                              : nullptr;
  if (own && parts.frame.unit != FrameUnit::kUnspecified) {
    const bool same = *own == parts.frame && (!offset || (parts.lower_offset->Equals(*rows) && parts.upper_offset->Equals(*rows)));
    if (!same && offset) return Error("_LEGACY_ERROR_TEMP_1035").With("prettyName", parts.function->As<Call>()->function_name());
    if (!same) {
      return Error("_LEGACY_ERROR_TEMP_1036")
          .With("wf", TreeFrame(parts.frame, parts.lower_offset, parts.upper_offset))
          .With("required", TreeFrame(*own, nullptr, nullptr));
    }
  }
  if (offset) parts.lower_offset = parts.upper_offset = rows;
  if (own) {
    parts.frame = *own;
  } else if (parts.frame.unit == FrameUnit::kUnspecified) {
    parts.frame = DefaultFrame(parts);
  }
  if (parts.frame.unit == FrameUnit::kRange && parts.orders.size() == 1) {
    const DataType& order = parts.orders[0]->type();
    if (parts.lower_offset != nullptr) parts.lower_offset = BoundOf(parts.lower_offset, order);
    if (parts.upper_offset != nullptr) parts.upper_offset = BoundOf(parts.upper_offset, order);
  }
  ExprPtr bound = WindowCall::Make(std::move(parts));
  const auto& call = static_cast<const WindowCall&>(*bound);
  TW_RETURN_NOT_OK(CheckOrders(call));
  TW_RETURN_NOT_OK(FrameChecks(call, bind).Check());
  for (const ExprPtr& key : call.partition()) {
    if (key->type().IsOrderable()) continue;
    return At(Error("EXPRESSION_TYPE_IS_NOT_ORDERABLE").With("expr", QuoteExpression(key)).With("exprType", QuoteType(key->type())), key);
  }
  if (aggregate != nullptr && aggregate->has_filter()) {
    for (const ExprPtr& part : WindowsIn(aggregate->filter())) {
      return Error("INVALID_AGGREGATE_FILTER.CONTAINS_WINDOW_FUNCTION")
          .With("filterExpr", QuoteExpression(aggregate->filter()))
          .With("windowExpr", QuoteExpression(part));
    }
  }
  if (aggregate != nullptr && aggregate->distinct()) {
    return Error("DISTINCT_WINDOW_FUNCTION_UNSUPPORTED").With("windowExpr", QuoteExpression(bound));
  }
  return bound;
}

// --- nodes ---

/// Calls below `expr` that have no other below them, each once.
void FindInnermost(const ExprPtr& expr, ExprList* calls) {
  for (const ExprPtr& child : expr->children()) {
    if (HasWindow(child)) FindInnermost(child, calls);
  }
  if (expr->kind() != ExprKind::kWindowCall || std::any_of(expr->children().begin(), expr->children().end(), HasWindow)) return;
  const bool known = std::any_of(calls->begin(), calls->end(), [&](const ExprPtr& call) { return Bare(call)->Equals(*expr); });
  if (!known) calls->push_back(expr);
}

Status RefuseStreams(const LogicalPlan& child, const ExprList& calls) {
  if (!child.is_streaming()) return Status::OK();
  std::string functions, columns, specs;
  const auto add = [](const std::string& text, std::string* list) { *list += (list->empty() ? "" : ", ") + text; };
  for (const ExprPtr& call : calls) {
    const auto& window = static_cast<const WindowCall&>(*Bare(call));
    add(ToAsciiUpper(window.function()->Sql()), &functions);
    add(data::QuoteIdentifier(ToAttribute(call)->name()), &columns);
    add(ToAsciiUpper(window.SpecText()), &specs);
  }
  return Error("NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING")
      .With("windowFunc", functions)
      .With("columnName", columns)
      .With("windowSpec", specs);
}

}  // namespace

Result<ExprPtr> Resolver::ResolveWindowCall(const ExprPtr& expr, const Scope& scope, int depth, bool in_aggregate) {
  const auto& given = static_cast<const WindowCall&>(*expr);
  if (!given.reference().empty()) {
    return Error("MISSING_WINDOW_SPECIFICATION").With("windowName", given.reference()).With("docroot", kDocroot);
  }
  TW_ASSIGN_OR_RETURN(ExprPtr node, ResolveChildren(expr, scope, depth, in_aggregate));
  ExprList children = node->children();
  bool resolved = true;
  for (ExprPtr& child : children) {
    child = Bare(child);
    resolved = resolved && child->resolved();
  }
  node = node->WithChildren(std::move(children));
  return resolved ? Bound(static_cast<const WindowCall&>(*node), bind_) : Result<ExprPtr>(node);
}

Status Resolver::ExtractWindowCalls(ExprList* list, PlanPtr* child) {
  while (std::any_of(list->begin(), list->end(), HasWindow)) {
    ExprList calls;
    for (const ExprPtr& item : *list) {
      if (HasWindow(item)) FindInnermost(item, &calls);
    }
    // A column that is nothing but a call keeps its name and id.
    for (ExprPtr& call : calls) {
      const auto whole = std::find_if(list->begin(), list->end(), [&](const ExprPtr& item) {
        const auto* alias = item->As<Alias>();
        return alias != nullptr && alias->names().empty() && alias->child()->Equals(*call);
      });
      call = whole != list->end() ? *whole : ExprPtr(Alias::Make(call, "_we" + std::to_string(window_columns_++)));
    }
    TW_RETURN_NOT_OK(RefuseStreams(**child, calls));
    const ExprList all = calls;
    while (!calls.empty()) {
      const auto& first = static_cast<const WindowCall&>(*Bare(calls[0]));
      ExprList same, others;
      for (const ExprPtr& call : calls) {
        (first.SameSpec(static_cast<const WindowCall&>(*Bare(call))) ? same : others).push_back(call);
      }
      *child = std::make_shared<Window>(std::move(same), first.partition(), first.orders(), *child);
      calls = std::move(others);
    }
    for (ExprPtr& item : *list) {
      TW_ASSIGN_OR_RETURN(item, TransformDown(item, [&](const ExprPtr& node) -> Result<ExprPtr> {
        for (const ExprPtr& call : all) {
          if (node == call || (node->kind() == ExprKind::kWindowCall && Bare(call)->Equals(*node))) return ExprPtr(ToAttribute(call));
        }
        return ExprPtr();
      }));
    }
  }
  return Status::OK();
}

Result<PlanPtr> Resolver::ProjectOver(ExprList list, PlanPtr child) {
  TW_RETURN_NOT_OK(ExtractWindowCalls(&list, &child));
  return PlanPtr(std::make_shared<Project>(std::move(list), std::move(child)));
}

namespace {

/// Groups are made before windows.
Status RefuseInside(const ExprPtr& expr, bool in_window) {
  if (expr->kind() == ExprKind::kAggregate && !in_window && HasWindow(expr)) return At(Error("_LEGACY_ERROR_TEMP_1031"), expr);
  for (size_t i = 0; i < expr->children().size(); ++i) {
    TW_RETURN_NOT_OK(RefuseInside(expr->child(i), expr->kind() == ExprKind::kWindowCall && i == 0));
  }
  return Status::OK();
}

/// Takes the select list of a grouping apart.
class GroupColumns {
 public:
  explicit GroupColumns(ExprList* below) : below_(below) {}

  /// `expr` over columns of the grouping, which get what it needs.
  ExprPtr Lift(const ExprPtr& expr) {
    if (expr->kind() == ExprKind::kLiteral) return expr;
    if (expr->kind() == ExprKind::kSortOrder) return expr->WithChildren({Lift(expr->child())});
    if (!HasWindow(expr)) return Column(expr);
    ExprList children;
    for (const ExprPtr& child : expr->children()) {
      const bool function = expr->kind() == ExprKind::kWindowCall && children.empty();
      children.push_back(function ? LiftArguments(child) : Lift(child));
    }
    return expr->WithChildren(std::move(children));
  }

 private:
  ExprPtr LiftArguments(const ExprPtr& function) {
    if (function->children().empty()) return function;
    ExprList children;
    for (const ExprPtr& child : function->children()) children.push_back(Lift(child));
    return function->WithChildren(std::move(children));
  }

  ExprPtr Column(const ExprPtr& expr) {
    if (expr->foldable()) return expr;
    for (const ExprPtr& named : *below_) {
      if (Bare(named)->Equals(*expr)) return ToAttribute(named);
    }
    below_->push_back(expr->kind() == ExprKind::kAttribute ? expr : ExprPtr(Alias::Make(expr, "_w" + std::to_string(below_->size()))));
    return ToAttribute(below_->back());
  }

  ExprList* below_;
};

}  // namespace

Result<bool> SplitWindowCalls(ExprList* list, ExprList* over) {
  if (std::none_of(list->begin(), list->end(), HasWindow)) return false;
  for (const ExprPtr& item : *list) TW_RETURN_NOT_OK(RefuseInside(item, false));
  ExprList below;
  for (const ExprPtr& item : *list) {
    if (!HasWindow(item)) below.push_back(item);
  }
  GroupColumns columns(&below);
  for (const ExprPtr& item : *list) over->push_back(HasWindow(item) ? columns.Lift(item) : ExprPtr(ToAttribute(item)));
  *list = std::move(below);
  return true;
}

bool HasAggregate(const ExprPtr& expr) {
  if (expr->kind() == ExprKind::kAggregate) return true;
  const ExprList& children = expr->children();
  if (expr->kind() == ExprKind::kWindowCall && children[0]->kind() == ExprKind::kAggregate) {
    const ExprList& arguments = children[0]->children();
    return std::any_of(arguments.begin(), arguments.end(), HasAggregate) || std::any_of(children.begin() + 1, children.end(), HasAggregate);
  }
  return std::any_of(children.begin(), children.end(), HasAggregate);
}

}  // namespace thalweg::sql
