#pragma once

// commits/<batch id>: the micro-batch has happened. Bytes that Spark reads; do not change.
// Source: checkpoint-format section 3; Spark's CommitLog.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "engine/checkpoint/entry_log.h"

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

using CommitLog = EntryLog<CommitLogEntry>;

}  // namespace thalweg::engine
