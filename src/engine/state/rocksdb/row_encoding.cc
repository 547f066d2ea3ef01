#include "engine/state/rocksdb/row_encoding.h"

#include <cstring>
#include <span>

#include "data/rowformat/row_split.h"
#include "engine/state/crc32c.h"

namespace thalweg::engine {
namespace {

constexpr char kRowVersion = '\0';

void AppendWord(uint32_t value, std::string* out) { out->append(reinterpret_cast<const char*>(&value), 4); }
uint32_t WordAt(std::string_view bytes) {
  uint32_t value;
  std::memcpy(&value, bytes.data(), 4);
  return value;
}
Status RowDamaged(const char* what) {
  return Error("CANNOT_LOAD_STATE_STORE.UNCATEGORIZED")
      .Because(InternalError(std::string("a row of a RocksDB state store: ") + what))
      .Kind(ErrorKind::kEnvironment);
}
Result<std::string_view> WithoutVersion(std::string_view bytes) {
  if (bytes.empty() || bytes[0] != kRowVersion) return RowDamaged("its version is not 0");
  return bytes.substr(1);
}

}  // namespace

RocksDbRowEncoding::RocksDbRowEncoding(std::vector<data::DataType> key_types, int prefix_columns, bool row_checksum, std::string store)
    : key_types_(std::move(key_types)), prefix_columns_(prefix_columns), row_checksum_(row_checksum), store_(std::move(store)) {}

Status RocksDbRowEncoding::EncodeKey(std::string_view row, std::string* out) const {
  if (prefix_columns_ == 0) {
    out->push_back(kRowVersion);
    out->append(row);
    return Status::OK();
  }
  std::string prefix, rest;
  if (!data::SplitRow(key_types_, prefix_columns_, row, &prefix, &rest)) {
    return Error("MALFORMED_STATE_ROW").With("reason", "a key is shorter than its columns");
  }
  AppendWord(static_cast<uint32_t>(prefix.size() + 1), out);
  out->push_back(kRowVersion);
  out->append(prefix);
  out->push_back(kRowVersion);
  out->append(rest);
  return Status::OK();
}

void RocksDbRowEncoding::EncodeValue(std::string_view key, std::string_view row, std::string* out) const {
  const size_t begin = out->size();
  if (row_checksum_) out->append(8, '\0');
  out->push_back(kRowVersion);
  out->append(row);
  if (!row_checksum_) return;
  const std::string_view payload = std::string_view(*out).substr(begin + 8);
  const uint32_t words[2] = {Crc32c(payload, Crc32c(key)), static_cast<uint32_t>(payload.size())};
  std::memcpy(out->data() + begin, words, 8);
}

void RocksDbRowEncoding::EncodeRemovedKey(std::string_view key, std::string* out) const {
  if (row_checksum_) AppendWord(Crc32c(key), out);
  out->append(key);
}

Result<std::string_view> RocksDbRowEncoding::DecodeKey(std::string_view key, std::deque<std::string>* texts) const {
  if (prefix_columns_ == 0) return WithoutVersion(key);
  if (key.size() < 4 || WordAt(key) > key.size() - 4) return RowDamaged("its prefix is cut off");
  const size_t prefix_bytes = WordAt(key);
  TW_ASSIGN_OR_RETURN(const std::string_view prefix, WithoutVersion(key.substr(4, prefix_bytes)));
  TW_ASSIGN_OR_RETURN(const std::string_view rest, WithoutVersion(key.substr(4 + prefix_bytes)));
  std::string& row = texts->emplace_back();
  if (!data::JoinRow(key_types_, prefix_columns_, prefix, rest, &row)) return RowDamaged("its parts do not make a key");
  return std::string_view(row);
}

Result<std::string_view> RocksDbRowEncoding::DecodeValue(std::string_view key, std::string_view value) const {
  if (!row_checksum_) return WithoutVersion(value);
  if (value.size() < 8 || WordAt(value.substr(4)) != value.size() - 8) return RowDamaged("its checksum is cut off");
  const std::string_view payload = value.substr(8);
  TW_RETURN_NOT_OK(CheckSum(WordAt(value), Crc32c(payload, Crc32c(key))));
  return WithoutVersion(payload);
}

Result<std::string_view> RocksDbRowEncoding::DecodeRemovedKey(std::string_view key) const {
  if (!row_checksum_) return key;
  if (key.size() < 4) return RowDamaged("its checksum is cut off");
  TW_RETURN_NOT_OK(CheckSum(WordAt(key), Crc32c(key.substr(4))));
  return key.substr(4);
}

Status RocksDbRowEncoding::CheckSum(uint32_t expected, uint32_t computed) const {
  if (computed == expected) return Status::OK();
  return Error("STATE_STORE_ROW_CHECKSUM_VERIFICATION_FAILED")
      .With("stateStoreId", store_)
      .With("expectedChecksum", static_cast<long long>(static_cast<int32_t>(expected)))
      .With("computedChecksum", static_cast<long long>(static_cast<int32_t>(computed)));
}

}  // namespace thalweg::engine
