#pragma once

// The settings that clients may read without having set them. Spark's defaults of 4.2.0, but for:
//   spark.sql.shuffle.partitions 16 (a checkpoint keeps its count for life; see ARCHITECTURE.md, state),
//   spark.sql.connect.serverStacktrace.enabled false (there is no JVM stack to show).

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thalweg::front {

struct SparkSetting {
  const char* key;
  const char* default_value;  ///< null: none
  bool modifiable;            ///< false: static, fixed when the server starts
};

/// Sorted by key.
std::span<const SparkSetting> SparkSettings();
/// Null when it is not listed.
const SparkSetting* FindSparkSetting(std::string_view key);
/// Whether a value may be given to a listed setting, by the shape of its default (boolean, integer) and for the few with a
/// rule of their own. Errors: INVALID_CONF_VALUE.*.
Status CheckSettingValue(const SparkSetting& setting, const std::string& value);
/// The IANA name of the machine's zone, "UTC" when unknown.
std::string MachineTimeZone();

}  // namespace thalweg::front
