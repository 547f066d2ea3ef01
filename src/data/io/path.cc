#include "data/io/path.h"

#include <algorithm>
#include <filesystem>
#include <vector>

namespace thalweg::data {
namespace {

constexpr char kUpperHex[] = "0123456789ABCDEF";

bool IsAlphanumeric(unsigned char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

void AppendEscape(unsigned char byte, std::string& out) {
  out += '%';
  out += kUpperHex[byte >> 4];
  out += kUpperHex[byte & 0x0F];
}

// Bytes of the escape at `at`, or -1 when it is broken.
int EscapedByte(std::string_view text, size_t at) {
  if (at + 2 >= text.size()) return -1;
  const int high = HexValue(text[at + 1]);
  const int low = HexValue(text[at + 2]);
  return high < 0 || low < 0 ? -1 : high * 16 + low;
}

// Length in bytes of a blank or control character beyond ASCII that java.net.URI escapes (U+0080 to U+00A0, U+1680,
// U+2000 to U+200A, U+2028, U+2029, U+202F, U+205F, U+3000), 0 for every other character.
size_t WideBlankLength(std::string_view text) {
  const auto byte = [&](size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0; };
  if (byte(0) == 0xC2 && byte(1) >= 0x80 && byte(1) <= 0xA0) return 2;
  if (byte(0) == 0xE1 && byte(1) == 0x9A && byte(2) == 0x80) return 3;
  if (byte(0) == 0xE2 && byte(1) == 0x80 &&
      ((byte(2) >= 0x80 && byte(2) <= 0x8A) || byte(2) == 0xA8 || byte(2) == 0xA9 || byte(2) == 0xAF)) {
    return 3;
  }
  if (byte(0) == 0xE2 && byte(1) == 0x81 && byte(2) == 0x9F) return 3;
  if (byte(0) == 0xE3 && byte(1) == 0x80 && byte(2) == 0x80) return 3;
  return 0;
}

size_t SchemeLength(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && (IsAlphanumeric(text[at]) || text[at] == '+' || text[at] == '.' || text[at] == '-')) ++at;
  const bool has_scheme = at > 1 && at < text.size() && text[at] == ':' && !(text[0] >= '0' && text[0] <= '9');
  return has_scheme ? at : 0;
}

// What follows the scheme `file:` and an authority.
Result<std::string_view> StripFileScheme(std::string_view text) {
  const size_t scheme = SchemeLength(text);
  if (scheme == 0) return text;
  // A name such as "a:b" of a relative path has no separator before the colon either; only known schemes count.
  if (UriScheme(text) != "file") return Unsupported("the file system of " + std::string(text));
  text.remove_prefix(scheme + 1);
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    const size_t root = text.find('/');
    text.remove_prefix(root == std::string_view::npos ? text.size() : root);
  }
  return text;
}

// The system would end the name at a NUL, and take an empty one for the working directory.
Result<std::string> Named(std::string path) {
  if (path.empty()) return Error("ILLEGAL_ARGUMENT").With("message", "Can not create a Path from an empty string");
  if (path.find('\0') != std::string::npos) {
    return Error("ILLEGAL_ARGUMENT").With("message", "Can not create a Path with the character NUL: " + path.substr(0, path.find('\0')) + "\\0...");
  }
  return path;
}

bool EscapedInPartition(unsigned char c) {
  constexpr std::string_view kSpecial = "\"#%'*/:=?\\{[]^";
  return c < 0x20 || c == 0x7F || kSpecial.find(static_cast<char>(c)) != std::string_view::npos;
}

}  // namespace

std::string JoinPath(std::string_view directory, std::string_view name) {
  std::string path(directory);
  if (!path.empty() && !path.ends_with('/')) path += '/';
  return path.append(name);
}

std::string_view PathName(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  return slash == std::string_view::npos || path.size() == 1 ? path : path.substr(slash + 1);
}

