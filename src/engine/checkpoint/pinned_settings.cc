#include "engine/checkpoint/pinned_settings.h"

namespace thalweg::engine {
namespace {

constexpr PinnedSetting kPinned[] = {
    {"spark.sql.streaming.stateStore.providerClass",
     "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider", std::nullopt},
    {"spark.sql.streaming.stateStore.rocksdb.mergeOperatorVersion", "2", "1"},
    {"spark.sql.streaming.stateStore.rocksdb.formatVersion", "5", std::nullopt},
    {"spark.sql.streaming.queryEvolution.enableSourceEvolution", "false", "false"},
    {"spark.sql.streaming.stateStore.encodingFormat", "unsaferow", "unsaferow"},
    {"spark.sql.streaming.statefulOperator.useStrictDistribution", "true", "false"},
    {"spark.sql.streaming.flatMapGroupsWithState.stateFormatVersion", "2", "1"},
    {"spark.sql.streaming.multipleWatermarkPolicy", "min", "min"},
    {"spark.sql.streaming.stateStore.rowChecksum.enabled", "false", "false"},
    {"spark.sql.streaming.aggregation.stateFormatVersion", "2", "1"},
    {"spark.sql.function.protobufExtensions.enabled", "false", "false"},
    {"spark.sql.shuffle.partitions", "16", std::nullopt},
    {"spark.sql.streaming.join.stateFormatVersion", "2", "1"},
    {"spark.sql.streaming.stateStore.compression.codec", "lz4", "lz4"},
    {"spark.sql.optimizer.pruneFiltersCanPruneStreamingSubplan", "false", "true"},
};

}  // namespace

std::span<const PinnedSetting> PinnedSettings() { return kPinned; }

std::vector<std::pair<std::string, std::string>> MakePinnedConf(const SettingsMap& effective) {
  std::vector<std::pair<std::string, std::string>> conf;
  for (const PinnedSetting& setting : kPinned) {
    const std::string* text = effective.Find(setting.key);
    conf.emplace_back(setting.key, text != nullptr ? std::string_view(*text) : setting.new_query);
  }
  return conf;
}

SettingsMap ApplyPinnedConf(const SettingsMap& session, const OffsetMetadata& newest) {
  SettingsMap effective = session;
  for (const PinnedSetting& setting : kPinned) {
    if (const std::string* text = newest.FindConf(setting.key)) {
      effective.Set(setting.key, *text);
    } else if (setting.when_missing.has_value()) {
      effective.Set(setting.key, *setting.when_missing);
    }
  }
  return effective;
}

}  // namespace thalweg::engine
