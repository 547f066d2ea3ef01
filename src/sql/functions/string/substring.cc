// substring, substr, left, right, substring_index.

#include <limits>

#include "data/text/utf8.h"
#include "sql/expr/binding.h"
#include "sql/functions/alike.h"
#include "sql/functions/string/register.h"

namespace thalweg::sql {
namespace {

/// SQL's substring over bytes.
std::string_view ByteSubstring(std::string_view bytes, int32_t start, int32_t length) {
  const int64_t size = static_cast<int64_t>(bytes.size());
  int64_t begin = start > 0 ? start - 1 : (start < 0 ? size + start : 0);
  const int64_t end = std::min(size, begin + length);
  begin = std::max<int64_t>(begin, 0);
  if (begin >= end) return {};
  return bytes.substr(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
}

Result<ColumnPtr> Substring(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const bool binary = call.type.Is(TypeKind::kBinary);
  return MapView<std::string_view, int32_t, int32_t>(
      call, input, [=](std::string_view text, int32_t start, int32_t length) {
        return binary ? ByteSubstring(text, start, length) : data::Utf8Substring(text, start, length);
      });
}

Result<BoundCall> BindSubstring(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 3));
  if (arguments.size() == 2) arguments.push_back(Literal::Integer(std::numeric_limits<int32_t>::max()));
  const bool binary = arguments[0]->type().Is(TypeKind::kBinary);
  if (!binary) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::String(), context));
  for (size_t i = 1; i < 3; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::Integer(), context));
  return MakeBound(function, std::move(arguments), binary ? DataType::Binary() : DataType::String(), false, &Substring,
                   context);
}

template <bool kLeft>
Result<ColumnPtr> Edge(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapView<std::string_view, int32_t>(call, input, [](std::string_view text, int32_t length) -> std::string_view {
    if (length <= 0) return "";
    return kLeft ? data::Utf8Substring(text, 1, length) : data::Utf8Substring(text, -length, length);
  });
}

Result<BoundCall> BindEdge(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::String(), context));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, DataType::Integer(), context));
  return MakeBound(function, std::move(arguments), DataType::String(), function.name == "right",
                   function.name == "left" ? &Edge<true> : &Edge<false>, context);
}

/// What stands before the count-th delimiter, from the left or (negative) the right.
std::string_view UpToDelimiter(std::string_view text, std::string_view delimiter, int32_t count) {
  if (delimiter.empty() || count == 0) return {};
  if (count > 0) {
    size_t at = 0;
    for (int32_t i = 0; i < count; ++i) {
      at = text.find(delimiter, i == 0 ? 0 : at + 1);
      if (at == std::string_view::npos) return text;
    }
    return text.substr(0, at);
  }
  size_t at = std::string_view::npos;
  for (int32_t i = 0; i > count; --i) {
    if (at == 0) return text;
    at = text.rfind(delimiter, at == std::string_view::npos ? at : at - 1);
    if (at == std::string_view::npos) return text;
  }
  return text.substr(at + delimiter.size());
}

Result<ColumnPtr> SubstringIndex(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapView<std::string_view, std::string_view, int32_t>(call, input, &UpToDelimiter);
}

}  // namespace

void RegisterSubstring(FunctionLists& lists) {
  static const ScalarFunction kSubstring{.name = "substring", .since = "1.5.0",
                                         .doc = "Characters from a position (1 is the first, negative from the end).",
                                         .example = {"SELECT substring('Spark SQL', 5, 1)", "k"}, .bind = &BindSubstring};
  static const ScalarFunction kSubstr = Renamed(kSubstring, "substr");
  static const ScalarFunction kLeft{.name = "left", .since = "2.3.0", .doc = "The first characters.",
                                    .example = {"SELECT left('Spark SQL', 3)", "Spa"}, .bind = &BindEdge};
  static const ScalarFunction kRight =
      Alike(kLeft, "right", "The last characters.", {"SELECT right('Spark SQL', 3)", "SQL"});
  static const ScalarFunction kIndex{.name = "substring_index",
                                     .signature = "(text STRING, delimiter STRING, count INT) -> STRING", .since = "1.5.0",
                                     .doc = "What stands before the count-th delimiter.",
                                     .example = {"SELECT substring_index('www.apache.org', '.', 2)", "www.apache"},
                                     .evaluate = &SubstringIndex};
  for (const auto* f : {&kSubstring, &kSubstr, &kLeft, &kRight, &kIndex}) lists.Add(*f);
}

}  // namespace thalweg::sql
