// length, char_length, character_length, len, octet_length, bit_length, ascii.

#include "data/text/utf8.h"
#include "sql/expr/binding.h"
#include "sql/functions/string/register.h"

namespace thalweg::sql {
namespace {

Result<ColumnPtr> Characters(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const bool binary = input.arguments[0]->type().Is(TypeKind::kBinary);
  return MapValues<int32_t, std::string_view>(call, input, [=](std::string_view text) {
    return static_cast<int32_t>(binary ? text.size() : data::Utf8Length(text));
  });
}

template <int kTimes>
Result<ColumnPtr> Bytes(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapValues<int32_t, std::string_view>(
      call, input, [](std::string_view text) { return static_cast<int32_t>(text.size()) * kTimes; });
}

Result<ColumnPtr> Ascii(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapValues<int32_t, std::string_view>(call, input, [](std::string_view text) {
    if (text.empty()) return 0;
    size_t position = 0;
    return static_cast<int32_t>(data::NextCodePoint(text, &position));
  });
}

}  // namespace

void RegisterLength(FunctionLists& lists) {
  static const ScalarFunction kLength{.name = "length", .signature = "(value STRING|BINARY) -> INT", .since = "1.5.0",
                                      .doc = "Characters of a string, or bytes of a binary.",
                                      .example = {"SELECT length('Spark SQL ')", "10"}, .evaluate = &Characters};
  static const ScalarFunction kCharLength = Renamed(kLength, "char_length");
  static const ScalarFunction kCharacterLength = Renamed(kLength, "character_length");
  static const ScalarFunction kLen = Renamed(kLength, "len");
  static const ScalarFunction kOctets{.name = "octet_length", .signature = "(value STRING|BINARY) -> INT", .since = "2.3.0",
                                      .doc = "Bytes of a string or binary.",
                                      .example = {"SELECT octet_length('Spark SQL')", "9"}, .evaluate = &Bytes<1>};
  static const ScalarFunction kBits{.name = "bit_length", .signature = "(value STRING|BINARY) -> INT", .since = "2.3.0",
                                    .doc = "Bits of a string or binary.",
                                    .example = {"SELECT bit_length('Spark SQL')", "72"}, .evaluate = &Bytes<8>};
  static const ScalarFunction kAscii{.name = "ascii", .signature = "(text STRING) -> INT", .since = "1.5.0",
                                     .doc = "The code point of the first character, 0 for empty text.",
                                     .example = {"SELECT ascii('222')", "50"}, .evaluate = &Ascii};
  for (const auto* f : {&kLength, &kCharLength, &kCharacterLength, &kLen, &kOctets, &kBits, &kAscii}) lists.Add(*f);
}

}  // namespace thalweg::sql
