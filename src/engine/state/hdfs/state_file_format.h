#pragma once

// Records of delta and snapshot files, inside the compression (state_codec.h). Do not change: Spark reads and writes them.
//   put     int32 BE key bytes | key | int32 BE value bytes | value
//   remove  int32 BE key bytes | key | int32 BE -1               (deltas only)
//   end     int32 BE -1                                          (without it the file is cut off)
// With row checksums a value begins with int32 LE CRC-32C(key, value), and the key of a removal with int32 LE CRC-32C(key).

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "engine/state/state_codec.h"
#include "engine/state/state_persister.h"

namespace thalweg::engine {

/// Turns changes into the bytes of a file. Thread: confined.
class StateFileEncoder {
 public:
  StateFileEncoder(StateCodecKind codec, bool row_checksum)
      : compressor_(StateCompressor::Make(codec)), row_checksum_(row_checksum) {}

  Status Append(std::span<const StateChange> changes);
  Status Finish();
  /// What is ready; the caller may take it away between calls.
  std::string& bytes() { return bytes_; }

 private:
  Status Flush();
  std::unique_ptr<StateCompressor> compressor_;
  bool row_checksum_;
  std::string records_;
  std::string bytes_;
};

/// What is needed to read one file and to name it in errors.
struct StateFileSource {
  std::string path;          ///< for messages
  std::string store;         ///< for messages: "HDFSStateStoreProvider[...]"
  bool snapshot = false;
  bool row_checksum = false;
  bool any_value_size = false;  ///< values need not be rows: RocksDB's changelogs have the same records
  StateCodecKind codec = StateCodecKind::kLz4;
};

/// Hands the records of a file to `visitor`, about 4,096 at a time; views live during the call.
/// Errors: CANNOT_LOAD_STATE_STORE.*, STATE_STORE_ROW_CHECKSUM_VERIFICATION_FAILED.
Status DecodeStateFile(const StateFileSource& source, std::string_view file, const StateVisitor& visitor);

}  // namespace thalweg::engine
