#pragma once

// The settings that a query keeps for life, because its state depends on them: they stand in every offset log entry.

#include <optional>
#include <span>
#include <string_view>

#include "base/settings.h"
#include "engine/checkpoint/offset_log.h"

namespace thalweg::engine {

struct PinnedSetting {
  std::string_view key;
  std::string_view new_query;                     ///< written by a new query whose session says nothing
  std::optional<std::string_view> when_missing;   ///< what a restart takes when the entry lacks it; nothing: the session's
};

/// The 15 keys of Spark 4.2, in the order in which it writes them.
std::span<const PinnedSetting> PinnedSettings();

/// The `conf` of an entry: every pinned key with the effective text.
std::vector<std::pair<std::string, std::string>> MakePinnedConf(const SettingsMap& effective);

/// What a restarted query runs with: `session`, over it what the newest entry pins, over what it lacks the old defaults.
/// Keys of the entry that are not pinned are ignored, as in Spark.
SettingsMap ApplyPinnedConf(const SettingsMap& session, const OffsetMetadata& newest);

}  // namespace thalweg::engine
