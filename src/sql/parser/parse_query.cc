// Queries: WITH, set operations, SELECT, FROM and joins.

#include <algorithm>

#include "data/text/literal.h"
#include "data/text/numbers.h"
#include "sql/parser/parser_state.h"

namespace thalweg::sql {
namespace {

/// See the analyzer's ResolveLateralView: columns without types yet, one without a name when the generator names them.
PlanPtr UnresolvedGenerate(const ExprPtr& call, bool outer, const std::vector<std::string>& view,
                           std::vector<std::string> columns, PlanPtr child) {
  if (columns.empty()) columns.emplace_back();
  AttributeList generated;
  for (const std::string& column : columns) generated.push_back(Attribute::Make(column, DataType(), true, NewExprId(), view));
  return std::make_shared<Generate>(call, false, outer, std::move(generated), std::move(child));
}

}  // namespace

Result<PlanPtr> ParserState::Query() {
  const DepthGuard guard(depth_);
  if (guard.too_deep()) return TooComplex();
  const int begin = static_cast<int>(at_);
  if (!TakeWord("WITH")) return QueryNoWith();
  if (IsWord("RECURSIVE") && !IsWord("AS", 1)) return Unsupported("WITH RECURSIVE");
  std::vector<std::pair<std::string, PlanPtr>> ctes;
  do {
    TW_ASSIGN_OR_RETURN(std::string name, Name());
    std::vector<std::string> columns;
    if (TakeSymbol("(")) {
      TW_ASSIGN_OR_RETURN(columns, NameList());
    }
    TakeWord("AS");
    TW_RETURN_NOT_OK(ExpectSymbol("("));
    TW_ASSIGN_OR_RETURN(PlanPtr query, Query());
    TW_RETURN_NOT_OK(ExpectSymbol(")"));
    if (!columns.empty()) query = std::make_shared<ToDf>(std::move(columns), std::move(query));
    ctes.emplace_back(std::move(name), std::move(query));
  } while (TakeSymbol(","));
  std::string twice;  // names that stand for two queries, each once
  for (size_t i = 0; i < ctes.size(); ++i) {
    const auto count = std::count_if(ctes.begin(), ctes.begin() + static_cast<std::ptrdiff_t>(i),
                                     [&](const auto& cte) { return cte.first == ctes[i].first; });
    if (count == 1) twice += (twice.empty() ? "" : ", ") + data::QuoteIdentifier(ctes[i].first);
  }
  if (!twice.empty()) {
    return ParseErrorAt(Error("DUPLICATED_CTE_NAMES").With("duplicateNames", twice), sql_, tokens_[static_cast<size_t>(begin)].begin);
  }
  TW_ASSIGN_OR_RETURN(PlanPtr body, QueryNoWith());
  return PlanPtr(std::make_shared<UnresolvedWith>(std::move(ctes), std::move(body)));
}

Result<PlanPtr> ParserState::QueryNoWith() {
  TW_ASSIGN_OR_RETURN(PlanPtr plan, SetOperation(0));
  return QueryOrganization(std::move(plan));
}

/// Level 0: UNION, EXCEPT, MINUS; level 1: INTERSECT, which binds tighter.
Result<PlanPtr> ParserState::SetOperation(int level) {
  const auto operand = [&] { return level == 0 ? SetOperation(1) : QueryPrimary(); };
  TW_ASSIGN_OR_RETURN(PlanPtr left, operand());
  for (int operands = 1;; ++operands) {
    SetOp op;
    if (level == 0 && IsWord("UNION"))
      op = SetOp::kUnion;
    else if (level == 0 && (IsWord("EXCEPT") || IsWord("MINUS") || IsWord("SETMINUS")))
      op = SetOp::kExcept;
    else if (level == 1 && IsWord("INTERSECT"))
      op = SetOp::kIntersect;
    else
      return left;
    if (operands > kMaxDepth) return TooComplex();
    Advance();
    const bool all = TakeWord("ALL");
    if (!all) TakeWord("DISTINCT");
    const bool by_name = TakeWords({"BY", "NAME"});
    TW_ASSIGN_OR_RETURN(PlanPtr right, operand());
    auto node =
        std::make_shared<Union>(PlanList{std::move(left), std::move(right)}, by_name, false);
    node->op = op;
    node->all = all || op == SetOp::kUnion;
    left = std::move(node);
    if (op == SetOp::kUnion && !all) left = std::make_shared<Distinct>(std::move(left));
  }
}

Result<PlanPtr> ParserState::QueryPrimary() {
  const DepthGuard guard(depth_);
  if (guard.too_deep()) return TooComplex();
  if (IsWord("SELECT") || IsWord("FROM")) return SelectCore();
  if (IsWord("VALUES")) return InlineTable();
  if (IsWord("TABLE")) {
    Advance();
    TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
    return PlanPtr(std::make_shared<UnresolvedRelation>(std::move(name), OptionMap(), false));
  }
  if (IsWord("MAP") || IsWord("REDUCE")) return Unsupported("TRANSFORM queries");
  if (TakeSymbol("(")) {
    TW_ASSIGN_OR_RETURN(PlanPtr plan, Query());
    TW_RETURN_NOT_OK(ExpectSymbol(")"));
    return plan;
  }
  return Unexpected();
}

Status ParserState::Hints(std::vector<std::pair<std::string, ExprList>>* hints) {
  while (Peek().kind == TokenKind::kHint) {
    const std::string text = Advance().text;
    TW_ASSIGN_OR_RETURN(std::vector<Token> tokens,
                        Tokenize(text, options_.double_quoted_identifiers));
    ParserState inner(text, std::move(tokens), options_);
    while (inner.Peek().kind != TokenKind::kEnd) {
      TW_ASSIGN_OR_RETURN(std::string name, inner.Name());
      ExprList parameters;
      if (inner.TakeSymbol("(")) {
        TW_ASSIGN_OR_RETURN(parameters, inner.ExpressionList(")"));
      }
      inner.TakeSymbol(",");
      hints->emplace_back(std::move(name), std::move(parameters));
    }
  }
  return Status::OK();
}

Result<PlanPtr> ParserState::SelectCore() {
  PlanPtr plan;
  if (IsWord("FROM")) {  // FROM t SELECT ..., FROM t
    TW_ASSIGN_OR_RETURN(plan, FromClause());
    if (!IsWord("SELECT")) return plan;
  }
  TW_RETURN_NOT_OK(ExpectWord("SELECT"));
  std::vector<std::pair<std::string, ExprList>> hints;
  TW_RETURN_NOT_OK(Hints(&hints));
  const bool distinct = TakeWord("DISTINCT");
  if (!distinct && IsWord("ALL") && !IsSymbol(",", 1) && !IsWord("FROM", 1)) Advance();
  ExprList select;
  do {
    TW_ASSIGN_OR_RETURN(ExprPtr item, NamedExpression());
    select.push_back(std::move(item));
    if (select.size() > 10 * kMaxChain) return TooComplex();
  } while (TakeSymbol(","));
  if (plan == nullptr) {
    if (IsWord("FROM")) {
      TW_ASSIGN_OR_RETURN(plan, FromClause());
    } else {
      plan = std::make_shared<OneRow>();
    }
  }
  TW_ASSIGN_OR_RETURN(plan, LateralViews(std::move(plan)));
  if (TakeWord("WHERE")) {
    TW_ASSIGN_OR_RETURN(ExprPtr condition, Expression());
    plan = std::make_shared<Filter>(std::move(condition), std::move(plan));
  }
  if (IsWord("GROUP")) {
    TW_ASSIGN_OR_RETURN(plan, GroupByClause(std::move(select), std::move(plan)));
  } else {
    plan = std::make_shared<Project>(std::move(select), std::move(plan));
  }
  if (TakeWord("HAVING")) {
    TW_ASSIGN_OR_RETURN(ExprPtr condition, Expression());
    plan = std::make_shared<UnresolvedHaving>(std::move(condition), std::move(plan));
  }
  WindowDefinitions windows;
  if (AtWindowClause()) {
    TW_ASSIGN_OR_RETURN(windows, WindowClause());
  }
  if (TakeWord("QUALIFY")) {
    TW_ASSIGN_OR_RETURN(ExprPtr condition, Expression());
    plan = std::make_shared<UnresolvedHaving>(std::move(condition), std::move(plan), true);
  }
  if (!windows.empty()) {
    TW_ASSIGN_OR_RETURN(plan, WithWindows(plan, windows));
  }
  if (distinct) plan = std::make_shared<Distinct>(std::move(plan));
  for (auto& [name, parameters] : hints)
    plan = std::make_shared<Hint>(std::move(name), std::move(parameters), std::move(plan));
  return plan;
}

/// LATERAL VIEW [OUTER] function(...) [name] [[AS] column, ...], any number of them.
Result<PlanPtr> ParserState::LateralViews(PlanPtr plan) {
  for (int views = 0; TakeWords({"LATERAL", "VIEW"}); ++views) {
    if (views > kMaxDepth) return TooComplex();
    const bool outer = TakeWord("OUTER");
    const int begin = static_cast<int>(at_);
    TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
    TW_RETURN_NOT_OK(ExpectSymbol("("));
    TW_ASSIGN_OR_RETURN(ExprList arguments, ExpressionList(")"));
    const ExprPtr call = Located(UnresolvedFunction::Make(std::move(name), std::move(arguments)), begin);
    std::vector<std::string> view;
    std::vector<std::string> columns;
    if (AtAliasName()) {
      TW_ASSIGN_OR_RETURN(std::string word, Name());
      view.push_back(std::move(word));
    }
    if (TakeWord("AS") || AtAliasName()) {
      do {
        TW_ASSIGN_OR_RETURN(std::string column, Name());
        columns.push_back(std::move(column));
      } while (TakeSymbol(","));
    }
    plan = UnresolvedGenerate(call, outer, view, columns, std::move(plan));
  }
  return plan;
}

Result<PlanPtr> ParserState::GroupByClause(ExprList select, PlanPtr plan) {
  Advance();
  TW_RETURN_NOT_OK(ExpectWord("BY"));
  if (IsWord("ALL") && !IsSymbol(".", 1) && !IsSymbol("(", 1)) {
    Advance();
    auto node = std::make_shared<Aggregate>(ExprList{}, std::move(select), std::move(plan));
    node->group_all = true;
    return PlanPtr(std::move(node));
  }
  static constexpr size_t kMaxGroupingSets = 4096;
  // Each element of the clause gives sets of keys; the clause groups by every combination of them.
  std::vector<GroupingSets> elements;
  ExprList keys;
  bool plain = true;
  do {
    if (AtGroupingAnalytics()) {
      TW_ASSIGN_OR_RETURN(GroupingSets sets, GroupingAnalytics());
      elements.push_back(std::move(sets));
      plain = false;
      continue;
    }
    TW_ASSIGN_OR_RETURN(ExprPtr key, Expression());
    keys.push_back(key);
    elements.push_back({Aggregate::Grouping::kPlain, {{std::move(key)}}});
  } while (TakeSymbol(","));
  Aggregate::Grouping kind = Aggregate::Grouping::kPlain;
  std::vector<ExprList> sets;
  if (!plain && elements.size() == 1 && elements[0].kind != Aggregate::Grouping::kSets) {
    kind = elements[0].kind;
    keys = elements[0].sets[0];
  } else if (!plain) {
    kind = Aggregate::Grouping::kSets;
    keys.clear();
    sets = {{}};
    for (const GroupingSets& element : elements) {
      TW_ASSIGN_OR_RETURN(const std::vector<ExprList> own, SetsOf(element));
      std::vector<ExprList> combined;
      for (const ExprList& left : sets) {
        for (const ExprList& right : own) {
          combined.push_back(left);
          combined.back().insert(combined.back().end(), right.begin(), right.end());
        }
      }
      if (combined.size() > kMaxGroupingSets) return TooComplex();
      sets = std::move(combined);
    }
  } else if (TakeWords({"WITH", "ROLLUP"})) {
    kind = Aggregate::Grouping::kRollup;
  } else if (TakeWords({"WITH", "CUBE"})) {
    kind = Aggregate::Grouping::kCube;
  } else if (AreWords({"GROUPING", "SETS"})) {
    kind = Aggregate::Grouping::kSets;
    TW_ASSIGN_OR_RETURN(const GroupingSets given, GroupingAnalytics());
    sets = given.sets;
  }
  auto node = std::make_shared<Aggregate>(std::move(keys), std::move(select), std::move(plan));
  node->grouping_kind = kind;
  node->grouping_sets = std::move(sets);
  return PlanPtr(std::move(node));
}

bool ParserState::AtGroupingAnalytics() const {
  return ((IsWord("ROLLUP") || IsWord("CUBE")) && IsSymbol("(", 1)) || (AreWords({"GROUPING", "SETS"}) && IsSymbol("(", 2));
}

/// The sets that ROLLUP or CUBE of these columns stand for, the widest first.
Result<std::vector<ExprList>> ParserState::SetsOf(const GroupingSets& given) {
  if (given.kind == Aggregate::Grouping::kSets || given.kind == Aggregate::Grouping::kPlain) return given.sets;
  const std::vector<ExprList>& columns = given.groups;
  std::vector<ExprList> sets;
  const auto add = [&](uint64_t left_out) {
    ExprList set;
    for (size_t i = 0; i < columns.size(); ++i) {
      if ((left_out >> (columns.size() - 1 - i) & 1) == 0) set.insert(set.end(), columns[i].begin(), columns[i].end());
    }
    sets.push_back(std::move(set));
  };
  if (columns.size() > kMaxGroupingColumns) return TooComplex();
  if (given.kind == Aggregate::Grouping::kRollup) {
    for (size_t left_out = 0; left_out <= columns.size(); ++left_out) add((uint64_t{1} << left_out) - 1);
  } else {
    for (uint64_t left_out = 0; left_out < uint64_t{1} << columns.size(); ++left_out) add(left_out);
  }
  return sets;
}

/// ROLLUP(...), CUBE(...) or GROUPING SETS (...); sets may hold further ones.
Result<ParserState::GroupingSets> ParserState::GroupingAnalytics() {
  const DepthGuard guard(depth_);
  if (guard.too_deep()) return TooComplex();
  GroupingSets out;
  const std::string word = Advance().upper;
  out.kind = word == "ROLLUP" ? Aggregate::Grouping::kRollup
             : word == "CUBE" ? Aggregate::Grouping::kCube
                              : Aggregate::Grouping::kSets;
  if (out.kind == Aggregate::Grouping::kSets) Advance();
  TW_RETURN_NOT_OK(ExpectSymbol("("));
  bool single = true;
  do {
    if (out.kind == Aggregate::Grouping::kSets && AtGroupingAnalytics()) {
      TW_ASSIGN_OR_RETURN(const GroupingSets inner, GroupingAnalytics());
      TW_ASSIGN_OR_RETURN(std::vector<ExprList> sets, SetsOf(inner));
      out.groups.insert(out.groups.end(), sets.begin(), sets.end());
      continue;
    }
    ExprList set;
    if (IsSymbol("(") && IsSymbol(")", 1)) {
      Advance(), Advance();
    } else {
      const bool parenthesis = IsSymbol("(");
      TW_ASSIGN_OR_RETURN(ExprPtr expr, Expression());
      // (a, b) reads as a row of columns.
      const auto* row = parenthesis ? expr->As<UnresolvedFunction>() : nullptr;
      if (row != nullptr && row->name_parts().size() == 1 && row->name_parts()[0] == "struct") {
        set = row->children();
      } else {
        set.push_back(std::move(expr));
      }
    }
    single = single && set.size() == 1;
    out.groups.push_back(std::move(set));
  } while (TakeSymbol(","));
  TW_RETURN_NOT_OK(ExpectSymbol(")"));
  if (out.kind == Aggregate::Grouping::kSets) {
    out.sets = out.groups;
  } else if (single) {
    out.sets.emplace_back();
    for (const ExprList& group : out.groups) out.sets[0].push_back(group[0]);
  } else {
    TW_ASSIGN_OR_RETURN(out.sets, SetsOf(out));
    out.kind = Aggregate::Grouping::kSets;
  }
  return out;
}

Result<PlanPtr> ParserState::QueryOrganization(PlanPtr plan) {
  if (TakeWords({"ORDER", "BY"})) {
    TW_ASSIGN_OR_RETURN(ExprList orders, SortItems());
    auto node = std::make_shared<Sort>(std::move(orders), true, std::move(plan));
    const auto* name =
        node->orders.size() == 1 ? node->orders[0]->child()->As<UnresolvedAttribute>() : nullptr;
    if (name != nullptr && name->name_parts().size() == 1) {
      std::string word = name->name_parts()[0];
      std::transform(word.begin(), word.end(), word.begin(),
                     [](unsigned char c) { return std::toupper(c); });
      node->order_by_all = word == "ALL";
    }
    plan = std::move(node);
  } else if (TakeWords({"SORT", "BY"})) {
    TW_ASSIGN_OR_RETURN(ExprList orders, SortItems());
    plan = std::make_shared<Sort>(std::move(orders), false, std::move(plan));
  } else if (AreWords({"CLUSTER", "BY"}) || AreWords({"DISTRIBUTE", "BY"})) {
    const bool cluster = Advance().upper == "CLUSTER";
    Advance();
    ExprList keys;
    do {
      TW_ASSIGN_OR_RETURN(ExprPtr key, Expression());
      keys.push_back(std::move(key));
    } while (TakeSymbol(","));
    plan = std::make_shared<Repartition>(std::nullopt, true, keys, std::move(plan));
    ExprList orders;
    if (cluster) {
      for (const ExprPtr& key : keys) orders.push_back(SortOrder::Make(key, true, true));
    } else if (TakeWords({"SORT", "BY"})) {
      TW_ASSIGN_OR_RETURN(orders, SortItems());
    }
    if (!orders.empty()) plan = std::make_shared<Sort>(std::move(orders), false, std::move(plan));
  }
  if (AtWindowClause()) {
    TW_ASSIGN_OR_RETURN(const WindowDefinitions windows, WindowClause());
    TW_ASSIGN_OR_RETURN(plan, WithWindows(plan, windows));
  }
  ExprPtr limit;
  bool unlimited = false;
  if (TakeWord("LIMIT")) {
    if (TakeWord("ALL")) {
      unlimited = true;
    } else {
      TW_ASSIGN_OR_RETURN(limit, Expression());
    }
  }
  if (TakeWord("OFFSET")) {
    TW_ASSIGN_OR_RETURN(ExprPtr offset, Expression());
    plan = std::make_shared<OffsetRows>(std::move(offset), std::move(plan));
  }
  if (limit != nullptr && !unlimited)
    plan = std::make_shared<Limit>(std::move(limit), std::move(plan));
  return plan;
}

Result<PlanPtr> ParserState::FromClause() {
  Advance();
  TW_ASSIGN_OR_RETURN(PlanPtr plan, JoinedRelation());
  for (int relations = 1; TakeSymbol(","); ++relations) {
    if (relations > kMaxDepth) return TooComplex();
    if (IsWord("LATERAL") && !IsSymbol("(", 1)) {
      TW_ASSIGN_OR_RETURN(plan, LateralGenerator(std::move(plan)));
      continue;
    }
    TW_ASSIGN_OR_RETURN(PlanPtr right, JoinedRelation());
    plan = std::make_shared<Join>(std::move(plan), std::move(right), JoinType::kInner, nullptr);
  }
  return Reshaped(std::move(plan));
}

/// FROM t, LATERAL explode(t.a) [AS] g(x): the same as a lateral view.
Result<PlanPtr> ParserState::LateralGenerator(PlanPtr plan) {
  Advance();
  const int begin = static_cast<int>(at_);
  TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
  TW_RETURN_NOT_OK(ExpectSymbol("("));
  TW_ASSIGN_OR_RETURN(ExprList arguments, ExpressionList(")"));
  const ExprPtr call = Located(UnresolvedFunction::Make(std::move(name), std::move(arguments)), begin);
  std::vector<std::string> alias;
  std::vector<std::string> columns;
  if (TakeWord("AS") || AtAliasName()) {
    TW_ASSIGN_OR_RETURN(std::string word, Name());
    alias.push_back(std::move(word));
    if (TakeSymbol("(")) {
      TW_ASSIGN_OR_RETURN(columns, NameList());
    }
  }
  return UnresolvedGenerate(call, false, alias, columns, std::move(plan));
}

Result<PlanPtr> ParserState::JoinedRelation() {
  if (IsWord("LATERAL") && IsSymbol("(", 1)) return Unsupported("LATERAL subqueries");
  TW_ASSIGN_OR_RETURN(PlanPtr plan, RelationPrimary());
  bool joined = true;
  for (int joins = 0; joined; ++joins) {
    if (joins > kMaxDepth) return TooComplex();
    TW_ASSIGN_OR_RETURN(plan, Reshaped(std::move(plan)));
    TW_ASSIGN_OR_RETURN(plan, JoinWith(std::move(plan), &joined));
  }
  return plan;
}

Result<PlanPtr> ParserState::JoinWith(PlanPtr left, bool* joined) {
  const size_t start = at_;
  const bool natural = TakeWord("NATURAL");
  JoinType type = JoinType::kInner;
  bool named = true;
  if (TakeWord("INNER"))
    type = JoinType::kInner;
  else if (TakeWord("CROSS"))
    type = JoinType::kCross;
  else if (TakeWords({"LEFT", "SEMI"}) || TakeWord("SEMI"))
    type = JoinType::kLeftSemi;
  else if (TakeWords({"LEFT", "ANTI"}) || TakeWord("ANTI"))
    type = JoinType::kLeftAnti;
  else if (TakeWord("LEFT"))
    TakeWord("OUTER"), type = JoinType::kLeftOuter;
  else if (TakeWord("RIGHT"))
    TakeWord("OUTER"), type = JoinType::kRightOuter;
  else if (TakeWord("FULL"))
    TakeWord("OUTER"), type = JoinType::kFullOuter;
  else
    named = false;
  if (!IsWord("JOIN")) {
    if (named || natural) return Unexpected();
    at_ = start;
    *joined = false;
    return left;
  }
  Advance();
  if (IsWord("LATERAL")) return Unsupported("LATERAL subqueries");
  TW_ASSIGN_OR_RETURN(PlanPtr right, RelationPrimary());
  auto node = std::make_shared<Join>(std::move(left), std::move(right), type, nullptr);
  node->natural = natural;
  if (TakeWord("ON")) {
    TW_ASSIGN_OR_RETURN(node->condition, Expression());
  } else if (TakeWord("USING")) {
    TW_RETURN_NOT_OK(ExpectSymbol("("));
    TW_ASSIGN_OR_RETURN(node->using_columns, NameList());
  }
  *joined = true;
  return PlanPtr(std::move(node));
}

Result<PlanPtr> ParserState::RelationPrimary() {
  const DepthGuard guard(depth_);
  if (guard.too_deep()) return TooComplex();
  const int begin = static_cast<int>(at_);
  if (IsWord("VALUES")) {
    TW_ASSIGN_OR_RETURN(PlanPtr table, InlineTable());
    return table;
  }
  if (TakeSymbol("(")) {
    const bool query = IsWord("SELECT") || IsWord("WITH") || IsWord("VALUES") || IsWord("FROM") ||
                       IsSymbol("(") || IsWord("TABLE");
    PlanPtr plan;
    if (query) {
      TW_ASSIGN_OR_RETURN(plan, Query());
    } else {
      TW_ASSIGN_OR_RETURN(plan, JoinedRelation());
    }
    TW_RETURN_NOT_OK(ExpectSymbol(")"));
    return AliasedRelation(std::move(plan));
  }
  const bool stream = IsWord("STREAM") && !IsSymbol(".", 1) &&
                      (Peek(1).kind == TokenKind::kWord || Peek(1).kind == TokenKind::kQuotedName ||
                       IsSymbol("(", 1));
  if (stream) {
    Advance();
    const bool parenthesis = TakeSymbol("(");
    TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
    if (parenthesis) TW_RETURN_NOT_OK(ExpectSymbol(")"));
    return AliasedRelation(
        std::make_shared<UnresolvedRelation>(std::move(name), OptionMap(), true));
  }
  TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
  if (IsSymbol("(")) return TableFunction(std::move(name));
  auto relation = std::make_shared<UnresolvedRelation>(std::move(name), OptionMap(), false);
  relation->origin = OriginFrom(begin);
  const auto time_travel = [&](std::string_view unit) {
    return AreWords({unit, "AS", "OF"}) || AreWords({"FOR", unit, "AS", "OF"}) ||
           AreWords({"FOR", unit == "VERSION" ? "SYSTEM_VERSION" : "SYSTEM_TIME", "AS", "OF"});
  };
  for (const std::string_view unit : {"VERSION", "TIMESTAMP"}) {
    if (!time_travel(unit)) continue;
    while (!IsWord("OF")) Advance();
    Advance();
    const Token value = Advance();
    if (value.kind != TokenKind::kInteger && value.kind != TokenKind::kString) return Unexpected();
    relation->options.Set(unit == "VERSION" ? "versionAsOf" : "timestampAsOf", value.text);
  }
  return AliasedRelation(std::move(relation));
}

/// TABLESAMPLE (x PERCENT | n ROWS | BUCKET x OUT OF y) [REPEATABLE (seed)].
Result<PlanPtr> ParserState::SampledRelation(PlanPtr plan) {
  const Token start = Advance();
  TW_RETURN_NOT_OK(ExpectSymbol("("));
  const auto sample_error = [&](std::string_view condition, std::string_view text) {
    return ParseErrorAt(Error(condition).With("msg", text), sql_, start.begin);
  };
  if (IsSymbol(")")) return ParseErrorAt(Error("_LEGACY_ERROR_TEMP_0014"), sql_, start.begin);
  if (Peek().kind == TokenKind::kSuffixed || (Peek().kind == TokenKind::kWord && IsSymbol(")", 1))) {
    return sample_error("_LEGACY_ERROR_TEMP_0015", "byteLengthLiteral");
  }
  double fraction = 0;
  ExprPtr rows;
  if (TakeWord("BUCKET")) {
    TW_ASSIGN_OR_RETURN(const int64_t bucket, IntegerValue());
    TW_RETURN_NOT_OK(ExpectWord("OUT"));
    TW_RETURN_NOT_OK(ExpectWord("OF"));
    TW_ASSIGN_OR_RETURN(const int64_t buckets, IntegerValue());
    if (IsWord("ON")) return sample_error("_LEGACY_ERROR_TEMP_0015", "BUCKET x OUT OF y ON colname");
    fraction = static_cast<double>(bucket) / static_cast<double>(buckets);
  } else {
    const bool negative = IsSymbol("-");
    const Token number = Peek(negative ? 1 : 0);
    TW_ASSIGN_OR_RETURN(rows, Expression());
    if (TakeWord("PERCENT")) {
      const bool plain = number.kind == TokenKind::kInteger || number.kind == TokenKind::kDecimal;
      if (!plain || !data::ParseDouble(number.text, &fraction)) return Unexpected();
      fraction = (negative ? -fraction : fraction) / 100;
      rows = nullptr;
    } else {
      TW_RETURN_NOT_OK(ExpectWord("ROWS"));
    }
  }
  TW_RETURN_NOT_OK(ExpectSymbol(")"));
  int64_t seed = static_cast<int64_t>(start.begin);
  if (TakeWord("REPEATABLE")) {
    TW_RETURN_NOT_OK(ExpectSymbol("("));
    TW_ASSIGN_OR_RETURN(seed, IntegerValue());
    TW_RETURN_NOT_OK(ExpectSymbol(")"));
  }
  if (rows != nullptr) return PlanPtr(std::make_shared<Limit>(std::move(rows), std::move(plan)));
  if (fraction < 0 || fraction > 1) {
    std::string text = "Sampling fraction (";
    data::AppendDouble(fraction, &text);
    return sample_error("_LEGACY_ERROR_TEMP_0064", text + ") must be on interval [0, 1]");
  }
  return PlanPtr(std::make_shared<Sample>(0.0, fraction, false, seed, std::move(plan)));
}

Result<PlanPtr> ParserState::AliasedRelation(PlanPtr plan) {
  if (IsWord("TABLESAMPLE") && IsSymbol("(", 1)) {
    TW_ASSIGN_OR_RETURN(plan, SampledRelation(std::move(plan)));
  }
  const bool as = TakeWord("AS");
  if (!as && !AtAliasName()) return plan;
  TW_ASSIGN_OR_RETURN(std::string alias, Name());
  auto node =
      std::make_shared<SubqueryAlias>(std::vector<std::string>{std::move(alias)}, std::move(plan));
  if (TakeSymbol("(")) {
    TW_ASSIGN_OR_RETURN(node->column_names, NameList());
  }
  return PlanPtr(std::move(node));
}

/// range(end), range(start, end[, step[, partitions]]); explode(...) and kin.
Result<PlanPtr> ParserState::TableFunction(NameParts name) {
  std::string lower = name.back();
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return std::tolower(c); });
  static constexpr std::string_view kGenerators[] = {"explode", "explode_outer", "posexplode", "posexplode_outer",
                                                     "inline",  "inline_outer",  "stack"};
  if (name.size() == 1 && std::find(std::begin(kGenerators), std::end(kGenerators), lower) != std::end(kGenerators)) {
    const int begin = static_cast<int>(at_);
    TW_RETURN_NOT_OK(ExpectSymbol("("));
    TW_ASSIGN_OR_RETURN(ExprList arguments, ExpressionList(")"));
    const ExprPtr call = Located(UnresolvedFunction::Make(std::move(name), std::move(arguments)), begin - 1);
    return AliasedRelation(UnresolvedGenerate(call, false, {}, {}, std::make_shared<OneRow>()));
  }
  if (name.size() != 1 || lower != "range")
    return Unsupported("table-valued function " + name.back());
  TW_RETURN_NOT_OK(ExpectSymbol("("));
  std::vector<int64_t> values;
  do {
    const bool negative = TakeSymbol("-");
    std::string digits = Peek().text;
    if (Peek().kind == TokenKind::kSuffixed && (digits.back() == 'L' || digits.back() == 'l')) {
      tokens_[at_].kind = TokenKind::kInteger;
      tokens_[at_].text.pop_back();
    }
    TW_ASSIGN_OR_RETURN(int64_t value, IntegerValue());
    values.push_back(negative ? -value : value);
  } while (TakeSymbol(","));
  TW_RETURN_NOT_OK(ExpectSymbol(")"));
  if (values.size() > 4) return Unexpected();
  const int64_t start = values.size() > 1 ? values[0] : 0;
  const int64_t end = values.size() > 1 ? values[1] : values[0];
  const int64_t step = values.size() > 2 ? values[2] : 1;
  if (step == 0)
    return Error("INVALID_PARAMETER_VALUE.ZERO_INDEX")
        .With("functionName", "`range`")
        .With("parameter", "`step`");
  const std::optional<int> partitions =
      values.size() > 3 ? std::optional<int>(static_cast<int>(values[3])) : std::nullopt;
  return AliasedRelation(std::make_shared<Range>(start, end, step, partitions));
}

Result<PlanPtr> ParserState::InlineTable() {
  Advance();
  auto node = std::make_shared<UnresolvedInlineTable>();
  do {
    if (IsSymbol("(")) {
      Advance();
      TW_ASSIGN_OR_RETURN(ExprList row, ExpressionList(")"));
      node->rows.push_back(std::move(row));
    } else {
      TW_ASSIGN_OR_RETURN(ExprPtr value, Expression());
      node->rows.push_back({std::move(value)});
    }
  } while (TakeSymbol(","));
  const bool as = TakeWord("AS");
  if (!as && !AtAliasName()) return PlanPtr(std::move(node));
  TW_ASSIGN_OR_RETURN(std::string alias, Name());
  if (TakeSymbol("(")) {
    TW_ASSIGN_OR_RETURN(node->names, NameList());
  }
  return PlanPtr(
      std::make_shared<SubqueryAlias>(std::vector<std::string>{std::move(alias)}, std::move(node)));
}

}  // namespace thalweg::sql
