#include "data/formats/orc/orc_footer.h"

#include <cstdint>
#include <optional>

namespace thalweg::data {

namespace {

// Field numbers of ORC's protocol buffers: do not change.
constexpr uint64_t kFooterOfTail = 2;
constexpr uint64_t kCalendarOfFooter = 11;
constexpr uint64_t kProleptic = 2;

/// Walks the fields of one protocol buffers message.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  struct Field {
    uint64_t number = 0;
    uint64_t value = 0;       ///< varints
    std::string_view bytes;   ///< length-delimited
  };
  std::optional<Field> Next() {
    const std::optional<uint64_t> key = Varint();
    if (!key) return std::nullopt;
    Field field{.number = *key >> 3, .bytes = {}};
    switch (*key & 7) {
      case 0: {
        const auto value = Varint();
        if (!value) return std::nullopt;
        field.value = *value;
        return field;
      }
      case 1: return Skip(8) ? std::optional(field) : std::nullopt;
      case 5: return Skip(4) ? std::optional(field) : std::nullopt;
      case 2: {
        const auto length = Varint();
        if (!length || *length > rest_.size()) return std::nullopt;
        field.bytes = rest_.substr(0, static_cast<size_t>(*length));
        rest_.remove_prefix(static_cast<size_t>(*length));
        return field;
      }
      default: return std::nullopt;
    }
  }

 private:
  std::optional<uint64_t> Varint() {
    uint64_t value = 0;
    for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
      const auto byte = static_cast<uint8_t>(rest_[0]);
      rest_.remove_prefix(1);
      value |= static_cast<uint64_t>(byte & 0x7f) << shift;
      if ((byte & 0x80) == 0) return value;
    }
    return std::nullopt;
  }
  bool Skip(size_t bytes) {
    if (bytes > rest_.size()) return false;
    rest_.remove_prefix(bytes);
    return true;
  }

  std::string_view rest_;
};

std::optional<Fields::Field> Find(std::string_view message, uint64_t number) {
  Fields fields(message);
  while (auto field = fields.Next()) {
    if (field->number == number) return field;
  }
  return std::nullopt;
}

}  // namespace

bool SaysProleptic(std::string_view file_tail) {
  const auto footer = Find(file_tail, kFooterOfTail);
  if (!footer) return false;
  const auto calendar = Find(footer->bytes, kCalendarOfFooter);
  return calendar && calendar->value == kProleptic;
}

}  // namespace thalweg::data
