#include "data/text/time_zone.h"

#include <absl/time/civil_time.h>
#include <absl/time/time.h>

#include <algorithm>
#include <array>
#include <mutex>
#include <shared_mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "data/text/civil.h"

namespace thalweg::data {

// The offsets of a region as a sorted table of moments, filled from the zone database when the region is first named.
struct TimeZone::Rules {
  absl::TimeZone zone;
  std::vector<int64_t> since;     // seconds of 1970 UTC from which the entry holds; the first is the least int64
  std::vector<int32_t> offsets;   // seconds east
  std::string short_names[2];     // standard, daylight saving
  std::vector<int64_t> local_to;  // local seconds (of the earlier offset) at which the entry ends; the last: greatest int64

  size_t IndexAt(int64_t utc_seconds) const {
    return static_cast<size_t>(std::upper_bound(since.begin(), since.end(), utc_seconds) - since.begin()) - 1;
  }
};

namespace {

constexpr int32_t kMaxOffsetSeconds = 18 * 3600;
// The table goes up to here; beyond, rules of the database repeat every 400 years.
constexpr int kTableEndYear = 2400;

struct ShortId {
  std::string_view id;
  std::string_view zone;
};
// java.time.ZoneId.SHORT_IDS of Java 17.
constexpr std::array<ShortId, 28> kShortIds = {{{"ACT", "Australia/Darwin"},
                                                {"AET", "Australia/Sydney"},
                                                {"AGT", "America/Argentina/Buenos_Aires"},
                                                {"ART", "Africa/Cairo"},
                                                {"AST", "America/Anchorage"},
                                                {"BET", "America/Sao_Paulo"},
                                                {"BST", "Asia/Dhaka"},
                                                {"CAT", "Africa/Harare"},
                                                {"CNT", "America/St_Johns"},
                                                {"CST", "America/Chicago"},
                                                {"CTT", "Asia/Shanghai"},
                                                {"EAT", "Africa/Addis_Ababa"},
                                                {"ECT", "Europe/Paris"},
                                                {"EST", "-05:00"},
                                                {"HST", "-10:00"},
                                                {"IET", "America/Indiana/Indianapolis"},
                                                {"IST", "Asia/Kolkata"},
                                                {"JST", "Asia/Tokyo"},
                                                {"MIT", "Pacific/Apia"},
                                                {"MST", "-07:00"},
                                                {"NET", "Asia/Yerevan"},
                                                {"NST", "Pacific/Auckland"},
                                                {"PLT", "Asia/Karachi"},
                                                {"PNT", "America/Phoenix"},
                                                {"PRT", "America/Puerto_Rico"},
                                                {"PST", "America/Los_Angeles"},
                                                {"SST", "Pacific/Guadalcanal"},
                                                {"VST", "Asia/Ho_Chi_Minh"}}};

bool IsZoneDigit(char c) { return c >= '0' && c <= '9'; }

// Spark's old forms "+1:00" and "+01:0" in Java's form.
std::string NormalizeId(std::string_view id) {
  std::string out(id);
  for (size_t i = 0; i + 2 < out.size(); ++i) {
    if ((out[i] == '+' || out[i] == '-') && IsZoneDigit(out[i + 1]) && out[i + 2] == ':') {
      out.insert(i + 1, 1, '0');
      break;
    }
  }
  const size_t n = out.size();
  if (n >= 5 && (out[n - 5] == '+' || out[n - 5] == '-') && IsZoneDigit(out[n - 4]) && IsZoneDigit(out[n - 3]) &&
      out[n - 2] == ':' && IsZoneDigit(out[n - 1])) {
    out.insert(n - 1, 1, '0');
  }
  return out;
}

// java.time.ZoneOffset.of without "Z": +h, +hh, +hh:mm, +hhmm, +hh:mm:ss, +hhmmss.
bool ParseOffset(std::string_view text, int32_t* seconds) {
  if (text.size() < 2 || (text[0] != '+' && text[0] != '-')) return false;
  const bool negative = text[0] == '-';
  text.remove_prefix(1);
  std::array<int, 3> parts = {0, 0, 0};
  size_t count = 0;
  if (text.size() == 1) {
    if (!IsZoneDigit(text[0])) return false;
    parts[0] = text[0] - '0';
    text = {};
  }
  const bool colons = text.size() > 2 && text[2] == ':';
  while (!text.empty()) {
    if (count == 3 || text.size() < 2 || !IsZoneDigit(text[0]) || !IsZoneDigit(text[1])) return false;
    parts[count++] = (text[0] - '0') * 10 + (text[1] - '0');
    text.remove_prefix(2);
    if (!text.empty() && colons) {
      if (text[0] != ':' || text.size() == 1) return false;
      text.remove_prefix(1);
    }
  }
  const int32_t total = parts[0] * 3600 + parts[1] * 60 + parts[2];
  if (parts[1] > 59 || parts[2] > 59 || total > kMaxOffsetSeconds) return false;
  *seconds = negative ? -total : total;
  return true;
}

// java.time.ZoneRegion: letters first, then letters, digits and ~ / . _ + -; and none of the names that only files have.
bool IsRegionId(std::string_view id) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (id.size() < 2 || id.size() > 64 || !is_letter(id[0])) return false;
  for (const char c : id) {
    if (!is_letter(c) && !IsZoneDigit(c) && std::string_view("~/._+-").find(c) == std::string_view::npos) return false;
  }
  if (id.find("..") != std::string_view::npos) return false;
  for (const std::string_view other : {"posix/", "right/", "Fixed/", "libc:"}) {
    if (id.starts_with(other)) return false;
  }
  for (const std::string_view other : {"localtime", "posixrules", "Factory", "EST", "MST", "HST", "ROC", "UTC0", "leapseconds"}) {
    if (id == other) return false;
  }
  return true;
}

// The abbreviations of a recent year.
void FillShortNames(TimeZone::Rules* rules) {
  for (const int month : {1, 7}) {
    const auto info = rules->zone.At(absl::FromCivil(absl::CivilSecond(2024, month, 15), absl::UTCTimeZone()));
    rules->short_names[info.is_dst ? 1 : 0] = info.zone_abbr;
  }
  for (const int i : {0, 1}) {
    if (rules->short_names[i].empty()) rules->short_names[i] = rules->short_names[1 - i];
  }
}

std::shared_ptr<const TimeZone::Rules> LoadRules(const std::string& id) {
  auto rules = std::make_shared<TimeZone::Rules>();
  if (!absl::LoadTimeZone(id, &rules->zone)) return nullptr;
  absl::Time at = absl::InfinitePast();
  rules->since.push_back(std::numeric_limits<int64_t>::min());
  rules->offsets.push_back(rules->zone.At(absl::FromUnixSeconds(-100000000000)).offset);
  absl::TimeZone::CivilTransition transition;
  const absl::Time end = absl::FromCivil(absl::CivilSecond(kTableEndYear, 1, 1), absl::UTCTimeZone());
  while (rules->zone.NextTransition(at, &transition)) {
    const absl::Time moment = rules->zone.At(transition.to).trans;
    if (moment >= end) break;
    const int32_t offset = rules->zone.At(moment).offset;
    if (offset != rules->offsets.back()) {
      rules->since.push_back(absl::ToUnixSeconds(moment));
      rules->offsets.push_back(offset);
    }
    if (moment <= at) break;
    at = moment;
  }
  for (size_t i = 0; i + 1 < rules->since.size(); ++i) {
    rules->local_to.push_back(rules->since[i + 1] + rules->offsets[i]);
  }
  rules->local_to.push_back(std::numeric_limits<int64_t>::max());
  FillShortNames(rules.get());
  return rules;
}

// Regions that were asked for, found or not; zone files are read once.
class RegionCache {
 public:
  std::shared_ptr<const TimeZone::Rules> Get(const std::string& id) {
    {
      const std::shared_lock lock(mutex_);
      const auto found = regions_.find(id);
      if (found != regions_.end()) return found->second;
    }
    auto rules = LoadRules(id);
    const std::unique_lock lock(mutex_);
    // Unknown names are not kept without bound.
    if (rules == nullptr && regions_.size() > 4096) return nullptr;
    return regions_.emplace(id, std::move(rules)).first->second;
  }

