#include "engine/checkpoint/state_schema_file.h"

#include <algorithm>

#include "data/logs/log_text.h"

namespace thalweg::engine {
namespace {

constexpr int kStateSchemaNewestVersion = 3;
constexpr size_t kLongestUtf = 65'535;
constexpr std::string_view kStateSchemaPlace = "a state schema file";

Status Truncated() { return data::MalformedLogEntry(kStateSchemaPlace, "it ends too early"); }

// Java's DataInputStream over bytes.
class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  Result<uint32_t> Big(size_t width) {
    if (bytes_.size() < width) return Truncated();
    uint32_t value = 0;
    for (size_t i = 0; i < width; ++i) value = value << 8 | static_cast<unsigned char>(bytes_[i]);
    bytes_.remove_prefix(width);
    return value;
  }

  Result<std::string> Utf() {
    TW_ASSIGN_OR_RETURN(const uint32_t length, Big(2));
    if (bytes_.size() < length) return Truncated();
    const std::string_view text = bytes_.substr(0, length);
    bytes_.remove_prefix(length);
    return FromModifiedUtf8(text);
  }

  // A text in chunks. Their number is bounded by the bytes that are left.
  Result<std::string> Chunked() {
    TW_ASSIGN_OR_RETURN(const uint32_t chunks, Big(4));
    if (chunks > bytes_.size() / 2) return Truncated();
    std::string text;
    for (uint32_t i = 0; i < chunks; ++i) {
      TW_ASSIGN_OR_RETURN(const std::string chunk, Utf());
      text += chunk;
    }
    return text;
  }

  bool AtEnd() const { return bytes_.empty(); }

