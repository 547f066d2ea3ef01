#pragma once

// A database's MANIFEST: which tables it consists of. Source: RocksDB's wiki, "MANIFEST" and "Write Ahead Log File Format".

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace thalweg::engine {

/// One live table. Keys are internal: the user's key, then 8 bytes of sequence number and kind (internal_key.h).
struct ManifestTable {
  uint32_t level = 0;
  uint64_t number = 0;
  uint64_t size_bytes = 0;
  std::string smallest;
  std::string largest;
  uint64_t smallest_sequence = 0;
  uint64_t largest_sequence = 0;
};

/// Invariants: numbers are unique and below next_file_number; levels below 7; from level 1 on tables follow each other in the order of
/// keys and do not overlap; no sequence number is above last_sequence.
struct Manifest {
  uint64_t next_file_number = 2;
  uint64_t last_sequence = 0;
  std::vector<ManifestTable> tables;  ///< by level, then as they follow each other
};

/// Replays the log of changes. Every checksum and field is looked at, also such as a forger put right: what comes out keeps the
/// invariants. Errors: INTERNAL_ERROR for damage, UNSUPPORTED_FEATURE.THALWEG for what no Spark store without column families has.
Result<Manifest> ParseManifest(std::string_view bytes);

/// A MANIFEST of one change, which says the same.
std::string FormatManifest(const Manifest& manifest);

/// "000008.sst".
std::string TableName(uint64_t number);
/// "MANIFEST-000008".
std::string ManifestName(uint64_t number);

}  // namespace thalweg::engine
