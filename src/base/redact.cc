#include "base/redact.h"

#include <array>
#include <utility>

namespace thalweg {
namespace {

constexpr std::array<std::string_view, 13> kSecretParts = {
    "secret",     "password",   "passwd",      "token",            "accesskey", "access.key", "access_key",
    "access-key", "privatekey", "private.key", "sasl.jaas.config", "ssl.key",   "credential"};

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool IsKeyCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
         c == '-';
}

bool EndsUnquotedValue(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == ',' || c == ';' || c == '&' || c == ')' || c == '}' || c == '"';
}

// Position after the value that begins at `at`.
size_t ValueEnd(std::string_view text, size_t at) {
  if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
    const char quote = text[at];
    size_t end = at + 1;
    while (end < text.size() && text[end] != quote) end += text[end] == '\\' ? 2 : 1;
    return end < text.size() ? end + 1 : text.size();
  }
  while (at < text.size() && !EndsUnquotedValue(text[at])) ++at;
  return at;
}

std::string RedactUrlPasswords(std::string text) {
  size_t from = 0;
  while ((from = text.find("://", from)) != std::string::npos) {
    from += 3;
    const size_t end = text.find_first_of("/ \n\"'", from);
    const size_t at_sign = text.substr(0, end).rfind('@');
    if (at_sign == std::string::npos || at_sign < from) continue;
    const size_t colon = text.find(':', from);
    if (colon < at_sign) text.replace(colon + 1, at_sign - colon - 1, kRedacted);
  }
  return text;
}

}  // namespace

bool IsSecretKey(std::string_view key) {
  std::string lower;
  for (const char c : key) lower += Lower(c);
  for (const std::string_view part : kSecretParts) {
    if (lower.find(part) != std::string::npos) return true;
  }
  return false;
}

std::string RedactValue(std::string_view key, std::string_view value) {
  return std::string(IsSecretKey(key) ? kRedacted : value);
}

std::string RedactText(std::string_view text) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    if (!IsKeyCharacter(text[at])) {
      out += text[at++];
      continue;
    }
    size_t end = at;
    while (end < text.size() && IsKeyCharacter(text[end])) ++end;
    const std::string_view key = text.substr(at, end - at);
    out += key;
    at = end;
    if (!IsSecretKey(key)) continue;
    size_t value = end;
    if (value < text.size() && (text[value] == '"' || text[value] == '\'')) ++value;
    while (value < text.size() && text[value] == ' ') ++value;
    if (value >= text.size() || (text[value] != '=' && text[value] != ':')) continue;
    ++value;
    while (value < text.size() && text[value] == ' ') ++value;
    out += text.substr(end, value - end);
    out += kRedacted;
    at = ValueEnd(text, value);
  }
  return RedactUrlPasswords(std::move(out));
}

}  // namespace thalweg