 private:
  std::shared_mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<const TimeZone::Rules>> regions_;
};

RegionCache& Regions() {
  static auto* const cache = new RegionCache();
  return *cache;
}

// Seconds since 1970 of the 400-year cycle that contains the end of the table.
constexpr int64_t kCycleSeconds = int64_t{146097} * 86400;
constexpr int64_t kTableEndSeconds = int64_t{13569465600};  // 2400-01-01

// Years before this one may follow rules that have changed since; the years 56 later have the same calendar.
constexpr int64_t kLastingSeconds = int64_t{2335219200};  // 2044-01-01
constexpr int64_t kSameCalendarSeconds = int64_t{2 * 10227} * 86400;

// The same moment of the calendar within the table, for moments beyond it.
int64_t IntoTable(int64_t seconds) {
  if (seconds < kTableEndSeconds) return seconds;
  const int64_t cycles = (seconds - kTableEndSeconds) / kCycleSeconds + 1;
  const int64_t within = seconds - cycles * kCycleSeconds;
  return within < kLastingSeconds ? within + kSameCalendarSeconds : within;
}

}  // namespace

TimeZone::TimeZone() {
  static const auto* const utc = new std::shared_ptr<const std::string>(std::make_shared<const std::string>("UTC"));
  id_ = *utc;
}

