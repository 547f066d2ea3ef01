#pragma once

#include "base/settings.h"

namespace thalweg::streaming {

inline const Setting<bool> kVerifyMetadataExists{
    .key = "spark.sql.streaming.checkpoint.verifyMetadataExists.enabled",
    .default_value = true,
    .doc = "Refuse a checkpoint with logs and without its metadata file."};
inline const Setting<bool> kVerifyEmptyOnStart{
    .key = "spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart",
    .default_value = true,
    .doc = "Refuse a new query on a checkpoint that holds commits or state."};
inline const Setting<bool> kStateSchemaCheck{
    .key = "spark.sql.streaming.stateStore.stateSchemaCheck",
    .default_value = true,
    .doc = "Refuse a query whose state has other columns than the checkpoint's."};
inline const Setting<int64_t> kStateCheckpointFormat{
    .key = "spark.sql.streaming.stateStore.checkpointFormatVersion",
    .default_value = 1,
    .min = 1,
    .doc = "Form of the state's checkpoints; 2 gives every version an id, which needs another provider."};
inline const Setting<int64_t> kPollingDelayMs{
    .key = "spark.sql.streaming.pollingDelay",
    .default_value = 10,
    .min = 0,
    .unit = SettingUnit::kMillis,
    .doc = "Pause between two looks at sources that do not announce data."};
inline const Setting<bool> kAvailableNowWrapper{
    .key = "spark.sql.streaming.triggerAvailableNowWrapper.enabled",
    .default_value = false,
    .doc = "With AvailableNow, freeze the end of sources that do not know the trigger; otherwise all is read "
           "in one micro-batch."};
inline const Setting<bool> kNoDataMicroBatches{
    .key = "spark.sql.streaming.noDataMicroBatches.enabled",
    .default_value = true,
    .doc = "Run batches without data when stateful operators want them."};
inline const Setting<int64_t> kNoDataProgressIntervalMs{
    .key = "spark.sql.streaming.noDataProgressEventInterval",
    .default_value = 10000,
    .min = 0,
    .unit = SettingUnit::kMillis,
    .doc = "Pause between two progress entries of an idle query."};
inline const Setting<int64_t> kNumRecentProgress{
    .key = "spark.sql.streaming.numRecentProgressUpdates",
    .default_value = 100,
    .min = 1,
    .doc = "Progress entries kept."};
inline const Setting<std::string> kWatermarkPolicy{
    .key = "spark.sql.streaming.multipleWatermarkPolicy",
    .default_value = "min",
    .choices = {"min", "max"},
    .doc = "How the watermarks of several inputs make one."};
inline const Setting<bool> kStopActiveRun{
    .key = "spark.sql.streaming.stopActiveRunOnRestart",
    .default_value = true,
    .doc = "Stop an active run of the same query instead of refusing a second one."};
inline const Setting<int64_t> kStopTimeoutMs{
    .key = "spark.sql.streaming.stopTimeout",
    .default_value = 0,
    .unit = SettingUnit::kMillis,
    .doc = "How long stop() waits; 0 or less: until the query has ended."};
inline const Setting<bool> kForceDeleteTempCheckpoint{
    .key = "spark.sql.streaming.forceDeleteTempCheckpointLocation",
    .default_value = false,
    .doc = "Delete temporary checkpoints after failures too."};
inline const Setting<int64_t> kJoinStateFormat{
    .key = "spark.sql.streaming.join.stateFormatVersion",
    .default_value = 2,
    .doc = "Layout of the state of stream joins; 2 is the one that there is. A checkpoint keeps its own."};
inline const Setting<int64_t> kShufflePartitions{
    .key = "spark.sql.shuffle.partitions",
    .default_value = 16,
    .min = 1,
    .doc = "Partitions of exchanges and of state; a checkpoint keeps its own."};

}  // namespace thalweg::streaming
