#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"
#include "data/formats/text/byte_stream.h"

namespace thalweg::data {

/// A text file on its way to the disk: put into its charset, packed, written block by block.
/// Thread: confined. Blocks: on the disk. Nothing is synced: whoever commits the file does that.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  /// Replaces an existing file; the directory must exist. An empty charset is UTF-8; "UTF-16" begins with a byte-order
  /// mark and is big endian, as Java writes it.
  /// Errors: IO_ERROR; UNSUPPORTED_FEATURE.THALWEG for Hadoop's lz4 and snappy framing.
  static Result<std::unique_ptr<ByteSink>> Create(FileSystem& file_system, const std::string& path,
                                                  Compression compression, std::string_view charset);
  /// Whether files can be packed so. Errors: UNSUPPORTED_FEATURE.THALWEG.
  static Status CheckCompression(Compression compression);
  /// Where to append UTF-8 text.
  std::string* text() { return &text_; }
  /// To be called after rows: whole characters stand in text(). Writes when there is enough.
  Status Drain() { return text_.size() < kBlock ? Status::OK() : Flush(); }
  /// Ends the file.
  virtual Status Close() = 0;

 protected:
  virtual Status Flush() = 0;
  std::string text_;

 private:
  static constexpr size_t kBlock = 256 * 1024;
};

}  // namespace thalweg::data
