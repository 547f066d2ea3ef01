#include "data/formats/csv/csv_options.h"

#include "base/string_case.h"
#include "data/formats/text/charset.h"

namespace thalweg::data {
namespace {

Status Illegal(std::string message) { return Error("ILLEGAL_ARGUMENT").With("message", message); }

/// A separator as written in an option: `\t` and the like stand for characters.
/// Source: Spark's CSVExprUtils.toDelimiterStr.
Result<std::string> Delimiter(const std::string& text) {
  if (text.empty()) return Error("INVALID_DELIMITER_VALUE.EMPTY_STRING");
  if (text == "\\") return Error("INVALID_DELIMITER_VALUE.SINGLE_BACKSLASH");
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out.push_back(text[i]);
      continue;
    }
    switch (const char c = text[++i]) {
      case 't':
        out.push_back('\t');
        break;
      case 'r':
        out.push_back('\r');
        break;
      case 'n':
        out.push_back('\n');
        break;
      case 'b':
        out.push_back('\b');
        break;
      case 'f':
        out.push_back('\f');
        break;
      case '"':
      case '\'':
      case '\\':
        out.push_back(c);
        break;
      case 'u':
        if (text.compare(i, 5, "u0000") == 0) {
          out.push_back('\0');
          i += 4;
          break;
        }
        [[fallthrough]];
      default:
        return Error("INVALID_DELIMITER_VALUE.UNSUPPORTED_SPECIAL_CHARACTER").With("str", text);
    }
  }
  return out;
}

/// One character, or none for an empty text.
Result<char> CharOption(const OptionList& options, const char* name, char otherwise) {
  const std::string* text = FindOption(options, name);
  if (text == nullptr) return otherwise;
  if (text->empty()) return '\0';
  if (text->size() == 1) return (*text)[0];
  if (*text == "\\u0000") return '\0';
  return Illegal(std::string(name) + " cannot be more than one character");
}

Result<UnescapedQuotes> UnescapedQuotesOption(const OptionList& options) {
  const std::string name = ToAsciiUpper(TextOption(options, "unescapedQuoteHandling", "STOP_AT_DELIMITER"));
  if (name == "STOP_AT_DELIMITER") return UnescapedQuotes::kStopAtDelimiter;
  if (name == "STOP_AT_CLOSING_QUOTE") return UnescapedQuotes::kStopAtClosingQuote;
  if (name == "SKIP_VALUE") return UnescapedQuotes::kSkipValue;
  if (name == "RAISE_ERROR") return UnescapedQuotes::kRaiseError;
  if (name == "BACK_TO_DELIMITER") return Unsupported("the CSV option unescapedQuoteHandling=BACK_TO_DELIMITER");
  return Illegal("No enum constant com.univocity.parsers.csv.UnescapedQuoteHandling." + name);
}

Status ReadCharacters(const OptionList& options, CsvOptions* made) {
  TW_ASSIGN_OR_RETURN(made->delimiter, Delimiter(TextOption(options, "sep", TextOption(options, "delimiter", ","))));
  TW_ASSIGN_OR_RETURN(made->quote, CharOption(options, "quote", '"'));
  TW_ASSIGN_OR_RETURN(made->escape, CharOption(options, "escape", '\\'));
  TW_ASSIGN_OR_RETURN(made->comment, CharOption(options, "comment", '\0'));
  made->escape_of_escape = made->escape == made->quote ? '\0' : made->escape;
  TW_ASSIGN_OR_RETURN(made->escape_of_escape,
                      CharOption(options, "charToEscapeQuoteEscaping", made->escape_of_escape));
  TW_ASSIGN_OR_RETURN(made->line_separator, LineSeparatorOption(options));
  if (made->line_separator && made->line_separator->size() > 2)
    return Illegal("requirement failed: 'lineSep' can contain only 1 character.");
  TW_ASSIGN_OR_RETURN(made->unescaped_quotes, UnescapedQuotesOption(options));
  const std::string encoding = TextOption(options, "encoding", TextOption(options, "charset", ""));
  if (!IsUtf8Charset(encoding)) {
    TW_RETURN_NOT_OK(CheckCharset("csv", encoding));
    made->encoding = encoding;
  }
  return Status::OK();
}

