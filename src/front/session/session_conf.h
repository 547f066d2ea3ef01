#pragma once

// The settings of one session: what it set, over what the server was started with, over the table of defaults.

#include <map>
#include <memory>
#include <optional>
#include <string>

#include "base/mutex.h"
#include "base/settings.h"
#include "base/status.h"
#include "sql/expr/eval_context.h"

namespace thalweg::front {

/// Whether `text` may be given to a setting, as far as it is known: by Spark's table and by `known` (may be null). Spark takes more values of
/// its own settings than we do; who uses them refuses the rest, here only texts of another type are. Errors: INVALID_CONF_VALUE.*.
Status CheckSetting(const SettingsTable* known, const std::string& key, const std::string& text);

/// Thread: synchronised.
class SessionConf {
 public:
  explicit SessionConf(SettingsMap server_settings, const SettingsTable* known = nullptr);
  SessionConf(const SessionConf& other);
  SessionConf& operator=(const SessionConf&) = delete;

  /// Errors: CANNOT_MODIFY_STATIC_CONFIG, INVALID_CONF_VALUE.*.
  Status Set(const std::string& key, const std::string& value);
  Status Unset(const std::string& key);
  void Reset();
  std::optional<std::string> Explicit(const std::string& key) const;
  std::optional<std::string> Lookup(const std::string& key) const;
  std::map<std::string, std::string> All() const;
  bool IsModifiable(const std::string& key) const;
  /// What was set, over what the server was started with: what a streaming query takes at its start.
  SettingsMap Snapshot() const;
  /// Rebuilt when a setting or the database has changed since.
  std::shared_ptr<const sql::EvalConfig> Config(const std::string& user, const std::string& database) const;
  int64_t GetInt(const std::string& key, int64_t otherwise) const;
  bool GetBool(const std::string& key, bool otherwise) const;

 private:
  std::optional<std::string> LookupLocked(const std::string& key) const TW_REQUIRES(mutex_);

  Status CheckModifiable(const std::string& key) const;

  mutable Mutex mutex_;
  const SettingsTable* const known_;
  const SettingsMap server_settings_;
  const std::string machine_zone_;
  SettingsMap values_ TW_GUARDED_BY(mutex_);
  mutable std::shared_ptr<const sql::EvalConfig> config_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg::front
