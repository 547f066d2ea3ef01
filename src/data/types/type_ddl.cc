// Types and table schemas in DDL: a recursive descent over Spark's grammar of data types.

#include <array>
#include <charconv>

#include "data/types/data_type.h"
#include "data/types/ddl_lexer.h"
#include "data/types/type_node.h"

namespace thalweg::data {
namespace {

using internal::DdlToken;

constexpr int kMaxNesting = 500;

std::string Quoted(std::string_view text) { return "\"" + std::string(text) + "\""; }

using Maker = DataType (*)();
constexpr std::array<std::pair<std::string_view, Maker>, 26> kPlainTypes = {{
    {"BOOLEAN", &DataType::Boolean},
    {"TINYINT", &DataType::Byte},
    {"BYTE", &DataType::Byte},
    {"SMALLINT", &DataType::Short},
    {"SHORT", &DataType::Short},
    {"INT", &DataType::Integer},
    {"INTEGER", &DataType::Integer},
    {"BIGINT", &DataType::Long},
    {"LONG", &DataType::Long},
    {"FLOAT", &DataType::Float},
    {"REAL", &DataType::Float},
    {"DOUBLE", &DataType::Double},
    {"DATE", &DataType::Date},
    {"TIMESTAMP", &DataType::Timestamp},
    {"TIMESTAMP_LTZ", &DataType::Timestamp},
    {"TIMESTAMP_NTZ", &DataType::TimestampNtz},
    {"BINARY", &DataType::Binary},
    {"VOID", &DataType::Null},
    {"VARIANT", &DataType::Variant},
    {"INTERVAL", &DataType::CalendarInterval},
    {"STRING", static_cast<Maker>(&DataType::String)},
    {"DECIMAL", [] { return DataType::Decimal(10, 0); }},
    {"DEC", [] { return DataType::Decimal(10, 0); }},
    {"NUMERIC", [] { return DataType::Decimal(10, 0); }},
    {"TIME", [] { return DataType::Time(); }},
    {"NULL", nullptr},
}};

class DdlParser {
 public:
  explicit DdlParser(std::string_view text) : lexer_(text) {}

  Result<DataType> ParseWholeType() {
    if (AtEnd()) return Error("PARSE_EMPTY_STATEMENT");
    TW_ASSIGN_OR_RETURN(DataType type, ParseType());
    if (!AtEnd()) return SyntaxError();
    TW_RETURN_NOT_OK(meaning_error_);
    return type;
  }

  Result<Schema> ParseWholeSchema() {
    if (AtEnd()) return Error("PARSE_EMPTY_STATEMENT");
    TW_ASSIGN_OR_RETURN(Schema schema, ParseFields());
    if (!AtEnd()) return SyntaxError();
    TW_RETURN_NOT_OK(meaning_error_);
    return schema;
  }

 private:
  bool AtEnd() const { return lexer_.current().kind == DdlToken::kEnd; }
  bool AtSymbol(char c) const {
    return lexer_.current().kind == DdlToken::kSymbol && lexer_.current().text[0] == c;
  }
  bool AtWord(std::string_view upper) const {
    return lexer_.current().kind == DdlToken::kName && internal::UpperAscii(lexer_.current().text) == upper;
  }
  bool TakeSymbol(char c) {
    if (!AtSymbol(c)) return false;
    lexer_.Advance();
    return true;
  }
  bool TakeWord(std::string_view upper) {
    if (!AtWord(upper)) return false;
    lexer_.Advance();
    return true;
  }
  Status SyntaxError() const {
    const std::string near = AtEnd() ? "end of input" : "'" + std::string(lexer_.current().source) + "'";
    return Error("PARSE_SYNTAX_ERROR").With("error", near).With("hint", "");
  }
  // An error of meaning, such as an unknown type: reported when the rest of the text has the right form.
  DataType Refuse(Status error) {
    if (meaning_error_.ok()) meaning_error_ = std::move(error);
    return DataType::Null();
  }
  Status Expect(char c) { return TakeSymbol(c) ? Status::OK() : SyntaxError(); }
  Status ExpectWord(std::string_view upper) { return TakeWord(upper) ? Status::OK() : SyntaxError(); }

  Result<std::string> ParseName() {
    const auto& word = lexer_.current();
    if (word.kind == DdlToken::kBadName) return Error("INVALID_IDENTIFIER").With("ident", word.text);
    if (word.kind != DdlToken::kName && word.kind != DdlToken::kQuoted) return SyntaxError();
    std::string name = word.text;
    lexer_.Advance();
    return name;
  }