Status ReadFlags(const OptionList& options, CsvOptions* made) {
  const std::pair<const char*, bool*> flags[] = {{"header", &made->header},
                                                 {"inferSchema", &made->infer_schema},
                                                 {"enforceSchema", &made->enforce_schema},
                                                 {"multiLine", &made->multi_line},
                                                 {"ignoreLeadingWhiteSpace", &made->ignore_leading_blanks},
                                                 {"ignoreTrailingWhiteSpace", &made->ignore_trailing_blanks},
                                                 {"ignoreLeadingWhiteSpace", &made->trim_leading_blanks},
                                                 {"ignoreTrailingWhiteSpace", &made->trim_trailing_blanks},
                                                 {"preferDate", &made->prefer_date},
                                                 {"quoteAll", &made->quote_all},
                                                 {"escapeQuotes", &made->escape_quotes}};
  for (const auto& [name, flag] : flags) {
    TW_ASSIGN_OR_RETURN(*flag, BoolOption(options, name, *flag));
  }
  return Status::OK();
}

}  // namespace

Result<CsvOptions> CsvOptions::Make(const OptionList& options, const std::string& session_zone) {
  using Purpose = DateTimePattern::Purpose;
  TW_ASSIGN_OR_RETURN(DateTimePattern timestamp,
                      DateTimePattern::Compile(
                          TextOption(options, "timestampFormat", "yyyy-MM-dd'T'HH:mm:ss[.SSS][XXXXX]"), Purpose::kFormat));
  TW_ASSIGN_OR_RETURN(DateTimePattern timestamp_ntz,
                      DateTimePattern::Compile(
                          TextOption(options, "timestampNTZFormat", "yyyy-MM-dd'T'HH:mm:ss[.SSS]"), Purpose::kFormat));
  TW_ASSIGN_OR_RETURN(DateTimePattern date,
                      DateTimePattern::Compile(TextOption(options, "dateFormat", "yyyy-MM-dd"), Purpose::kFormat));
  CsvOptions made(std::move(timestamp), std::move(timestamp_ntz), std::move(date));
  TW_RETURN_NOT_OK(ReadCharacters(options, &made));
  TW_RETURN_NOT_OK(ReadFlags(options, &made));
  made.mode = ParseModeOption(options);
  made.corrupt_record_column = TextOption(options, "columnNameOfCorruptRecord", made.corrupt_record_column);
  made.null_value = TextOption(options, "nullValue", "");
  made.empty_value = TextOption(options, "emptyValue", "");
  made.write_empty_value = TextOption(options, "emptyValue", "\"\"");
  made.nan_value = TextOption(options, "nanValue", made.nan_value);
  made.positive_infinity = TextOption(options, "positiveInf", made.positive_infinity);
  made.negative_infinity = TextOption(options, "negativeInf", made.negative_infinity);
  TW_ASSIGN_OR_RETURN(made.max_columns, IntOption(options, "maxColumns", made.max_columns));
  TW_ASSIGN_OR_RETURN(made.sampling_ratio, SamplingRatioOption(options));
  TW_ASSIGN_OR_RETURN(made.compression,
                      CompressionOfOption(TextOption(options, "compression", TextOption(options, "codec", "none"))));
  TW_ASSIGN_OR_RETURN(made.time_zone, TimeZone::Parse(TextOption(options, "timeZone", session_zone)));
  const std::pair<const char*, std::optional<DateTimePattern>*> patterns[] = {
      {"dateFormat", &made.date_format},
      {"timestampFormat", &made.timestamp_format},
      {"timestampNTZFormat", &made.timestamp_ntz_format}};
  for (const auto& [name, pattern] : patterns) {
    const std::string* text = FindOption(options, name);
    if (text == nullptr) continue;
    TW_ASSIGN_OR_RETURN(*pattern, DateTimePattern::Compile(*text, Purpose::kParse));
  }
  return made;
}

}  // namespace thalweg::data
