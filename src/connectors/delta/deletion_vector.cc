#include "connectors/delta/deletion_vector.h"

#include <zlib.h>

#include <array>
#include <cstring>

#include "base/uuid.h"
#include "connectors/delta/delta_damaged.h"
#include "data/io/path.h"

namespace thalweg::connectors {

namespace {

constexpr uint32_t kMagic = 1681511377;
constexpr uint32_t kLegacyMagic = 1681511376;
constexpr uint32_t kCookieWithRuns = 12347;
constexpr uint32_t kCookie = 12346;
constexpr uint32_t kNoOffsetThreshold = 4;
constexpr uint32_t kArrayLimit = 4096;

Status Damaged(const char* what) { return DeltaDamaged(std::string("a deletion vector: ") + what); }

/// Little-endian numbers from the front; short input is remembered.
class Cursor {
 public:
  explicit Cursor(std::string_view bytes) : bytes_(bytes) {}
  template <typename T>
  T Take() {
    T value{};
    if (bytes_.size() < sizeof(T)) {
      ok_ = false;
      bytes_ = {};
      return value;
    }
    std::memcpy(&value, bytes_.data(), sizeof(T));
    bytes_.remove_prefix(sizeof(T));
    return value;
  }
  std::string_view TakeBytes(size_t count) {
    if (bytes_.size() < count) {
      ok_ = false;
      return {};
    }
    const std::string_view out = bytes_.substr(0, count);
    bytes_.remove_prefix(count);
    return out;
  }
  bool ok() const { return ok_; }

 private:
  std::string_view bytes_;
  bool ok_ = true;
};

void ReadBitmapContainer(std::string_view words, int64_t base, std::vector<int64_t>* rows) {
  for (size_t byte = 0; byte < words.size(); ++byte) {
    for (unsigned bits = static_cast<unsigned char>(words[byte]); bits != 0; bits &= bits - 1) {
      rows->push_back(base + static_cast<int64_t>(byte) * 8 + __builtin_ctz(bits));
    }
  }
}

// One 32-bit Roaring bitmap in the portable format. A few bytes may stand for 65,536 rows: `most` bounds them.
Status ReadRoaring32(Cursor* in, int64_t high, int64_t most, std::vector<int64_t>* rows) {
  const uint32_t cookie = in->Take<uint32_t>();
  uint32_t containers = 0;
  std::string run_flags;
  if ((cookie & 0xFFFF) == kCookieWithRuns) {
    containers = (cookie >> 16) + 1;
    run_flags = std::string(in->TakeBytes((containers + 7) / 8));
  } else if (cookie == kCookie) {
    containers = in->Take<uint32_t>();
  } else {
    return Damaged("unknown cookie");
  }
  if (containers > 65536) return Damaged("too many containers");
  std::vector<std::pair<uint16_t, uint32_t>> headers;  // key, cardinality
  for (uint32_t i = 0; i < containers && in->ok(); ++i) {
    const uint16_t key = in->Take<uint16_t>();
    headers.emplace_back(key, uint32_t{in->Take<uint16_t>()} + 1);
  }
  if (run_flags.empty() || containers >= kNoOffsetThreshold) in->TakeBytes(size_t{4} * containers);
  for (uint32_t i = 0; i < containers && in->ok(); ++i) {
    if (static_cast<int64_t>(rows->size()) > most) return Damaged("more rows than the log says");
    const int64_t base = high | (int64_t{headers[i].first} << 16);
    const bool is_run = !run_flags.empty() && (static_cast<unsigned char>(run_flags[i / 8]) >> (i % 8) & 1) != 0;
    if (is_run) {
      const uint16_t runs = in->Take<uint16_t>();
      for (uint16_t run = 0; run < runs && in->ok(); ++run) {
        const uint32_t first = in->Take<uint16_t>();
        const uint32_t more = in->Take<uint16_t>();
        if (first + more > 65535) return Damaged("run beyond its container");
        if (static_cast<int64_t>(rows->size()) > most) return Damaged("more rows than the log says");
        for (uint32_t value = first; value <= first + more; ++value) rows->push_back(base | value);
      }
    } else if (headers[i].second <= kArrayLimit) {
      for (uint32_t value = 0; value < headers[i].second && in->ok(); ++value) rows->push_back(base | in->Take<uint16_t>());
    } else {
      ReadBitmapContainer(in->TakeBytes(8192), base, rows);
    }
  }
  return in->ok() ? Status::OK() : Damaged("cut off");
}

uint32_t BigEndian(std::string_view bytes) {
  uint32_t value = 0;
  std::memcpy(&value, bytes.data(), 4);
  return __builtin_bswap32(value);
}

Result<std::string> ReadVectorFile(data::FileSystem& file_system, const std::string& path, const DeletionVector& vector) {
  TW_ASSIGN_OR_RETURN(const auto file, file_system.OpenForRead(path));
  TW_ASSIGN_OR_RETURN(const int64_t file_size, file->Size());
  const int64_t offset = vector.offset.value_or(0);
  const int64_t size = int64_t{vector.size_in_bytes} + 8;  // with its own size and checksum
  if (offset < 0 || offset > file_size || size > file_size - offset) return Damaged("file cut off");
  std::string block(static_cast<size_t>(size), '\0');
  TW_ASSIGN_OR_RETURN(const size_t read, file->ReadAt(offset, block));
  if (read != block.size()) return Damaged("file cut off");
  if (BigEndian(block) != static_cast<uint32_t>(vector.size_in_bytes)) return Damaged("size differs from the log's");
  std::string payload = block.substr(4, block.size() - 8);
  const auto crc = static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(payload.data()), static_cast<uInt>(payload.size())));
  if (crc != BigEndian(std::string_view(block).substr(block.size() - 4))) {
    return Error("DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH").Kind(ErrorKind::kEnvironment);
  }
  return payload;
}

}  // namespace

