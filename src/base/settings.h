#pragma once

// Settings: declared once as a constant, read typed, listed in a table. This is only the mechanism; the settings
// stand in the *_settings.h of the rooms that use them.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/status.h"

namespace thalweg {

/// Who may change a setting, and when.
enum class SettingScope : unsigned char {
  kServer,   ///< fixed when the server starts; sessions may read it
  kSession,  ///< any time, per session
};

/// How the text of a number is read: what a bare number means and which suffixes are understood.
enum class SettingUnit : unsigned char {
  kNone,
  kBytes,    ///< bare: bytes; suffixes b k kb m mb g gb t tb p pb, by 1024
  kMillis,   ///< bare: milliseconds; suffixes us ms s m min h d
  kSeconds,  ///< bare: seconds; the same suffixes
};

/// One setting. T is bool, int64_t, double or std::string; bytes, and time in its unit, are int64_t.
///   inline const Setting<int64_t> kShufflePartitions{.key = "spark.sql.shuffle.partitions", .default_value = 16,
///       .min = 1, .doc = "Partitions of an exchange."};
/// Thread: immutable. Lifetime: static.
template <typename T>
struct Setting {
  std::string_view key;  ///< Spark's key where Spark has one; ours begin "thalweg."
  T default_value{};
  std::optional<T> min{};  ///< smallest legal value
  std::optional<T> max{};  ///< largest legal value
  SettingUnit unit = SettingUnit::kNone;
  SettingScope scope = SettingScope::kSession;
  std::vector<std::string_view> choices{};  ///< legal texts (any case), when only some are
  std::string_view doc;
};

/// Reads a text as the type and unit of a setting and checks its bounds; surrounding blanks are ignored.
/// Errors: INVALID_CONF_VALUE.TYPE_MISMATCH, .OUT_OF_RANGE_OF_OPTIONS, .REQUIREMENT.
Result<bool> ParseSetting(const Setting<bool>& setting, std::string_view text);
Result<int64_t> ParseSetting(const Setting<int64_t>& setting, std::string_view text);
Result<double> ParseSetting(const Setting<double>& setting, std::string_view text);
Result<std::string> ParseSetting(const Setting<std::string>& setting, std::string_view text);

/// The text Spark's Config call gives for a value: 16, true, 64MB as 67108864b, 60 s as 60000ms.
std::string SettingText(const Setting<bool>& setting, bool value);
std::string SettingText(const Setting<int64_t>& setting, int64_t value);
std::string SettingText(const Setting<double>& setting, double value);
std::string SettingText(const Setting<std::string>& setting, const std::string& value);

/// The values somebody set: keys to texts. A copy is a snapshot. Thread: confined, or immutable.
class SettingsMap {
 public:
  /// The value of a setting; its default when it is not set or its text is not legal (SettingsTable::Validate
  /// refuses such texts where they enter).
  template <typename T>
  T Get(const Setting<T>& setting) const {
    const std::string* text = Find(setting.key);
    if (text == nullptr) return setting.default_value;
    Result<T> value = ParseSetting(setting, *text);
    return value.ok() ? std::move(*value) : setting.default_value;
  }
  /// The same, with an error for an illegal text.
  template <typename T>
  Result<T> Read(const Setting<T>& setting) const {
    const std::string* text = Find(setting.key);
    if (text == nullptr) return T(setting.default_value);
    return ParseSetting(setting, *text);
  }
  template <typename T>
  void Set(const Setting<T>& setting, const T& value) {
    Set(setting.key, SettingText(setting, value));
  }

  /// The text of a key, or null when it is not set.
  const std::string* Find(std::string_view key) const;
  bool Contains(std::string_view key) const { return Find(key) != nullptr; }
  void Set(std::string_view key, std::string_view text);
  void Unset(std::string_view key);
  /// Every pair of `over` replaces ours.
  void Overlay(const SettingsMap& over);
  const std::map<std::string, std::string, std::less<>>& values() const { return values_; }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

/// Everything that is known of one setting without its type.
struct SettingEntry {
  std::string key;
  std::string default_text;
  std::string doc;
  SettingScope scope = SettingScope::kSession;
  std::function<Status(std::string_view)> validate;
};

/// The settings of the program by key. Filled at start, room by room; immutable afterwards. Thread: any, once filled.
class SettingsTable {
 public:
  template <typename T>
  void Add(const Setting<T>& setting) {
    Add(SettingEntry{std::string(setting.key), SettingText(setting, setting.default_value),
                     std::string(setting.doc), setting.scope, [&setting](std::string_view text) -> Status {
                       return ParseSetting(setting, text).status();
                     }});
  }
  /// A second entry of one key replaces the first.
  void Add(SettingEntry entry);

  /// The entry of a key, or null.
  const SettingEntry* Find(std::string_view key) const;
  /// Whether a session may set `key` to `text`; unknown keys may have any text.
  /// Errors: CANNOT_MODIFY_STATIC_CONFIG, INVALID_CONF_VALUE.*.
  Status Validate(std::string_view key, std::string_view text) const;
  /// The set text of a key, else its default, else nothing.
  std::optional<std::string> Lookup(const SettingsMap& values, std::string_view key) const;
  const std::map<std::string, SettingEntry, std::less<>>& entries() const { return entries_; }

 private:
  std::map<std::string, SettingEntry, std::less<>> entries_;
};

}  // namespace thalweg
