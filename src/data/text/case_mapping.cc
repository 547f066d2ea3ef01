// Upper, lower and title case; ICU for everything outside ASCII.

#include <unicode/ucasemap.h>
#include <unicode/uchar.h>
#include <unicode/ustring.h>

#include "data/text/character_kind.h"
#include "data/text/utf8.h"

namespace thalweg::data {
namespace {

// ICU's root locale. Immutable, shared by all threads, never closed.
const UCaseMap* RootCaseMap() {
  static const UCaseMap* const map = [] {
    UErrorCode error = U_ZERO_ERROR;
    return ucasemap_open("", 0, &error);
  }();
  return map;
}

using CaseFunction = int32_t (*)(const UCaseMap*, char*, int32_t, const char*, int32_t, UErrorCode*);

void AppendMapped(std::string_view text, CaseFunction map, std::string* out) {
  std::string repaired;
  if (!IsValidUtf8(text)) {
    AppendValidUtf8(text, &repaired);
    text = repaired;
  }
  const size_t start = out->size();
  size_t room = text.size() + 16;
  while (true) {
    out->resize(start + room);
    UErrorCode error = U_ZERO_ERROR;
    const int32_t length = map(RootCaseMap(), out->data() + start, static_cast<int32_t>(room), text.data(),
                               static_cast<int32_t>(text.size()), &error);
    if (error == U_BUFFER_OVERFLOW_ERROR) {
      room = static_cast<size_t>(length);
      continue;
    }
    // Out of memory is the only other failure; the text then stays as it is.
    out->resize(start + (U_SUCCESS(error) ? static_cast<size_t>(length) : 0));
    if (U_FAILURE(error)) out->append(text);
    return;
  }
}

// One character in title case; some become two or three.
void AppendTitle(char32_t c, std::string* out) {
  if (c < 0x80) {
    out->push_back(c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : static_cast<char>(c));
    return;
  }
  UChar source[2];
  int32_t length = 0;
  UErrorCode error = U_ZERO_ERROR;
  u_strFromUTF32(source, 2, &length, reinterpret_cast<const UChar32*>(&c), 1, &error);
  UChar mapped[8];
  const int32_t mapped_length = u_strToTitle(mapped, 8, source, length, nullptr, "", &error);
  char bytes[32];
  int32_t byte_length = 0;
  u_strToUTF8(bytes, 32, &byte_length, mapped, mapped_length, &error);
  if (U_SUCCESS(error)) {
    out->append(bytes, static_cast<size_t>(byte_length));
  } else {
    AppendCodePoint(c, out);
  }
}

}  // namespace

void AppendUpper(std::string_view text, std::string* out) {
  if (!IsAscii(text)) return AppendMapped(text, &ucasemap_utf8ToUpper, out);
  const size_t start = out->size();
  out->append(text);
  for (size_t i = start; i < out->size(); ++i) {
    char& c = (*out)[i];
    c = static_cast<char>(c - (c >= 'a' && c <= 'z' ? 32 : 0));
  }
}

void AppendLower(std::string_view text, std::string* out) {
  if (!IsAscii(text)) return AppendMapped(text, &ucasemap_utf8ToLower, out);
  const size_t start = out->size();
  out->append(text);
  for (size_t i = start; i < out->size(); ++i) {
    char& c = (*out)[i];
    c = static_cast<char>(c + (c >= 'A' && c <= 'Z' ? 32 : 0));
  }
}

void AppendInitCap(std::string_view text, std::string* out) {
  std::string lower;
  AppendLower(text, &lower);
  bool is_first = true;
  for (size_t i = 0; i < lower.size();) {
    const size_t start = i;
    const char32_t c = NextCodePoint(lower, &i);
    if (is_first && c == 'i' && std::string_view(lower).substr(i).starts_with("\u0307")) {
      out->append("\u0130");  // the lower case of this letter is two characters: back to one
      i += 2;
    } else if (is_first) {
      AppendTitle(c, out);
    } else {
      out->append(lower, start, i - start);
    }
    is_first = c == ' ';
  }
}

CharacterKind KindOfCharacter(char32_t code_point) {
  const auto c = static_cast<UChar32>(code_point);
  if (u_isUUppercase(c)) return CharacterKind::kUpper;
  if (u_isULowercase(c)) return CharacterKind::kLower;
  return u_isdigit(c) ? CharacterKind::kDigit : CharacterKind::kOther;
}

}  // namespace thalweg::data
