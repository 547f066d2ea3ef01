// lpad, rpad, repeat, space, reverse.

#include <algorithm>

#include "base/process_memory.h"
#include "data/text/utf8.h"
#include "sql/expr/binding.h"
#include "sql/functions/alike.h"
#include "sql/functions/collection/register.h"
#include "sql/functions/string/register.h"

namespace thalweg::sql {
namespace {

template <bool kLeft>
void Pad(std::string_view text, int32_t length, std::string_view pad, bool binary, std::string* out) {
  const auto size = static_cast<int32_t>(binary ? text.size() : data::Utf8Length(text));
  if (length <= 0) return;
  const auto wanted = static_cast<size_t>(length);
  if (length <= size || pad.empty()) {
    out->append(binary ? text.substr(0, wanted) : data::Utf8Slice(text, 0, wanted));
    return;
  }
  if (!kLeft) out->append(text);
  const size_t pad_size = binary ? pad.size() : data::Utf8Length(pad);
  size_t missing = wanted - static_cast<size_t>(size);
  CheckValueBytes(static_cast<int64_t>(text.size()) + static_cast<int64_t>(missing / pad_size * pad.size()));
  for (; missing >= pad_size; missing -= pad_size) out->append(pad);
  out->append(binary ? pad.substr(0, missing) : data::Utf8Slice(pad, 0, missing));
  if (kLeft) out->append(text);
}

template <bool kLeft>
Result<ColumnPtr> PadKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const bool binary = call.type.Is(TypeKind::kBinary);
  return MapText<std::string_view, int32_t, std::string_view>(
      call, input, [=](std::string_view text, int32_t length, std::string_view pad, std::string* out) {
        Pad<kLeft>(text, length, pad, binary, out);
        return true;
      });
}

Result<BoundCall> BindPad(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 3));
  const bool binary = arguments[0]->type().Is(TypeKind::kBinary) &&
                      (arguments.size() == 2 || arguments[2]->type().Is(TypeKind::kBinary));
  const DataType type = binary ? DataType::Binary() : DataType::String();
  if (arguments.size() == 2) {
    arguments.push_back(binary ? Literal::Make(Value(std::string(1, '\0')), DataType::Binary()) : Literal::String(" "));
  }
  for (const size_t i : {size_t{0}, size_t{2}}) {
    if (arguments[i]->type().Is(TypeKind::kBinary)) {
      arguments[i] = Coerce(arguments[i], type, context.config);  // beside a string it becomes one
    } else {
      TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, type, context));
    }
  }
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, DataType::Integer(), context));
  return MakeBound(function, std::move(arguments), type, false,
                   function.name == "lpad" ? &PadKernel<true> : &PadKernel<false>, context);
}

Result<ColumnPtr> Repeat(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<std::string_view, int32_t>(call, input, [](std::string_view text, int32_t times, std::string* out) {
    const int64_t bytes = static_cast<int64_t>(text.size()) * std::max(times, 0);
    CheckValueBytes(bytes);
    out->reserve(static_cast<size_t>(bytes));
    for (int32_t i = 0; bytes > 0 && i < times; ++i) out->append(text);
    return true;
  });
}

Result<ColumnPtr> Space(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<int32_t>(call, input, [](int32_t count, std::string* out) {
    CheckValueBytes(count);
    out->append(static_cast<size_t>(std::max(count, 0)), ' ');
    return true;
  });
}

Result<ColumnPtr> ReverseText(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<std::string_view>(call, input, [](std::string_view text, std::string* out) {
    out->resize(text.size());
    size_t end = text.size();
    for (size_t at = 0; at < text.size();) {
      const size_t bytes =
          std::min(static_cast<size_t>(data::Utf8CharBytes(static_cast<unsigned char>(text[at]))), text.size() - at);
      end -= bytes;
      std::copy(text.begin() + static_cast<ptrdiff_t>(at), text.begin() + static_cast<ptrdiff_t>(at + bytes),
                out->begin() + static_cast<ptrdiff_t>(end));
      at += bytes;
    }
    return true;
  });
}

Result<ColumnPtr> ReverseBytes(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<std::string_view>(call, input, [](std::string_view bytes, std::string* out) {
    out->assign(bytes.rbegin(), bytes.rend());
    return true;
  });
}

Result<BoundCall> BindReverse(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  if (arguments[0]->type().Is(TypeKind::kArray)) return BindReverseArray(function, std::move(arguments), context);
  if (arguments[0]->type().Is(TypeKind::kBinary)) {
    return MakeBound(function, std::move(arguments), DataType::Binary(), false, &ReverseBytes, context);
  }
  if (!ImplicitCastType(arguments[0]->type(), DataType::String(), context.config.ansi)) {
    return UnexpectedInputType(function.name, arguments, 0, "(\"STRING\" or \"ARRAY\")");
  }
  arguments[0] = Coerce(arguments[0], DataType::String(), context.config);
  return MakeBound(function, std::move(arguments), DataType::String(), false, &ReverseText, context);
}

}  // namespace

void RegisterPad(FunctionLists& lists) {
  static const ScalarFunction kLpad{.name = "lpad", .since = "1.5.0", .doc = "The text padded on the left, or cut, to a length.",
                                    .example = {"SELECT lpad('hi', 5, '*')", "***hi"}, .bind = &BindPad};
  static const ScalarFunction kRpad =
      Alike(kLpad, "rpad", "The text padded on the right, or cut, to a length.",
            {"SELECT rpad('hi', 5, '*')", "hi***"});
  static const ScalarFunction kRepeat{.name = "repeat", .signature = "(text STRING, times INT) -> STRING", .since = "1.5.0",
                                      .doc = "The text so many times.", .example = {"SELECT repeat('123', 2)", "123123"},
                                      .evaluate = &Repeat};
  static const ScalarFunction kSpace{.name = "space", .signature = "(count INT) -> STRING", .since = "1.5.0",
                                     .doc = "So many spaces.", .example = {"SELECT concat(space(2), '1')", "  1"},
                                     .evaluate = &Space};
  static const ScalarFunction kReverse{.name = "reverse", .since = "1.5.0", .doc = "The text or array backwards.",
                                       .example = {"SELECT reverse('Spark SQL')", "LQS krapS"}, .bind = &BindReverse};
  for (const auto* f : {&kLpad, &kRpad, &kRepeat, &kSpace, &kReverse}) lists.Add(*f);
}

}  // namespace thalweg::sql
