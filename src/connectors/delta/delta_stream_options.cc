#include "connectors/delta/delta_stream_options.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/string_case.h"
#include "data/text/datetime.h"
#include "data/text/numbers.h"
#include "data/text/time_zone.h"

namespace thalweg::connectors {

class PathPattern {
 public:
  explicit PathPattern(pcre2_code* code) : code_(code) {}
  ~PathPattern() { pcre2_code_free(code_); }
  PathPattern(const PathPattern&) = delete;
  PathPattern& operator=(const PathPattern&) = delete;

  bool FoundIn(const std::string& path) const {
    pcre2_match_data* data = pcre2_match_data_create_from_pattern(code_, nullptr);
    const int found = pcre2_match(code_, reinterpret_cast<PCRE2_SPTR>(path.data()), path.size(), 0, 0, data, nullptr);
    pcre2_match_data_free(data);
    return found >= 0;
  }

 private:
  pcre2_code* const code_;
};

namespace {

constexpr int64_t kDefaultFiles = 1000;

Status Illegal(std::string_view name, std::string_view value, std::string_view rule) {
  return Error("DELTA_ILLEGAL_OPTION").With("input", value).With("name", name).With("explain", rule);
}

Result<bool> Flag(const sql::OptionMap& options, const char* name, bool otherwise) {
  const auto text = options.Get(name);
  if (!text) return otherwise;
  if (EqualsIgnoreCase(*text, "true")) return true;
  if (EqualsIgnoreCase(*text, "false")) return false;
  return Illegal(name, *text, "must be 'true' or 'false'");
}

Status ReadLimits(const sql::OptionMap& options, DeltaStreamOptions* made) {
  if (const auto text = options.Get("maxFilesPerTrigger")) {
    int64_t files = 0;
    if (!data::ParseJavaLong(*text, &files) || files <= 0 || files > INT32_MAX) {
      return Illegal("maxFilesPerTrigger", *text, "must be a positive integer");
    }
    made->max_files = files;
  }
  if (const auto text = options.Get("maxBytesPerTrigger")) {
    static const Setting<int64_t> kSize{.key = "maxBytesPerTrigger", .unit = SettingUnit::kBytes, .doc = "maxBytesPerTrigger"};
    const Result<int64_t> bytes = ParseSetting(kSize, *text);
    if (!bytes.ok() || *bytes <= 0) return Illegal("maxBytesPerTrigger", *text, "must be a size configuration such as '10g'");
    made->max_bytes = *bytes;
  }
  if (!made->max_files && !made->max_bytes) made->max_files = kDefaultFiles;
  return Status::OK();
}

Status ReadStart(const sql::OptionMap& options, const sql::EvalConfig* config, int64_t now_micros, DeltaStreamOptions* made) {
  const auto version = options.Get("startingVersion");
  const auto timestamp = options.Get("startingTimestamp");
  if (version && timestamp) {
    return Error("DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET").With("version", "startingVersion").With("timestamp", "startingTimestamp");
  }
  if (version && EqualsIgnoreCase(*version, "latest")) {
    made->starts_at_latest = true;
  } else if (version) {
    int64_t number = 0;
    if (!data::ParseJavaLong(*version, &number) || number < 0) {
      return Illegal("startingVersion", *version, "must be greater than or equal to zero, or latest");
    }
    made->starting_version = number;
  }
  if (timestamp) {
    data::TimeZone zone;
    if (config != nullptr) {
      TW_ASSIGN_OR_RETURN(zone, data::TimeZone::Parse(config->time_zone));
    }
    int64_t micros = 0;
    if (!data::ParseTimestamp(*timestamp, zone, now_micros, &micros)) {
      return Error("DELTA_TIMESTAMP_INVALID").With("expr", "'" + *timestamp + "'");
    }
    made->starting_micros = micros;
  }
  return Status::OK();
}

}  // namespace

bool DeltaStreamOptions::Excludes(const std::string& path) const { return excluded != nullptr && excluded->FoundIn(path); }

Result<DeltaStreamOptions> DeltaStreamOptions::Make(const sql::OptionMap& options, const sql::EvalConfig* config, int64_t now_micros) {
  DeltaStreamOptions made;
  TW_RETURN_NOT_OK(ReadLimits(options, &made));
  TW_RETURN_NOT_OK(ReadStart(options, config, now_micros, &made));
  TW_ASSIGN_OR_RETURN(made.ignore_deletes, Flag(options, "ignoreDeletes", false));
  TW_ASSIGN_OR_RETURN(made.ignore_changes, Flag(options, "ignoreChanges", false));
  TW_ASSIGN_OR_RETURN(made.skip_change_commits, Flag(options, "skipChangeCommits", false));
  TW_ASSIGN_OR_RETURN(made.ignore_file_deletion, Flag(options, "ignoreFileDeletion", false));
  TW_ASSIGN_OR_RETURN(made.fail_on_data_loss, Flag(options, "failOnDataLoss", true));
  if (const auto text = options.Get("excludeRegex")) {
    int error = 0;
    PCRE2_SIZE at = 0;
    pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text->data()), text->size(), PCRE2_UTF, &error, &at, nullptr);
    if (code == nullptr) return Error("DELTA_REGEX_OPT_SYNTAX_ERROR").With("regExpOption", "excludeRegex");
    made.excluded = std::make_shared<const PathPattern>(code);
  }
  return made;
}

}  // namespace thalweg::connectors
