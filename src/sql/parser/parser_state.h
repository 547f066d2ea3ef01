#pragma once

// The recursive-descent parser: one class, its productions in parse_expression.cc, parse_literal.cc, parse_window.cc,
// parse_query.cc, parse_statement.cc, parse_ddl.cc, parse_maintenance.cc and parse_row_level.cc.

#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/text/utf8.h"
#include "sql/parser/lexer.h"
#include "sql/expr/window_call.h"
#include "sql/parser/parser.h"

namespace thalweg::sql {

/// Of a WINDOW clause, in its order; functions are not set.
using WindowDefinitions = std::vector<std::pair<std::string, WindowCall::Parts>>;

/// Upper-case words: YEAR, WEEKS, MICROSECOND, ...
bool IsDateTimeUnit(std::string_view word);
/// Upper-case words: YEAR(S) 0, MONTH(S) 1; DAY(S) 2 ... SECOND(S) 5; -1 for others.
int IntervalField(std::string_view word);

/// Thread: confined. Every production answers a tree or an error; after an error the state is not
/// used again.
class ParserState {
 public:
  static constexpr int kMaxDepth = 500;
  static constexpr int kMaxChain = 10000;

  ParserState(std::string_view sql, std::vector<Token> tokens, const ParserOptions& options)
      : sql_(sql), ascii_(data::IsAscii(sql)), tokens_(std::move(tokens)), options_(options) {}

  Result<PlanPtr> Statement();
  Result<PlanPtr> Query();
  Result<ExprPtr> NamedExpression();
  Result<ExprPtr> Expression();
  Result<NameParts> MultipartName();
  Status ExpectEnd();

 private:
  // --- tokens ---
  const Token& Peek(size_t ahead = 0) const {
    const size_t at = at_ + ahead;
    return at < tokens_.size() ? tokens_[at] : tokens_.back();
  }
  const Token& Advance() { return tokens_[at_ + 1 < tokens_.size() ? at_++ : at_]; }
  bool IsWord(std::string_view word, size_t ahead = 0) const {
    const Token& token = Peek(ahead);
    return token.kind == TokenKind::kWord && token.upper == word;
  }
  bool IsSymbol(std::string_view symbol, size_t ahead = 0) const {
    const Token& token = Peek(ahead);
    return token.kind == TokenKind::kSymbol && token.text == symbol;
  }
  bool AreWords(std::initializer_list<std::string_view> words) const;
  bool TakeWord(std::string_view word);
  bool TakeWords(std::initializer_list<std::string_view> words);  ///< all or none
  bool TakeSymbol(std::string_view symbol);
  Status ExpectWord(std::string_view word);
  Status ExpectSymbol(std::string_view symbol);
  Status Unexpected(std::string_view hint = "") const { return SyntaxErrorAt(sql_, Peek(), hint); }
  Status TooComplex() const;
  bool AtName() const;       ///< any word or quoted name
  bool AtAliasName() const;  ///< a name that may follow without AS
  Result<std::string> Name();
  Result<std::string> StringText();  ///< a string literal, adjacent ones joined
  Result<int64_t> IntegerValue();
  Origin OriginFrom(int begin_token) const;  ///< from that token to the last taken one
  ExprPtr Located(ExprPtr expr, int begin_token) const;
  std::string TextFrom(int begin_token) const;
  ExprPtr Function(std::string_view name, ExprList arguments, int begin_token) const;

  // --- expressions ---
  Result<ExprPtr> OrExpression();
  Result<ExprPtr> AndExpression();
  Result<ExprPtr> NotExpression();
  Result<ExprPtr> Predicate();
  Result<ExprPtr> QuantifiedLike(ExprPtr left, int begin, std::string_view function, bool negated);
  Result<ExprPtr> LikePredicate(ExprPtr left, int begin, std::string_view function);
  Result<ExprPtr> InPredicate(ExprPtr left, int begin);
  Result<ExprPtr> IsPredicate(ExprPtr left, int begin);
  Result<ExprPtr> Comparison();
  Result<ExprPtr> Binary(int level);
  Result<ExprPtr> Unary();
  Result<ExprPtr> Postfix();
  Result<ExprPtr> Primary();
  Result<ExprPtr> WordPrimary();
  Result<ExprPtr> NumberLiteral(bool negative);
  Result<ExprPtr> TypedLiteral(std::string_view type);
  Result<ExprPtr> IntervalLiteral();
  Result<ExprPtr> CaseExpression();
  Result<ExprPtr> CastExpression(EvalMode mode, bool session_mode);
  Result<ExprPtr> FunctionCall(NameParts name, int begin);
  Result<ExprPtr> SpecialCall(bool* handled);
  Result<ExprPtr> TrimCall();
  Result<ExprPtr> ParenthesisOrRow();
  Result<ExprPtr> Parameter();
  Result<ExprList> ExpressionList(std::string_view close);
  Result<DataType> Type();  ///< a type, up to what cannot belong to it
  Result<ExprPtr> SortItem();
  Result<ExprList> SortItems();
  ExprPtr Balanced(std::string_view name, const ExprList& operands, size_t from, size_t to) const;

  // --- windows ---
  Result<ExprPtr> OverClause(ExprPtr call, int begin);
  Result<WindowCall::Parts> WindowSpec();
  Status FrameClause(WindowCall::Parts* window);
  Status FrameBound(FrameEdge* edge, ExprPtr* offset);
  bool AtWindowClause() const;
  Result<WindowDefinitions> WindowClause();

