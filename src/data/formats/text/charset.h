#pragma once

#include <memory>
#include <string_view>

#include "data/formats/text/byte_stream.h"

namespace thalweg::data {

inline constexpr std::string_view kUtf8ByteOrderMark = "\xEF\xBB\xBF";

/// Whether a charset name (option `encoding`) means UTF-8, so that nothing has to be converted.
bool IsUtf8Charset(std::string_view charset);

/// Whether Spark knows a charset. Errors: INVALID_PARAMETER_VALUE.CHARSET.
Status CheckCharset(std::string_view format, std::string_view charset);

/// The text of a stream in another charset as UTF-8; what cannot be decoded becomes U+FFFD, as in Java. "UTF-16" and
/// "UTF-32" look at the byte-order mark (big endian without one), and no charset keeps the mark.
/// Errors: INVALID_PARAMETER_VALUE.CHARSET-like for unknown names.
Result<std::unique_ptr<ByteStream>> DecodeToUtf8(std::unique_ptr<ByteStream> stream, std::string_view charset);

/// The charset of a JSON text by its first bytes (RFC 4627): "UTF-8", "UTF-16LE", "UTF-32BE", ...
std::string_view DetectJsonCharset(std::string_view first_bytes);

/// UTF-8 as another charset, for writers; what it does not have becomes '?'.
Result<std::string> EncodeFromUtf8(std::string_view text, std::string_view charset);

}  // namespace thalweg::data
