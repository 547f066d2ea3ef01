// base64, unbase64, hex, unhex, chr, char; the strict forms behind to_binary.

#include <array>

#include "data/text/utf8.h"
#include "sql/expr/binding.h"
#include "sql/functions/string/register.h"

namespace thalweg::sql {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

void AppendBase64(std::string_view bytes, std::string* out) {
  size_t i = 0;
  for (; i + 2 < bytes.size(); i += 3) {
    const uint32_t v = static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << 16 |
                       static_cast<uint32_t>(static_cast<unsigned char>(bytes[i + 1])) << 8 |
                       static_cast<unsigned char>(bytes[i + 2]);
    for (int shift = 18; shift >= 0; shift -= 6) out->push_back(kAlphabet[v >> shift & 63]);
  }
  if (i == bytes.size()) return;
  uint32_t v = static_cast<uint32_t>(static_cast<unsigned char>(bytes[i])) << 16;
  const bool two = i + 1 < bytes.size();
  if (two) v |= static_cast<uint32_t>(static_cast<unsigned char>(bytes[i + 1])) << 8;
  out->push_back(kAlphabet[v >> 18 & 63]);
  out->push_back(kAlphabet[v >> 12 & 63]);
  out->push_back(two ? kAlphabet[v >> 6 & 63] : '=');
  out->push_back('=');
}

/// As java.util.Base64's MIME decoder: other characters are skipped, '=' ends.
bool ReadBase64(std::string_view text, std::string* out) {
  uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    if (c == '=') break;
    const size_t value = kAlphabet.find(c);
    if (value == std::string_view::npos) continue;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (++count == 4) {
      for (int shift = 16; shift >= 0; shift -= 8) out->push_back(static_cast<char>(bits >> shift));
      bits = 0;
      count = 0;
    }
  }
  if (count == 1) return false;
  if (count == 2) out->push_back(static_cast<char>(bits >> 4));
  if (count == 3) {
    out->push_back(static_cast<char>(bits >> 10));
    out->push_back(static_cast<char>(bits >> 2));
  }
  return true;
}

Result<ColumnPtr> Base64(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<std::string_view>(call, input, [](std::string_view bytes, std::string* out) {
    AppendBase64(bytes, out);
    return true;
  });
}

Result<ColumnPtr> UnBase64(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTextChecked<std::string_view>(call, input, [](std::string_view text, std::string* out, bool*) -> Status {
    if (ReadBase64(text, out)) return {};
    return Error("CONVERSION_INVALID_INPUT")
        .With("str", "'" + std::string(text) + "'")
        .With("fmt", "'BASE64'")
        .With("targetType", "\"BINARY\"")
        .With("suggestion", "`try_to_binary`");
  });
}

constexpr std::string_view kHexDigits = "0123456789ABCDEF";

Result<ColumnPtr> HexBytes(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<std::string_view>(call, input, [](std::string_view bytes, std::string* out) {
    for (const char c : bytes) {
      out->push_back(kHexDigits[static_cast<unsigned char>(c) >> 4]);
      out->push_back(kHexDigits[static_cast<unsigned char>(c) & 15]);
    }
    return true;
  });
}

Result<ColumnPtr> HexLong(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<int64_t>(call, input, [](int64_t value, std::string* out) {
    auto bits = static_cast<uint64_t>(value);
    std::array<char, 16> digits{};
    size_t at = digits.size();
    do {
      digits[--at] = kHexDigits[bits & 15];
      bits >>= 4;
    } while (bits != 0);
    out->append(digits.data() + at, digits.size() - at);
    return true;
  });
}

Result<BoundCall> BindHex(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  const DataType& type = arguments[0]->type();
  if (type.Is(TypeKind::kString) || type.Is(TypeKind::kBinary)) {
    return MakeBound(function, std::move(arguments), DataType::String(), false, &HexBytes, context);
  }
  if (!ImplicitCastType(type, DataType::Long(), context.config.ansi)) {
    return UnexpectedInputType(function.name, arguments, 0, "(\"BIGINT\" or \"BINARY\" or \"STRING\")");
  }
  arguments[0] = Coerce(arguments[0], DataType::Long(), context.config);
  return MakeBound(function, std::move(arguments), DataType::String(), false, &HexLong, context);
}

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool ReadHex(std::string_view text, std::string* out) {
  size_t i = 0;
  if (text.size() % 2 == 1) {
    const int value = HexValue(text[0]);
    if (value < 0) return false;
    out->push_back(static_cast<char>(value));
    i = 1;
  }
  for (; i < text.size(); i += 2) {
    const int high = HexValue(text[i]);
    const int low = HexValue(text[i + 1]);
    if (high < 0 || low < 0) return false;
    out->push_back(static_cast<char>(high << 4 | low));
  }
  return true;
}

