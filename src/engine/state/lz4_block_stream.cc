// lz4-java's LZ4BlockOutputStream format.

#include <lz4.h>

#include <bit>
#include <cstring>

#include "engine/state/state_codec.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace thalweg::engine {

std::unique_ptr<StateCompressor> MakeLz4Compressor();
std::unique_ptr<StateDecompressor> MakeLz4Decompressor(std::string_view file);

namespace {

constexpr char kMagic[] = "LZ4Block";
constexpr size_t kHeaderBytes = 8 + 1 + 4 + 4 + 4;
constexpr size_t kBlockBytes = 32 * 1024;
constexpr uint8_t kRaw = 0x10;
constexpr uint8_t kCompressed = 0x20;
constexpr uint8_t kBlockLevel = 5;  // log2(block size) - 10
constexpr uint32_t kSeed = 0x9747b28c;
constexpr uint32_t kChecksumMask = 0x0fffffff;  // what lz4-java's StreamingXXHash32.asChecksum keeps

uint32_t Checksum(const char* bytes, size_t size) { return XXH32(bytes, size, kSeed) & kChecksumMask; }

void AppendLittleEndian(uint32_t value, std::string* out) {
  for (int i = 0; i < 4; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}
uint32_t LittleEndian(const char* bytes) {
  uint32_t value = 0;
  for (int i = 3; i >= 0; --i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

void AppendHeader(uint8_t method, size_t payload, size_t plain, uint32_t checksum, std::string* out) {
  out->append(kMagic, 8);
  out->push_back(static_cast<char>(method | kBlockLevel));
  AppendLittleEndian(static_cast<uint32_t>(payload), out);
  AppendLittleEndian(static_cast<uint32_t>(plain), out);
  AppendLittleEndian(checksum, out);
}

class Lz4Compressor final : public StateCompressor {
 public:
  Status Append(std::string_view bytes, std::string* out) override {
    while (!bytes.empty()) {
      if (block_.empty() && bytes.size() >= kBlockBytes) {
        WriteBlock(bytes.substr(0, kBlockBytes), out);
        bytes.remove_prefix(kBlockBytes);
        continue;
      }
      const size_t taken = std::min(bytes.size(), kBlockBytes - block_.size());
      block_.append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
      if (block_.size() == kBlockBytes) {
        WriteBlock(block_, out);
        block_.clear();
      }
    }
    return Status::OK();
  }
  Status Finish(std::string* out) override {
    if (!block_.empty()) WriteBlock(block_, out);
    block_.clear();
    AppendHeader(kRaw, 0, 0, 0, out);
    return Status::OK();
  }

 private:
  void WriteBlock(std::string_view plain, std::string* out) {
    compressed_.resize(static_cast<size_t>(LZ4_compressBound(static_cast<int>(kBlockBytes))));
    const int size = LZ4_compress_fast_extState(state_, plain.data(), compressed_.data(), static_cast<int>(plain.size()),
                                                static_cast<int>(compressed_.size()), 1);
    const uint32_t checksum = Checksum(plain.data(), plain.size());
    if (size <= 0 || static_cast<size_t>(size) >= plain.size()) {
      AppendHeader(kRaw, plain.size(), plain.size(), checksum, out);
      out->append(plain);
    } else {
      AppendHeader(kCompressed, static_cast<size_t>(size), plain.size(), checksum, out);
      out->append(compressed_.data(), static_cast<size_t>(size));
    }
  }
  std::string block_;
  std::string compressed_;
  alignas(8) char state_[LZ4_STREAM_MINSIZE];
};

class Lz4Decompressor final : public StateDecompressor {
 public:
  explicit Lz4Decompressor(std::string_view file) : left_(file) {}

  Result<bool> Next(std::string* out) override {
    while (!left_.empty()) {
      if (left_.size() < kHeaderBytes || std::memcmp(left_.data(), kMagic, 8) != 0) return Corrupted();
      const auto token = static_cast<uint8_t>(left_[8]);
      const uint8_t method = token & 0xf0;
      const uint64_t limit = uint64_t{1} << (10 + (token & 0x0f));
      const uint32_t payload = LittleEndian(left_.data() + 9);
      const uint32_t plain = LittleEndian(left_.data() + 13);
      const uint32_t checksum = LittleEndian(left_.data() + 17);
      left_.remove_prefix(kHeaderBytes);
      if ((method != kRaw && method != kCompressed) || plain > limit || (plain == 0) != (payload == 0) ||
          payload > left_.size() || (method == kRaw && payload != plain)) {
        return Corrupted();
      }
      // An end mark: more streams may follow, or the end of the file.
      if (plain == 0) {
        if (checksum != 0) return Corrupted();
        continue;
      }
      TW_RETURN_NOT_OK(ReadBlock(method, left_.substr(0, payload), plain, checksum, out));
      left_.remove_prefix(payload);
      return true;
    }
    return false;
  }

 private:
  static Status Corrupted() { return InternalError("Stream is corrupted"); }

  static Status ReadBlock(uint8_t method, std::string_view payload, uint32_t plain, uint32_t checksum,
                          std::string* out) {
    const size_t before = out->size();
    if (method == kRaw) {
      out->append(payload);
    } else {
      out->resize(before + plain);
      const int size = LZ4_decompress_safe(payload.data(), out->data() + before, static_cast<int>(payload.size()),
                                           static_cast<int>(plain));
      if (size != static_cast<int>(plain)) return Corrupted();
    }
    return Checksum(out->data() + before, plain) == checksum ? Status::OK() : Corrupted();
  }

  std::string_view left_;
};

}  // namespace

std::unique_ptr<StateCompressor> MakeLz4Compressor() { return std::make_unique<Lz4Compressor>(); }
std::unique_ptr<StateDecompressor> MakeLz4Decompressor(std::string_view file) {
  return std::make_unique<Lz4Decompressor>(file);
}

}  // namespace thalweg::engine