  // --- queries ---
  Result<PlanPtr> QueryNoWith();
  Result<PlanPtr> SetOperation(int level);
  Result<PlanPtr> QueryPrimary();
  Result<PlanPtr> SelectCore();
  Result<PlanPtr> QueryOrganization(PlanPtr plan);
  Result<PlanPtr> SampledRelation(PlanPtr plan);
  Result<PlanPtr> LateralViews(PlanPtr plan);
  Result<PlanPtr> LateralGenerator(PlanPtr plan);
  /// One element of GROUP BY. ROLLUP and CUBE of single columns keep their kind: `sets` is then the list of them.
  struct GroupingSets {
    Aggregate::Grouping kind = Aggregate::Grouping::kPlain;
    std::vector<ExprList> sets;
    std::vector<ExprList> groups = {};  ///< what stands in the parentheses
  };
  static constexpr size_t kMaxGroupingColumns = 12;
  bool AtGroupingAnalytics() const;
  Result<GroupingSets> GroupingAnalytics();
  Result<std::vector<ExprList>> SetsOf(const GroupingSets& given);
  Result<PlanPtr> GroupByClause(ExprList select, PlanPtr plan);
  Result<PlanPtr> FromClause();
  Result<PlanPtr> JoinedRelation();
  Result<PlanPtr> RelationPrimary();
  bool AtReshape() const;
  Result<PlanPtr> Reshaped(PlanPtr plan);  ///< with the PIVOT and UNPIVOT clauses that follow
  Result<PlanPtr> PivotClause(PlanPtr child);
  Result<PlanPtr> UnpivotClause(PlanPtr child);
  Result<PlanPtr> AliasedRelation(PlanPtr plan);
  Result<PlanPtr> TableFunction(NameParts name);
  Result<PlanPtr> InlineTable();
  Result<PlanPtr> JoinWith(PlanPtr left, bool* joined);
  Status Hints(std::vector<std::pair<std::string, ExprList>>* hints);

  // --- statements ---
  Result<PlanPtr> CreateStatement();
  Result<PlanPtr> CreateTableStatement(bool replace, bool replace_only, bool external);
  Result<PlanPtr> CreateViewStatement(bool replace, bool global, bool temporary);
  Result<PlanPtr> CreateDatabaseStatement();
  Result<PlanPtr> DropStatement();
  Result<PlanPtr> ShowStatement();
  Result<PlanPtr> DescribeStatement();
  Result<PlanPtr> InsertStatement();
  Result<PlanPtr> SetStatement();
  Result<PlanPtr> ExplainStatement();
  Result<PlanPtr> CacheStatement();
  Result<PlanPtr> UseStatement();
  Result<PlanPtr> MaintainStatement();
  Result<PlanPtr> OptimizeStatement();
  Result<PlanPtr> VacuumStatement();
  Result<PlanPtr> DescribeTableLog();
  Result<PlanPtr> MaintainedTable();
  Result<PlanPtr> AlterStatement();
  Result<PlanPtr> AlterDatabaseStatement();
  Result<AlterTable::Change> ChangeOfTable(AlterTable* command);
  Result<AlterTable::Change> ColumnChange(AlterTable* command);
  Result<AlterTable::Change> AddedColumns();
  Result<AlterTable::Change> ChangedColumn();
  Result<AlterTable::Change> PartitionChange(AlterTable* command);
  Result<PlanPtr> AnalyzeStatement();
  Result<PlanPtr> CommentStatement();
  Result<PlanPtr> CreateFunctionStatement(bool replace, bool temporary);
  Result<PlanPtr> CreateTableLikeStatement(CreateTable begun);
  Result<PlanPtr> CreateViewUsing(CreateView begun, std::optional<data::Schema> schema);
  Result<PlanPtr> RefreshStatement();
  Result<PlanPtr> RepairStatement();
  Result<PlanPtr> ShowTablePropertiesStatement();
  Result<PlanPtr> TruncateStatement();
  Result<std::string> PropertyKey();
  Result<std::vector<std::string>> PropertyKeys();
  Result<PartitionSpec> PartitionClause();         ///< PARTITION (p = 1, q)
  Result<PartitionSpec> OptionalPartitionSpec();   ///< the same, or nothing
  Result<std::map<std::string, std::string>> PropertyList();
  Result<data::Schema> TableColumns();
  Result<std::vector<std::string>> NameList();
  std::string RestOfStatement();

  // --- statements that change rows ---
  Result<PlanPtr> MergeStatement();
  Result<PlanPtr> UpdateStatement();
  Result<PlanPtr> DeleteStatement();
  Result<PlanPtr> TargetTable(std::string_view next_word);
  Result<std::vector<Assignment>> Assignments();
  Status InsertAction(MergeAction* action);
  Status MergeClause(MergeIntoTable* merge);

  /// Counts nesting for its lifetime.
  struct DepthGuard {
    explicit DepthGuard(int& depth) : depth_(++depth), counter(depth) {}
    ~DepthGuard() { --counter; }
    bool too_deep() const { return depth_ > kMaxDepth; }
    int depth_;
    int& counter;
  };

  std::string_view sql_;
  bool ascii_;
  std::vector<Token> tokens_;
  const ParserOptions& options_;
  size_t at_ = 0;
  int depth_ = 0;
  size_t next_positional_ = 0;
};

/// The plan, in which the definitions stand in the place of their names.
Result<PlanPtr> WithWindows(const PlanPtr& plan, const WindowDefinitions& definitions);

inline PlanPtr MakeCommand(CommandBody body) { return std::make_shared<Command>(std::move(body)); }

}  // namespace thalweg::sql
