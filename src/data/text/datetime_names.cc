// English names of months, days, zones.

#include <unicode/ucal.h>
#include <unicode/ustring.h>

#include <array>
#include <map>
#include <mutex>
#include <string>

#include "data/text/datetime_program.h"

namespace thalweg::data::internal {
namespace {

struct NamedZone {
  std::string_view name;
  std::string_view zone;
};

// What java.time's zone texts mean in the United States; abbreviations first, then the long names of the same zones.
constexpr std::array<NamedZone, 46> kShortZoneNames = {{{"UTC", "UTC"},
                                                        {"GMT", "GMT"},
                                                        {"UT", "UTC"},
                                                        {"PST", "America/Los_Angeles"},
                                                        {"PDT", "America/Los_Angeles"},
                                                        {"PT", "America/Los_Angeles"},
                                                        {"MST", "America/Denver"},
                                                        {"MDT", "America/Denver"},
                                                        {"MT", "America/Denver"},
                                                        {"CST", "America/Chicago"},
                                                        {"CDT", "America/Chicago"},
                                                        {"CT", "America/Chicago"},
                                                        {"EST", "America/New_York"},
                                                        {"EDT", "America/New_York"},
                                                        {"ET", "America/New_York"},
                                                        {"AKST", "America/Anchorage"},
                                                        {"AKDT", "America/Anchorage"},
                                                        {"HST", "Pacific/Honolulu"},
                                                        {"AST", "America/Halifax"},
                                                        {"ADT", "America/Halifax"},
                                                        {"NST", "America/St_Johns"},
                                                        {"NDT", "America/St_Johns"},
                                                        {"BRT", "America/Sao_Paulo"},
                                                        {"ART", "America/Argentina/Buenos_Aires"},
                                                        {"WET", "WET"},
                                                        {"WEST", "WET"},
                                                        {"BST", "Europe/London"},
                                                        {"CET", "Europe/Paris"},
                                                        {"CEST", "Europe/Paris"},
                                                        {"EET", "Europe/Athens"},
                                                        {"EEST", "Europe/Athens"},
                                                        {"MSK", "Europe/Moscow"},
                                                        {"SAST", "Africa/Johannesburg"},
                                                        {"EAT", "Africa/Nairobi"},
                                                        {"IST", "Asia/Kolkata"},
                                                        {"PKT", "Asia/Karachi"},
                                                        {"ICT", "Asia/Bangkok"},
                                                        {"WIB", "Asia/Jakarta"},
                                                        {"HKT", "Asia/Hong_Kong"},
                                                        {"SGT", "Asia/Singapore"},
                                                        {"KST", "Asia/Seoul"},
                                                        {"JST", "Asia/Tokyo"},
                                                        {"AEST", "Australia/Sydney"},
                                                        {"AEDT", "Australia/Sydney"},
                                                        {"AWST", "Australia/Perth"},
                                                        {"NZST", "Pacific/Auckland"}}};
constexpr std::array<std::string_view, 22> kZonesWithLongNames = {
    "UTC",           "GMT",           "America/Los_Angeles", "America/Denver", "America/Chicago",  "America/New_York",
    "America/Anchorage", "Pacific/Honolulu", "America/Halifax", "America/Sao_Paulo", "Europe/London",  "Europe/Paris",
    "Europe/Athens", "Europe/Moscow", "Africa/Johannesburg", "Asia/Kolkata",   "Asia/Hong_Kong",   "Asia/Singapore",
    "Asia/Seoul",    "Asia/Tokyo",    "Australia/Sydney",    "Pacific/Auckland"};

std::string LongNameFromIcu(const std::string& id, bool daylight) {
  UChar wide_id[96];
  int32_t id_length = 0;
  UErrorCode error = U_ZERO_ERROR;
  u_strFromUTF8(wide_id, 96, &id_length, id.data(), static_cast<int32_t>(id.size()), &error);
  UCalendar* const calendar = ucal_open(wide_id, id_length, "en_US", UCAL_GREGORIAN, &error);
  if (U_FAILURE(error)) return id;
  UChar name[128];
  const int32_t length =
      ucal_getTimeZoneDisplayName(calendar, daylight ? UCAL_DST : UCAL_STANDARD, "en_US", name, 128, &error);
  ucal_close(calendar);
  char bytes[256];
  int32_t byte_length = 0;
  u_strToUTF8(bytes, 256, &byte_length, name, length, &error);
  return U_SUCCESS(error) ? std::string(bytes, static_cast<size_t>(byte_length)) : id;
}

}  // namespace

const FieldNames& NamesOf(DateTimeField field, bool full) {
  static const auto* const eras = new std::array<FieldNames, 2>{{{0, {"BC", "AD"}}, {0, {"Before Christ", "Anno Domini"}}}};
  static const auto* const months = new std::array<FieldNames, 2>{
      {{1, {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"}},
       {1,
        {"January", "February", "March", "April", "May", "June", "July", "August", "September", "October", "November",
         "December"}}}};
  static const auto* const quarters = new std::array<FieldNames, 2>{
      {{1, {"Q1", "Q2", "Q3", "Q4"}}, {1, {"1st quarter", "2nd quarter", "3rd quarter", "4th quarter"}}}};
  static const auto* const days = new std::array<FieldNames, 2>{
      {{1, {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"}},
       {1, {"Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday"}}}};
  static const auto* const halves = new std::array<FieldNames, 2>{{{0, {"AM", "PM"}}, {0, {"AM", "PM"}}}};
  const size_t which = full ? 1 : 0;
  switch (field) {
    case DateTimeField::kEra: return (*eras)[which];
    case DateTimeField::kMonth: return (*months)[which];
    case DateTimeField::kQuarter: return (*quarters)[which];
    case DateTimeField::kDayOfWeek: return (*days)[which];
    default: return (*halves)[which];
  }
}

bool EqualsIgnoreCase(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    const char x = a[i] >= 'A' && a[i] <= 'Z' ? static_cast<char>(a[i] + 32) : a[i];
    const char y = b[i] >= 'A' && b[i] <= 'Z' ? static_cast<char>(b[i] + 32) : b[i];
    if (x != y) return false;
  }
  return true;
}

std::string LongZoneName(const TimeZone& zone, bool daylight) {
  const std::string& id = zone.id();
  if (id == "UTC" || id == "UT") return "Coordinated Universal Time";
  if (id == "GMT") return "Greenwich Mean Time";
  if (zone.is_fixed()) return id;
  static std::mutex mutex;
  static auto* const names = new std::map<std::pair<std::string, bool>, std::string>();
  const std::lock_guard lock(mutex);
  auto& name = (*names)[{id, daylight}];
  if (name.empty()) name = LongNameFromIcu(id, daylight);
  return name;
}

std::optional<TimeZone> ZoneByName(std::string_view text, bool full, size_t* length) {
  std::string_view best;
  *length = 0;
  const auto offer = [&](std::string_view name, std::string_view zone) {
    if (name.size() <= *length || name.size() > text.size() || !EqualsIgnoreCase(text.substr(0, name.size()), name)) return;
    *length = name.size();
    best = zone;
  };
  if (full) {
    for (const std::string_view id : kZonesWithLongNames) {
      const auto zone = TimeZone::Find(id);
      if (!zone) continue;
      offer(LongZoneName(*zone, false), id);
      offer(LongZoneName(*zone, true), id);
    }
  } else {
    for (const NamedZone& entry : kShortZoneNames) offer(entry.name, entry.zone);
  }
  return *length == 0 ? std::nullopt : TimeZone::Find(best);
}

}  // namespace thalweg::data::internal