  Result<Schema> ParseFields() {
    Schema fields;
    do {
      StructField field;
      TW_ASSIGN_OR_RETURN(field.name, ParseName());
      TakeSymbol(':');
      TW_ASSIGN_OR_RETURN(field.type, ParseType());
      if (TakeWord("NOT")) {
        TW_RETURN_NOT_OK(ExpectWord("NULL"));
        field.nullable = false;
      }
      if (TakeWord("COMMENT")) {
        if (lexer_.current().kind != DdlToken::kString) return SyntaxError();
        std::string comment;
        for (; lexer_.current().kind == DdlToken::kString; lexer_.Advance()) comment += lexer_.current().text;
        field.metadata_json = "{\"comment\":";
        internal::AppendJsonString(comment, &field.metadata_json);
        field.metadata_json.push_back('}');
      }
      fields.push_back(std::move(field));
    } while (TakeSymbol(','));
    return fields;
  }

  Result<DataType> ParseType() {
    if (depth_ >= kMaxNesting) return Error("FAILED_TO_PARSE_TOO_COMPLEX");
    ++depth_;
    auto type = ParseTypeHere();
    --depth_;
    return type;
  }

  Result<DataType> ParseTypeHere() {
    const bool is_quoted = lexer_.current().kind == DdlToken::kQuoted;
    TW_ASSIGN_OR_RETURN(const std::string written, ParseName());
    const std::string name = internal::UpperAscii(written);
    if (is_quoted) return UnsupportedType(name, {});
    if (name == "ARRAY") return ParseArray();
    if (name == "MAP") return ParseMap();
    if (name == "STRUCT") return ParseStruct();
    if (name == "INTERVAL") return ParseInterval();
    std::vector<int64_t> numbers;
    if (TakeSymbol('(')) {
      do {
        TW_ASSIGN_OR_RETURN(const int64_t number, ParseInteger());
        numbers.push_back(number);
      } while (TakeSymbol(','));
      TW_RETURN_NOT_OK(Expect(')'));
    }
    return MakeScalar(name, numbers);
  }

  Result<int64_t> ParseInteger() {
    if (lexer_.current().kind != DdlToken::kInteger) return SyntaxError();
    const std::string& text = lexer_.current().text;
    int64_t value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || value > INT32_MAX) return SyntaxError();
    lexer_.Advance();
    return value;
  }

  DataType UnsupportedType(const std::string& name, const std::vector<int64_t>& numbers) {
    std::string text = name;
    for (size_t i = 0; i < numbers.size(); ++i) text += (i == 0 ? "(" : ",") + std::to_string(numbers[i]);
    if (!numbers.empty()) text += ")";
    return Refuse(Error("UNSUPPORTED_DATATYPE").With("typeName", Quoted(text)));
  }

  Result<DataType> ParseArray() {
    if (!AtSymbol('<')) return Incomplete("INCOMPLETE_TYPE_DEFINITION.ARRAY");
    lexer_.Advance();
    TW_ASSIGN_OR_RETURN(DataType element, ParseType());
    TW_RETURN_NOT_OK(Expect('>'));
    return DataType::Array(std::move(element));
  }

  Result<DataType> ParseMap() {
    if (!AtSymbol('<')) return Incomplete("INCOMPLETE_TYPE_DEFINITION.MAP");
    lexer_.Advance();
    TW_ASSIGN_OR_RETURN(DataType key, ParseType());
    TW_RETURN_NOT_OK(Expect(','));
    TW_ASSIGN_OR_RETURN(DataType value, ParseType());
    TW_RETURN_NOT_OK(Expect('>'));
    return DataType::Map(std::move(key), std::move(value));
  }

  Result<DataType> ParseStruct() {
    if (!AtSymbol('<')) return Incomplete("INCOMPLETE_TYPE_DEFINITION.STRUCT");
    lexer_.Advance();
    if (TakeSymbol('>')) return DataType::Struct({});
    TW_ASSIGN_OR_RETURN(Schema fields, ParseFields());
    TW_RETURN_NOT_OK(Expect('>'));
    return DataType::Struct(std::move(fields));
  }

  // A bare ARRAY, MAP or STRUCT; with a parenthesis behind it is a syntax error like any other.
  Result<DataType> Incomplete(std::string_view condition) {
    if (AtSymbol('(')) return SyntaxError();
    return Refuse(Error(condition).With("elementType", "<INT>"));
  }

  Result<DataType> ParseInterval() {
    if (TakeWord("YEAR")) {
      if (!TakeWord("TO")) return DataType::YearMonthInterval(YearMonthField::kYear, YearMonthField::kYear);
      TW_RETURN_NOT_OK(ExpectWord("MONTH"));
      return DataType::YearMonthInterval();
    }
    if (TakeWord("MONTH")) return DataType::YearMonthInterval(YearMonthField::kMonth, YearMonthField::kMonth);
    static constexpr std::array<std::string_view, 4> kFields = {"DAY", "HOUR", "MINUTE", "SECOND"};
    for (size_t first = 0; first < 4; ++first) {
      if (!TakeWord(kFields[first])) continue;
      const auto start = static_cast<DayTimeField>(first);
      if (!TakeWord("TO")) return DataType::DayTimeInterval(start, start);
      for (size_t last = first + 1; last < 4; ++last) {
        if (TakeWord(kFields[last])) return DataType::DayTimeInterval(start, static_cast<DayTimeField>(last));
      }
      return SyntaxError();
    }
    return DataType::CalendarInterval();
  }

