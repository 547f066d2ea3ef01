// snappy-java's stream and ning's LZF chunks.

#include <snappy.h>

#include "engine/state/state_codec.h"

namespace thalweg::engine {

std::unique_ptr<StateCompressor> MakeSnappyCompressor();
std::unique_ptr<StateDecompressor> MakeSnappyDecompressor(std::string_view file);
std::unique_ptr<StateCompressor> MakeLzfCompressor();
std::unique_ptr<StateDecompressor> MakeLzfDecompressor(std::string_view file);

namespace {

constexpr std::string_view kSnappyHeader("\x82SNAPPY\0\0\0\0\1\0\0\0\1", 16);
constexpr size_t kSnappyBlock = 32 * 1024;
constexpr size_t kLzfChunk = 65'535;
constexpr size_t kLargestSnappyBlock = 64 * 1024 * 1024;  // of a foreign writer

void AppendBigEndian(uint32_t value, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>(value >> shift));
}
uint32_t BigEndian(std::string_view bytes, size_t at, int count) {
  uint32_t value = 0;
  for (int i = 0; i < count; ++i) value = value << 8 | static_cast<uint8_t>(bytes[at + static_cast<size_t>(i)]);
  return value;
}

// Cuts a stream into blocks of `block_bytes`; `write` takes each.
template <typename Write>
void CutBlocks(std::string* pending, std::string_view bytes, size_t block_bytes, Write write) {
  pending->append(bytes);
  size_t at = 0;
  for (; pending->size() - at >= block_bytes; at += block_bytes) write(std::string_view(*pending).substr(at, block_bytes));
  pending->erase(0, at);
}

class SnappyCompressor final : public StateCompressor {
 public:
  Status Append(std::string_view bytes, std::string* out) override {
    Begin(out);
    CutBlocks(&pending_, bytes, kSnappyBlock, [&](std::string_view block) { WriteBlock(block, out); });
    return Status::OK();
  }
  Status Finish(std::string* out) override {
    Begin(out);
    if (!pending_.empty()) WriteBlock(pending_, out);
    pending_.clear();
    return Status::OK();
  }

 private:
  void Begin(std::string* out) {
    if (!begun_) out->append(kSnappyHeader);
    begun_ = true;
  }
  void WriteBlock(std::string_view block, std::string* out) {
    snappy::Compress(block.data(), block.size(), &compressed_);
    AppendBigEndian(static_cast<uint32_t>(compressed_.size()), out);
    out->append(compressed_);
  }
  bool begun_ = false;
  std::string pending_;
  std::string compressed_;
};

class SnappyDecompressor final : public StateDecompressor {
 public:
  explicit SnappyDecompressor(std::string_view file) : left_(file) {}
  Result<bool> Next(std::string* out) override {
    // A header may stand again in the middle: streams can be concatenated.
    while (left_.size() >= kSnappyHeader.size() && left_.substr(0, 8) == kSnappyHeader.substr(0, 8)) {
      left_.remove_prefix(kSnappyHeader.size());
      begun_ = true;
    }
    if (!begun_) return InternalError("snappy: the header is missing");
    if (left_.empty()) return false;
    if (left_.size() < 4) return InternalError("snappy: the stream ends inside a block");
    const uint32_t size = BigEndian(left_, 0, 4);
    left_.remove_prefix(4);
    size_t plain = 0;
    if (size > left_.size() || !snappy::GetUncompressedLength(left_.data(), size, &plain) || plain > kLargestSnappyBlock) {
      return InternalError("snappy: damaged block");
    }
    const size_t before = out->size();
    out->resize(before + plain);
    if (!snappy::RawUncompress(left_.data(), size, out->data() + before)) return InternalError("snappy: damaged block");
    left_.remove_prefix(size);
    return true;
  }

 private:
  std::string_view left_;
  bool begun_ = false;
};

// Writes stored chunks: legal, and lzf is there to read old checkpoints, not to be small.
class LzfCompressor final : public StateCompressor {
 public:
  Status Append(std::string_view bytes, std::string* out) override {
    CutBlocks(&pending_, bytes, kLzfChunk, [&](std::string_view chunk) { WriteChunk(chunk, out); });
    return Status::OK();
  }
  Status Finish(std::string* out) override {
    if (!pending_.empty()) WriteChunk(pending_, out);
    pending_.clear();
    return Status::OK();
  }

 private:
  static void WriteChunk(std::string_view chunk, std::string* out) {
    out->append("ZV");
    out->push_back('\0');
    out->push_back(static_cast<char>(chunk.size() >> 8));
    out->push_back(static_cast<char>(chunk.size()));
    out->append(chunk);
  }
  std::string pending_;
};

// One LZF chunk: runs of literals, and copies of 3 to 264 bytes from at most 8 KiB back.
bool ExpandLzf(std::string_view from, size_t plain, std::string* out) {
  const size_t begin = out->size();
  const size_t end = begin + plain;
  size_t at = 0;
  while (at < from.size()) {
    const auto control = static_cast<uint8_t>(from[at++]);
    if (control < 32) {
      const size_t run = control + 1U;
      if (run > from.size() - at || out->size() + run > end) return false;
      out->append(from.substr(at, run));
      at += run;
      continue;
    }
    size_t length = control >> 5;
    if (length == 7) {
      if (at >= from.size()) return false;
      length += static_cast<uint8_t>(from[at++]);
    }
    length += 2;
    if (at >= from.size()) return false;
    const size_t distance = (static_cast<size_t>(control & 0x1f) << 8) + static_cast<uint8_t>(from[at++]) + 1;
    if (distance > out->size() - begin || out->size() + length > end) return false;
    for (size_t i = 0; i < length; ++i) out->push_back((*out)[out->size() - distance]);
  }
  return out->size() == end;
}

class LzfDecompressor final : public StateDecompressor {
 public:
  explicit LzfDecompressor(std::string_view file) : left_(file) {}
  Result<bool> Next(std::string* out) override {
    if (left_.empty()) return false;
    if (left_.size() < 5 || left_.substr(0, 2) != "ZV") return Damaged();
    const bool compressed = left_[2] != 0;
    const uint32_t payload = BigEndian(left_, 3, 2);
    const size_t header = compressed ? 7 : 5;
    if (left_.size() < header || payload > left_.size() - header) return Damaged();
    const std::string_view bytes = left_.substr(header, payload);
    if (compressed) {
      const uint32_t plain = BigEndian(left_, 5, 2);
      if (!ExpandLzf(bytes, plain, out)) return Damaged();
    } else {
      out->append(bytes);
    }
    left_.remove_prefix(header + payload);
    return true;
  }

 private:
  static Status Damaged() { return InternalError("lzf: damaged chunk"); }
  std::string_view left_;
};

}  // namespace

std::unique_ptr<StateCompressor> MakeSnappyCompressor() { return std::make_unique<SnappyCompressor>(); }
std::unique_ptr<StateDecompressor> MakeSnappyDecompressor(std::string_view file) {
  return std::make_unique<SnappyDecompressor>(file);
}
std::unique_ptr<StateCompressor> MakeLzfCompressor() { return std::make_unique<LzfCompressor>(); }
std::unique_ptr<StateDecompressor> MakeLzfDecompressor(std::string_view file) {
  return std::make_unique<LzfDecompressor>(file);
}

}  // namespace thalweg::engine
