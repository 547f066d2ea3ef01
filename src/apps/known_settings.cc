#include "apps/known_settings.h"

#include "base/process_memory.h"
#include "connectors/delta/delta_settings.h"
#include "connectors/file/file_settings.h"
#include "data/logs/log_settings.h"
#include "engine/pyworker/pyworker_settings.h"
#include "engine/state/state_options.h"
#include "front/commands/commands_settings.h"
#include "front/connect/connect_settings.h"
#include "sql/analyzer/analyzer_settings.h"
#include "streaming/query/query_settings.h"

namespace thalweg::apps {

namespace {

template <typename... Settings>
void AddAll(SettingsTable* table, const Settings&... settings) {
  (table->Add(settings), ...);
}

// Every Setting that a room declares: tools/tidy.py finds the forgotten one.
SettingsTable AllSettings() {
  SettingsTable table;
  AddAll(&table, kMemoryLimit, data::kMinBatchesToRetain, sql::kPivotMaxValues, sql::kTransposeMaxValues);
  AddAll(&table, streaming::kVerifyMetadataExists, streaming::kVerifyEmptyOnStart, streaming::kStateSchemaCheck, streaming::kStateCheckpointFormat,
         streaming::kPollingDelayMs, streaming::kAvailableNowWrapper, streaming::kNoDataMicroBatches, streaming::kNoDataProgressIntervalMs,
         streaming::kNumRecentProgress, streaming::kWatermarkPolicy, streaming::kStopActiveRun, streaming::kStopTimeoutMs,
         streaming::kForceDeleteTempCheckpoint, streaming::kJoinStateFormat, streaming::kShufflePartitions);
  AddAll(&table, engine::kPythonProgram, engine::kPythonMemoryBytes, engine::kReuseWorkers, engine::kIdleWorkers, engine::kWorkerSilenceSeconds,
         engine::kPickledRows, engine::kArrowRows, engine::kWorkerStartMs, engine::kFunctionInitMs, engine::kStopGraceMs);
  AddAll(&table, engine::kStateProviderClass, engine::kStateCompressionCodec, engine::kMinDeltasForSnapshot, engine::kMaintenanceIntervalMs,
         engine::kStateFormatValidation, engine::kStateRowChecksum, engine::kRocksDbChangelog, engine::kStateEncodingFormat);
  AddAll(&table, connectors::kStreamingSchemaInference, connectors::kForceNullable, connectors::kSourceLogCompactInterval,
         connectors::kSourceLogCleanupDelayMs, connectors::kSourceLogDeletion, connectors::kSourceCleanerThreads,
         connectors::kSinkLogCompactInterval, connectors::kSinkLogCleanupDelayMs, connectors::kSinkLogDeletion, connectors::kMaxRecordsPerFile,
         connectors::kPartitionOverwriteMode, connectors::kOrcCompression, connectors::kOrcReader, connectors::kOrcMergeSchema,
         connectors::kParquetCompression, connectors::kParquetTimestampType, connectors::kIgnoreSinkLog, connectors::kIgnoreMissingFiles,
         connectors::kIgnoreCorruptFiles, connectors::kMaxPartitionBytes, connectors::kPartitionTypeInference);
  AddAll(&table, connectors::kTxnAppId, connectors::kTxnVersion, connectors::kUserMetadata, connectors::kOptimizeMinFileSize,
         connectors::kOptimizeMaxFileSize, connectors::kOptimizeMaxDeletedRatio, connectors::kVacuumCheckRetention,
         connectors::kVacuumIgnoreWindow, connectors::kVacuumLogging);
  AddAll(&table, front::kSchemaAutoMerge);
  AddAll(&table, front::kMaxPlanBytes, front::kMaxStreamDurationMs, front::kMaxStreamBytes, front::kRetryBufferBytes, front::kDetachedTimeoutMs,
         front::kSessionTimeoutMs, front::kProgressIntervalMs);
  return table;
}

}  // namespace

const SettingsTable& KnownSettings() {
  static const SettingsTable* const kTable = new SettingsTable(AllSettings());
  return *kTable;
}

}  // namespace thalweg::apps
