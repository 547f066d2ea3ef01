#pragma once

// commits/<batch id>: the micro-batch has happened. Bytes that Spark reads; do not change.
// Source: checkpoint-format section 3; Spark's CommitLog.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/invariant.h"
#include "data/logs/numbered_log.h"

namespace thalweg::engine {

/// Which state files of one operator belong to the version after a micro-batch (checkpoint format 2).
struct OperatorStateIds {
  OperatorId operator_id;
  /// Per partition one id per store: a join has four (left-keyToNumValues, left-keyWithIndexToValue, right-keyToNumValues,
  /// right-keyWithIndexToValue), every other operator one.
  std::vector<std::vector<std::string>> ids;
  friend bool operator==(const OperatorStateIds&, const OperatorStateIds&) = default;
};

struct CommitLogEntry {
  int version = 1;
  int64_t next_batch_watermark_ms = 0;          ///< the watermark computed after this micro-batch
  std::vector<OperatorStateIds> state_ids;      ///< version 2 and later, empty when stateless
  bool has_state_ids = false;                   ///< whether the member stands in the file
  /// Further members as (name, JSON): `sinkMetadataMap` of version 3, and what we do not know.
  std::vector<std::pair<std::string, std::string>> others;

  const OperatorStateIds* FindStateIds(OperatorId operator_id) const;
  friend bool operator==(const CommitLogEntry&, const CommitLogEntry&) = default;
};

/// Errors: MALFORMED_LOG_FILE, INVALID_LOG_VERSION.*, MALFORMED_LOG_ENTRY.
Result<CommitLogEntry> ParseCommitLogEntry(std::string_view text);
std::string FormatCommitLogEntry(const CommitLogEntry& entry);

/// Typed access to commits/. Thread: confined to the query's driver. Blocks: on the disk.
class CommitLog {
 public:
  /// Borrows; `poison` (may be null) is asked before every write.
  CommitLog(data::FileSystem& file_system, std::string directory, const PoisonFlag* poison = nullptr);

  /// Durable when it returns. Errors: CONCURRENT_STREAM_LOG_UPDATE when the entry exists.
  Status Add(BatchId batch_id, const CommitLogEntry& entry);
  Result<std::optional<CommitLogEntry>> Get(BatchId batch_id) const;
  Result<std::optional<BatchId>> LatestId() const;
  Result<std::vector<int64_t>> Ids() const { return log_.Ids(); }
  Status PurgeBefore(BatchId batch_id);
  std::string PathOf(BatchId batch_id) const { return log_.PathOf(batch_id.value()); }

 private:
  data::NumberedLog log_;
  const PoisonFlag* poison_;
};

}  // namespace thalweg::engine
