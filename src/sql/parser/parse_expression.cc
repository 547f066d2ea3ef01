// Expressions: operators by precedence, predicates, calls.

#include <algorithm>
#include <array>

#include "sql/expr/named_argument.h"
#include "sql/parser/parser_state.h"

namespace thalweg::sql {
namespace {

struct BinaryOperator {
  std::string_view symbol;
  std::string_view function;
};

/// From loosest to tightest; comparison stands above in Comparison().
constexpr int kNumLevels = 6;
constexpr std::array<std::array<BinaryOperator, 4>, kNumLevels> kLevels = {{
    {{{"|", "|"}}},
    {{{"^", "^"}}},
    {{{"&", "&"}}},
    {{{"<<", "<<"}, {">>", ">>"}, {">>>", ">>>"}}},
    {{{"+", "+"}, {"-", "-"}, {"||", "concat"}}},
    {{{"*", "*"}, {"/", "/"}, {"%", "%"}, {"DIV", "div"}}},
}};

}  // namespace

ExprPtr ParserState::Function(std::string_view name, ExprList arguments, int begin_token) const {
  return Located(UnresolvedFunction::Make({std::string(name)}, std::move(arguments)), begin_token);
}

Result<ExprPtr> ParserState::NamedExpression() {
  const int begin = static_cast<int>(at_);
  TW_ASSIGN_OR_RETURN(ExprPtr expression, Expression());
  const bool as = TakeWord("AS");
  if (as && IsSymbol("(")) {
    Advance();
    TW_ASSIGN_OR_RETURN(std::vector<std::string> names, NameList());
    return Alias::MakeMulti(std::move(expression), std::move(names));
  }
  if (!as && !AtAliasName()) return expression;
  TW_ASSIGN_OR_RETURN(std::string name, Name());
  return Located(Alias::Make(std::move(expression), std::move(name)), begin);
}

Result<ExprPtr> ParserState::Expression() {
  const DepthGuard guard(depth_);
  if (guard.too_deep()) return TooComplex();
  return OrExpression();
}

/// A chain of AND or OR as a balanced tree, so that long chains stay shallow.
ExprPtr ParserState::Balanced(std::string_view name, const ExprList& operands, size_t from,
                              size_t to) const {
  if (to - from == 1) return operands[from];
  const size_t middle = operands.size() <= 16 ? to - 1 : from + (to - from) / 2;
  // No origin: AND and OR raise no error of their own.
  return UnresolvedFunction::Make({std::string(name)}, {Balanced(name, operands, from, middle),
                                                        Balanced(name, operands, middle, to)});
}

Result<ExprPtr> ParserState::OrExpression() {
  ExprList operands;
  do {
    TW_ASSIGN_OR_RETURN(ExprPtr operand, AndExpression());
    operands.push_back(std::move(operand));
    if (operands.size() > kMaxChain) return TooComplex();
  } while (TakeWord("OR"));
  return Balanced("or", operands, 0, operands.size());
}

Result<ExprPtr> ParserState::AndExpression() {
  ExprList operands;
  do {
    TW_ASSIGN_OR_RETURN(ExprPtr operand, NotExpression());
    operands.push_back(std::move(operand));
    if (operands.size() > kMaxChain) return TooComplex();
  } while (TakeWord("AND"));
  return Balanced("and", operands, 0, operands.size());
}

Result<ExprPtr> ParserState::NotExpression() {
  const int begin = static_cast<int>(at_);
  if (!TakeWord("NOT") && !TakeSymbol("!")) return Predicate();
  const DepthGuard guard(depth_);
  if (guard.too_deep()) return TooComplex();
  TW_ASSIGN_OR_RETURN(ExprPtr operand, NotExpression());
  return Function("not", {std::move(operand)}, begin);
}

Result<ExprPtr> ParserState::Predicate() {
  const int begin = static_cast<int>(at_);
  if (IsWord("EXISTS") && IsSymbol("(", 1)) return Unsupported("EXISTS subqueries");
  TW_ASSIGN_OR_RETURN(ExprPtr left, Comparison());
  while (true) {
    const size_t ahead = IsWord("NOT") || IsSymbol("!") ? 1 : 0;
    const auto at = [&](std::string_view word) { return IsWord(word, ahead); };
    if (ahead == 0 && IsWord("IS")) {
      TW_ASSIGN_OR_RETURN(left, IsPredicate(std::move(left), begin));
      continue;
    }
    if (!at("BETWEEN") && !at("IN") && !at("LIKE") && !at("ILIKE") && !at("RLIKE") && !at("REGEXP"))
      return left;
    if (ahead == 1) Advance();
    if (TakeWord("BETWEEN")) {
      TW_ASSIGN_OR_RETURN(ExprPtr low, Comparison());
      TW_RETURN_NOT_OK(ExpectWord("AND"));
      TW_ASSIGN_OR_RETURN(ExprPtr high, Comparison());
      left = Function("between", {std::move(left), std::move(low), std::move(high)}, begin);
    } else if (TakeWord("IN")) {
      TW_ASSIGN_OR_RETURN(left, InPredicate(std::move(left), begin));
    } else {
      const std::string word = Advance().upper;
      const std::string_view function = word == "LIKE" ? "like" : word == "ILIKE" ? "ilike" : "rlike";
      const bool quantified = (IsWord("ANY") || IsWord("SOME") || IsWord("ALL")) && IsSymbol("(", 1);
      if (quantified && function != "rlike") {
        // The NOT belongs to each pattern: NOT LIKE ALL means that no pattern matches.
        TW_ASSIGN_OR_RETURN(left, QuantifiedLike(std::move(left), begin, function, ahead == 1));
        continue;
      }
      TW_ASSIGN_OR_RETURN(left, LikePredicate(std::move(left), begin, function));
    }
    if (ahead == 1) left = Function("not", {std::move(left)}, begin);
  }
}

Result<ExprPtr> ParserState::InPredicate(ExprPtr left, int begin) {
  TW_RETURN_NOT_OK(ExpectSymbol("("));
  if (IsWord("SELECT") || IsWord("WITH")) return Unsupported("IN subqueries");
  TW_ASSIGN_OR_RETURN(ExprList values, ExpressionList(")"));
  if (values.empty()) return Unexpected();
  ExprList arguments{std::move(left)};
  arguments.insert(arguments.end(), values.begin(), values.end());
  return Function("in", std::move(arguments), begin);
}

Result<ExprPtr> ParserState::QuantifiedLike(ExprPtr left, int begin, std::string_view function, bool negated) {
  const bool any = Advance().upper != "ALL";
  Advance();
  TW_ASSIGN_OR_RETURN(ExprList patterns, ExpressionList(")"));
  if (patterns.empty()) return Unexpected();
  if (function == "ilike") {
    left = Function("lower", {std::move(left)}, begin);
    for (ExprPtr& pattern : patterns) pattern = Function("lower", {std::move(pattern)}, begin);
  }
  const bool constant = std::all_of(patterns.begin(), patterns.end(),
                                    [](const ExprPtr& pattern) { return pattern->As<Literal>() != nullptr; });
  if (constant) {
    patterns.insert(patterns.begin(), std::move(left));
    return Function(std::string(negated ? "not" : "") + (any ? "likeany" : "likeall"), std::move(patterns), begin);
  }
  ExprList tests;
  for (const ExprPtr& pattern : patterns) {
    ExprPtr test = Function("like", {left, pattern}, begin);
    tests.push_back(negated ? Function("not", {std::move(test)}, begin) : std::move(test));
  }
  return Balanced(any ? "or" : "and", tests, 0, tests.size());
}

Result<ExprPtr> ParserState::LikePredicate(ExprPtr left, int begin, std::string_view function) {
  TW_ASSIGN_OR_RETURN(ExprPtr pattern, Comparison());
  ExprList arguments{std::move(left), std::move(pattern)};
  if (function != "rlike" && TakeWord("ESCAPE")) {
    TW_ASSIGN_OR_RETURN(std::string escape, StringText());
    arguments.push_back(Literal::String(std::move(escape)));
  }
  return Function(function, std::move(arguments), begin);
}

Result<ExprPtr> ParserState::IsPredicate(ExprPtr left, int begin) {
  Advance();
  const bool negated = TakeWord("NOT");
  ExprPtr result;
  if (TakeWord("NULL")) return Function(negated ? "isnotnull" : "isnull", {std::move(left)}, begin);
  if (TakeWord("UNKNOWN"))
    return Function(negated ? "isnotnull" : "isnull", {std::move(left)}, begin);
  if (IsWord("TRUE") || IsWord("FALSE")) {
    const bool value = Advance().upper == "TRUE";
    result = Function("<=>", {std::move(left), Literal::Boolean(value)}, begin);
  } else if (TakeWord("DISTINCT")) {
    TW_RETURN_NOT_OK(ExpectWord("FROM"));
    TW_ASSIGN_OR_RETURN(ExprPtr right, Comparison());
    result = Function("<=>", {std::move(left), std::move(right)}, begin);
    return negated ? result : Function("not", {result}, begin);
  } else {
    return Unexpected();
  }
  return negated ? Function("not", {std::move(result)}, begin) : result;
}

Result<ExprPtr> ParserState::Comparison() {
  const int begin = static_cast<int>(at_);
  TW_ASSIGN_OR_RETURN(ExprPtr left, Binary(0));
  while (Peek().kind == TokenKind::kSymbol) {
    const std::string& symbol = Peek().text;
    std::string_view function;
    if (symbol == "=" || symbol == "==")
      function = "==";
    else if (symbol == "<>" || symbol == "!=")
      function = "!=";
    else if (symbol == "<=>" || symbol == "<" || symbol == "<=" || symbol == ">" || symbol == ">=")
      function = symbol;
    else
      return left;
    const std::string name(function);
    Advance();
    TW_ASSIGN_OR_RETURN(ExprPtr right, Binary(0));
    left =
        name == "!="
            ? Function("not", {Function("==", {std::move(left), std::move(right)}, begin)}, begin)
            : Function(name, {std::move(left), std::move(right)}, begin);
  }
  return left;
}

Result<ExprPtr> ParserState::Binary(int level) {
  if (level == kNumLevels) return Unary();
  const int begin = static_cast<int>(at_);
  TW_ASSIGN_OR_RETURN(ExprPtr left, Binary(level + 1));
  for (int operands = 1;; ++operands) {
    const BinaryOperator* found = nullptr;
    for (const BinaryOperator& op : kLevels[level]) {
      if (!op.symbol.empty() && (IsSymbol(op.symbol) || (op.symbol == "DIV" && IsWord("DIV"))))
        found = &op;
    }
    if (found == nullptr) return left;
    if (operands + depth_ > kMaxDepth) return TooComplex();
    Advance();
    TW_ASSIGN_OR_RETURN(ExprPtr right, Binary(level + 1));
    left = Function(found->function, {std::move(left), std::move(right)}, begin);
  }
}

Result<ExprPtr> ParserState::Unary() {
  const int begin = static_cast<int>(at_);
  const DepthGuard guard(depth_);
  if (guard.too_deep()) return TooComplex();
  if (IsSymbol("-")) {
    const TokenKind next = Peek(1).kind;
    if (next == TokenKind::kInteger || next == TokenKind::kDecimal ||
        next == TokenKind::kExponent || next == TokenKind::kSuffixed) {
      Advance();
      TW_ASSIGN_OR_RETURN(ExprPtr literal, NumberLiteral(/*negative=*/true));
      return Located(std::move(literal), begin);
    }
    Advance();
    TW_ASSIGN_OR_RETURN(ExprPtr operand, Unary());
    return Function("-", {std::move(operand)}, begin);
  }
  if (TakeSymbol("+")) {
    TW_ASSIGN_OR_RETURN(ExprPtr operand, Unary());
    return Function("positive", {std::move(operand)}, begin);
  }
  if (TakeSymbol("~")) {
    TW_ASSIGN_OR_RETURN(ExprPtr operand, Unary());
    return Function("~", {std::move(operand)}, begin);
  }
  return Postfix();
}

Result<ExprPtr> ParserState::Postfix() {
  const int begin = static_cast<int>(at_);
  TW_ASSIGN_OR_RETURN(ExprPtr base, Primary());
  for (int steps = 0;; ++steps) {
    if (steps + depth_ > kMaxDepth) return TooComplex();
    if (TakeSymbol("[")) {
      TW_ASSIGN_OR_RETURN(ExprPtr index, Expression());
      TW_RETURN_NOT_OK(ExpectSymbol("]"));
      base = Located(UnresolvedExtract::Make(std::move(base), std::move(index)), begin);
    } else if (IsSymbol(".") && base->kind() != ExprKind::kUnresolvedStar) {
      Advance();
      TW_ASSIGN_OR_RETURN(std::string field, Name());
      base = Located(UnresolvedExtract::Make(std::move(base), Literal::String(std::move(field))),
                     begin);
    } else if (TakeSymbol("::")) {
      TW_ASSIGN_OR_RETURN(DataType type, Type());
      base = Located(Cast::Make(std::move(base), std::move(type),
                                options_.ansi ? EvalMode::kAnsi : EvalMode::kLegacy, true),
                     begin);
    } else {
      return base;
    }
  }
}

Result<ExprPtr> ParserState::Primary() {
  const Token& token = Peek();
  switch (token.kind) {
    case TokenKind::kInteger:
    case TokenKind::kDecimal:
    case TokenKind::kExponent:
    case TokenKind::kSuffixed:
      return NumberLiteral(/*negative=*/false);
    case TokenKind::kString: {
      TW_ASSIGN_OR_RETURN(std::string text, StringText());
      return Literal::String(std::move(text));
    }
    case TokenKind::kSymbol:
      if (token.text == "(") return ParenthesisOrRow();
      if (token.text == "*") {
        Advance();
        return UnresolvedStar::Make();
      }
      if (token.text == ":" || token.text == "?") return Parameter();
      return Unexpected();
    case TokenKind::kWord:
    case TokenKind::kQuotedName:
      return WordPrimary();
    default:
      return Unexpected();
  }
}

Result<ExprPtr> ParserState::Parameter() {
  if (TakeSymbol("?")) {
    if (next_positional_ >= options_.positional_parameters.size()) {
      return Error("UNBOUND_SQL_PARAMETER").With("name", "_" + std::to_string(Peek().begin));
    }
    return options_.positional_parameters[next_positional_++];
  }
  Advance();
  TW_ASSIGN_OR_RETURN(std::string name, Name());
  const auto found = options_.named_parameters.find(name);
  if (found == options_.named_parameters.end())
    return Error("UNBOUND_SQL_PARAMETER").With("name", name);
  return found->second;
}

Result<ExprPtr> ParserState::ParenthesisOrRow() {
  const int begin = static_cast<int>(at_);
  Advance();
  if (IsWord("SELECT") || IsWord("WITH") || IsWord("VALUES"))
    return Unsupported("scalar subqueries");
  TW_ASSIGN_OR_RETURN(ExprPtr first, NamedExpression());
  if (TakeSymbol(")")) return first;
  ExprList fields{std::move(first)};
  while (TakeSymbol(",")) {
    TW_ASSIGN_OR_RETURN(ExprPtr field, NamedExpression());
    fields.push_back(std::move(field));
  }
  TW_RETURN_NOT_OK(ExpectSymbol(")"));
  return Function("struct", std::move(fields), begin);
}

Result<ExprList> ParserState::ExpressionList(std::string_view close) {
  ExprList list;
  if (TakeSymbol(close)) return list;
  do {
    TW_ASSIGN_OR_RETURN(ExprPtr item, NamedExpression());
    list.push_back(std::move(item));
    if (list.size() > 10 * kMaxChain) return TooComplex();
  } while (TakeSymbol(","));
  TW_RETURN_NOT_OK(ExpectSymbol(close));
  return list;
}

Result<ExprPtr> ParserState::CaseExpression() {
  const int begin = static_cast<int>(at_);
  Advance();
  ExprPtr operand;
  if (!IsWord("WHEN")) {
    TW_ASSIGN_OR_RETURN(operand, Expression());
  }
  ExprList arguments;
  while (TakeWord("WHEN")) {
    TW_ASSIGN_OR_RETURN(ExprPtr condition, Expression());
    if (operand != nullptr) condition = Function("==", {operand, std::move(condition)}, begin);
    TW_RETURN_NOT_OK(ExpectWord("THEN"));
    TW_ASSIGN_OR_RETURN(ExprPtr value, Expression());
    arguments.push_back(std::move(condition));
    arguments.push_back(std::move(value));
    if (arguments.size() > kMaxChain) return TooComplex();
  }
  if (arguments.empty()) return Unexpected();
  if (TakeWord("ELSE")) {
    TW_ASSIGN_OR_RETURN(ExprPtr otherwise, Expression());
    arguments.push_back(std::move(otherwise));
  }
  TW_RETURN_NOT_OK(ExpectWord("END"));
  return Function("when", std::move(arguments), begin);
}

Result<ExprPtr> ParserState::CastExpression(EvalMode mode, bool session_mode) {
  const int begin = static_cast<int>(at_);
  Advance();
  TW_RETURN_NOT_OK(ExpectSymbol("("));
  TW_ASSIGN_OR_RETURN(ExprPtr child, Expression());
  TW_RETURN_NOT_OK(ExpectWord("AS"));
  TW_ASSIGN_OR_RETURN(DataType type, Type());
  TW_RETURN_NOT_OK(ExpectSymbol(")"));
  if (session_mode) mode = options_.ansi ? EvalMode::kAnsi : EvalMode::kLegacy;
  return Located(Cast::Make(std::move(child), std::move(type), mode, /*user=*/true), begin);
}

/// Takes the tokens that can belong to a type and leaves their text to the DDL parser.
Result<DataType> ParserState::Type() {
  const Token& first = Peek();
  if (first.kind != TokenKind::kWord) return Unexpected();
  const int begin = first.begin;
  int end = first.end;
  const std::string word = Advance().upper;
  int depth = 0;
  const auto close = [&](int levels) {
    depth -= levels;
    end = Advance().end;
  };
  if (IsSymbol("<") || IsSymbol("<>") || IsSymbol("(")) {
    do {
      if (Peek().kind == TokenKind::kEnd) return Unexpected();
      if (IsSymbol("<") || IsSymbol("(")) {
        ++depth;
        end = Advance().end;
      } else if (IsSymbol(">") || IsSymbol(")")) {
        close(1);
      } else if (IsSymbol(">>")) {
        close(2);
      } else if (IsSymbol(">>>")) {
        close(3);
      } else {
        end = Advance().end;
      }
    } while (depth > 0);
  }
  if (word == "INTERVAL" && IntervalField(Peek().upper) >= 0) {
    end = Advance().end;
    if (TakeWord("TO")) end = Advance().end;
  }
  if (word == "STRING" && TakeWord("COLLATE")) end = Advance().end;
  if (word == "DOUBLE" && IsWord("PRECISION")) end = Advance().end;
  if (word == "TIMESTAMP" &&
      (AreWords({"WITHOUT", "TIME", "ZONE"}) || AreWords({"WITH", "LOCAL", "TIME", "ZONE"}))) {
    while (!IsWord("ZONE")) Advance();
    end = Advance().end;
  }
  return data::ParseTypeDdl(sql_.substr(begin, end - begin));
}

Result<ExprPtr> ParserState::WordPrimary() {
  const int begin = static_cast<int>(at_);
  const Token& token = Peek();
  if (token.kind == TokenKind::kWord) {
    const std::string& word = token.upper;
    const bool string_next = Peek(1).kind == TokenKind::kString;
    if (word == "NULL") return Advance(), Literal::Null();
    if (word == "TRUE" || word == "FALSE") return Literal::Boolean(Advance().upper == "TRUE");
    if (word == "CASE") return CaseExpression();
    if (IsSymbol("(", 1)) {
      if (word == "CAST") return CastExpression(EvalMode::kAnsi, true);
      if (word == "TRY_CAST") return CastExpression(EvalMode::kTry, false);
      bool handled = false;
      TW_ASSIGN_OR_RETURN(ExprPtr special, SpecialCall(&handled));
      if (handled) return special;
    }
    if (string_next && (word == "DATE" || word == "TIMESTAMP" || word == "TIMESTAMP_NTZ" ||
                        word == "TIMESTAMP_LTZ" || word == "TIME" || word == "X")) {
      return TypedLiteral(std::string(word));
    }
    const TokenKind next = Peek(1).kind;
    if (word == "INTERVAL" && (string_next || next == TokenKind::kInteger ||
                               next == TokenKind::kDecimal || IsSymbol("-", 1)))
      return IntervalLiteral();
    static constexpr std::string_view kBare[] = {"CURRENT_DATE", "CURRENT_TIMESTAMP",
                                                 "CURRENT_TIME", "CURRENT_USER",
                                                 "SESSION_USER", "LOCALTIMESTAMP"};
    const bool bare = std::find(std::begin(kBare), std::end(kBare), word) != std::end(kBare) &&
                      !IsSymbol("(", 1) && !IsSymbol(".", 1);
    if (bare) {
      std::string name = Advance().text;
      return Function(name, {}, begin);
    }
    static constexpr std::string_view kNever[] = {"FROM",  "WHERE", "GROUP",  "HAVING", "ORDER",
                                                  "LIMIT", "UNION", "SELECT", "THEN",   "WHEN",
                                                  "ELSE",  "AND",   "OR",     "ON",     "USING"};
    if (std::find(std::begin(kNever), std::end(kNever), word) != std::end(kNever) &&
        !IsSymbol(".", 1))
      return Unexpected();
  }
  NameParts name;
  name.push_back(Advance().text);
  while (IsSymbol(".")) {
    if (IsSymbol("*", 1)) {
      Advance();
      Advance();
      return Located(UnresolvedStar::Make(std::move(name)), begin);
    }
    Advance();
    TW_ASSIGN_OR_RETURN(std::string part, Name());
    name.push_back(std::move(part));
  }
  if (IsSymbol("(")) return FunctionCall(std::move(name), begin);
  if (IsSymbol("->")) return Unsupported("lambda functions");
  return Located(UnresolvedAttribute::Make(std::move(name)), begin);
}

Result<ExprPtr> ParserState::FunctionCall(NameParts name, int begin) {
  Advance();
  const bool distinct = !IsSymbol(")", 1) && TakeWord("DISTINCT");
  if (!distinct && IsWord("ALL") && !IsSymbol(",", 1) && !IsSymbol(")", 1)) Advance();
  ExprList arguments;
  if (!TakeSymbol(")")) {
    do {
      std::string keyword;
      if (AtName() && IsSymbol("=>", 1)) {
        TW_ASSIGN_OR_RETURN(const NameParts parts, MultipartName());
        keyword = parts.back();
        Advance();
      }
      TW_ASSIGN_OR_RETURN(ExprPtr argument, NamedExpression());
      if (!keyword.empty()) argument = NamedArgument(std::move(keyword), std::move(argument));
      arguments.push_back(std::move(argument));
      if (arguments.size() > kMaxChain) return TooComplex();
    } while (TakeSymbol(","));
    if (TakeWords({"IGNORE", "NULLS"})) arguments.push_back(Literal::Boolean(true));
    TW_RETURN_NOT_OK(ExpectSymbol(")"));
  }
  ExprPtr filter;
  if (IsWord("FILTER") && IsSymbol("(", 1)) {
    Advance();
    Advance();
    TW_RETURN_NOT_OK(ExpectWord("WHERE"));
    TW_ASSIGN_OR_RETURN(filter, Expression());
    TW_RETURN_NOT_OK(ExpectSymbol(")"));
  }
  if (IsWord("WITHIN") && IsWord("GROUP", 1)) return Unsupported("WITHIN GROUP");
  const bool ignore_nulls = TakeWords({"IGNORE", "NULLS"});
  if (!ignore_nulls) TakeWords({"RESPECT", "NULLS"});  // which is what all functions do anyway
  ExprPtr call = UnresolvedFunction::Make(std::move(name), std::move(arguments), distinct, std::move(filter), false, ignore_nulls);
  return OverClause(Located(std::move(call), begin), begin);
}

/// Calls with a grammar of their own. `*handled` stays false when the word is an ordinary function
/// here.
Result<ExprPtr> ParserState::SpecialCall(bool* handled) {
  const int begin = static_cast<int>(at_);
  const std::string word = Peek().upper;
  *handled = true;
  if (word == "TRIM") return TrimCall();
  if (word == "EXTRACT" && IsWord("FROM", 3)) {
    Advance(), Advance();
    const Token field = Advance();
    Advance();
    TW_ASSIGN_OR_RETURN(ExprPtr source, Expression());
    TW_RETURN_NOT_OK(ExpectSymbol(")"));
    return Function("extract", {Literal::String(field.text), std::move(source)}, begin);
  }
  if (word == "TIMESTAMPADD" || word == "TIMESTAMPDIFF" || word == "DATEADD" ||
      word == "DATEDIFF" || word == "DATE_ADD" || word == "DATE_DIFF" || word == "TIMEDIFF") {
    if (IsDateTimeUnit(Peek(2).upper) && IsSymbol(",", 3)) {
      Advance(), Advance();
      std::string unit = Advance().upper;
      Advance();
      TW_ASSIGN_OR_RETURN(ExprList rest, ExpressionList(")"));
      ExprList arguments{Literal::String(std::move(unit))};
      arguments.insert(arguments.end(), rest.begin(), rest.end());
      const bool add = word == "TIMESTAMPADD" || word == "DATEADD" || word == "DATE_ADD";
      return Function(add ? "timestampadd" : "timestampdiff", std::move(arguments), begin);
    }
  }
  if (word == "SUBSTRING" || word == "SUBSTR" || word == "POSITION" || word == "OVERLAY") {
    const size_t start = at_;
    Advance(), Advance();
    const bool position = word == "POSITION";
    TW_ASSIGN_OR_RETURN(ExprPtr first, position ? Comparison() : Expression());
    ExprList arguments{std::move(first)};
    if (position && TakeWord("IN")) {
      TW_ASSIGN_OR_RETURN(ExprPtr text, Expression());
      arguments.push_back(std::move(text));
    } else if (!position && (IsWord("FROM") || IsWord("PLACING"))) {
      while (TakeWord("FROM") || TakeWord("PLACING") || TakeWord("FOR")) {
        TW_ASSIGN_OR_RETURN(ExprPtr argument, Expression());
        arguments.push_back(std::move(argument));
      }
    } else {
      at_ = start;
      *handled = false;
      return ExprPtr();
    }
    TW_RETURN_NOT_OK(ExpectSymbol(")"));
    std::string lower(word);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    return Function(lower, std::move(arguments), begin);
  }
  *handled = false;
  return ExprPtr();
}

/// TRIM(s), TRIM([BOTH | LEADING | TRAILING] [chars] FROM s).
Result<ExprPtr> ParserState::TrimCall() {
  const int begin = static_cast<int>(at_);
  Advance(), Advance();
  std::string_view function = "trim";
  bool side = true;
  if (TakeWord("BOTH"))
    function = "trim";
  else if (TakeWord("LEADING"))
    function = "ltrim";
  else if (TakeWord("TRAILING"))
    function = "rtrim";
  else
    side = false;
  ExprPtr characters;
  if (!(side && IsWord("FROM"))) {
    TW_ASSIGN_OR_RETURN(characters, Expression());
  }
  if (TakeWord("FROM")) {
    TW_ASSIGN_OR_RETURN(ExprPtr source, Expression());
    TW_RETURN_NOT_OK(ExpectSymbol(")"));
    if (characters == nullptr) return Function(function, {std::move(source)}, begin);
    return Function(function, {std::move(characters), std::move(source)}, begin);  // as trim(characters, text)
  }
  ExprList arguments{std::move(characters)};
  if (TakeSymbol(",")) {
    TW_ASSIGN_OR_RETURN(ExprPtr second, Expression());
    arguments.push_back(std::move(second));
  }
  TW_RETURN_NOT_OK(ExpectSymbol(")"));
  return Function(function, std::move(arguments), begin);
}

Result<ExprPtr> ParserState::SortItem() {
  TW_ASSIGN_OR_RETURN(ExprPtr child, Expression());
  bool ascending = true;
  if (TakeWord("DESC"))
    ascending = false;
  else
    TakeWord("ASC");
  bool nulls_first = ascending;
  if (TakeWords({"NULLS", "FIRST"}))
    nulls_first = true;
  else if (TakeWords({"NULLS", "LAST"}))
    nulls_first = false;
  return SortOrder::Make(std::move(child), ascending, nulls_first);
}

Result<ExprList> ParserState::SortItems() {
  ExprList items;
  do {
    TW_ASSIGN_OR_RETURN(ExprPtr item, SortItem());
    items.push_back(std::move(item));
  } while (TakeSymbol(","));
  return items;
}

}  // namespace thalweg::sql
