#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"
#include "data/columnar/buffer.h"
#include "data/formats/text/byte_stream.h"

namespace thalweg::data {

/// A part of a file for line formats, as Hadoop's LineRecordReader shares out lines: a line belongs to the piece in
/// which it begins, one that begins exactly at the end of a piece to that piece.
struct LineRange {
  int64_t start = 0;
  int64_t length = INT64_MAX;  ///< INT64_MAX: to the end
};

/// The lines of a file, cut out of large blocks. Thread: confined. Blocks: on the disk.
/// Source: Hadoop's LineRecordReader and LineReader.
class LineReader {
 public:
  /// More is no text: a packed file may unfold without end.
  static constexpr int64_t kLongestLine = int64_t{1} << 30;

  /// `separator` empty: line feed, carriage return, or both in that order end a line. A UTF-8 byte-order mark at the
  /// start of the file is left out. `charset` (see charset.h) empty: bytes as they are; else lines are UTF-8.
  /// Ranges only for plain files without a charset and with a separator of one byte or none.
  /// Errors: IO_ERROR, also for a line beyond `longest_line` bytes.
  static Result<std::unique_ptr<LineReader>> Open(FileSystem& file_system, const std::string& path, LineRange range,
                                                  std::string separator, std::string_view charset, int64_t size_hint,
                                                  int64_t longest_line = kLongestLine);

  /// The next line without its end; false when there is none. The bytes lie in block() and stay as long as somebody
  /// holds that; kTextSlack bytes behind the line may be read.
  Result<bool> Next(std::string_view* line);
  /// What the last line lies in.
  const std::shared_ptr<Buffer>& block() const { return block_; }
  int64_t bytes_read() const { return bytes_read_; }

 private:
  LineReader(std::unique_ptr<ByteStream> stream, std::string separator, int64_t size_hint)
      : stream_(std::move(stream)), separator_(std::move(separator)), size_hint_(size_hint) {}
  Status SkipByteOrderMark();
  /// Reads on behind what is left from `line_start_` on; sets at_end_.
  Status Refill();
  const char* data() const { return reinterpret_cast<const char*>(block_->data()); }
  /// Finds the end of the line that begins at line_start_, scanning from `from`. False: more bytes are needed.
  bool FindEnd(int64_t from, int64_t* end, int64_t* next) const;

  std::unique_ptr<ByteStream> stream_;
  std::string separator_;
  int64_t size_hint_;
  int64_t longest_line_ = kLongestLine;
  std::shared_ptr<Buffer> block_;
  int64_t line_start_ = 0;      // in the block
  int64_t filled_ = 0;          // bytes of the block that are text
  int64_t block_position_ = 0;  // of the block's first byte in the file
  int64_t end_position_ = INT64_MAX;
  int64_t bytes_read_ = 0;
  bool at_end_ = false;
};

}  // namespace thalweg::data