 private:
  std::string_view bytes_;
};

void AppendBig(uint32_t value, size_t width, std::string& out) {
  for (size_t i = width; i-- > 0;) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

void AppendUtf(std::string_view modified, std::string& out) {
  AppendBig(static_cast<uint32_t>(modified.size()), 2, out);
  out += modified;
}

// Chunks end between characters: a byte 10xxxxxx continues one.
void AppendChunked(std::string_view text, std::string& out) {
  const std::string modified = ToModifiedUtf8(text);
  std::vector<std::string_view> chunks;
  for (std::string_view left = modified; !left.empty();) {
    size_t length = std::min(left.size(), kLongestUtf);
    while (length < left.size() && (static_cast<unsigned char>(left[length]) & 0xC0) == 0x80) --length;
    chunks.push_back(left.substr(0, length));
    left.remove_prefix(length);
  }
  AppendBig(static_cast<uint32_t>(chunks.size()), 4, out);
  for (const std::string_view chunk : chunks) AppendUtf(chunk, out);
}

Result<StateSchema> ParseFamily(Reader& reader) {
  StateSchema schema;
  TW_ASSIGN_OR_RETURN(schema.family, reader.Utf());
  TW_ASSIGN_OR_RETURN(const uint32_t key_id, reader.Big(2));
  schema.key_schema_id = static_cast<int16_t>(key_id);
  TW_ASSIGN_OR_RETURN(schema.key_json, reader.Chunked());
  TW_ASSIGN_OR_RETURN(const uint32_t value_id, reader.Big(2));
  schema.value_schema_id = static_cast<int16_t>(value_id);
  TW_ASSIGN_OR_RETURN(schema.value_json, reader.Chunked());
  TW_ASSIGN_OR_RETURN(schema.encoder_json, reader.Chunked());
  TW_ASSIGN_OR_RETURN(schema.user_key_json, reader.Chunked());
  return schema;
}

void AppendUtf8(uint32_t code, std::string& out) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// The UTF-16 unit that begins at `at`, which is moved behind it; -1 when the bytes are none.
int NextUnit(std::string_view bytes, size_t& at) {
  const auto byte = [&](size_t i) { return at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0; };
  const int first = byte(0);
  const bool two = (first & 0xE0) == 0xC0 && (byte(1) & 0xC0) == 0x80;
  const bool three = (first & 0xF0) == 0xE0 && (byte(1) & 0xC0) == 0x80 && (byte(2) & 0xC0) == 0x80;
  if (first < 0x80) {
    at += 1;
    return first;
  }
  if (two) {
    const int unit = (first & 0x1F) << 6 | (byte(1) & 0x3F);
    at += 2;
    return unit;
  }
  if (three) {
    const int unit = (first & 0x0F) << 12 | (byte(1) & 0x3F) << 6 | (byte(2) & 0x3F);
    at += 3;
    return unit;
  }
  return -1;
}

}  // namespace

std::string ToModifiedUtf8(std::string_view utf8) {
  std::string out;
  for (size_t at = 0; at < utf8.size(); ++at) {
    const auto first = static_cast<unsigned char>(utf8[at]);
    if (first == 0) {
      out += "\xC0\x80";
    } else if (first >= 0xF0 && at + 3 < utf8.size()) {
      uint32_t code = first & 0x07;
      for (size_t i = 1; i < 4; ++i) code = code << 6 | (static_cast<unsigned char>(utf8[at + i]) & 0x3F);
      code -= 0x10000;
      AppendUtf8(0xD800 | (code >> 10 & 0x3FF), out);
      AppendUtf8(0xDC00 | (code & 0x3FF), out);
      at += 3;
    } else {
      out += utf8[at];
    }
  }
  return out;
}

Result<std::string> FromModifiedUtf8(std::string_view bytes) {
  std::string out;
  for (size_t at = 0; at < bytes.size();) {
    const int unit = NextUnit(bytes, at);
    if (unit < 0) return data::MalformedLogEntry(kStateSchemaPlace, "a text is not modified UTF-8");
    const bool high = unit >= 0xD800 && unit < 0xDC00;
    size_t after = at;
    const int low = high && at < bytes.size() ? NextUnit(bytes, after) : -1;
    if (low >= 0xDC00 && low < 0xE000) {
      AppendUtf8(0x10000 + (static_cast<uint32_t>(unit - 0xD800) << 10) + static_cast<uint32_t>(low - 0xDC00), out);
      at = after;
    } else if (unit >= 0xD800 && unit < 0xE000) {
      return data::MalformedLogEntry(kStateSchemaPlace, "a text has half a character");
    } else {
      AppendUtf8(static_cast<uint32_t>(unit), out);
    }
  }
  return out;
}

Result<StateSchemaFile> ParseStateSchemaFile(std::string_view bytes) {
  Reader reader(bytes);
  StateSchemaFile file;
  TW_ASSIGN_OR_RETURN(const std::string version, reader.Utf());
  TW_ASSIGN_OR_RETURN(file.version, data::ParseLogVersion(version, kStateSchemaNewestVersion));
  if (file.version == 3) {
    TW_ASSIGN_OR_RETURN(const uint32_t families, reader.Big(4));
    for (uint32_t i = 0; i < families; ++i) {
      TW_ASSIGN_OR_RETURN(StateSchema schema, ParseFamily(reader));
      file.families.push_back(std::move(schema));
    }
  } else {
    StateSchema& schema = file.families.emplace_back();
    TW_ASSIGN_OR_RETURN(schema.key_json, file.version == 1 ? reader.Utf() : reader.Chunked());
    TW_ASSIGN_OR_RETURN(schema.value_json, file.version == 1 ? reader.Utf() : reader.Chunked());
  }
  if (!reader.AtEnd()) return data::MalformedLogEntry(kStateSchemaPlace, "there are bytes behind its end");
  return file;
}

Result<std::string> FormatStateSchemaFile(const StateSchemaFile& file) {
  std::string out;
  AppendUtf(data::LogVersionLine(file.version), out);
  if (file.version == 2 && file.families.size() == 1) {
    AppendChunked(file.families[0].key_json, out);
    AppendChunked(file.families[0].value_json, out);
    return out;
  }
  if (file.version != 3) return InternalError("cannot write a state schema file of version " + std::to_string(file.version));
  AppendBig(static_cast<uint32_t>(file.families.size()), 4, out);
  for (const StateSchema& schema : file.families) {
    AppendUtf(ToModifiedUtf8(schema.family), out);
    AppendBig(static_cast<uint16_t>(schema.key_schema_id), 2, out);
    AppendChunked(schema.key_json, out);
    AppendBig(static_cast<uint16_t>(schema.value_schema_id), 2, out);
    AppendChunked(schema.value_json, out);
    AppendChunked(schema.encoder_json, out);
    AppendChunked(schema.user_key_json, out);
  }
  return out;
}

}  // namespace thalweg::engine
