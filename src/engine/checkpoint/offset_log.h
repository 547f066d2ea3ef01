#pragma once

// offsets/<batch id>: what a micro-batch will read, decided before it reads it. Bytes: offset_log_format below, which
// Spark reads; do not change. Source: checkpoint-format section 2; Spark's OffsetSeqLog, OffsetSeq.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "engine/checkpoint/entry_log.h"

namespace thalweg::engine {

/// The second line of an entry.
struct OffsetMetadata {
  int64_t batch_watermark_ms = 0;  ///< in force for this batch; 0 = none yet
  int64_t batch_timestamp_ms = 0;  ///< the batch's current_timestamp(); a re-run uses it again
  /// Pinned settings, key and text, in the order of the file.
  std::vector<std::pair<std::string, std::string>> conf;
  /// Further members as (name, JSON): `sourceMetadataInfo` and `controlBatchInfo` of version 2, and what we do not know.
  std::vector<std::pair<std::string, std::string>> others;

  const std::string* FindConf(std::string_view key) const;
  friend bool operator==(const OffsetMetadata&, const OffsetMetadata&) = default;
};

/// End of a micro-batch for one occurrence of a source.
struct SourceOffset {
  std::string source_id;            ///< version 2: index of the occurrence, or the source's name; version 1: the index
  std::optional<std::string> json;  ///< nothing: the source has no offset yet
  friend bool operator==(const SourceOffset&, const SourceOffset&) = default;
};

struct OffsetLogEntry {
  int version = 1;
  std::optional<OffsetMetadata> metadata;  ///< absent in entries of continuous queries and of very old releases
  std::vector<SourceOffset> offsets;       ///< one per occurrence of a source, in plan order

  /// Errors: Spark's assertion text when the restarted query has another number of sources.
  Status CheckSourceCount(size_t sources) const;
  friend bool operator==(const OffsetLogEntry&, const OffsetLogEntry&) = default;
};

/// Errors: MALFORMED_LOG_FILE, INVALID_LOG_VERSION.*, MALFORMED_LOG_ENTRY.
Result<OffsetLogEntry> ParseOffsetLogEntry(std::string_view text);
/// The bytes of an entry. Errors: INTERNAL_ERROR for an offset with a line end, or version 2 without metadata.
Result<std::string> FormatOffsetLogEntry(const OffsetLogEntry& entry);

using OffsetLog = EntryLog<OffsetLogEntry>;

}  // namespace thalweg::engine
