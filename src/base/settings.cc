#include "base/settings.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>

namespace thalweg {
namespace {

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const size_t first = text.find_first_not_of(kBlank);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlank) - first + 1);
}

std::string Lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

Status TypeMismatch(std::string_view key, std::string_view text, std::string_view type) {
  return Error("INVALID_CONF_VALUE.TYPE_MISMATCH")
      .With("confValue", text)
      .With("confName", key)
      .With("confType", type);
}

struct Suffix {
  std::string_view name;
  double factor;  // to the canonical unit: bytes, or microseconds
};

constexpr std::array<Suffix, 11> kByteSuffixes = {{{"b", 1.0},
                                                   {"k", 1024.0},
                                                   {"kb", 1024.0},
                                                   {"m", 1048576.0},
                                                   {"mb", 1048576.0},
                                                   {"g", 1073741824.0},
                                                   {"gb", 1073741824.0},
                                                   {"t", 1099511627776.0},
                                                   {"tb", 1099511627776.0},
                                                   {"p", 1125899906842624.0},
                                                   {"pb", 1125899906842624.0}}};
constexpr std::array<Suffix, 7> kTimeSuffixes = {{{"us", 1.0},
                                                  {"ms", 1e3},
                                                  {"s", 1e6},
                                                  {"m", 6e7},
                                                  {"min", 6e7},
                                                  {"h", 3.6e9},
                                                  {"d", 8.64e10}}};

const Suffix* FindSuffix(SettingUnit unit, std::string_view name) {
  const Suffix* begin = unit == SettingUnit::kBytes ? kByteSuffixes.data() : kTimeSuffixes.data();
  const size_t count = unit == SettingUnit::kBytes ? kByteSuffixes.size() : kTimeSuffixes.size();
  for (size_t i = 0; i < count; ++i) {
    if (begin[i].name == name) return &begin[i];
  }
  return nullptr;
}

std::string_view TypeName(SettingUnit unit) {
  switch (unit) {
    case SettingUnit::kBytes: return "bytes";
    case SettingUnit::kMillis:
    case SettingUnit::kSeconds: return "time";
    case SettingUnit::kNone: break;
  }
  return "long";
}

// Integer with an optional suffix, in the setting's unit; nothing when the text is not one or does not fit.
std::optional<int64_t> ReadInteger(SettingUnit unit, std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t number = 0;
  const char* last = text.data() + text.size();
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc{}) return std::nullopt;
  if (end == last) return number;
  if (unit == SettingUnit::kNone) return std::nullopt;
  const std::string name = Lower(Trim(std::string_view(end, last - end)));
  const Suffix* suffix = FindSuffix(unit, name);
  if (suffix == nullptr) return std::nullopt;
  const double target = unit == SettingUnit::kMillis ? 1e3 : unit == SettingUnit::kSeconds ? 1e6 : 1.0;
  if (suffix->factor < target) return number / static_cast<int64_t>(target / suffix->factor);
  const auto factor = static_cast<int64_t>(suffix->factor / target);
  int64_t product = 0;
  if (__builtin_mul_overflow(number, factor, &product)) return std::nullopt;
  return product;
}

template <typename T>
Status CheckBounds(const Setting<T>& setting, std::string_view text, T value) {
  std::string requirement;
  if (setting.min.has_value() && value < *setting.min) {
    requirement = "It must be at least " + SettingText(setting, *setting.min) + ".";
  } else if (setting.max.has_value() && value > *setting.max) {
    requirement = "It must be at most " + SettingText(setting, *setting.max) + ".";
  } else {
    return Status::OK();
  }
  return Error("INVALID_CONF_VALUE.REQUIREMENT")
      .With("confValue", text)
      .With("confName", setting.key)
      .With("confRequirement", requirement);
}

}  // namespace

Result<bool> ParseSetting(const Setting<bool>& setting, std::string_view text) {
  const std::string lower = Lower(Trim(text));
  if (lower == "true") return true;
  if (lower == "false") return false;
  return TypeMismatch(setting.key, text, "boolean");
}

Result<int64_t> ParseSetting(const Setting<int64_t>& setting, std::string_view text) {
  const std::optional<int64_t> value = ReadInteger(setting.unit, Trim(text));
  if (!value.has_value()) return TypeMismatch(setting.key, text, TypeName(setting.unit));
  TW_RETURN_NOT_OK(CheckBounds(setting, text, *value));
  return *value;
}

Result<double> ParseSetting(const Setting<double>& setting, std::string_view text) {
  const std::string_view trimmed = Trim(text);
  double value = 0;
  const char* last = trimmed.data() + trimmed.size();
  const auto [end, error] = std::from_chars(trimmed.data(), last, value);
  if (error != std::errc{} || end != last || std::isnan(value)) return TypeMismatch(setting.key, text, "double");
  TW_RETURN_NOT_OK(CheckBounds(setting, text, value));
  return value;
}

Result<std::string> ParseSetting(const Setting<std::string>& setting, std::string_view text) {
  if (setting.choices.empty()) return std::string(text);
  const std::string lower = Lower(Trim(text));
  std::string options;
  for (const std::string_view choice : setting.choices) {
    if (Lower(choice) == lower) return std::string(choice);
    options += (options.empty() ? "" : ", ") + std::string(choice);
  }
  return Error("INVALID_CONF_VALUE.OUT_OF_RANGE_OF_OPTIONS")
      .With("confValue", text)
      .With("confName", setting.key)
      .With("confOptions", options);
}

std::string SettingText(const Setting<bool>&, bool value) { return value ? "true" : "false"; }

std::string SettingText(const Setting<int64_t>& setting, int64_t value) {
  const std::string number = std::to_string(value);
  switch (setting.unit) {
    case SettingUnit::kBytes: return number + "b";
    case SettingUnit::kMillis: return number + "ms";
    case SettingUnit::kSeconds: return number + "s";
    case SettingUnit::kNone: break;
  }
  return number;
}

std::string SettingText(const Setting<double>&, double value) {
  std::array<char, 32> buffer;
  const auto [end, error] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  std::string text(buffer.data(), error == std::errc{} ? end : buffer.data());
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

std::string SettingText(const Setting<std::string>&, const std::string& value) { return value; }

const std::string* SettingsMap::Find(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

void SettingsMap::Set(std::string_view key, std::string_view text) { values_[std::string(key)] = text; }

void SettingsMap::Unset(std::string_view key) {
  const auto found = values_.find(key);
  if (found != values_.end()) values_.erase(found);
}

void SettingsMap::Overlay(const SettingsMap& over) {
  for (const auto& [key, text] : over.values_) values_[key] = text;
}

void SettingsTable::Add(SettingEntry entry) { entries_[entry.key] = std::move(entry); }

const SettingEntry* SettingsTable::Find(std::string_view key) const {
  const auto found = entries_.find(key);
  return found == entries_.end() ? nullptr : &found->second;
}

Status SettingsTable::Validate(std::string_view key, std::string_view text) const {
  const SettingEntry* entry = Find(key);
  if (entry == nullptr) return Status::OK();
  if (entry->scope == SettingScope::kServer) return Error("CANNOT_MODIFY_STATIC_CONFIG").With("key", key);
  return entry->validate(text);
}

std::optional<std::string> SettingsTable::Lookup(const SettingsMap& values, std::string_view key) const {
  if (const std::string* text = values.Find(key)) return *text;
  if (const SettingEntry* entry = Find(key)) return entry->default_text;
  return std::nullopt;
}

}  // namespace thalweg