std::string ParentPath(std::string_view path) {
  while (path.size() > 1 && path.ends_with('/')) path.remove_suffix(1);
  const size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return ".";
  return std::string(slash == 0 ? path.substr(0, 1) : path.substr(0, slash));
}

std::string NormalizePath(std::string_view path) {
  const bool absolute = path.starts_with('/');
  std::vector<std::string_view> kept;
  while (!path.empty()) {
    const size_t end = std::min(path.find('/'), path.size());
    const std::string_view part = path.substr(0, end);
    path.remove_prefix(std::min(end + 1, path.size()));
    if (part.empty() || part == ".") continue;
    if (part == ".." && !kept.empty() && kept.back() != "..") {
      kept.pop_back();
    } else if (part != ".." || !absolute) {
      kept.push_back(part);
    }
  }
  std::string out = absolute ? "/" : "";
  for (const std::string_view part : kept) out = JoinPath(out, part);
  return out.empty() ? "." : out;
}

std::string AbsolutePath(std::string_view path) {
  if (path.starts_with('/')) return NormalizePath(path);
  std::error_code error;
  const std::string here = std::filesystem::current_path(error).string();
  return NormalizePath(JoinPath(error ? "/" : here, path));
}

std::string UriScheme(std::string_view text) {
  std::string scheme(text.substr(0, SchemeLength(text)));
  for (char& c : scheme) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return scheme;
}

Result<std::string> PathFromText(std::string_view text) {
  TW_ASSIGN_OR_RETURN(const std::string_view path, StripFileScheme(text));
  return Named(std::string(path));
}

Result<std::string> PathFromUri(std::string_view uri) {
  TW_ASSIGN_OR_RETURN(const std::string_view path, StripFileScheme(uri));
  TW_ASSIGN_OR_RETURN(std::string decoded, DecodeUriPath(path));
  return Named(std::move(decoded));
}

std::string UriFromPath(std::string_view path) { return "file://" + EncodeUriPath(path); }

std::string QualifiedPathText(std::string_view path) { return "file:" + std::string(path); }

std::string EncodeUriPath(std::string_view path) {
  constexpr std::string_view kLegal = "_-!.~'()*,;:$&+=@/";
  std::string out;
  for (size_t at = 0; at < path.size(); ++at) {
    const auto byte = static_cast<unsigned char>(path[at]);
    if (IsAlphanumeric(byte) || kLegal.find(path[at]) != std::string_view::npos) {
      out += path[at];
    } else if (byte < 0x80) {
      AppendEscape(byte, out);
    } else if (const size_t length = WideBlankLength(path.substr(at)); length > 0) {
      for (size_t i = 0; i < length; ++i) AppendEscape(static_cast<unsigned char>(path[at + i]), out);
      at += length - 1;
    } else {
      out += path[at];
    }
  }
  return out;
}

Result<std::string> DecodeUriPath(std::string_view encoded) {
  std::string out;
  for (size_t at = 0; at < encoded.size(); ++at) {
    if (encoded[at] != '%') {
      out += encoded[at];
      continue;
    }
    const int byte = EscapedByte(encoded, at);
    if (byte < 0) return InternalError("Malformed escape pair in the URI: " + std::string(encoded));
    out += static_cast<char>(byte);
    at += 2;
  }
  return out;
}

std::string EscapePartitionValue(std::string_view value) {
  if (value.empty()) return std::string(kDefaultPartitionName);
  std::string out;
  for (const char c : value) {
    if (EscapedInPartition(static_cast<unsigned char>(c))) {
      AppendEscape(static_cast<unsigned char>(c), out);
    } else {
      out += c;
    }
  }
  return out;
}

std::string UnescapePartitionValue(std::string_view text) {
  std::string out;
  for (size_t at = 0; at < text.size(); ++at) {
    const int byte = text[at] == '%' ? EscapedByte(text, at) : -1;
    if (byte < 0) {
      out += text[at];
    } else {
      out += static_cast<char>(byte);
      at += 2;
    }
  }
  return out;
}

}  // namespace thalweg::data
