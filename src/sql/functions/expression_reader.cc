#include "sql/functions/expression_reader.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>
#include <string>
#include <vector>

#include "data/text/datetime.h"
#include "data/text/interval.h"
#include "data/text/numbers.h"
#include "data/text/time_zone.h"
#include "sql/expr/binding.h"
#include "sql/expr/evaluator.h"
#include "sql/expr/extract.h"
#include "sql/functions/registry.h"

namespace thalweg::sql {
namespace {

/// Digits as a number; 0 for what is none, which the recorded expressions do not have.
int64_t IntegerOf(const std::string& digits) {
  int64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

enum class TokenKind : uint8_t { kWord, kQuoted, kNumber, kString, kSymbol, kEnd };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;
  size_t begin = 0;
};

std::string Upper(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

class Lexer {
 public:
  explicit Lexer(std::string_view text) : text_(text) {}

  std::vector<Token> All() {
    std::vector<Token> tokens;
    for (;;) {
      Token token = Next();
      const bool end = token.kind == TokenKind::kEnd;
      tokens.push_back(std::move(token));
      if (end) return tokens;
    }
  }

 private:
  char At(size_t i) const { return i < text_.size() ? text_[i] : '\0'; }

  Token Next() {
    while (std::isspace(static_cast<unsigned char>(At(at_)))) ++at_;
    Token token;
    token.begin = at_;
    const char c = At(at_);
    if (c == '\0') return token;
    if (c == '\'' || c == '"') return String(c);
    if (c == '`') {
      const size_t end = text_.find('`', at_ + 1);
      token.kind = TokenKind::kQuoted;
      token.text = text_.substr(at_ + 1, end - at_ - 1);
      at_ = end + 1;
      return token;
    }
    if (std::isdigit(static_cast<unsigned char>(c)) ||
        (c == '.' && std::isdigit(static_cast<unsigned char>(At(at_ + 1))) &&
         (at_ == 0 || !std::isalnum(static_cast<unsigned char>(At(at_ - 1)))))) {
      return Number();
    }
    if (std::isalpha(static_cast<unsigned char>(c)) || c == '_') {
      token.kind = TokenKind::kWord;
      while (std::isalnum(static_cast<unsigned char>(At(at_))) || At(at_) == '_') token.text.push_back(At(at_++));
      return token;
    }
    token.kind = TokenKind::kSymbol;
    for (const std::string_view symbol : {">>>", "<=>", ">>", "<<", "<=", ">=", "<>", "!=", "==", "||"}) {
      if (text_.substr(at_).starts_with(symbol)) {
        token.text = symbol;
        at_ += symbol.size();
        return token;
      }
    }
    token.text = std::string(1, c);
    ++at_;
    return token;
  }

  Token String(char quote) {
    Token token;
    token.kind = TokenKind::kString;
    token.begin = at_++;
    while (At(at_) != '\0' && At(at_) != quote) {
      if (At(at_) != '\\') {
        token.text.push_back(At(at_++));
        continue;
      }
      const char next = At(at_ + 1);
      at_ += 2;
      switch (next) {
        case 'n': token.text.push_back('\n'); break;
        case 't': token.text.push_back('\t'); break;
        case 'r': token.text.push_back('\r'); break;
        case '0': token.text.push_back('\0'); break;
        case '%':
        case '_':
          token.text.push_back('\\');
          token.text.push_back(next);
          break;
        default: token.text.push_back(next);
      }
    }
    ++at_;
    return token;
  }

  Token Number() {
    Token token;
    token.kind = TokenKind::kNumber;
    token.begin = at_;
    const auto digits = [&] {
      while (std::isdigit(static_cast<unsigned char>(At(at_)))) ++at_;
    };
    digits();
    if (At(at_) == '.') {
      ++at_;
      digits();
    }
    if ((At(at_) == 'e' || At(at_) == 'E') &&
        (std::isdigit(static_cast<unsigned char>(At(at_ + 1))) || At(at_ + 1) == '-' || At(at_ + 1) == '+')) {
      at_ += 2;
      digits();
    }
    while (std::isalpha(static_cast<unsigned char>(At(at_)))) ++at_;
    token.text = Upper(std::string(text_.substr(token.begin, at_ - token.begin)));
    return token;
  }

  std::string_view text_;
  size_t at_ = 0;
};

Status Syntax(const std::string& near) { return Error("PARSE_SYNTAX_ERROR").With("error", "'" + near + "'").With("hint", ""); }

class ExpressionReader {
 public:
  ExpressionReader(std::string_view text, const EvalConfig& config, const AttributeList& columns)
      : text_(text), tokens_(Lexer(text).All()), context_{config}, columns_(columns) {}

  Result<ExprPtr> Read() {
    TW_ASSIGN_OR_RETURN(ExprPtr expr, Or());
    if (Peek().kind != TokenKind::kEnd) return Syntax(Peek().text);
    return expr;
  }

 private:
  const Token& Peek(size_t ahead = 0) const { return tokens_[std::min(at_ + ahead, tokens_.size() - 1)]; }
  bool IsWord(std::string_view word, size_t ahead = 0) const {
    return Peek(ahead).kind == TokenKind::kWord && Upper(Peek(ahead).text) == word;
  }
  bool IsSymbol(std::string_view symbol, size_t ahead = 0) const {
    return Peek(ahead).kind == TokenKind::kSymbol && Peek(ahead).text == symbol;
  }
  bool TakeWord(std::string_view word) {
    if (!IsWord(word)) return false;
    ++at_;
    return true;
  }
  bool TakeSymbol(std::string_view symbol) {
    if (!IsSymbol(symbol)) return false;
    ++at_;
    return true;
  }
  Status Need(std::string_view symbol) { return TakeSymbol(symbol) ? Status() : Syntax(Peek().text); }
  Status NeedWord(std::string_view word) { return TakeWord(word) ? Status() : Syntax(Peek().text); }
  Result<ExprPtr> Bind(std::string_view name, ExprList arguments) {
    return BindBuiltin(name, std::move(arguments), context_);
  }

  Result<ExprPtr> Or() {
    TW_ASSIGN_OR_RETURN(ExprPtr left, And());
    while (TakeWord("OR")) {
      TW_ASSIGN_OR_RETURN(ExprPtr right, And());
      TW_ASSIGN_OR_RETURN(left, Bind("or", {left, right}));
    }
    return left;
  }

  Result<ExprPtr> And() {
    TW_ASSIGN_OR_RETURN(ExprPtr left, Not());
    while (TakeWord("AND")) {
      TW_ASSIGN_OR_RETURN(ExprPtr right, Not());
      TW_ASSIGN_OR_RETURN(left, Bind("and", {left, right}));
    }
    return left;
  }

  Result<ExprPtr> Not() {
    if (TakeWord("NOT") || TakeSymbol("!")) {
      TW_ASSIGN_OR_RETURN(ExprPtr child, Not());
      return Bind("not", {child});
    }
    return Predicate();
  }

  Result<ExprPtr> Negate(bool negated, Result<ExprPtr> expr) {
    if (!expr.ok() || !negated) return expr;
    return Bind("not", {*expr});
  }

  Result<ExprPtr> Predicate() {
    TW_ASSIGN_OR_RETURN(ExprPtr left, Bits());
    for (;;) {
      if (TakeWord("IS")) {
        const bool negated = TakeWord("NOT");
        TW_RETURN_NOT_OK(NeedWord("NULL"));
        TW_ASSIGN_OR_RETURN(left, Bind(negated ? "isnotnull" : "isnull", {left}));
        continue;
      }
      const bool negated = IsWord("NOT") && (IsWord("IN", 1) || IsWord("LIKE", 1) || IsWord("RLIKE", 1) ||
                                             IsWord("BETWEEN", 1) || IsWord("ILIKE", 1));
      if (negated) ++at_;
      if (TakeWord("IN")) {
        TW_RETURN_NOT_OK(Need("("));
        ExprList arguments{left};
        TW_RETURN_NOT_OK(Arguments(&arguments));
        TW_ASSIGN_OR_RETURN(left, Negate(negated, Bind("in", std::move(arguments))));
        continue;
      }
      if (TakeWord("BETWEEN")) {
        TW_ASSIGN_OR_RETURN(ExprPtr low, Bits());
        TW_RETURN_NOT_OK(NeedWord("AND"));
        TW_ASSIGN_OR_RETURN(ExprPtr high, Bits());
        TW_ASSIGN_OR_RETURN(left, Negate(negated, Bind("between", {left, low, high})));
        continue;
      }
      if (IsWord("LIKE") || IsWord("RLIKE") || IsWord("ILIKE")) {
        std::string name = Upper(tokens_[at_++].text);
        std::transform(name.begin(), name.end(), name.begin(), [](unsigned char c) { return std::tolower(c); });
        TW_ASSIGN_OR_RETURN(ExprPtr right, Bits());
        TW_ASSIGN_OR_RETURN(left, Negate(negated, Bind(name, {left, right})));
        continue;
      }
      if (Peek().kind == TokenKind::kSymbol) {
        static constexpr std::string_view kOperators[] = {"=", "==", "<=>", "<>", "!=", "<", "<=", ">", ">="};
        const std::string symbol = Peek().text;
        if (std::find(std::begin(kOperators), std::end(kOperators), symbol) != std::end(kOperators)) {
          ++at_;
          TW_ASSIGN_OR_RETURN(ExprPtr right, Bits());
          TW_ASSIGN_OR_RETURN(left, Bind(symbol, {left, right}));
          continue;
        }
      }
      return left;
    }
  }

  /// Binary operators by level: | ^ & << >> >>> then + - || then * / % div.
  Result<ExprPtr> Bits() { return Level(0); }

  static bool InLevel(int level, const Token& token) {
    const std::string& t = token.text;
    if (token.kind == TokenKind::kWord) return level == 5 && Upper(t) == "DIV";
    if (token.kind != TokenKind::kSymbol) return false;
    switch (level) {
      case 0: return t == "|";
      case 1: return t == "^";
      case 2: return t == "&";
      case 3: return t == "<<" || t == ">>" || t == ">>>";
      case 4: return t == "+" || t == "-" || t == "||";
      default: return t == "*" || t == "/" || t == "%";
    }
  }

  Result<ExprPtr> Level(int level) {
    if (level == 6) return Unary();
    TW_ASSIGN_OR_RETURN(ExprPtr left, Level(level + 1));
    while (InLevel(level, Peek())) {
      std::string name = tokens_[at_++].text;
      if (Upper(name) == "DIV") name = "div";
      if (name == "||") name = "concat";
      TW_ASSIGN_OR_RETURN(ExprPtr right, Level(level + 1));
      TW_ASSIGN_OR_RETURN(left, Bind(name, {left, right}));
    }
    return left;
  }

  Result<ExprPtr> Unary() {
    if (IsSymbol("-") && Peek(1).kind == TokenKind::kNumber) {
      ++at_;
      TW_ASSIGN_OR_RETURN(ExprPtr number, Number("-" + tokens_[at_++].text));
      return Postfix(number);
    }
    for (const std::string_view symbol : {"-", "+", "~"}) {
      if (TakeSymbol(symbol)) {
        TW_ASSIGN_OR_RETURN(ExprPtr child, Unary());
        return Bind(symbol, {child});
      }
    }
    TW_ASSIGN_OR_RETURN(ExprPtr primary, Primary());
    return Postfix(primary);
  }

  Result<ExprPtr> Postfix(ExprPtr expr) {
    for (;;) {
      if (TakeSymbol("[")) {
        TW_ASSIGN_OR_RETURN(ExprPtr index, Or());
        TW_RETURN_NOT_OK(Need("]"));
        TW_ASSIGN_OR_RETURN(expr, MakeExtract(expr, index, context_));
      } else if (IsSymbol(".") && Peek(1).kind != TokenKind::kSymbol) {
        at_ += 2;
        TW_ASSIGN_OR_RETURN(expr, MakeExtract(expr, Literal::String(tokens_[at_ - 1].text), context_));
      } else {
        return expr;
      }
    }
  }

  Status Arguments(ExprList* arguments) {
    if (TakeSymbol(")")) return {};
    do {
      TW_ASSIGN_OR_RETURN(ExprPtr argument, Or());
      if (TakeWord("AS")) argument = Alias::Make(argument, tokens_[at_++].text);
      arguments->push_back(std::move(argument));
    } while (TakeSymbol(","));
    return Need(")");
  }

  Result<ExprPtr> Number(std::string text) {
    const auto ends = [&](std::string_view suffix) { return text.ends_with(suffix); };
    const auto cut = [&](size_t count) { return text.substr(0, text.size() - count); };
    if (ends("BD")) return Decimal(cut(2));
    if (ends("L")) return Literal::Long(IntegerOf(cut(1)));
    if (ends("S")) return Literal::Make(Value(static_cast<int16_t>(IntegerOf(cut(1)))), DataType::Short());
    if (ends("Y")) return Literal::Make(Value(static_cast<int8_t>(IntegerOf(cut(1)))), DataType::Byte());
    if (ends("D") || ends("F") || text.find('E') != std::string::npos) {
      const bool is_float = ends("F");
      const std::string digits = ends("D") || is_float ? cut(1) : text;
      double value = 0;
      if (!data::ParseJavaDouble(digits, &value)) return Syntax(text);
      if (is_float) return Literal::Make(Value(static_cast<float>(value)), DataType::Float());
      return Literal::Make(Value(value), DataType::Double());
    }
    if (text.find('.') != std::string::npos) return Decimal(text);
    int64_t whole = 0;
    if (!data::ParseJavaLong(text, &whole)) return Decimal(text);
    if (whole >= INT32_MIN && whole <= INT32_MAX) return Literal::Integer(static_cast<int32_t>(whole));
    return Literal::Long(whole);
  }

  Result<ExprPtr> Decimal(const std::string& text) {
    Int128 unscaled = 0;
    int scale = 0;
    if (!data::ParseDecimalExact(text, &unscaled, &scale)) return Syntax(text);
    std::string digits;
    data::AppendInt128(unscaled < 0 ? -unscaled : unscaled, &digits);
    const int precision = std::max(static_cast<int>(digits.size()), scale);
    return Literal::Make(Value(unscaled), DataType::Decimal(precision, scale));
  }

  Result<ExprPtr> TypedLiteral(const std::string& word, const std::string& text) {
    if (word == "X") {
      std::string bytes;
      for (size_t i = 0; i + 1 < text.size(); i += 2) {
        int value = 0;
        std::from_chars(text.data() + i, text.data() + i + 2, value, 16);
        bytes.push_back(static_cast<char>(value));
      }
      return Literal::Make(Value(bytes), DataType::Binary());
    }
    if (word == "DATE") {
      int32_t days = 0;
      if (!data::ParseDate(text, &days)) return Syntax(text);
      return Literal::Make(Value(days), DataType::Date());
    }
    int64_t micros = 0;
    if (word == "TIMESTAMP_NTZ") {
      if (!data::ParseTimestampNtz(text, false, &micros)) return Syntax(text);
      return Literal::Make(Value(micros), DataType::TimestampNtz());
    }
    const auto zone = data::TimeZone::Find(context_.config.time_zone);
    if (!data::ParseTimestamp(text, *zone, 0, &micros)) return Syntax(text);
    return Literal::Make(Value(micros), DataType::Timestamp());
  }

  static std::optional<data::DayTimeField> DayTimeUnit(std::string unit) {
    unit = Upper(unit);
    if (unit.ends_with("S")) unit.pop_back();
    if (unit == "DAY") return data::DayTimeField::kDay;
    if (unit == "HOUR") return data::DayTimeField::kHour;
    if (unit == "MINUTE") return data::DayTimeField::kMinute;
    if (unit == "SECOND") return data::DayTimeField::kSecond;
    return {};
  }

  /// interval '1' day, interval 1 day, interval '1 2' day to hour, interval '1-2' year to month.
  Result<ExprPtr> Interval() {
    std::string value;
    if (TakeSymbol("-")) value = "-";
    value += tokens_[at_++].text;
    const std::string unit = Upper(tokens_[at_++].text);
    std::string end = unit;
    if (TakeWord("TO")) end = Upper(tokens_[at_++].text);
    if (const auto start = DayTimeUnit(unit)) {
      const auto last = *DayTimeUnit(end);
      int64_t micros = 0;
      if (data::ParseDayTimeInterval(value, *start, last, &micros) != data::IntervalOutcome::kOk) return Syntax(value);
      return Literal::Make(Value(micros), DataType::DayTimeInterval(*start, last));
    }
    const auto field = [](const std::string& u) {
      return u.starts_with("YEAR") ? data::YearMonthField::kYear : data::YearMonthField::kMonth;
    };
    if (unit.starts_with("WEEK")) {
      return Literal::Make(Value(IntegerOf(value) * 7 * 86400000000),
                           DataType::DayTimeInterval(data::DayTimeField::kDay, data::DayTimeField::kDay));
    }
    int32_t months = 0;
    if (data::ParseYearMonthInterval(value, field(unit), field(end), &months) != data::IntervalOutcome::kOk) return Syntax(value);
    return Literal::Make(Value(months), DataType::YearMonthInterval(field(unit), field(end)));
  }

  Result<ExprPtr> Case() {
    ExprList arguments;
    ExprPtr subject;
    if (!IsWord("WHEN")) {
      TW_ASSIGN_OR_RETURN(subject, Or());
    }
    while (TakeWord("WHEN")) {
      TW_ASSIGN_OR_RETURN(ExprPtr condition, Or());
      if (subject != nullptr) {
        TW_ASSIGN_OR_RETURN(condition, Bind("==", {subject, condition}));
      }
      TW_RETURN_NOT_OK(NeedWord("THEN"));
      TW_ASSIGN_OR_RETURN(ExprPtr value, Or());
      arguments.push_back(condition);
      arguments.push_back(value);
    }
    if (TakeWord("ELSE")) {
      TW_ASSIGN_OR_RETURN(ExprPtr value, Or());
      arguments.push_back(value);
    }
    TW_RETURN_NOT_OK(NeedWord("END"));
    return Bind("when", std::move(arguments));
  }

  Result<ExprPtr> CastTo(bool tries) {
    TW_RETURN_NOT_OK(Need("("));
    TW_ASSIGN_OR_RETURN(ExprPtr child, Or());
    TW_RETURN_NOT_OK(NeedWord("AS"));
    const size_t begin = Peek().begin;
    int depth = 0;
    while (!(IsSymbol(")") && depth == 0)) {
      if (Peek().kind == TokenKind::kEnd) return Syntax("end");
      if (IsSymbol("(")) ++depth;
      if (IsSymbol(")")) --depth;
      ++at_;
    }
    TW_ASSIGN_OR_RETURN(const DataType type, data::ParseTypeDdl(text_.substr(begin, Peek().begin - begin)));
    ++at_;
    EvalMode mode = context_.config.ansi ? EvalMode::kAnsi : EvalMode::kLegacy;
    if (tries) mode = EvalMode::kTry;
    ExprPtr cast = Cast::Make(child, type, mode, true);
    if (!CanCast(child->type(), type, mode)) return CastTypeError(*cast, child->type(), type, mode);
    return cast;
  }

  Result<ExprPtr> Primary() {
    const Token token = tokens_[at_++];
    if (token.kind == TokenKind::kNumber) return Number(token.text);
    if (token.kind == TokenKind::kString) return Literal::String(token.text);
    if (token.kind == TokenKind::kSymbol && token.text == "(") {
      TW_ASSIGN_OR_RETURN(ExprPtr inner, Or());
      TW_RETURN_NOT_OK(Need(")"));
      return inner;
    }
    if (token.kind != TokenKind::kWord && token.kind != TokenKind::kQuoted) return Syntax(token.text);
    const std::string word = Upper(token.text);
    if (token.kind == TokenKind::kWord) {
      if (word == "NULL") return Literal::Null();
      if (word == "TRUE" || word == "FALSE") return Literal::Boolean(word == "TRUE");
      if (word == "CASE") return Case();
      if (word == "CAST" || word == "TRY_CAST") return CastTo(word == "TRY_CAST");
      if (Peek().kind == TokenKind::kString &&
          (word == "DATE" || word == "TIMESTAMP" || word == "TIMESTAMP_NTZ" || word == "X")) {
        return TypedLiteral(word, tokens_[at_++].text);
      }
      if (word == "INTERVAL" && !IsSymbol("(")) return Interval();
    }
    if (TakeSymbol("(")) {
      ExprList arguments;
      if ((word == "TIMESTAMPADD" || word == "TIMESTAMPDIFF") && Peek().kind == TokenKind::kWord && IsSymbol(",", 1)) {
        arguments.push_back(Literal::String(Peek().text));
        at_ += 2;
      }
      TW_RETURN_NOT_OK(Arguments(&arguments));
      if (word != "STRUCT") {
        for (auto& argument : arguments) {
          if (argument->As<Alias>() != nullptr) argument = argument->child();
        }
      }
      if (BuiltinFunctions().FindScalar(token.text) == nullptr) {
        return Error("UNRESOLVED_ROUTINE").With("routineName", "`" + token.text + "`").With("searchPath", "");
      }
      return Bind(token.text, std::move(arguments));
    }
    for (const auto& column : columns_) {
      if (column->name() == token.text) return ExprPtr(column);
    }
    return Error("UNRESOLVED_COLUMN.WITHOUT_SUGGESTION").With("objectName", "`" + token.text + "`");
  }

  std::string_view text_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  BindContext context_;
  const AttributeList& columns_;
};

}  // namespace

Result<ExprPtr> ReadExpression(std::string_view text, const EvalConfig& config, const AttributeList& columns) {
  return ExpressionReader(text, config, columns).Read();
}

}  // namespace thalweg::sql
