#pragma once

#include <memory>

#include "base/status.h"
#include "data/columnar/chunk.h"

namespace thalweg::data {

/// Writes the rows of one file. Shape: chunks of the columns that it was made for, any encoding and selection.
/// Thread: confined. Blocks: on the disk. Nothing is synced: whoever commits the file does that.
/// After an error of Write or Close the file is of no use; the caller removes it. Errors: IO_ERROR.
class FileWriter {
 public:
  virtual ~FileWriter() = default;
  virtual Status Write(const Chunk& chunk) = 0;
  virtual Status Close() = 0;
};

}  // namespace thalweg::data
