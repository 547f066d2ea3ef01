#pragma once

// UTF-8 as Spark's UTF8String treats it: most operations trust the first byte of each character. Pure; made for row loops.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace thalweg::data {

/// Bytes of the character that begins with this byte, 1 for bytes that begin none (UTF8String.numBytesForFirstByte).
int Utf8CharBytes(unsigned char first);
bool IsAscii(std::string_view text);
bool IsValidUtf8(std::string_view text);
/// Characters (code points) by first bytes; never fails.
size_t Utf8Length(std::string_view text);
/// Characters [begin, end) of the text, positions from 0, cut to what is there.
std::string_view Utf8Slice(std::string_view text, size_t begin, size_t end);
/// SQL's substring: `start` from 1 (0 is as 1, negative from the end), `length` characters.
std::string_view Utf8Substring(std::string_view text, int32_t start, int32_t length);
/// Appends the text with each ill-formed sequence as U+FFFD, as java.lang.String decodes bytes.
void AppendValidUtf8(std::string_view text, std::string* out);
/// The code point at `*position`, which moves behind it; U+FFFD and one byte for ill-formed text.
char32_t NextCodePoint(std::string_view text, size_t* position);
void AppendCodePoint(char32_t code_point, std::string* out);
/// Latin-1 bytes as UTF-8.
void AppendLatin1(std::string_view bytes, std::string* out);

/// Upper and lower case as Spark 4 does with ICU's root locale; ASCII text takes a fast path.
void AppendUpper(std::string_view text, std::string* out);
void AppendLower(std::string_view text, std::string* out);
/// First letter of each blank-separated word in title case, the rest in lower case (`initcap`).
void AppendInitCap(std::string_view text, std::string* out);

}  // namespace thalweg::data
