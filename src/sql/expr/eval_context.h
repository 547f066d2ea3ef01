#pragma once

// Contract: what expressions may know. No kernel, rule or connector reads a session.

#include <cstdint>
#include <memory>
#include <string>

#include "base/ids.h"

namespace thalweg::sql {

/// Settings that change the meaning of expressions: bound at compile time, immutable.
struct EvalConfig {
  bool ansi = true;                  ///< spark.sql.ansi.enabled
  std::string time_zone = "UTC";     ///< spark.sql.session.timeZone
  bool case_sensitive = false;       ///< spark.sql.caseSensitive
  enum class TimeParserPolicy : uint8_t { kException, kCorrected, kLegacy };
  TimeParserPolicy time_parser_policy = TimeParserPolicy::kException;
  bool double_quoted_identifiers = false;
  std::string user = "";
  std::string current_catalog = "spark_catalog";
  std::string current_database = "default";
  bool timestamp_ntz_default = false;  ///< spark.sql.timestampType = TIMESTAMP_NTZ
};

/// One epoch of execution: a micro-batch, or a whole batch query. Values that functions of time read.
struct EpochContext {
  BatchId batch_id{0};
  int64_t batch_timestamp_us = 0;   ///< current_timestamp(); a micro-batch's is its offset log's batchTimestampMs
  int64_t late_watermark_ms = 0;    ///< rows with event time at or before it are late (already propagated for the operator)
  int64_t eviction_watermark_ms = 0;
  bool has_watermark = false;       ///< false in batch
  bool replay = false;              ///< this batch id may have run before
};

/// Passed to kernels; one per task, not shared between threads.
struct EvalContext {
  const EvalConfig* config = nullptr;
  const EpochContext* epoch = nullptr;
  int partition = 0;                ///< for spark_partition_id, rand seeds, monotonically_increasing_id
  int64_t row_base = 0;             ///< rows of this partition seen before this chunk
};

}  // namespace thalweg::sql
