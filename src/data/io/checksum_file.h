#pragma once

// Hadoop's side-car `.<name>.crc` of a local file. Nothing of ours needs one, and Spark's checkpoint readers do not look at
// it; a stale one makes Hadoop's data-file readers fail, so whoever replaces a file removes it (atomic_write.h).

#include <string>
#include <string_view>

#include "data/io/file_system.h"

namespace thalweg::data {

/// The contents of the side-car for a file of these bytes: "crc\0", int32 BE 512, then a BE CRC-32 per 512 bytes.
std::string HadoopChecksumBytes(std::string_view bytes);
/// `.<name>.crc` beside `path`.
std::string HadoopChecksumPath(std::string_view path);

enum class ChecksumVerdict : unsigned char {
  kNone,   ///< there is no side-car
  kMatch,
  kStale,  ///< it contradicts the file, or is no side-car at all
};
/// Compares a file with its side-car. Decision (checkpoint-format 1.2): logs, schemas and state files are read without
/// asking; tools that inspect a checkpoint ask, and say what they find. Errors: IO_ERROR.
Result<ChecksumVerdict> CheckHadoopChecksum(FileSystem& file_system, const std::string& path);

}  // namespace thalweg::data
