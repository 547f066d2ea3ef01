#include "sql/parser/parser.h"

#include <algorithm>
#include <charconv>

#include "base/query_context.h"
#include "sql/parser/parser_state.h"

namespace thalweg::sql {
namespace {

constexpr size_t kMaxTextBytes = 16 << 20;

Result<ParserState> MakeState(std::string_view sql, const ParserOptions& options) {
  if (sql.size() > kMaxTextBytes) return Error("FAILED_TO_PARSE_TOO_COMPLEX");
  TW_ASSIGN_OR_RETURN(std::vector<Token> tokens, Tokenize(sql, options.double_quoted_identifiers));
  return ParserState(sql, std::move(tokens), options);
}

/// Words that end an expression or begin the next clause, so they are no alias without AS.
bool EndsExpression(std::string_view word) {
  static constexpr std::string_view kWords[] = {
      "AND",        "ANTI",        "AS",      "ASC",    "BETWEEN", "CLUSTER", "CROSS",  "DESC",
      "DISTRIBUTE", "DIV",         "ELSE",    "END",    "ESCAPE",  "EXCEPT",  "FOR",    "FROM",
      "FULL",       "GROUP",       "HAVING",  "IGNORE", "ILIKE",   "IN",      "INNER",  "INTERSECT",
      "IS",         "JOIN",        "LATERAL", "LEFT",   "LIKE",    "LIMIT",   "MINUS",  "NATURAL",
      "NOT",        "NULLS",       "OFFSET",  "ON",     "OR",      "ORDER",   "OVER",   "PIVOT",
      "PLACING",    "REGEXP",      "RIGHT",   "RLIKE",  "SELECT",  "SEMI",    "SET",    "SETMINUS",
      "SORT",       "TABLESAMPLE", "THEN",    "UNION",  "UNPIVOT", "USING",   "VALUES", "WHEN",
      "WHERE",      "WINDOW",      "WITHIN"};
  return std::binary_search(std::begin(kWords), std::end(kWords), word);
}

}  // namespace

bool ParserState::AreWords(std::initializer_list<std::string_view> words) const {
  size_t ahead = 0;
  for (const std::string_view word : words) {
    if (!IsWord(word, ahead++)) return false;
  }
  return true;
}

bool ParserState::TakeWord(std::string_view word) {
  if (!IsWord(word)) return false;
  Advance();
  return true;
}

bool ParserState::TakeWords(std::initializer_list<std::string_view> words) {
  if (!AreWords(words)) return false;
  at_ += words.size();
  return true;
}

bool ParserState::TakeSymbol(std::string_view symbol) {
  if (!IsSymbol(symbol)) return false;
  Advance();
  return true;
}

Status ParserState::ExpectWord(std::string_view word) {
  return TakeWord(word) ? Status::OK() : Unexpected();
}

Status ParserState::ExpectSymbol(std::string_view symbol) {
  if (TakeSymbol(symbol)) return Status::OK();
  return Unexpected(Peek().kind == TokenKind::kEnd ? ": missing '" + std::string(symbol) + "'"
                                                   : "");
}

Status ParserState::ExpectEnd() {
  while (TakeSymbol(";")) {
  }
  return Peek().kind == TokenKind::kEnd ? Status::OK() : Unexpected();
}

Status ParserState::TooComplex() const {
  return ParseErrorAt(Error("FAILED_TO_PARSE_TOO_COMPLEX"), sql_, Peek().begin);
}

bool ParserState::AtName() const {
  return Peek().kind == TokenKind::kWord || Peek().kind == TokenKind::kQuotedName;
}

bool ParserState::AtAliasName() const {
  if (Peek().kind == TokenKind::kQuotedName) return true;
  if (Peek().kind != TokenKind::kWord || EndsExpression(Peek().upper)) return false;
  // QUALIFY is a name where no condition follows.
  const Token& next = Peek(1);
  const bool word = next.kind == TokenKind::kWord && !EndsExpression(next.upper);
  const bool condition = word || next.kind == TokenKind::kQuotedName || next.kind == TokenKind::kInteger || IsSymbol("(", 1) || IsWord("NOT", 1);
  return Peek().upper != "QUALIFY" || !condition;
}

Result<std::string> ParserState::Name() {
  if (!AtName()) return Unexpected();
  const Token& token = Advance();
  if (token.kind == TokenKind::kWord && std::any_of(token.text.begin(), token.text.end(),
                                                    [](unsigned char c) { return c >= 0x80; })) {
    return ParseErrorAt(Error("INVALID_IDENTIFIER").With("ident", token.text), sql_, token.begin);
  }
  if (token.kind == TokenKind::kQuotedName && token.text.empty()) {
    return ParseErrorAt(Error("PARSE_EMPTY_STATEMENT"), sql_, token.begin);
  }
  return token.text;
}

Result<NameParts> ParserState::MultipartName() {
  NameParts parts;
  do {
    TW_ASSIGN_OR_RETURN(std::string part, Name());
    parts.push_back(std::move(part));
  } while (TakeSymbol("."));
  return parts;
}

Result<std::string> ParserState::StringText() {
  if (Peek().kind != TokenKind::kString) return Unexpected();
  std::string text;
  while (Peek().kind == TokenKind::kString) text += Advance().text;
  return text;
}

Result<int64_t> ParserState::IntegerValue() {
  if (Peek().kind != TokenKind::kInteger) return Unexpected();
  const std::string& text = Peek().text;
  int64_t value = 0;
  if (std::from_chars(text.data(), text.data() + text.size(), value).ec != std::errc{})
    return Unexpected();
  Advance();
  return value;
}

Result<std::vector<std::string>> ParserState::NameList() {
  std::vector<std::string> names;
  do {
    TW_ASSIGN_OR_RETURN(std::string name, Name());
    names.push_back(std::move(name));
  } while (TakeSymbol(","));
  TW_RETURN_NOT_OK(ExpectSymbol(")"));
  return names;
}

Origin ParserState::OriginFrom(int begin_token) const {
  if (at_ == 0 || static_cast<size_t>(begin_token) >= at_) return nullptr;
  // Positions are counted in code points; texts are nearly always ASCII, where they are bytes.
  const auto code_points = [&](int end) {
    if (ascii_) return end;
    return static_cast<int>(
        std::count_if(sql_.begin(), sql_.begin() + end, [](char c) { return (c & 0xC0) != 0x80; }));
  };
  const int begin = tokens_[begin_token].begin;
  const int end = tokens_[at_ - 1].end;
  // Counting lines for every node of a generated statement would cost more than parsing it.
  constexpr size_t kMaxLocatedBytes = 16 << 10;
  if (sql_.size() > kMaxLocatedBytes) {
    QueryContext context;
    context.start_index = begin;
    context.stop_index = end - 1;
    context.fragment = std::string(sql_.substr(begin, end - begin));
    return std::make_shared<QueryContext>(std::move(context));
  }
  return std::make_shared<QueryContext>(
      MakeSqlContext(sql_, code_points(begin), code_points(end) - 1));
}

ExprPtr ParserState::Located(ExprPtr expr, int begin_token) const {
  Origin origin = OriginFrom(begin_token);
  return origin ? expr->WithOrigin(std::move(origin)) : expr;
}

std::string ParserState::TextFrom(int begin_token) const {
  if (static_cast<size_t>(begin_token) >= at_) return "";
  return std::string(
      sql_.substr(tokens_[begin_token].begin, tokens_[at_ - 1].end - tokens_[begin_token].begin));
}

std::string ParserState::RestOfStatement() {
  const int begin = Peek().begin;
  int end = begin;
  while (Peek().kind != TokenKind::kEnd && !IsSymbol(";")) end = Advance().end;
  return std::string(sql_.substr(begin, end - begin));
}

Result<PlanPtr> ParsePlan(std::string_view sql, const ParserOptions& options) {
  TW_ASSIGN_OR_RETURN(ParserState state, MakeState(sql, options));
  TW_ASSIGN_OR_RETURN(PlanPtr plan, state.Statement());
  TW_RETURN_NOT_OK(state.ExpectEnd());
  return plan;
}

Result<ExprPtr> ParseExpression(std::string_view sql, const ParserOptions& options) {
  TW_ASSIGN_OR_RETURN(ParserState state, MakeState(sql, options));
  TW_ASSIGN_OR_RETURN(ExprPtr expression, state.NamedExpression());
  TW_RETURN_NOT_OK(state.ExpectEnd());
  return expression;
}

Result<NameParts> ParseMultipartIdentifier(std::string_view text) {
  const ParserOptions options;
  TW_ASSIGN_OR_RETURN(ParserState state, MakeState(text, options));
  TW_ASSIGN_OR_RETURN(NameParts parts, state.MultipartName());
  TW_RETURN_NOT_OK(state.ExpectEnd());
  return parts;
}

std::vector<std::string> SplitStatements(std::string_view script) {
  std::vector<std::string> statements;
  const auto add = [&](size_t begin, size_t end) {
    const std::string_view text = script.substr(begin, end - begin);
    const Result<std::vector<Token>> tokens = Tokenize(text, false);
    if (!tokens.ok() || tokens->size() > 1) statements.emplace_back(text);
  };
  const Result<std::vector<Token>> tokens = Tokenize(script, false);
  if (!tokens.ok()) return {std::string(script)};
  size_t begin = 0;
  for (const Token& token : *tokens) {
    if (token.kind != TokenKind::kSymbol || token.text != ";") continue;
    add(begin, token.begin);
    begin = token.end;
  }
  add(begin, script.size());
  return statements;
}

bool EndsStatement(std::string_view typed) {
  bool ended = false;
  for (size_t at = 0; at < typed.size(); ++at) {
    const char c = typed[at];
    if (typed.substr(at, 2) == "--") {
      at = typed.find('\n', at);
      if (at == std::string_view::npos) return ended;
    } else if (typed.substr(at, 2) == "/*") {
      at = typed.find("*/", at + 2);
      if (at == std::string_view::npos) return false;
      ++at;
    } else if (c == '\'' || c == '"' || c == '`') {
      const bool raw = c == '`' || (at > 0 && (typed[at - 1] == 'r' || typed[at - 1] == 'R'));
      for (++at; at < typed.size() && typed[at] != c; ++at) at += !raw && typed[at] == '\\' ? 1 : 0;
      ended = false;
    } else if (c == ';') {
      ended = true;
    } else if (c != ' ' && c != '\t' && c != '\r' && c != '\n') {
      ended = false;
    }
  }
  return ended;
}

}  // namespace thalweg::sql
