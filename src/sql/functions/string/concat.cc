// concat (strings, binaries, arrays), concat_ws.

#include "sql/expr/binding.h"
#include "sql/functions/string/register.h"

namespace thalweg::sql {
namespace {

Result<ColumnPtr> ConcatText(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  std::vector<Reader<std::string_view>> readers;
  for (const auto& argument : input.arguments) readers.emplace_back(*argument);
  TextOutput out(call.type, input.rows.length);
  std::string text;
  ForEachValid(input, [&](int64_t row) {
    text.clear();
    for (const auto& reader : readers) text.append(reader[row]);
    out.Set(row, text);
  });
  return out.Finish();
}

Result<ColumnPtr> ConcatArrays(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  std::vector<ColumnPtr> lists;
  std::vector<ColumnPtr> children;
  std::vector<int32_t> bases;
  int32_t base = 0;
  for (const auto& argument : input.arguments) {
    lists.push_back(data::Flatten(argument));
    children.push_back(data::WithType(data::Flatten(lists.back()->child(0)), call.type.element()));
    bases.push_back(base);
    base += static_cast<int32_t>(children.back()->length());
  }
  const int64_t length = input.rows.length;
  auto buffer = data::Buffer::AllocateZeroed((length + 1) * 4);
  auto* offsets = reinterpret_cast<int32_t*>(buffer->mutable_data());
  std::vector<int32_t> elements;
  int64_t next = 0;
  ForEachValid(input, [&](int64_t row) {
    while (next <= row) offsets[next++] = static_cast<int32_t>(elements.size());
    for (size_t i = 0; i < lists.size(); ++i) {
      const auto list_offsets = lists[i]->offsets();
      for (int32_t at = list_offsets[static_cast<size_t>(row)]; at < list_offsets[static_cast<size_t>(row) + 1]; ++at) {
        elements.push_back(bases[i] + at);
      }
    }
  });
  while (next <= length) offsets[next++] = static_cast<int32_t>(elements.size());
  Column::Parts parts;
  parts.type = call.type;
  parts.length = length;
  parts.values = std::move(buffer);
  parts.children = {data::Take(data::Concat(children), elements)};
  return Column::Make(std::move(parts));
}

Result<BoundCall> BindConcat(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  bool arrays = !arguments.empty();
  bool binaries = !arguments.empty();
  std::vector<DataType> types;
  for (const auto& argument : arguments) {
    types.push_back(argument->type());
    arrays = arrays && (argument->type().Is(TypeKind::kArray) || argument->type().Is(TypeKind::kNull));
    binaries = binaries && argument->type().Is(TypeKind::kBinary);
  }
  arrays = arrays && std::any_of(types.begin(), types.end(), [](const DataType& t) { return t.Is(TypeKind::kArray); });
  if (arrays) {
    const auto type = WiderTypeOf(types, context.config.ansi);
    if (!type) {
      std::string listed;
      for (const auto& t : types) listed += (listed.empty() ? "" : " or ") + QuoteSql(t.Sql());
      return Error("DATATYPE_MISMATCH.DATA_DIFF_TYPES")
          .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
          .With("functionName", "`concat`")
          .With("dataType", "(" + listed + ")");
    }
    for (auto& argument : arguments) argument = Coerce(argument, *type, context.config);
    return MakeBound(function, std::move(arguments), *type, false, &ConcatArrays, context);
  }
  const DataType type = binaries ? DataType::Binary() : DataType::String();
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (binaries) break;
    if (arguments[i]->type().Is(TypeKind::kBinary)) {
      arguments[i] = Coerce(arguments[i], type, context.config);
    } else {
      TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, type, context));
    }
  }
  return MakeBound(function, std::move(arguments), type, false, &ConcatText, context);
}

Result<ColumnPtr> ConcatWs(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  TextOutput out(call.type, input.rows.length);
  std::string text;
  const Column& separator = *input.arguments[0];
  const Reader<std::string_view> separators(separator);
  input.rows.ForEach([&](int64_t row) {
    if (separator.IsNull(row)) {
      out.SetNull(row);
      return;
    }
    text.clear();
    bool first = true;
    const auto add = [&](std::string_view part) {
      if (!first) text.append(separators[row]);
      first = false;
      text.append(part);
    };
    for (size_t i = 1; i < input.arguments.size(); ++i) {
      const Column& argument = *input.arguments[i];
      if (argument.IsNull(row)) continue;
      const auto slot = static_cast<size_t>(SlotOf(argument, row));
      if (argument.physical() == PhysicalType::kText) {
        add(argument.values<TextView>()[slot].view());
        continue;
      }
      for (int32_t at = argument.offsets()[slot]; at < argument.offsets()[slot + 1]; ++at) {
        if (!argument.child(0)->IsNull(at)) add(argument.child(0)->values<TextView>()[static_cast<size_t>(at)].view());
      }
    }
    out.Set(row, text);
  });
  return out.Finish();
}

Result<BoundCall> BindConcatWs(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, -1));
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool array = i > 0 && arguments[i]->type().Is(TypeKind::kArray);
    TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i,
                                    array ? DataType::Array(DataType::String()) : DataType::String(), context));
  }
  const bool nullable = arguments[0]->nullable();
  return MakeBoundExact(function, std::move(arguments), DataType::String(), nullable, &ConcatWs, ModeOf(function, context));
}

}  // namespace

void RegisterConcat(FunctionLists& lists) {
  static const ScalarFunction kConcat{.name = "concat", .since = "1.5.0", .doc = "Strings, binaries or arrays put together.",
                                      .example = {"SELECT concat('Spark', 'SQL')", "SparkSQL"}, .bind = &BindConcat};
  static const ScalarFunction kConcatWs{.name = "concat_ws", .since = "1.5.0",
                                        .doc = "Strings put together with a separator between them; NULLs are skipped.",
                                        .example = {"SELECT concat_ws(' ', 'Spark', 'SQL')", "Spark SQL"},
                                        .nulls = NullPolicy::kCustom, .bind = &BindConcatWs};
  lists.Add(kConcat);
  lists.Add(kConcatWs);
}

}  // namespace thalweg::sql
