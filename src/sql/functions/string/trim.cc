// trim, ltrim, rtrim, btrim: spaces, or the characters of a string.

#include "data/text/utf8.h"
#include "sql/expr/binding.h"
#include "sql/functions/string/register.h"

namespace thalweg::sql {
namespace {

std::string_view TrimSpaces(std::string_view text, bool left, bool right) {
  while (left && !text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (right && !text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

bool ContainsCharacter(std::string_view set, std::string_view character) {
  for (size_t i = 0; i < set.size();) {
    const auto bytes = static_cast<size_t>(data::Utf8CharBytes(static_cast<unsigned char>(set[i])));
    if (set.substr(i, bytes) == character) return true;
    i += bytes;
  }
  return false;
}

std::string_view TrimCharacters(std::string_view text, std::string_view set, bool left, bool right) {
  while (left && !text.empty()) {
    const auto bytes = static_cast<size_t>(data::Utf8CharBytes(static_cast<unsigned char>(text[0])));
    if (!ContainsCharacter(set, text.substr(0, bytes))) break;
    text.remove_prefix(std::min(bytes, text.size()));
  }
  while (right && !text.empty()) {
    size_t begin = text.size() - 1;
    while (begin > 0 && (static_cast<unsigned char>(text[begin]) & 0xC0) == 0x80) --begin;
    if (!ContainsCharacter(set, text.substr(begin))) break;
    text = text.substr(0, begin);
  }
  return text;
}

template <bool kLeft, bool kRight>
Result<ColumnPtr> Trim(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  if (input.arguments.size() == 1) {
    return MapView<std::string_view>(call, input, [](std::string_view text) { return TrimSpaces(text, kLeft, kRight); });
  }
  // The characters come first, as in TRIM(characters FROM text).
  return MapView<std::string_view, std::string_view>(call, input, [](std::string_view set, std::string_view text) {
    return TrimCharacters(text, set, kLeft, kRight);
  });
}

Result<ColumnPtr> TrimBoth(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  if (input.arguments.size() == 1) {
    return MapView<std::string_view>(call, input, [](std::string_view text) { return TrimSpaces(text, true, true); });
  }
  return MapView<std::string_view, std::string_view>(call, input, [](std::string_view text, std::string_view set) {
    return TrimCharacters(text, set, true, true);
  });
}

std::string TrimText(const Call& call, bool plan_text) {
  const std::string& name = call.function_name();
  if (plan_text || call.children().size() == 1) {
    std::string text = name + "(";
    for (size_t i = 0; i < call.children().size(); ++i) text += (i > 0 ? ", " : "") + TextOf(call.child(i), plan_text);
    return text + ")";
  }
  const char* side = name == "ltrim" ? "LEADING" : (name == "rtrim" ? "TRAILING" : "BOTH");
  return std::string("TRIM(") + side + " " + call.child(0)->Sql() + " FROM " + call.child(1)->Sql() + ")";
}

}  // namespace

void RegisterTrim(FunctionLists& lists) {
  static const ScalarFunction kTrim{.name = "trim", .signature = "(characters STRING, [text STRING]) -> STRING",
                                    .since = "1.5.0", .doc = "The text without spaces (or given characters) at both ends.",
                                    .example = {"SELECT trim('    SparkSQL   ')", "SparkSQL"},
                                    .evaluate = &Trim<true, true>, .sql = &TrimText};
  static const ScalarFunction kLtrim = [] {
    ScalarFunction f = Renamed(kTrim, "ltrim");
    f.evaluate = &Trim<true, false>;
    return f;
  }();
  static const ScalarFunction kRtrim = [] {
    ScalarFunction f = Renamed(kTrim, "rtrim");
    f.evaluate = &Trim<false, true>;
    return f;
  }();
  static const ScalarFunction kBtrim{.name = "btrim", .signature = "(text STRING, [characters STRING]) -> STRING",
                                     .since = "3.2.0", .doc = "The text without spaces (or given characters) at both ends.",
                                     .example = {"SELECT btrim('    SparkSQL   ')", "SparkSQL"}, .evaluate = &TrimBoth};
  for (const auto* f : {&kTrim, &kLtrim, &kRtrim, &kBtrim}) lists.Add(*f);
}

}  // namespace thalweg::sql
