#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "data/columnar/column.h"
#include "data/io/file_system.h"

namespace thalweg::data {

/// A file, or a piece of one: see LineRange for what belongs to a piece.
struct FileRange {
  std::string path;
  int64_t start = 0;
  int64_t length = INT64_MAX;  ///< INT64_MAX: to the end
  int64_t file_size = 0;       ///< as listed; a hint
};

/// Reads files one after the other into columns whose number and types are fixed when the reader is made. Rows of
/// several files may land in one batch of columns, so that many tiny files do not make tiny batches.
/// Thread: confined. Blocks: on the disk. Errors: IO_ERROR (kEnvironment), and the format's own; whoever calls adds
/// the name of the file.
class FileReader {
 public:
  virtual ~FileReader() = default;
  /// Begins a file; the one before must have been read to its end or be given up.
  virtual Status Open(FileSystem& file_system, const FileRange& range) = 0;
  /// Appends rows until length() reaches `rows` (or a little more) or the file ends; false at its end.
  virtual Result<bool> Read(int64_t rows) = 0;
  /// Rows that Finish() would give.
  virtual int64_t length() const = 0;
  /// The columns of the rows so far; begins anew.
  virtual Result<std::vector<ColumnPtr>> Finish() = 0;
  /// Bytes taken from the disk by all files.
  virtual int64_t bytes_read() const = 0;
};

}  // namespace thalweg::data