Result<ColumnPtr> UnHex(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<std::string_view>(call, input, &ReadHex);
}

Result<ColumnPtr> Chr(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<int64_t>(call, input, [](int64_t code, std::string* out) {
    if (code >= 0) data::AppendCodePoint(static_cast<char32_t>(code & 0xFF), out);
    return true;
  });
}

/// RFC 4648: groups of four with blanks between them, padding whole or left out.
bool IsStrictBase64(std::string_view text) {
  size_t digits = 0;
  size_t padding = 0;
  for (const char c : text) {
    if (c == '=') {
      ++padding;
    } else if (kAlphabet.find(c) != std::string_view::npos) {
      if (padding > 0) return false;
      ++digits;
    } else if (!(c == ' ' || (c >= '\t' && c <= '\r') || (c >= '\x1c' && c <= '\x1f'))) {
      return false;
    }
  }
  switch (digits % 4) {
    case 0: return padding == 0;
    case 2: return padding == 0 || padding == 2;
    case 3: return padding <= 1;
    default: return false;
  }
}

/// to_binary of a text; the second argument says whether other texts are NULL or an error.
template <bool kBase64>
Result<ColumnPtr> StrictBytes(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTextChecked<std::string_view, bool>(
      call, input, [](std::string_view text, bool lenient, std::string* out, bool* null) -> Status {
        if (kBase64 ? IsStrictBase64(text) && ReadBase64(text, out) : ReadHex(text, out)) return {};
        if (lenient) {
          *null = true;
          return {};
        }
        return Error("CONVERSION_INVALID_INPUT")
            .With("str", "'" + std::string(text) + "'")
            .With("fmt", kBase64 ? "'BASE64'" : "'HEX'")
            .With("targetType", "\"BINARY\"")
            .With("suggestion", "`try_to_binary`");
      });
}

}  // namespace

void RegisterEncoding(FunctionLists& lists) {
  static const ScalarFunction kBase64{.name = "base64", .signature = "(bytes BINARY) -> STRING", .since = "1.5.0",
                                      .doc = "Bytes in base 64.", .example = {"SELECT base64('Spark SQL')", "U3BhcmsgU1FM"},
                                      .evaluate = &Base64};
  static const ScalarFunction kUnBase64{.name = "unbase64", .signature = "(text STRING) -> BINARY", .since = "1.5.0",
                                        .doc = "The bytes of a text in base 64.",
                                        .example = {"SELECT unbase64('U3BhcmsgU1FM')", "Spark SQL"}, .evaluate = &UnBase64};
  static const ScalarFunction kHex{.name = "hex", .since = "1.5.0", .doc = "A number, string or binary in hexadecimal digits.",
                                   .example = {"SELECT hex(17)", "11"}, .bind = &BindHex};
  static const ScalarFunction kUnHex{.name = "unhex", .signature = "(text STRING) -> BINARY?", .since = "1.5.0",
                                     .doc = "The bytes of hexadecimal digits.",
                                     .example = {"SELECT decode(unhex('537061726B2053514C'), 'UTF-8')", "Spark SQL"},
                                     .evaluate = &UnHex};
  static const ScalarFunction kChr{.name = "chr", .signature = "(code BIGINT) -> STRING", .since = "2.3.0",
                                   .doc = "The character of a code, modulo 256.", .example = {"SELECT chr(65)", "A"},
                                   .evaluate = &Chr};
  static const ScalarFunction kChar = Renamed(kChr, "char");
  static const ScalarFunction kStrictHex{.name = "__bytes_of_hex", .signature = "(text STRING, lenient BOOLEAN) -> BINARY?",
                                         .doc = "to_binary(text, 'hex').", .evaluate = &StrictBytes<false>, .internal = true};
  static const ScalarFunction kStrictBase64{.name = "__bytes_of_base64", .signature = "(text STRING, lenient BOOLEAN) -> BINARY",
                                            .doc = "to_binary(text, 'base64').", .evaluate = &StrictBytes<true>,
                                            .internal = true};
  static const ScalarFunction kBase64OrNull{.name = "__bytes_of_base64_or_null",
                                            .signature = "(text STRING, lenient BOOLEAN) -> BINARY?",
                                            .doc = "try_to_binary(text, 'base64').", .evaluate = &StrictBytes<true>,
                                            .internal = true};
  for (const auto* f : {&kBase64, &kUnBase64, &kHex, &kUnHex, &kChr, &kChar, &kStrictHex, &kStrictBase64, &kBase64OrNull}) {
    lists.Add(*f);
  }
}

}  // namespace thalweg::sql
