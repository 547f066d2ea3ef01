#include "front/session/session_conf.h"

#include "base/string_case.h"
#include "front/session/spark_settings.h"

namespace thalweg::front {

namespace {

SettingsMap Copy(const SessionConf& conf) { return conf.Snapshot(); }

sql::EvalConfig::TimeParserPolicy PolicyOf(std::string_view text) {
  if (EqualsIgnoreCase(text, "LEGACY")) return sql::EvalConfig::TimeParserPolicy::kLegacy;
  if (EqualsIgnoreCase(text, "EXCEPTION")) return sql::EvalConfig::TimeParserPolicy::kException;
  return sql::EvalConfig::TimeParserPolicy::kCorrected;
}

}  // namespace

Status CheckSetting(const SettingsTable* known, const std::string& key, const std::string& text) {
  if (const SparkSetting* setting = FindSparkSetting(key)) TW_RETURN_NOT_OK(CheckSettingValue(*setting, text));
  const SettingEntry* entry = known == nullptr ? nullptr : known->Find(key);
  if (entry == nullptr) return Status::OK();
  const Status status = entry->validate(text);
  if (status.ok() || key.starts_with("thalweg.") || status.condition() == "INVALID_CONF_VALUE.TYPE_MISMATCH") return status;
  return Status::OK();
}

SessionConf::SessionConf(SettingsMap server_settings, const SettingsTable* known)
    : known_(known), server_settings_(std::move(server_settings)), machine_zone_(MachineTimeZone()) {}

SessionConf::SessionConf(const SessionConf& other)
    : known_(other.known_), server_settings_(other.server_settings_), machine_zone_(other.machine_zone_), values_(Copy(other)) {}

Status SessionConf::CheckModifiable(const std::string& key) const {
  const SparkSetting* setting = FindSparkSetting(key);
  const SettingEntry* entry = known_ == nullptr ? nullptr : known_->Find(key);
  const bool fixed = (setting != nullptr && !setting->modifiable) || (entry != nullptr && entry->scope == SettingScope::kServer);
  return fixed ? Error("CANNOT_MODIFY_STATIC_CONFIG").With("key", "\"" + key + "\"") : Status::OK();
}

Status SessionConf::Set(const std::string& key, const std::string& value) {
  TW_RETURN_NOT_OK(CheckModifiable(key));
  TW_RETURN_NOT_OK(CheckSetting(known_, key, value));
  const MutexLock lock(mutex_);
  values_.Set(key, value);
  config_ = nullptr;
  return Status::OK();
}

Status SessionConf::Unset(const std::string& key) {
  TW_RETURN_NOT_OK(CheckModifiable(key));
  const MutexLock lock(mutex_);
  values_.Unset(key);
  config_ = nullptr;
  return Status::OK();
}

void SessionConf::Reset() {
  const MutexLock lock(mutex_);
  values_ = SettingsMap();
  config_ = nullptr;
}

std::optional<std::string> SessionConf::Explicit(const std::string& key) const {
  const MutexLock lock(mutex_);
  if (const std::string* value = values_.Find(key)) return *value;
  if (const std::string* value = server_settings_.Find(key)) return *value;
  return std::nullopt;
}

std::optional<std::string> SessionConf::LookupLocked(const std::string& key) const {
  if (const std::string* value = values_.Find(key)) return *value;
  if (const std::string* value = server_settings_.Find(key)) return *value;
  if (key == "spark.sql.session.timeZone") return machine_zone_;
  const SparkSetting* setting = FindSparkSetting(key);
  if (setting == nullptr || setting->default_value == nullptr) return std::nullopt;
  return setting->default_value;
}

std::optional<std::string> SessionConf::Lookup(const std::string& key) const {
  const MutexLock lock(mutex_);
  return LookupLocked(key);
}

std::map<std::string, std::string> SessionConf::All() const {
  const SettingsMap set = Snapshot();
  return {set.values().begin(), set.values().end()};
}

bool SessionConf::IsModifiable(const std::string& key) const {
  const SparkSetting* setting = FindSparkSetting(key);
  const bool known = setting != nullptr ? setting->modifiable : known_ != nullptr && known_->Find(key) != nullptr;
  return known && CheckModifiable(key).ok();
}

SettingsMap SessionConf::Snapshot() const {
  const MutexLock lock(mutex_);
  SettingsMap all = server_settings_;
  all.Overlay(values_);
  return all;
}

std::shared_ptr<const sql::EvalConfig> SessionConf::Config(const std::string& user, const std::string& database) const {
  const MutexLock lock(mutex_);
  if (config_ != nullptr && config_->current_database == database) return config_;
  auto config = std::make_shared<sql::EvalConfig>();
  const auto flag = [&](const char* key, bool otherwise) {
    const std::optional<std::string> text = LookupLocked(key);
    return text ? EqualsIgnoreCase(*text, "true") : otherwise;
  };
  config->ansi = flag("spark.sql.ansi.enabled", true);
  config->time_zone = LookupLocked("spark.sql.session.timeZone").value_or("UTC");
  config->case_sensitive = flag("spark.sql.caseSensitive", false);
  config->time_parser_policy = PolicyOf(LookupLocked("spark.sql.legacy.timeParserPolicy").value_or("CORRECTED"));
  config->double_quoted_identifiers = config->ansi && flag("spark.sql.ansi.doubleQuotedIdentifiers", false);
  config->timestamp_ntz_default = EqualsIgnoreCase(LookupLocked("spark.sql.timestampType").value_or(""), "TIMESTAMP_NTZ");
  config->user = user;
  config->current_database = database;
  config_ = std::move(config);
  return config_;
}

int64_t SessionConf::GetInt(const std::string& key, int64_t otherwise) const {
  const std::optional<std::string> text = Lookup(key);
  if (!text) return otherwise;
  const Result<int64_t> value = ParseSetting(Setting<int64_t>{.key = "", .unit = SettingUnit::kBytes, .doc = ""}, *text);
  return value.ok() ? *value : otherwise;
}

bool SessionConf::GetBool(const std::string& key, bool otherwise) const {
  const std::optional<std::string> text = Lookup(key);
  return text ? EqualsIgnoreCase(*text, "true") : otherwise;
}

}  // namespace thalweg::front
