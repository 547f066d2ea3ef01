// size, cardinality, array_size, map_keys, map_values, map_entries, map_contains_key, map_from_arrays.

#include "data/text/literal.h"
#include "sql/expr/binding.h"
#include "sql/functions/alike.h"
#include "sql/functions/collection/element_set.h"
#include "sql/functions/collection/register.h"

namespace thalweg::sql {
namespace {

int32_t SizeAt(const Column& column, int64_t row) {
  const auto slot = static_cast<size_t>(SlotOf(column, row));
  return column.offsets()[slot + 1] - column.offsets()[slot];
}

Result<ColumnPtr> SizeKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  FixedOutput<int32_t> out(call.type, input.rows.length);
  const Column& column = *input.arguments[0];
  const bool null_is_minus_one = call.function->name != "array_size" && call.mode == EvalMode::kLegacy;
  input.rows.ForEach([&](int64_t row) {
    if (!column.IsNull(row)) {
      out.Set(row, SizeAt(column, row));
    } else if (null_is_minus_one) {
      out.Set(row, -1);
    } else {
      out.SetNull(row);
    }
  });
  return out.Finish();
}

Result<BoundCall> BindSize(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  if (arguments[0]->type().Is(TypeKind::kNull)) {
    arguments[0] = Literal::Null(DataType::Array(DataType::Null()));
  }
  const DataType type = arguments[0]->type();
  const bool arrays_only = function.name == "array_size";
  if (!type.Is(TypeKind::kArray) && (arrays_only || !type.Is(TypeKind::kMap))) {
    return UnexpectedInputType(function.name, arguments, 0, arrays_only ? "\"ARRAY\"" : "(\"ARRAY\" or \"MAP\")");
  }
  const EvalMode mode = ModeOf(function, context);
  const bool nullable = arguments[0]->nullable() && (mode != EvalMode::kLegacy || arrays_only);
  return MakeBoundExact(function, std::move(arguments), DataType::Integer(), nullable, &SizeKernel, mode);
}

/// Keys or values of a map, or its entries, as an array over the same offsets.
template <int kSide>
Result<ColumnPtr> MapPartKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const ColumnPtr map = data::Flatten(input.arguments[0]);
  Column::Parts parts = map->parts();
  parts.type = call.type;
  if constexpr (kSide < 2) {
    parts.children = {map->child(kSide)};
  } else {
    Column::Parts entries;
    entries.type = call.type.element();
    entries.length = map->child(0)->length();
    entries.children = {map->child(0), map->child(1)};
    parts.children = {Column::Make(std::move(entries))};
  }
  return Column::Make(std::move(parts));
}

Result<BoundCall> BindMapPart(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  const DataType type = arguments[0]->type();
  if (!type.Is(TypeKind::kMap)) return UnexpectedInputType(function.name, arguments, 0, "\"MAP\"");
  if (function.name == "map_keys") {
    return MakeBound(function, std::move(arguments), DataType::Array(type.key(), false), false, &MapPartKernel<0>, context);
  }
  if (function.name == "map_values") {
    return MakeBound(function, std::move(arguments), DataType::Array(type.value(), type.contains_null()), false,
                     &MapPartKernel<1>, context);
  }
  const DataType entry = DataType::Struct({{"key", type.key(), false, "{}"}, {"value", type.value(), type.contains_null(), "{}"}});
  return MakeBound(function, std::move(arguments), DataType::Array(entry, false), false, &MapPartKernel<2>, context);
}

Result<ColumnPtr> ContainsKeyKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Column& map = *input.arguments[0];
  const Column& key = *input.arguments[1];
  FixedOutput<bool> out(call.type, input.rows.length);
  ForEachValid(input, [&](int64_t row) {
    const auto slot = static_cast<size_t>(SlotOf(map, row));
    for (int32_t i = map.offsets()[slot]; i < map.offsets()[slot + 1]; ++i) {
      if (CompareRows(*map.child(0), i, key, row) == 0) {
        out.Set(row, true);
        return;
      }
    }
  });
  return out.Finish();
}

Result<BoundCall> BindContainsKey(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  if (!arguments[0]->type().Is(TypeKind::kMap)) return UnexpectedInputType(function.name, arguments, 0, "\"MAP\"");
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, arguments[0]->type().key(), context));
  return MakeBound(function, std::move(arguments), DataType::Boolean(), true, &ContainsKeyKernel, context);
}