TimeZone TimeZone::FixedOffset(int seconds) {
  const auto make_id = [](int32_t offset) {
    std::string id;
    AppendOffsetId(offset, &id);
    return std::make_shared<const std::string>(std::move(id));
  };
  // Ids of whole quarters of an hour are made once: texts with an offset come in millions of rows.
  constexpr int kQuarter = 900;
  constexpr int kQuarters = kMaxOffsetSeconds / kQuarter;
  static const auto* const ids = [&] {
    auto* all = new std::array<std::shared_ptr<const std::string>, 2 * kQuarters + 1>();
    for (int i = -kQuarters; i <= kQuarters; ++i) (*all)[static_cast<size_t>(i + kQuarters)] = make_id(i * kQuarter);
    return all;
  }();
  TimeZone zone;
  zone.fixed_seconds_ = seconds;
  const bool is_known = seconds % kQuarter == 0 && seconds >= -kMaxOffsetSeconds && seconds <= kMaxOffsetSeconds;
  zone.id_ = is_known ? (*ids)[static_cast<size_t>(seconds / kQuarter + kQuarters)] : make_id(seconds);
  return zone;
}

Result<TimeZone> TimeZone::Parse(std::string_view id) {
  if (auto zone = Find(id)) return *std::move(zone);
  return Error("INVALID_TIMEZONE").With("timeZone", id);
}

std::optional<TimeZone> TimeZone::Find(std::string_view id) {
  if (id == "UTC") return TimeZone();
  if (id == "Z") return FixedOffset(0);
  int32_t seconds = 0;
  if (ParseOffset(id, &seconds)) return FixedOffset(seconds);
  std::string name = NormalizeId(id);
  for (const ShortId& entry : kShortIds) {
    if (entry.id == name) name = entry.zone;
  }
  if (!name.empty() && (name[0] == '+' || name[0] == '-')) {
    if (!ParseOffset(name, &seconds)) return std::nullopt;
    return FixedOffset(seconds);
  }
  for (const std::string_view prefix : {"UTC", "GMT", "UT"}) {
    if (!name.starts_with(prefix)) continue;
    const std::string_view rest = std::string_view(name).substr(prefix.size());
    if (!rest.empty() && rest[0] != '+' && rest[0] != '-') continue;
    if (!rest.empty() && !ParseOffset(rest, &seconds)) return std::nullopt;
    TimeZone zone = FixedOffset(seconds);
    zone.id_ = std::make_shared<const std::string>(std::string(prefix) + (seconds == 0 ? std::string() : zone.id()));
    return zone;
  }
  if (!IsRegionId(name)) return std::nullopt;
  auto rules = Regions().Get(name);
  if (rules == nullptr) return std::nullopt;
  TimeZone zone;
  zone.id_ = std::make_shared<const std::string>(std::move(name));
  zone.rules_ = std::move(rules);
  return zone;
}

const std::string& TimeZone::id() const { return *id_; }

int32_t TimeZone::RegionOffsetSecondsAt(int64_t utc_micros) const {
  return rules_->offsets[rules_->IndexAt(IntoTable(FloorDiv(utc_micros, kMicrosPerSecond)))];
}

int64_t TimeZone::FromLocal(int64_t local_micros) const {
  // No offset is preferred: no zone has this one.
  return FromLocal(local_micros, std::numeric_limits<int32_t>::min());
}

int64_t TimeZone::FromLocal(int64_t local_micros, int32_t preferred_offset_seconds) const {
  const auto minus = [local_micros](int32_t seconds) {
    return static_cast<int64_t>(static_cast<uint64_t>(local_micros) - static_cast<uint64_t>(seconds * kMicrosPerSecond));
  };
  if (rules_ == nullptr) return minus(fixed_seconds_);
  const Rules& rules = *rules_;
  const int64_t local = IntoTable(FloorDiv(local_micros, kMicrosPerSecond));
  // The entry that holds at this local time, or, in a gap, the one before it: its offset moves the time past the gap.
  size_t index = static_cast<size_t>(std::upper_bound(rules.local_to.begin(), rules.local_to.end() - 1, local) -
                                     rules.local_to.begin());
  if (index > 0 && local < rules.since[index] + rules.offsets[index]) --index;  // a gap
  if (index + 1 < rules.since.size() && rules.offsets[index + 1] == preferred_offset_seconds &&
      local >= rules.since[index + 1] + rules.offsets[index + 1]) {
    ++index;
  }
  return minus(rules.offsets[index]);
}

bool TimeZone::IsDaylightSaving(int64_t utc_micros) const {
  if (rules_ == nullptr) return false;
  const int64_t seconds = IntoTable(FloorDiv(utc_micros, kMicrosPerSecond));
  return rules_->zone.At(absl::FromUnixSeconds(seconds)).is_dst;
}

const std::string& TimeZone::ShortName(bool daylight) const {
  return rules_ == nullptr ? id() : rules_->short_names[daylight ? 1 : 0];
}

void AppendOffsetId(int32_t seconds, std::string* out) {
  if (seconds == 0) {
    out->push_back('Z');
    return;
  }
  const int32_t magnitude = seconds < 0 ? -seconds : seconds;
  const auto two = [out](int32_t n) {
    out->push_back(static_cast<char>('0' + n / 10));
    out->push_back(static_cast<char>('0' + n % 10));
  };
  out->push_back(seconds < 0 ? '-' : '+');
  two(magnitude / 3600);
  out->push_back(':');
  two(magnitude / 60 % 60);
  if (magnitude % 60 != 0) {
    out->push_back(':');
    two(magnitude % 60);
  }
}

}  // namespace thalweg::data
