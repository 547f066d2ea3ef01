#pragma once

#include "base/settings.h"

namespace thalweg::connectors {

inline const Setting<bool> kStreamingSchemaInference{
    .key = "spark.sql.streaming.schemaInference",
    .default_value = false,
    .doc = "Whether a file stream may find out its schema from the files that are there."};
inline const Setting<bool> kForceNullable{
    .key = "spark.sql.streaming.fileSource.schema.forceNullable",
    .default_value = true,
    .doc = "Every field of a file stream's schema is nullable."};
inline const Setting<int64_t> kSourceLogCompactInterval{
    .key = "spark.sql.streaming.fileSource.log.compactInterval",
    .default_value = 10,
    .min = 1,
    .doc = "Every n-th entry of a file source's log repeats all earlier ones."};
inline const Setting<int64_t> kSourceLogCleanupDelayMs{
    .key = "spark.sql.streaming.fileSource.log.cleanupDelay",
    .default_value = 600'000,
    .min = 0,
    .unit = SettingUnit::kMillis,
    .doc = "How long an expired file of a file source's log is kept."};
inline const Setting<bool> kSourceLogDeletion{
    .key = "spark.sql.streaming.fileSource.log.deletion",
    .default_value = true,
    .doc = "Whether expired files of a file source's log are removed."};
inline const Setting<int64_t> kSourceCleanerThreads{
    .key = "spark.sql.streaming.fileSource.cleaner.numThreads",
    .default_value = 1,
    .min = 0,
    .doc = "0: completed files are cleaned between batches, else by a thread of the source's own."};
inline const Setting<int64_t> kSinkLogCompactInterval{
    .key = "spark.sql.streaming.fileSink.log.compactInterval",
    .default_value = 10,
    .min = 1,
    .doc = "Every n-th entry of a file sink's log repeats all earlier ones."};
inline const Setting<int64_t> kSinkLogCleanupDelayMs{
    .key = "spark.sql.streaming.fileSink.log.cleanupDelay",
    .default_value = 600'000,
    .min = 0,
    .unit = SettingUnit::kMillis,
    .doc = "How long an expired file of a file sink's log is kept."};
inline const Setting<bool> kSinkLogDeletion{
    .key = "spark.sql.streaming.fileSink.log.deletion",
    .default_value = true,
    .doc = "Whether expired files of a file sink's log are removed."};
inline const Setting<int64_t> kMaxRecordsPerFile{
    .key = "spark.sql.files.maxRecordsPerFile",
    .default_value = 0,
    .doc = "The most rows of one written file; 0 or less: no limit."};
inline const Setting<std::string> kPartitionOverwriteMode{
    .key = "spark.sql.sources.partitionOverwriteMode",
    .default_value = "STATIC",
    .doc = "What overwriting a partitioned directory replaces: STATIC everything, DYNAMIC the partitions that get rows."};
inline const Setting<std::string> kOrcCompression{
    .key = "spark.sql.orc.compression.codec",
    .default_value = "zstd",
    .doc = "The codec of written ORC files."};
inline const Setting<bool> kOrcReader{
    .key = "thalweg.orc.reader.enabled",
    .default_value = false,
    .doc = "Whether ORC files are read. Arrow's ORC reader trusts a file: a damaged one can end the process with all its queries."};
inline const Setting<bool> kOrcMergeSchema{
    .key = "spark.sql.orc.mergeSchema",
    .default_value = false,
    .doc = "Whether the schema of ORC files is that of all of them, not of the first."};
inline const Setting<std::string> kParquetCompression{
    .key = "spark.sql.parquet.compression.codec",
    .default_value = "snappy",
    .doc = "The codec of written Parquet files."};
inline const Setting<std::string> kParquetTimestampType{
    .key = "spark.sql.parquet.outputTimestampType",
    .default_value = "INT96",
    .doc = "How written Parquet files hold TIMESTAMP: INT96 or TIMESTAMP_MICROS."};
inline const Setting<bool> kIgnoreSinkLog{
    .key = "spark.sql.streaming.fileStreamSink.ignoreMetadata",
    .default_value = false,
    .doc = "Read all files of a file sink's folder, not those its log names."};
inline const Setting<bool> kIgnoreMissingFiles{
    .key = "spark.sql.files.ignoreMissingFiles",
    .default_value = false,
    .doc = "Skip listed files that are gone."};
inline const Setting<bool> kIgnoreCorruptFiles{
    .key = "spark.sql.files.ignoreCorruptFiles",
    .default_value = false,
    .doc = "Skip files, or the rest of files, that cannot be read."};
inline const Setting<int64_t> kMaxPartitionBytes{
    .key = "spark.sql.files.maxPartitionBytes",
    .default_value = 128 << 20,
    .min = 1,
    .unit = SettingUnit::kBytes,
    .doc = "The most bytes of files one task reads, a single file of a format without pieces apart."};
inline const Setting<bool> kPartitionTypeInference{
    .key = "spark.sql.sources.partitionColumnTypeInference.enabled",
    .default_value = true,
    .doc = "Partition columns get types by their values; else they are strings."};

}  // namespace thalweg::connectors
