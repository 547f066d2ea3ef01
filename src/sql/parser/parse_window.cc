// OVER (...), OVER name and the WINDOW clause.

#include <algorithm>
#include <cctype>

#include "base/string_case.h"
#include "sql/parser/parser_state.h"

namespace thalweg::sql {
namespace {

/// Every OVER name below that `definitions` know becomes its definition.
Result<ExprPtr> WithDefinitions(const ExprPtr& expr, const WindowDefinitions& definitions) {
  return TransformUp(expr, [&](const ExprPtr& node) -> Result<ExprPtr> {
    const auto* call = node->As<WindowCall>();
    if (call == nullptr || call->reference().empty()) return ExprPtr();
    for (const auto& [name, definition] : definitions) {
      if (name != call->reference()) continue;
      WindowCall::Parts parts = definition;
      parts.function = call->function();
      return WindowCall::Make(std::move(parts));
    }
    return ExprPtr();
  });
}

/// Made of literals, operators and casts.
bool IsConstant(const ExprPtr& expr) {
  bool constant = true;
  Visit(expr, [&](const ExprPtr& node) {
    const auto* call = node->As<UnresolvedFunction>();
    const bool operation = call != nullptr && call->name_parts().size() == 1 && !std::isalpha(static_cast<unsigned char>(call->name_parts()[0][0]));
    constant = constant && (operation || node->kind() == ExprKind::kLiteral || node->kind() == ExprKind::kCast);
    return constant;
  });
  return constant;
}

}  // namespace

/// UNBOUNDED PRECEDING, CURRENT ROW, n PRECEDING, n FOLLOWING: an offset before the row is a negated one.
Status ParserState::FrameBound(FrameEdge* edge, ExprPtr* offset) {
  if (TakeWords({"UNBOUNDED", "PRECEDING"})) return *edge = FrameEdge::kUnboundedPreceding, Status::OK();
  if (TakeWords({"UNBOUNDED", "FOLLOWING"})) return *edge = FrameEdge::kUnboundedFollowing, Status::OK();
  if (TakeWords({"CURRENT", "ROW"})) return *edge = FrameEdge::kCurrentRow, Status::OK();
  const int begin = static_cast<int>(at_);
  const size_t at = at_;
  TW_ASSIGN_OR_RETURN(*offset, Expression());
  if (!IsConstant(*offset)) {
    return ParseErrorAt(Error("_LEGACY_ERROR_TEMP_0064").With("msg", "Frame bound value must be a literal."), sql_, tokens_[at].begin);
  }
  *edge = FrameEdge::kOffset;
  if (TakeWord("FOLLOWING")) return Status::OK();
  TW_RETURN_NOT_OK(ExpectWord("PRECEDING"));
  *offset = Function("-", {std::move(*offset)}, begin);
  return Status::OK();
}

Status ParserState::FrameClause(WindowCall::Parts* window) {
  if (!IsWord("ROWS") && !IsWord("RANGE")) return Status::OK();
  window->frame.unit = Advance().upper == "ROWS" ? FrameUnit::kRows : FrameUnit::kRange;
  if (!TakeWord("BETWEEN")) {
    window->frame.upper = FrameEdge::kCurrentRow;
    return FrameBound(&window->frame.lower, &window->lower_offset);
  }
  TW_RETURN_NOT_OK(FrameBound(&window->frame.lower, &window->lower_offset));
  TW_RETURN_NOT_OK(ExpectWord("AND"));
  return FrameBound(&window->frame.upper, &window->upper_offset);
}

/// What stands behind OVER, or in the WINDOW clause behind AS.
Result<WindowCall::Parts> ParserState::WindowSpec() {
  WindowCall::Parts window;
  if (!IsSymbol("(")) {
    TW_ASSIGN_OR_RETURN(window.reference, Name());
    return window;
  }
  Advance();
  if (AtName() && IsSymbol(")", 1)) {
    TW_ASSIGN_OR_RETURN(window.reference, Name());
    Advance();
    return window;
  }
  const auto keys = [&]() -> Status {
    do {
      TW_ASSIGN_OR_RETURN(ExprPtr key, Expression());
      window.partition.push_back(std::move(key));
      if (window.partition.size() > kMaxChain) return TooComplex();
    } while (TakeSymbol(","));
    return Status::OK();
  };
  if (TakeWords({"CLUSTER", "BY"})) {
    TW_RETURN_NOT_OK(keys());
  } else {
    if (TakeWords({"PARTITION", "BY"}) || TakeWords({"DISTRIBUTE", "BY"})) TW_RETURN_NOT_OK(keys());
    if (TakeWords({"ORDER", "BY"}) || TakeWords({"SORT", "BY"})) {
      TW_ASSIGN_OR_RETURN(window.orders, SortItems());
    }
  }
  TW_RETURN_NOT_OK(FrameClause(&window));
  TW_RETURN_NOT_OK(ExpectSymbol(")"));
  return window;
}

/// `call` is a function call and all that may stand between it and OVER was taken.
Result<ExprPtr> ParserState::OverClause(ExprPtr call, int begin) {
  if (!TakeWord("OVER")) return call;
  TW_ASSIGN_OR_RETURN(WindowCall::Parts window, WindowSpec());
  window.function = std::move(call);
  return Located(WindowCall::Make(std::move(window)), begin);
}

bool ParserState::AtWindowClause() const { return IsWord("WINDOW") && (IsWord("AS", 2) || Peek(2).kind == TokenKind::kQuotedName); }

/// WINDOW a AS (...), b AS a.
Result<WindowDefinitions> ParserState::WindowClause() {
  const size_t begin = at_;
  Advance();
  WindowDefinitions definitions;
  const auto wrong = [&](std::string_view condition, const std::string& name) {
    return ParseErrorAt(Error(condition).With("windowName", data::QuoteIdentifier(name)), sql_, tokens_[begin].begin);
  };
  do {
    TW_ASSIGN_OR_RETURN(std::string name, Name());
    TW_RETURN_NOT_OK(ExpectWord("AS"));
    TW_ASSIGN_OR_RETURN(WindowCall::Parts window, WindowSpec());
    const bool twice = std::any_of(definitions.begin(), definitions.end(), [&](const auto& other) { return other.first == name; });
    if (twice) return wrong("INVALID_SQL_SYNTAX.REPETITIVE_WINDOW_DEFINITION", name);
    if (definitions.size() > kMaxChain) return TooComplex();
    definitions.emplace_back(std::move(name), std::move(window));
  } while (TakeSymbol(","));
  WindowDefinitions resolved = definitions;
  for (auto& [name, window] : resolved) {
    if (window.reference.empty()) continue;
    const std::string reference = window.reference;
    const auto other = std::find_if(definitions.begin(), definitions.end(), [&](const auto& d) { return d.first == reference; });
    if (other == definitions.end()) return wrong("INVALID_SQL_SYNTAX.UNRESOLVED_WINDOW_REFERENCE", reference);
    if (!other->second.reference.empty()) return wrong("INVALID_SQL_SYNTAX.INVALID_WINDOW_REFERENCE", reference);
    window = other->second;
  }
  return resolved;
}

Result<PlanPtr> WithWindows(const PlanPtr& plan, const WindowDefinitions& definitions) {
  return TransformUp(plan, [&](const PlanPtr& node) -> Result<PlanPtr> {
    const ExprList expressions = node->expressions();
    if (std::none_of(expressions.begin(), expressions.end(), HasWindow)) return PlanPtr();
    ExprList rewritten;
    for (const ExprPtr& expr : expressions) {
      TW_ASSIGN_OR_RETURN(ExprPtr with, WithDefinitions(expr, definitions));
      rewritten.push_back(std::move(with));
    }
    return node->WithExpressions(std::move(rewritten));
  });
}

}  // namespace thalweg::sql
