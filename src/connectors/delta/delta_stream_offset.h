#pragma once

// Positions of a Delta table that is read as a stream, and their JSON in offset logs. Source: Delta's documentation, "Table streaming reads and writes".

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thalweg::connectors {

/// Up to and including one entry of a version. Entries of a version: its beginning, its files from 0, its end. A position in
/// the initial snapshot counts the snapshot's files; any other one the files that the commit of that version added.
struct DeltaStreamPosition {
  static constexpr int64_t kBeginning = -100;
  static constexpr int64_t kEnd = INT64_MAX - 100;  ///< never written: the beginning of the next version stands for it

  int64_t version = 0;
  int64_t index = kBeginning;
  bool starting = false;  ///< in the initial snapshot
  bool operator==(const DeltaStreamPosition&) const = default;
};

/// Whether `a` comes before `b`: by version and index.
bool ComesBefore(const DeltaStreamPosition& a, const DeltaStreamPosition& b);

/// The text as Delta writes it.
std::string DeltaStreamOffsetText(const std::string& table_id, const DeltaStreamPosition& position);

/// Errors: DELTA_INVALID_SOURCE_OFFSET_FORMAT, DELTA_INVALID_SOURCE_VERSION, DELTA_INVALID_FORMAT_FROM_SOURCE_VERSION,
/// DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE; UNSUPPORTED_FEATURE.THALWEG for positions of a schema tracking log.
Result<DeltaStreamPosition> ParseDeltaStreamOffset(std::string_view json, const std::string& table_id);

}  // namespace thalweg::connectors
