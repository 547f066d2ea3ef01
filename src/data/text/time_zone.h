#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thalweg::data {

/// A time zone as java.time.ZoneId and Spark's `spark.sql.session.timeZone` know it. Cheap to copy.
/// Ids: IANA regions ("Europe/Berlin"), "Z", "+01:00" (also +1, +0100, +01:00:00, and Spark's +1:00, +01:0), "UTC+1", "GMT-8",
/// "UT+01:30", Java's short ids ("PST", "IST", "EST").
/// Thread: immutable. Blocks: `Find` reads the zone database the first time an id is named.
class TimeZone {
 public:
  TimeZone();  ///< UTC
  static TimeZone Utc() { return {}; }
  static TimeZone FixedOffset(int seconds);  ///< |seconds| <= 18 hours
  /// Errors: INVALID_TIMEZONE.
  static Result<TimeZone> Parse(std::string_view id);
  /// Parse for row loops: nullopt when unknown. Regions are cached in the process.
  static std::optional<TimeZone> Find(std::string_view id);

  /// ZoneId.getId: "Europe/Berlin", "Z", "+01:00", "UTC+01:00".
  const std::string& id() const;
  bool is_fixed() const { return rules_ == nullptr; }
  /// Seconds east of UTC at that moment.
  int32_t OffsetSecondsAt(int64_t utc_micros) const {
    return rules_ == nullptr ? fixed_seconds_ : RegionOffsetSecondsAt(utc_micros);
  }
  /// Microseconds of the local date-time; wraps at the ends of int64.
  int64_t ToLocal(int64_t utc_micros) const {
    return static_cast<int64_t>(static_cast<uint64_t>(utc_micros) +
                                static_cast<uint64_t>(OffsetSecondsAt(utc_micros) * int64_t{1000000}));
  }
  /// java.time's rule: in an overlap the earlier moment, in a gap later by the length of the gap. Wraps as ToLocal.
  int64_t FromLocal(int64_t local_micros) const;
  /// As FromLocal, but in an overlap `preferred_offset_seconds` when it is one of the two (ZonedDateTime arithmetic).
  int64_t FromLocal(int64_t local_micros, int32_t preferred_offset_seconds) const;
  /// Whether daylight saving time holds (for zone names).
  bool IsDaylightSaving(int64_t utc_micros) const;

  /// "PST" or "PDT" of today's usage; the id for fixed offsets.
  const std::string& ShortName(bool daylight) const;

  bool operator==(const TimeZone& other) const { return id() == other.id(); }

  struct Rules;

 private:
  int32_t RegionOffsetSecondsAt(int64_t utc_micros) const;

  int32_t fixed_seconds_ = 0;
  std::shared_ptr<const std::string> id_;
  std::shared_ptr<const Rules> rules_;  // null: fixed offset
};

/// "Z" or "+01:00" or "+01:00:30" (ZoneOffset.getId).
void AppendOffsetId(int32_t seconds, std::string* out);

}  // namespace thalweg::data
