#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "data/text/datetime_pattern.h"
#include "data/text/time_zone.h"

namespace thalweg::data {

enum class ParseMode : uint8_t {
  kPermissive,     ///< what cannot be read is null
  kDropMalformed,  ///< rows that cannot be read are left out
  kFailFast,       ///< MALFORMED_RECORD_IN_PARSING
};

/// Option names and values as the user gave them; names compare without case.
using OptionList = std::vector<std::pair<std::string, std::string>>;

/// Options of JSON readers and writers, Spark's names and defaults.
struct JsonOptions {
  ParseMode mode = ParseMode::kPermissive;
  TimeZone time_zone;
  std::optional<DateTimePattern> timestamp_format;  ///< reading: absent = as CAST reads
  std::optional<DateTimePattern> timestamp_ntz_format;
  std::optional<DateTimePattern> date_format;
  DateTimePattern write_timestamp_format;
  DateTimePattern write_timestamp_ntz_format;
  std::string corrupt_record_column = "_corrupt_record";
  bool multi_line = false;
  std::optional<std::string> line_separator;
  std::optional<std::string> encoding;
  bool allow_comments = false;
  bool allow_unquoted_names = false;
  bool allow_single_quotes = true;
  bool allow_leading_zeros = false;
  bool allow_non_numeric_numbers = true;
  bool allow_any_escape = false;
  bool allow_control_characters = false;
  bool primitives_as_string = false;
  bool prefers_decimal = false;
  bool infer_timestamp = false;
  double sampling_ratio = 1.0;
  bool drop_field_if_all_null = false;
  bool ignore_null_fields = true;
  bool pretty = false;

  /// `session_zone` is spark.sql.session.timeZone. Errors: PARSE_MODE_UNSUPPORTED,
  /// INVALID_DATETIME_PATTERN.*, INVALID_TIMEZONE, INVALID_OPTION_VALUE.
  static Result<JsonOptions> Make(const OptionList& options, const std::string& session_zone);

 private:
  JsonOptions(DateTimePattern timestamp, DateTimePattern timestamp_ntz)
      : write_timestamp_format(std::move(timestamp)),
        write_timestamp_ntz_format(std::move(timestamp_ntz)) {}
};

/// The value of an option in a list, the last one when it is given twice.
const std::string* FindOption(const OptionList& options, std::string_view name);
/// "true"/"false" in any case. Errors: INVALID_OPTION_VALUE.
Result<bool> BoolOption(const OptionList& options, std::string_view name, bool otherwise);
/// PERMISSIVE, DROPMALFORMED, FAILFAST in any case; other words are PERMISSIVE, as in Spark.
ParseMode ParseModeOption(const OptionList& options);

}  // namespace thalweg::data
