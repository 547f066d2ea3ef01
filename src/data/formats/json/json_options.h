#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "data/formats/option_list.h"
#include "data/formats/text/byte_stream.h"
#include "data/text/datetime_pattern.h"
#include "data/text/time_zone.h"

namespace thalweg::data {

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
  bool case_sensitive = false;  ///< for inference: spark.sql.caseSensitive
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
  bool exact_text = false;  ///< other values than strings land in string columns as they are written (files, not functions)
  Compression compression = Compression::kNone;  ///< writing

  /// `session_zone` is spark.sql.session.timeZone. Errors: PARSE_MODE_UNSUPPORTED,
  /// INVALID_DATETIME_PATTERN.*, INVALID_TIMEZONE, INVALID_OPTION_VALUE.
  static Result<JsonOptions> Make(const OptionList& options, const std::string& session_zone);

 private:
  JsonOptions(DateTimePattern timestamp, DateTimePattern timestamp_ntz)
      : write_timestamp_format(std::move(timestamp)),
        write_timestamp_ntz_format(std::move(timestamp_ntz)) {}
};

}  // namespace thalweg::data
