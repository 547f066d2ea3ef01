#pragma once

#include <chrono>
#include <string>

#include "base/settings.h"

namespace thalweg::engine {

inline constexpr char kHdfsProviderClass[] =
    "org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider";
inline constexpr char kRocksDbProviderClass[] =
    "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider";

inline const Setting<std::string> kStateProviderClass{
    .key = "spark.sql.streaming.stateStore.providerClass",
    .default_value = kHdfsProviderClass,
    .doc = "The class that keeps the state of stateful operators; pinned by the checkpoint."};
inline const Setting<std::string> kStateCompressionCodec{
    .key = "spark.sql.streaming.stateStore.compression.codec",
    .default_value = "lz4",
    .doc = "How delta and snapshot files are compressed: lz4, zstd, snappy or lzf; pinned by the checkpoint."};
inline const Setting<int64_t> kMinDeltasForSnapshot{
    .key = "spark.sql.streaming.stateStore.minDeltasForSnapshot",
    .default_value = 10,
    .min = 1,
    .doc = "A snapshot is due a maintenance interval after the last one, when more deltas than this have come."};
inline const Setting<int64_t> kMaintenanceIntervalMs{
    .key = "spark.sql.streaming.stateStore.maintenanceInterval",
    .default_value = 60'000,
    .min = 1,
    .unit = SettingUnit::kMillis,
    .doc = "How often snapshots and purging of state are considered by time; by count they are at any time."};
inline const Setting<bool> kStateFormatValidation{
    .key = "spark.sql.streaming.stateStore.formatValidation.enabled",
    .default_value = true,
    .doc = "The first row read of each store is checked against the schema."};
inline const Setting<bool> kStateRowChecksum{
    .key = "spark.sql.streaming.stateStore.rowChecksum.enabled",
    .default_value = false,
    .doc = "Every row of state carries a CRC-32C; pinned by the checkpoint."};

inline const Setting<bool> kRocksDbChangelog{
    .key = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled",
    .default_value = false,
    .doc = "RocksDB's format: a commit writes a changelog; else it writes a snapshot. Either is read whatever this says."};
inline const Setting<std::string> kStateEncodingFormat{
    .key = "spark.sql.streaming.stateStore.encodingFormat",
    .default_value = "unsaferow",
    .doc = "How RocksDB's format encodes rows; only unsaferow is known. Pinned by the checkpoint."};

/// How the stores of one query run work; read once when the run starts.
struct StateOptions {
  std::string provider_class = kHdfsProviderClass;
  std::string codec = "lz4";
  int64_t min_deltas_for_snapshot = 10;
  int64_t max_deltas_for_snapshot = 1000;  ///< more deltas than this are folded at once
  int64_t min_versions_to_retain = 100;
  std::chrono::milliseconds maintenance_interval{60'000};
  bool format_validation = true;
  bool row_checksum = false;
  bool rocksdb_changelog = false;
  std::string encoding_format = "unsaferow";
  bool durable = true;  ///< false: files are renamed but not synced (tests, throw-away checkpoints)

  /// From settings, the pinned ones of the offset log laid over the session's.
  static StateOptions FromSettings(const SettingsMap& settings);
};

/// Whether the provider is RocksDB's, in whatever package.
bool IsRocksDb(const StateOptions& options);

}  // namespace thalweg::engine
