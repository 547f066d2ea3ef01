#include "engine/state/state_options.h"

#include "data/logs/log_settings.h"

namespace thalweg::engine {

StateOptions StateOptions::FromSettings(const SettingsMap& settings) {
  StateOptions options;
  options.provider_class = settings.Get(kStateProviderClass);
  options.codec = settings.Get(kStateCompressionCodec);
  options.min_deltas_for_snapshot = settings.Get(kMinDeltasForSnapshot);
  options.min_versions_to_retain = settings.Get(data::kMinBatchesToRetain);
  options.maintenance_interval = std::chrono::milliseconds(settings.Get(kMaintenanceIntervalMs));
  options.format_validation = settings.Get(kStateFormatValidation);
  options.row_checksum = settings.Get(kStateRowChecksum);
  options.rocksdb_changelog = settings.Get(kRocksDbChangelog);
  options.encoding_format = settings.Get(kStateEncodingFormat);
  return options;
}

bool IsRocksDb(const StateOptions& options) {
  const std::string_view known = kRocksDbProviderClass;
  return options.provider_class.substr(options.provider_class.rfind('.') + 1) == known.substr(known.rfind('.') + 1);
}

}  // namespace thalweg::engine