  Result<DataType> MakeScalar(const std::string& name, const std::vector<int64_t>& numbers) {
    if (name == "CHAR" || name == "CHARACTER" || name == "VARCHAR") return MakeSizedString(name, numbers);
    if (!numbers.empty()) {
      if (name == "DECIMAL" || name == "DEC" || name == "NUMERIC") return MakeDecimal(name, numbers);
      if (name == "TIME") return ParseTimeTail(numbers);
      return UnsupportedType(name, numbers);
    }
    if (name == "STRING" && TakeWord("COLLATE")) return ParseCollation();
    if (name == "TIME") return ParseTimeTail(numbers);
    if (name == "TIMESTAMP" && (AtWord("WITHOUT") || AtWord("WITH"))) {
      const bool with = TakeWord("WITH");
      TW_RETURN_NOT_OK(ExpectWord(with ? "LOCAL" : "WITHOUT"));
      TW_RETURN_NOT_OK(ExpectWord("TIME"));
      TW_RETURN_NOT_OK(ExpectWord("ZONE"));
      return with ? DataType::Timestamp() : DataType::TimestampNtz();
    }
    for (const auto& [known, make] : kPlainTypes) {
      if (known == name && make != nullptr) return make();
    }
    return UnsupportedType(name, numbers);
  }

  Result<DataType> ParseTimeTail(const std::vector<int64_t>& numbers) {
    if (numbers.size() > 1) return UnsupportedType("TIME", numbers);
    if (!numbers.empty() && numbers[0] > 6) {
      return Refuse(Error("UNSUPPORTED_TIME_PRECISION").With("precision", std::to_string(numbers[0])));
    }
    if (TakeWord("WITHOUT")) {
      TW_RETURN_NOT_OK(ExpectWord("TIME"));
      TW_RETURN_NOT_OK(ExpectWord("ZONE"));
    }
    return DataType::Time(numbers.empty() ? 6 : static_cast<int>(numbers[0]));
  }

  Result<DataType> ParseCollation() {
    TW_ASSIGN_OR_RETURN(std::string name, ParseName());
    while (TakeSymbol('.')) {
      TW_ASSIGN_OR_RETURN(name, ParseName());
    }
    auto collation = internal::CanonicalCollation(name);
    if (!collation) return Refuse(Error("COLLATION_INVALID_NAME").With("proposals", "").With("collationName", name));
    return DataType::String(std::move(*collation));
  }

  Result<DataType> MakeSizedString(const std::string& name, const std::vector<int64_t>& numbers) {
    if (numbers.empty()) return Refuse(Error("DATATYPE_MISSING_SIZE").With("type", Quoted(name)));
    if (numbers.size() > 1) return UnsupportedType(name, numbers);
    const int length = static_cast<int>(numbers[0]);
    return name == "VARCHAR" ? DataType::Varchar(length) : DataType::Char(length);
  }

  Result<DataType> MakeDecimal(const std::string& name, const std::vector<int64_t>& numbers) {
    if (numbers.size() > 2) return UnsupportedType(name, numbers);
    const int64_t precision = numbers[0];
    const int64_t scale = numbers.size() == 2 ? numbers[1] : 0;
    if (scale > precision) {
      return Refuse(Error("_LEGACY_ERROR_TEMP_1228")
                        .With("scale", std::to_string(scale))
                        .With("precision", std::to_string(precision)));
    }
    if (precision > 38) {
      return Refuse(Error("DECIMAL_PRECISION_EXCEEDS_MAX_PRECISION")
                        .With("precision", std::to_string(precision))
                        .With("maxPrecision", "38"));
    }
    return DataType::Decimal(static_cast<int>(precision), static_cast<int>(scale));
  }

  internal::DdlLexer lexer_;
  Status meaning_error_;
  int depth_ = 0;
};

}  // namespace

Result<DataType> ParseTypeDdl(std::string_view ddl) { return DdlParser(ddl).ParseWholeType(); }

Result<Schema> ParseSchemaDdl(std::string_view ddl) { return DdlParser(ddl).ParseWholeSchema(); }

Result<Schema> ParseSchema(std::string_view ddl_or_json) {
  auto schema = ParseSchemaDdl(ddl_or_json);
  if (schema.ok()) return schema;
  auto type = ParseTypeDdl(ddl_or_json);
  if (!type.ok()) type = ParseTypeJson(ddl_or_json);
  if (!type.ok()) return std::move(schema).status();
  if (!type->Is(TypeKind::kStruct)) {
    return Error("INVALID_SCHEMA.NON_STRUCT_TYPE").With("inputSchema", ddl_or_json).With("dataType", Quoted(type->Sql()));
  }
  return type->fields();
}

}  // namespace thalweg::data