Result<std::vector<int64_t>> ParseDeletionBitmap(std::string_view bytes, int64_t most) {
  Cursor in(bytes);
  std::vector<int64_t> rows;
  const uint32_t magic = in.Take<uint32_t>();
  if (magic == kLegacyMagic) {
    const uint32_t bitmaps = in.Take<uint32_t>();
    if (!in.ok() || bitmaps > bytes.size()) return Damaged("cut off");
    for (uint32_t high = 0; high < bitmaps; ++high) {
      const uint32_t length = in.Take<uint32_t>();
      Cursor one(in.TakeBytes(length));
      if (!in.ok()) return Damaged("cut off");
      TW_RETURN_NOT_OK(ReadRoaring32(&one, int64_t{high} << 32, most, &rows));
    }
    return rows;
  }
  if (magic != kMagic) return Damaged("unknown format");
  const auto buckets = in.Take<uint64_t>();
  if (!in.ok()) return Damaged("cut off");
  if (buckets > bytes.size()) return Damaged("too many bitmaps");
  int64_t previous = -1;
  for (uint64_t i = 0; i < buckets; ++i) {
    const auto key = static_cast<int64_t>(in.Take<uint32_t>());
    if (!in.ok() || key <= previous || key > INT32_MAX) return Damaged("keys out of order");
    previous = key;
    TW_RETURN_NOT_OK(ReadRoaring32(&in, key << 32, most, &rows));
  }
  return rows;
}

Result<std::string> DecodeZ85(std::string_view text) {
  constexpr std::string_view kAlphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#";
  if (text.size() % 5 != 0) return Damaged("length of Z85 text");
  std::string out;
  for (size_t at = 0; at < text.size(); at += 5) {
    uint64_t value = 0;
    for (size_t i = 0; i < 5; ++i) {
      const size_t digit = kAlphabet.find(text[at + i]);
      if (digit == std::string_view::npos) return Damaged("character of Z85 text");
      value = value * 85 + digit;
    }
    if (value > UINT32_MAX) return Damaged("value of Z85 text");
    for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xFF);
  }
  return out;
}

Result<std::string> DeletionVectorPath(const std::string& table_path, const DeletionVector& vector) {
  if (vector.storage_type == "p") return data::PathFromUri(vector.path_or_inline);
  if (vector.path_or_inline.size() < 20) return Damaged("short id");
  const std::string prefix = vector.path_or_inline.substr(0, vector.path_or_inline.size() - 20);
  TW_ASSIGN_OR_RETURN(const std::string id, DecodeZ85(std::string_view(vector.path_or_inline).substr(prefix.size())));
  std::array<uint8_t, 16> bytes{};
  std::memcpy(bytes.data(), id.data(), 16);
  const std::string name = "deletion_vector_" + Uuid(bytes).ToString() + ".bin";
  return data::JoinPath(prefix.empty() ? table_path : data::JoinPath(table_path, prefix), name);
}

Result<std::vector<int64_t>> LoadDeletionVector(data::FileSystem& file_system, const std::string& table_path,
                                                const DeletionVector& vector) {
  if (vector.size_in_bytes < 0 || vector.cardinality < 0) return Damaged("negative size");
  std::string payload;
  if (vector.storage_type == "i") {
    TW_ASSIGN_OR_RETURN(payload, DecodeZ85(vector.path_or_inline));
    if (payload.size() < static_cast<size_t>(vector.size_in_bytes)) return Damaged("inline text too short");
    payload.resize(static_cast<size_t>(vector.size_in_bytes));
  } else if (vector.storage_type == "u" || vector.storage_type == "p") {
    TW_ASSIGN_OR_RETURN(const std::string path, DeletionVectorPath(table_path, vector));
    TW_ASSIGN_OR_RETURN(payload, ReadVectorFile(file_system, path, vector));
  } else {
    return Unsupported("deletion vectors of storage type '" + vector.storage_type + "'");
  }
  TW_ASSIGN_OR_RETURN(std::vector<int64_t> rows, ParseDeletionBitmap(payload, vector.cardinality));
  if (static_cast<int64_t>(rows.size()) != vector.cardinality) return Damaged("cardinality differs from the log's");
  return rows;
}

}  // namespace thalweg::connectors
