#include "data/formats/json/json_options.h"

namespace thalweg::data {

Result<JsonOptions> JsonOptions::Make(const OptionList& options, const std::string& session_zone) {
  using Purpose = DateTimePattern::Purpose;
  const auto text_or = [&](std::string_view name, const char* otherwise) {
    const std::string* text = FindOption(options, name);
    return text != nullptr ? *text : std::string(otherwise);
  };
  TW_ASSIGN_OR_RETURN(
      DateTimePattern timestamp,
      DateTimePattern::Compile(text_or("timestampFormat", "yyyy-MM-dd'T'HH:mm:ss[.SSS][XXXXX]"),
                               Purpose::kFormat));
  TW_ASSIGN_OR_RETURN(
      DateTimePattern timestamp_ntz,
      DateTimePattern::Compile(text_or("timestampNTZFormat", "yyyy-MM-dd'T'HH:mm:ss[.SSS]"),
                               Purpose::kFormat));
  JsonOptions made(std::move(timestamp), std::move(timestamp_ntz));
  made.mode = ParseModeOption(options);
  const std::string* zone = FindOption(options, "timeZone");
  TW_ASSIGN_OR_RETURN(made.time_zone, TimeZone::Parse(zone != nullptr ? *zone : session_zone));
  const auto pattern = [&](std::string_view name, std::optional<DateTimePattern>* out) -> Status {
    const std::string* text = FindOption(options, name);
    if (text == nullptr) return Status::OK();
    TW_ASSIGN_OR_RETURN(*out, DateTimePattern::Compile(*text, Purpose::kParse));
    return Status::OK();
  };
  TW_RETURN_NOT_OK(pattern("timestampFormat", &made.timestamp_format));
  TW_RETURN_NOT_OK(pattern("timestampNTZFormat", &made.timestamp_ntz_format));
  TW_RETURN_NOT_OK(pattern("dateFormat", &made.date_format));
  if (const std::string* text = FindOption(options, "columnNameOfCorruptRecord"))
    made.corrupt_record_column = *text;
  TW_ASSIGN_OR_RETURN(made.line_separator, LineSeparatorOption(options));
  if (const std::string* text = FindOption(options, "encoding")) made.encoding = *text;
  if (const std::string* text = FindOption(options, "charset")) made.encoding = *text;
  const std::pair<std::string_view, bool*> flags[] = {
      {"multiLine", &made.multi_line},
      {"allowComments", &made.allow_comments},
      {"allowUnquotedFieldNames", &made.allow_unquoted_names},
      {"allowSingleQuotes", &made.allow_single_quotes},
      {"allowNumericLeadingZeros", &made.allow_leading_zeros},
      {"allowNonNumericNumbers", &made.allow_non_numeric_numbers},
      {"allowBackslashEscapingAnyCharacter", &made.allow_any_escape},
      {"allowUnquotedControlChars", &made.allow_control_characters},
      {"primitivesAsString", &made.primitives_as_string},
      {"prefersDecimal", &made.prefers_decimal},
      {"inferTimestamp", &made.infer_timestamp},
      {"dropFieldIfAllNull", &made.drop_field_if_all_null},
      {"ignoreNullFields", &made.ignore_null_fields},
      {"pretty", &made.pretty}};
  for (const auto& [name, flag] : flags) {
    TW_ASSIGN_OR_RETURN(*flag, BoolOption(options, name, *flag));
  }
  TW_ASSIGN_OR_RETURN(made.sampling_ratio, SamplingRatioOption(options));
  TW_ASSIGN_OR_RETURN(made.compression, CompressionOfOption(TextOption(options, "compression", "none")));
  return made;
}

}  // namespace thalweg::data
