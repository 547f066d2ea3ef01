#include "connectors/file/file_stream_options.h"

#include <charconv>

#include "base/settings.h"
#include "base/string_case.h"
#include "data/io/path.h"
#include "data/text/numbers.h"

namespace thalweg::connectors {
namespace {

Status Illegal(std::string message) { return Error("ILLEGAL_ARGUMENT").With("message", message); }

Status BadOption(std::string_view name, std::string_view value, std::string_view rule) {
  return Illegal("Invalid value '" + std::string(value) + "' for option '" + std::string(name) + "', " +
                 std::string(rule));
}

std::optional<int64_t> WholeNumber(const std::string& text) {
  int64_t value = 0;
  return data::ParseJavaLong(text, &value) ? std::optional(value) : std::nullopt;
}

Result<std::optional<int64_t>> Limit(const sql::OptionMap& options, const char* name, int64_t most) {
  const std::optional<std::string> text = options.Get(name);
  if (!text) return std::optional<int64_t>();
  const std::optional<int64_t> value = WholeNumber(*text);
  if (!value || *value <= 0 || *value > most) return BadOption(name, *text, "must be a positive integer");
  return value;
}

Result<bool> Flag(const sql::OptionMap& options, const char* name) {
  const std::optional<std::string> text = options.Get(name);
  if (!text) return false;
  if (EqualsIgnoreCase(*text, "true")) return true;
  if (EqualsIgnoreCase(*text, "false")) return false;
  return BadOption(name, *text, "must be 'true' or 'false'");
}

Result<CleanSource> Cleaning(const sql::OptionMap& options, std::string* archive_directory) {
  const std::string mode = options.Get("cleanSource").value_or("off");
  if (EqualsIgnoreCase(mode, "off")) return CleanSource::kOff;
  if (EqualsIgnoreCase(mode, "delete")) return CleanSource::kDelete;
  if (!EqualsIgnoreCase(mode, "archive")) {
    return Illegal("Invalid mode for clean source option Some(" + mode + "). Must be one of ARCHIVE,DELETE,OFF");
  }
  const std::optional<std::string> directory = options.Get("sourceArchiveDir");
  if (!directory) return Illegal("Archive mode must be used with 'sourceArchiveDir' option.");
  TW_ASSIGN_OR_RETURN(const std::string path, data::PathFromText(*directory));
  *archive_directory = data::AbsolutePath(path);
  return CleanSource::kArchive;
}

}  // namespace

Result<FileStreamOptions> FileStreamOptions::Make(const sql::OptionMap& options) {
  FileStreamOptions made;
  for (const char* name : {"modifiedbefore", "modifiedafter"}) {
    if (options.Has(name))
      return Illegal("option '" + std::string(name) + "' is not allowed in file stream sources");
  }
  TW_ASSIGN_OR_RETURN(made.max_files_per_trigger, Limit(options, "maxFilesPerTrigger", INT32_MAX));
  TW_ASSIGN_OR_RETURN(made.max_bytes_per_trigger, Limit(options, "maxBytesPerTrigger", INT64_MAX));
  if (made.max_files_per_trigger && made.max_bytes_per_trigger)
    return Illegal("Options 'maxFilesPerTrigger' and 'maxBytesPerTrigger' can't be both set at the same time");
  static const Setting<int64_t> kAge{.key = "maxFileAge", .unit = SettingUnit::kMillis, .doc = "maxFileAge"};
  TW_ASSIGN_OR_RETURN(made.max_file_age_ms, ParseSetting(kAge, options.Get("maxFileAge").value_or("7d")));
  TW_ASSIGN_OR_RETURN(made.latest_first, Flag(options, "latestFirst"));
  TW_ASSIGN_OR_RETURN(made.file_name_only, Flag(options, "fileNameOnly"));
  if (const std::optional<std::string> text = options.Get("maxCachedFiles")) {
    const std::optional<int64_t> value = WholeNumber(*text);
    if (!value || *value < 0 || *value > INT32_MAX)
      return BadOption("maxCachedFiles", *text, "must be an integer greater than or equal to 0");
    made.max_cached_files = *value;
  }
  if (const std::optional<std::string> text = options.Get("discardCachedInputRatio")) {
    if (!data::ParseJavaDouble(*text, &made.discard_cached_input_ratio) || !(made.discard_cached_input_ratio >= 0) ||
        made.discard_cached_input_ratio > 1)
      return BadOption("discardCachedInputRatio", *text, "must be a positive float between 0 and 1");
  }
  TW_ASSIGN_OR_RETURN(made.clean_source, Cleaning(options, &made.archive_directory));
  return made;
}

}  // namespace thalweg::connectors