Result<ColumnPtr> FromArraysKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const ColumnPtr keys = data::Flatten(input.arguments[0]);
  const ColumnPtr values = data::Flatten(input.arguments[1]);
  const int64_t length = input.rows.length;
  ElementSet seen(data::Flatten(keys->child(0)));
  std::vector<int32_t> key_rows;
  std::vector<int32_t> value_rows;
  auto buffer = data::Buffer::AllocateZeroed((length + 1) * 4);
  auto* offsets = reinterpret_cast<int32_t*>(buffer->mutable_data());
  std::vector<uint8_t> asked(static_cast<size_t>(length), 0);
  ForEachValid(input, [&](int64_t row) { asked[static_cast<size_t>(row)] = 1; });
  for (int64_t row = 0; row < length; ++row) {
    offsets[row] = static_cast<int32_t>(key_rows.size());
    if (!asked[static_cast<size_t>(row)]) continue;
    const int32_t begin = keys->offsets()[static_cast<size_t>(row)];
    const int32_t count = SizeAt(*keys, row);
    if (count != SizeAt(*values, row)) {
      return Error("_LEGACY_ERROR_TEMP_2128");
    }
    seen.Clear();
    for (int32_t i = 0; i < count; ++i) {
      if (keys->child(0)->IsNull(begin + i)) return Error("NULL_MAP_KEY");
      if (!seen.Insert(begin + i)) {
        return Error("DUPLICATED_MAP_KEY")
            .With("key", data::ValueText(keys->child(0)->GetValue(begin + i), keys->child(0)->type()))
            .With("mapKeyDedupPolicy", "\"spark.sql.mapKeyDedupPolicy\"");
      }
      key_rows.push_back(begin + i);
      value_rows.push_back(values->offsets()[static_cast<size_t>(row)] + i);
    }
  }
  offsets[length] = static_cast<int32_t>(key_rows.size());
  Column::Parts parts;
  parts.type = call.type;
  parts.length = length;
  parts.values = std::move(buffer);
  parts.children = {data::Take(keys->child(0), key_rows), data::Take(values->child(0), value_rows)};
  return Column::Make(std::move(parts));
}

Result<BoundCall> BindFromArrays(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  for (size_t i = 0; i < 2; ++i) {
    if (!arguments[i]->type().Is(TypeKind::kArray)) return UnexpectedInputType(function.name, arguments, i, "\"ARRAY\"");
  }
  const DataType type = DataType::Map(arguments[0]->type().element(), arguments[1]->type().element(),
                                      arguments[1]->type().contains_null());
  return MakeBound(function, std::move(arguments), type, false, &FromArraysKernel, context);
}

}  // namespace

void RegisterMapParts(FunctionLists& lists) {
  static const ScalarFunction kSize{.name = "size", .since = "1.5.0", .doc = "Number of elements of an array or map.",
                                    .example = {"SELECT size(array('b', 'd', 'c', 'a'))", "4"},
                                    .nulls = NullPolicy::kCustom, .bind = &BindSize};
  static const ScalarFunction kCardinality = Renamed(kSize, "cardinality");
  static const ScalarFunction kArraySize =
      Alike(kSize, "array_size", "Number of elements of an array.",
            {"SELECT array_size(array('b', 'd', 'c', 'a'))", "4"});
  static const ScalarFunction kKeys{.name = "map_keys", .since = "2.0.0", .doc = "The keys of a map.",
                                    .example = {"SELECT map_keys(map(1, 'a', 2, 'b'))", "[1, 2]"}, .bind = &BindMapPart};
  static const ScalarFunction kValues =
      Alike(kKeys, "map_values", "The values of a map.", {"SELECT map_values(map(1, 'a', 2, 'b'))", "[a, b]"});
  static const ScalarFunction kEntries =
      Alike(kKeys, "map_entries", "The pairs of a map.",
            {"SELECT map_entries(map(1, 'a', 2, 'b'))", "[{1, a}, {2, b}]"});
  static const ScalarFunction kContains{.name = "map_contains_key", .since = "3.3.0", .doc = "Whether the map has the key.",
                                        .example = {"SELECT map_contains_key(map(1, 'a', 2, 'b'), 1)", "true"},
                                        .bind = &BindContainsKey};
  static const ScalarFunction kFromArrays{.name = "map_from_arrays", .since = "2.4.0", .doc = "A map of an array of keys and one of values.",
                                          .example = {"SELECT map_from_arrays(array(1.0, 3.0), array('2', '4'))", "{1.0 -> 2, 3.0 -> 4}"},
                                          .bind = &BindFromArrays};
  for (const auto* f : {&kSize, &kCardinality, &kArraySize, &kKeys, &kValues, &kEntries, &kContains, &kFromArrays}) {
    lists.Add(*f);
  }
}

}  // namespace thalweg::sql
