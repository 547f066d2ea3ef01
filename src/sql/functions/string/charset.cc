// encode, decode: text in the character sets of Spark 4. decode with more than two arguments is a CASE.

#include <array>
#include <cctype>

#include "data/text/utf8.h"
#include "sql/functions/meaning.h"
#include "sql/functions/string/register.h"

namespace thalweg::sql {
namespace {

enum class Charset : uint8_t { kLatin1, kAscii, kUtf16, kUtf16Be, kUtf16Le, kUtf32, kUtf8 };

constexpr std::array<std::string_view, 7> kCharsetNames = {"iso-8859-1", "us-ascii", "utf-16", "utf-16be", "utf-16le", "utf-32", "utf-8"};

Result<Charset> CharsetOf(std::string_view function, std::string_view name) {
  for (size_t i = 0; i < kCharsetNames.size(); ++i) {
    const bool same = name.size() == kCharsetNames[i].size() &&
                      std::equal(name.begin(), name.end(), kCharsetNames[i].begin(),
                                 [](unsigned char a, char b) { return std::tolower(a) == b; });
    if (same) return static_cast<Charset>(i);
  }
  return Error("INVALID_PARAMETER_VALUE.CHARSET")
      .With("functionName", QuoteFunctionName(function))
      .With("parameter", "`charset`")
      .With("charsets", "iso-8859-1, us-ascii, utf-16, utf-16be, utf-16le, utf-32, utf-8")
      .With("charset", name);
}

/// `count` bytes of a number, the highest first unless `little`.
void AppendUnit(uint32_t unit, int count, bool little, std::string* out) {
  for (int i = 0; i < count; ++i) out->push_back(static_cast<char>(unit >> 8 * (little ? i : count - 1 - i)));
}

uint32_t UnitAt(std::string_view bytes, size_t at, size_t count, bool little) {
  uint32_t unit = 0;
  for (size_t i = 0; i < count; ++i) {
    unit = unit << 8 | static_cast<unsigned char>(bytes[at + (little ? count - 1 - i : i)]);
  }
  return unit;
}

/// False for a character that the set has not.
bool EncodeText(std::string_view text, Charset charset, std::string* out) {
  if (charset == Charset::kUtf8) {
    out->append(text);
    return true;
  }
  if (charset == Charset::kUtf16 && !text.empty()) AppendUnit(0xFEFF, 2, false, out);
  const bool little = charset == Charset::kUtf16Le;
  for (size_t at = 0; at < text.size();) {
    const char32_t c = data::NextCodePoint(text, &at);
    if (charset == Charset::kUtf32) {
      AppendUnit(c, 4, false, out);
    } else if (charset == Charset::kLatin1 || charset == Charset::kAscii) {
      if (c > (charset == Charset::kAscii ? 0x7FU : 0xFFU)) return false;
      out->push_back(static_cast<char>(c));
    } else if (c < 0x10000) {
      AppendUnit(c, 2, little, out);
    } else {
      AppendUnit(0xD800 + ((c - 0x10000) >> 10), 2, little, out);
      AppendUnit(0xDC00 + ((c - 0x10000) & 0x3FF), 2, little, out);
    }
  }
  return true;
}

bool DecodeUtf16(std::string_view bytes, bool little, bool marked, std::string* out) {
  size_t at = 0;
  if (marked && bytes.size() >= 2) {
    const uint32_t mark = UnitAt(bytes, 0, 2, false);
    little = mark == 0xFFFE;
    if (mark == 0xFFFE || mark == 0xFEFF) at = 2;
  }
  while (at < bytes.size()) {
    if (bytes.size() - at < 2) return false;
    uint32_t c = UnitAt(bytes, at, 2, little);
    at += 2;
    if (c >= 0xDC00 && c < 0xE000) return false;
    if (c >= 0xD800 && c < 0xDC00) {
      if (bytes.size() - at < 2) return false;
      const uint32_t low = UnitAt(bytes, at, 2, little);
      if (low < 0xDC00 || low >= 0xE000) return false;
      c = 0x10000 + ((c - 0xD800) << 10) + (low - 0xDC00);
      at += 2;
    }
    data::AppendCodePoint(c, out);
  }
  return true;
}

bool DecodeUtf32(std::string_view bytes, std::string* out) {
  if (bytes.size() % 4 != 0) return false;
  bool little = false;
  size_t at = 0;
  if (bytes.size() >= 4) {
    const uint32_t mark = UnitAt(bytes, 0, 4, false);
    little = mark == 0xFFFE0000;
    if (little || mark == 0xFEFF) at = 4;
  }
  for (; at < bytes.size(); at += 4) {
    const uint32_t c = UnitAt(bytes, at, 4, little);
    if (c > 0x10FFFF || (c >= 0xD800 && c < 0xE000)) return false;
    data::AppendCodePoint(c, out);
  }
  return true;
}

/// False for bytes that are no text of the set.
bool DecodeText(std::string_view bytes, Charset charset, std::string* out) {
  switch (charset) {
    case Charset::kLatin1: data::AppendLatin1(bytes, out); return true;
    case Charset::kAscii:
      if (!data::IsAscii(bytes)) return false;
      out->append(bytes);
      return true;
    case Charset::kUtf16: return DecodeUtf16(bytes, false, true, out);
    case Charset::kUtf16Be: return DecodeUtf16(bytes, false, false, out);
    case Charset::kUtf16Le: return DecodeUtf16(bytes, true, false, out);
    case Charset::kUtf32: return DecodeUtf32(bytes, out);
    case Charset::kUtf8:
      if (!data::IsValidUtf8(bytes)) return false;
      out->append(bytes);
      return true;
  }
  return false;
}

template <bool (*kRecode)(std::string_view, Charset, std::string*)>
Result<ColumnPtr> Recode(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const std::string_view function = input.arguments.empty() ? "" : call.function->name;
  return MapTextChecked<std::string_view, std::string_view>(
      call, input, [&](std::string_view from, std::string_view name, std::string* out, bool*) -> Status {
        TW_ASSIGN_OR_RETURN(const Charset charset, CharsetOf(function, name));
        if (kRecode(from, charset, out)) return {};
        return Error("MALFORMED_CHARACTER_CODING").With("function", QuoteFunctionName(function)).With("charset", name);
      });
}

/// decode(value, search, result, ..., [default]).
Result<ExprPtr> MeanDecodeCase(const ExprList& a, const BindContext& c) {
  ExprList branches;
  size_t i = 1;
  for (; i + 1 < a.size(); i += 2) {
    TW_ASSIGN_OR_RETURN(ExprPtr same, BindBuiltin("<=>", {a[0], a[i]}, c));
    branches.push_back(std::move(same));
    branches.push_back(a[i + 1]);
  }
  if (i < a.size()) branches.push_back(a[i]);
  return BindBuiltin("when", branches, c);
}

Result<BoundCall> BindDecode(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  if (arguments.size() > 2) return BindAs<MeanDecodeCase>(function, std::move(arguments), context);
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::Binary(), context));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, DataType::String(), context));
  return MakeBound(function, std::move(arguments), DataType::String(), true, &Recode<&DecodeText>, context);
}

}  // namespace

void RegisterCharset(FunctionLists& lists) {
  static const ScalarFunction kEncode{.name = "encode", .signature = "(text STRING, charset STRING) -> BINARY?",
                                      .since = "1.5.0", .doc = "The bytes of a text in a character set.",
                                      .example = {"SELECT encode('abc', 'utf-8')", "abc"}, .evaluate = &Recode<&EncodeText>};
  static const ScalarFunction kDecode{.name = "decode", .since = "1.5.0",
                                      .doc = "The text of bytes in a character set; with more arguments, the result behind the "
                                             "first search value that is the same as the first argument.",
                                      .example = {"SELECT decode(encode('abc', 'utf-8'), 'utf-8')", "abc"},
                                      .bind = &BindDecode};
  lists.Add(kEncode);
  lists.Add(kDecode);
}

}  // namespace thalweg::sql
