#include "front/session/spark_settings.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

#include "base/string_case.h"
#include "data/text/time_zone.h"

namespace thalweg::front {

namespace {

bool IsBoolean(std::string_view text) { return EqualsIgnoreCase(text, "true") || EqualsIgnoreCase(text, "false"); }

bool ReadInteger(std::string_view text, int64_t* out) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *out);
  return !text.empty() && error == std::errc() && end == text.data() + text.size();
}

Status Mismatch(const SparkSetting& setting, const std::string& value, std::string_view type) {
  return Error("INVALID_CONF_VALUE.TYPE_MISMATCH").With("confValue", value).With("confName", setting.key).With("confType", type);
}

Status CheckChoice(const SparkSetting& setting, const std::string& value, std::initializer_list<std::string_view> choices) {
  std::string all;
  for (const std::string_view choice : choices) {
    if (EqualsIgnoreCase(value, choice)) return Status::OK();
    all += (all.empty() ? "" : ", ") + std::string(choice);
  }
  return Error("INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS")
      .With("confValue", value)
      .With("confName", setting.key)
      .With("confOptions", all);
}

}  // namespace

const SparkSetting* FindSparkSetting(std::string_view key) {
  const std::span<const SparkSetting> all = SparkSettings();
  const auto found =
      std::lower_bound(all.begin(), all.end(), key, [](const SparkSetting& s, std::string_view k) { return s.key < k; });
  return found != all.end() && found->key == key ? &*found : nullptr;
}

Status CheckSettingValue(const SparkSetting& setting, const std::string& value) {
  const std::string_view key = setting.key;
  if (key == "spark.sql.session.timeZone") {
    if (data::TimeZone::Parse(value).ok()) return Status::OK();
    return Error("INVALID_CONF_VALUE.TIME_ZONE").With("confValue", value).With("confName", key);
  }
  if (key == "spark.sql.legacy.timeParserPolicy") {
    if (EqualsIgnoreCase(value, "LEGACY")) return Unsupported("spark.sql.legacy.timeParserPolicy=LEGACY");
    return CheckChoice(setting, value, {"EXCEPTION", "CORRECTED", "LEGACY"});
  }
  if (key == "spark.sql.timestampType") return CheckChoice(setting, value, {"TIMESTAMP_LTZ", "TIMESTAMP_NTZ"});
  if (key == "spark.sql.streaming.multipleWatermarkPolicy") return CheckChoice(setting, value, {"min", "max"});
  if (setting.default_value == nullptr) return Status::OK();
  if (IsBoolean(setting.default_value)) return IsBoolean(value) ? Status::OK() : Mismatch(setting, value, "boolean");
  int64_t number = 0;
  if (!ReadInteger(setting.default_value, &number)) return Status::OK();
  // Sizes are listed as plain numbers too, and may be given with a unit.
  if (!ReadInteger(value, &number)) {
    const bool sized = !value.empty() && value[0] >= '0' && value[0] <= '9';
    return sized ? Status::OK() : Mismatch(setting, value, "int");
  }
  if (key == "spark.sql.shuffle.partitions" && number <= 0) {
    return Error("INVALID_CONF_VALUE.REQUIREMENT")
        .With("confValue", value)
        .With("confName", key)
        .With("confRequirement", "The value of spark.sql.shuffle.partitions must be positive");
  }
  return Status::OK();
}

std::string MachineTimeZone() {
  if (const char* zone = std::getenv("TZ"); zone != nullptr && *zone != '\0') {
    const std::string name = *zone == ':' ? zone + 1 : zone;
    if (data::TimeZone::Parse(name).ok()) return name;
  }
  std::error_code error;
  const std::string target = std::filesystem::read_symlink("/etc/localtime", error).string();
  const size_t at = target.find("zoneinfo/");
  if (!error && at != std::string::npos) {
    const std::string name = target.substr(at + 9);
    if (name == "Etc/UTC") return "UTC";
    if (data::TimeZone::Parse(name).ok()) return name;
  }
  return "UTC";
}

}  // namespace thalweg::front
