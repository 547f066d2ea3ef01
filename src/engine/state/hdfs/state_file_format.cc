#include "engine/state/hdfs/state_file_format.h"

#include <bit>
#include <cstring>
#include <vector>

#include "engine/state/crc32c.h"

namespace thalweg::engine {
namespace {

constexpr size_t kFlushBytes = 64 * 1024;
constexpr size_t kRecordsPerVisit = 4096;

void AppendInt(int32_t value, std::string* out) {
  const uint32_t swapped = __builtin_bswap32(static_cast<uint32_t>(value));
  out->append(reinterpret_cast<const char*>(&swapped), 4);
}
int32_t IntAt(const char* bytes) {
  uint32_t value;
  std::memcpy(&value, bytes, 4);
  return static_cast<int32_t>(__builtin_bswap32(value));
}
void AppendChecksum(uint32_t crc, std::string* out) { out->append(reinterpret_cast<const char*>(&crc), 4); }

// Walks over the records of a stream that is decompressed as it goes.
class StateFileDecoder {
 public:
  StateFileDecoder(const StateFileSource& source, std::string_view file, const StateVisitor& visitor)
      : source_(source), decompressor_(StateDecompressor::Make(source.codec, file)), visitor_(visitor) {}

  Status Run() {
    while (true) {
      TW_ASSIGN_OR_RETURN(const bool more, Fill());
      TW_ASSIGN_OR_RETURN(const bool ended, TakeRecords());
      if (ended) return Status::OK();
      if (!more) return Load("the file is cut off");
    }
  }

 private:
  Status Load(std::string_view why) const {
    return Error("CANNOT_LOAD_STATE_STORE.UNCATEGORIZED")
        .Because(InternalError(source_.path + ": " + std::string(why)))
        .Kind(ErrorKind::kEnvironment);
  }
  Status SizeError(const char* condition, const char* parameter, int32_t size) const {
    return Error(condition)
        .With("fileToRead", source_.path)
        .With("clazz", source_.store)
        .With(parameter, static_cast<long long>(size))
        .Kind(ErrorKind::kEnvironment);
  }

  // Drops what was consumed and appends the next pieces; false when the stream is at its end.
  Result<bool> Fill() {
    buffer_.erase(0, position_);
    position_ = 0;
    const size_t wanted = buffer_.size() + kFlushBytes;
    while (buffer_.size() < wanted) {
      Result<bool> more = decompressor_->Next(&buffer_);
      if (!more.ok()) return Load(more.status().message_text());
      if (!*more) return false;
    }
    return true;
  }

  // Hands over the complete records in the buffer; true after the end mark.
  Result<bool> TakeRecords() {
    changes_.clear();
    bool ended = false;
    while (true) {
      TW_ASSIGN_OR_RETURN(const bool taken, TakeOne(&ended));
      if (!taken || ended) break;
      if (changes_.size() == kRecordsPerVisit) {
        TW_RETURN_NOT_OK(visitor_(changes_));
        changes_.clear();
      }
    }
    if (!changes_.empty()) TW_RETURN_NOT_OK(visitor_(changes_));
    return ended;
  }

  // False when the buffer does not hold the whole record.
  Result<bool> TakeOne(bool* ended) {
    const char* at = buffer_.data() + position_;
    size_t left = buffer_.size() - position_;
    if (left < 4) return false;
    const int32_t key_size = IntAt(at);
    if (key_size == -1) {
      *ended = true;
      return true;
    }
    if (key_size < 0) {
      return SizeError(source_.snapshot ? "CANNOT_LOAD_STATE_STORE.CANNOT_READ_SNAPSHOT_FILE_KEY_SIZE"
                                        : "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_KEY_SIZE",
                       "keySize", key_size);
    }
    const auto key_bytes = static_cast<size_t>(key_size);
    if (left < 8 + key_bytes) return false;
    StateChange change;
    change.key = {at + 4, key_bytes};
    const int32_t value_size = IntAt(at + 4 + key_bytes);
    change.removed = value_size < 0;
    const size_t value_bytes = change.removed ? 0 : static_cast<size_t>(value_size);
    if (change.removed && source_.snapshot) {
      return SizeError("CANNOT_LOAD_STATE_STORE.CANNOT_READ_SNAPSHOT_FILE_VALUE_SIZE", "valueSize", value_size);
    }
    if (left < 8 + key_bytes + value_bytes) return false;
    change.value = {at + 8 + key_bytes, value_bytes};
    position_ += 8 + key_bytes + value_bytes;
    if (source_.row_checksum) TW_RETURN_NOT_OK(TakeChecksum(&change));
    // Very old writers left up to 7 stray bytes behind the row.
    if (!source_.any_value_size) change.value = change.value.substr(0, change.value.size() / 8 * 8);
    changes_.push_back(change);
    return true;
  }

  Status TakeChecksum(StateChange* change) const {
    std::string_view& carrier = change->removed ? change->key : change->value;
    if (carrier.size() < 4) return Load("a row is too short for its checksum");
    uint32_t expected;
    std::memcpy(&expected, carrier.data(), 4);
    carrier.remove_prefix(4);
    const uint32_t computed = Crc32c(change->value, Crc32c(change->key));
    if (computed == expected) return Status::OK();
    return Error("STATE_STORE_ROW_CHECKSUM_VERIFICATION_FAILED")
        .With("stateStoreId", source_.store)
        .With("expectedChecksum", static_cast<long long>(static_cast<int32_t>(expected)))
        .With("computedChecksum", static_cast<long long>(static_cast<int32_t>(computed)));
  }

  const StateFileSource& source_;
  std::unique_ptr<StateDecompressor> decompressor_;
  const StateVisitor& visitor_;
  std::string buffer_;
  size_t position_ = 0;
  std::vector<StateChange> changes_;
};

}  // namespace

Status StateFileEncoder::Append(std::span<const StateChange> changes) {
  for (const StateChange& change : changes) {
    const bool checked_key = row_checksum_ && change.removed;
    AppendInt(static_cast<int32_t>(change.key.size() + (checked_key ? 4 : 0)), &records_);
    if (checked_key) AppendChecksum(Crc32c(change.key), &records_);
    records_.append(change.key);
    if (change.removed) {
      AppendInt(-1, &records_);
    } else {
      AppendInt(static_cast<int32_t>(change.value.size() + (row_checksum_ ? 4 : 0)), &records_);
      if (row_checksum_) AppendChecksum(Crc32c(change.value, Crc32c(change.key)), &records_);
      records_.append(change.value);
    }
    if (records_.size() >= kFlushBytes) TW_RETURN_NOT_OK(Flush());
  }
  return Status::OK();
}

Status StateFileEncoder::Flush() {
  TW_RETURN_NOT_OK(compressor_->Append(records_, &bytes_));
  records_.clear();
  return Status::OK();
}

Status StateFileEncoder::Finish() {
  AppendInt(-1, &records_);
  TW_RETURN_NOT_OK(Flush());
  return compressor_->Finish(&bytes_);
}

Status DecodeStateFile(const StateFileSource& source, std::string_view file, const StateVisitor& visitor) {
  return StateFileDecoder(source, file, visitor).Run();
}

}  // namespace thalweg::engine
