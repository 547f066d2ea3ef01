// struct, named_struct, array, map.

#include "data/text/literal.h"
#include "sql/expr/binding.h"
#include "sql/functions/conditional/register.h"
#include "sql/functions/collection/register.h"

namespace thalweg::sql {
namespace {

// --- struct ---

Result<ColumnPtr> StructOf(const BoundScalar& call, std::span<const ColumnPtr> fields, int64_t length) {
  Column::Parts parts;
  parts.type = call.type;
  parts.length = length;
  for (size_t i = 0; i < fields.size(); ++i) {
    parts.children.push_back(data::WithType(data::Flatten(fields[i]), call.type.fields()[i].type));
  }
  return Column::Make(std::move(parts));
}

Result<ColumnPtr> StructKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return StructOf(call, input.arguments, input.rows.length);
}

Result<ColumnPtr> NamedStructKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  std::vector<ColumnPtr> fields;
  for (size_t i = 1; i < input.arguments.size(); i += 2) fields.push_back(input.arguments[i]);
  return StructOf(call, fields, input.rows.length);
}

/// The name that a field of struct(...) takes: an alias, a column, a field; else colN.
std::string FieldName(const ExprPtr& expr, size_t position) {
  if (const auto* alias = expr->As<Alias>()) return alias->name();
  if (const auto* attribute = expr->As<Attribute>()) return attribute->name();
  if (const auto* call = expr->As<Call>(); call != nullptr && call->function_name() == "getstructfield") {
    if (const Value* name = LiteralValue(call->child(1)); name != nullptr) return name->get<std::string>();
  }
  return "col" + std::to_string(position + 1);
}

std::string FieldMetadata(const ExprPtr& expr) {
  if (const auto* alias = expr->As<Alias>()) return alias->metadata_json();
  if (const auto* attribute = expr->As<Attribute>()) return attribute->metadata_json();
  return "{}";
}

Result<BoundCall> BindStruct(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  std::vector<StructField> fields;
  for (size_t i = 0; i < arguments.size(); ++i) {
    fields.push_back({FieldName(arguments[i], i), WithoutLength(arguments[i]->type()), arguments[i]->nullable(),
                      FieldMetadata(arguments[i])});
  }
  return MakeBoundExact(function, std::move(arguments), DataType::Struct(std::move(fields)), false, &StructKernel,
                        ModeOf(function, context));
}

Result<BoundCall> BindNamedStruct(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  if (arguments.size() % 2 != 0) {
    return Error("WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
        .With("functionName", "`named_struct`")
        .With("expectedNum", "2n (n > 0)")
        .With("actualNum", static_cast<long long>(arguments.size()))
        .With("docroot", "https://spark.apache.org/docs/latest");
  }
  std::vector<StructField> fields;
  for (size_t i = 0; i < arguments.size(); i += 2) {
    if (!arguments[i]->foldable() || !arguments[i]->type().Is(TypeKind::kString)) {
      return Error("DATATYPE_MISMATCH.CREATE_NAMED_STRUCT_WITHOUT_FOLDABLE_STRING")
          .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
          .With("inputExprs", "[\"" + arguments[i]->Sql() + "\"]");
    }
    TW_ASSIGN_OR_RETURN(const Value name, FoldArgument(function.name, arguments, i, "name", context));
    if (name.is_null()) {
      return Error("DATATYPE_MISMATCH.UNEXPECTED_NULL")
          .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
          .With("exprName", "[" + arguments[i]->Sql() + "]");
    }
    const ExprPtr& value = arguments[i + 1];
    fields.push_back({name.get<std::string>(), WithoutLength(value->type()), value->nullable(), FieldMetadata(value)});
  }
  return MakeBoundExact(function, std::move(arguments), DataType::Struct(std::move(fields)), false, &NamedStructKernel,
                        ModeOf(function, context));
}

std::string StructText(const Call& call, bool plan_text) {
  // Aliases and columns name their fields; the SQL text keeps the aliases.
  std::string text = "struct(";
  for (size_t i = 0; i < call.children().size(); ++i) text += (i > 0 ? ", " : "") + TextOf(call.child(i), plan_text);
  return text + ")";
}

// --- array and map ---

/// Elements of one row after the other: row r has argument 0, 1, ... of row r.
ColumnPtr Interleave(const DataType& type, std::span<const ColumnPtr> arguments, int64_t length) {
  const int32_t width = static_cast<int32_t>(arguments.size());
  std::vector<ColumnPtr> columns;
  for (const ColumnPtr& argument : arguments) columns.push_back(data::WithType(data::Flatten(argument), type));
  if (width == 1) return columns[0];
  const ColumnPtr all = data::Concat(columns);
  std::vector<int32_t> order(static_cast<size_t>(length) * static_cast<size_t>(width));
  size_t at = 0;
  for (int32_t row = 0; row < static_cast<int32_t>(length); ++row) {
    for (int32_t i = 0; i < width; ++i) order[at++] = i * static_cast<int32_t>(length) + row;
  }
  return data::Take(all, order);
}

std::shared_ptr<data::Buffer> EvenOffsets(int64_t rows, int32_t width) {
  auto buffer = data::Buffer::Allocate((rows + 1) * 4);
  auto* offsets = reinterpret_cast<int32_t*>(buffer->mutable_data());
  for (int64_t i = 0; i <= rows; ++i) offsets[i] = static_cast<int32_t>(i) * width;
  return buffer;
}

Result<ColumnPtr> ArrayKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  Column::Parts parts;
  parts.type = call.type;
  parts.length = input.rows.length;
  parts.values = EvenOffsets(input.rows.length, static_cast<int32_t>(input.arguments.size()));
  parts.children.push_back(input.arguments.empty()
                               ? data::Flatten(Column::Nulls(call.type.element(), 0))
                               : Interleave(call.type.element(), input.arguments, input.rows.length));
  return Column::Make(std::move(parts));
}

Result<BoundCall> BindArray(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  std::vector<size_t> all;
  for (size_t i = 0; i < arguments.size(); ++i) all.push_back(i);
  TW_ASSIGN_OR_RETURN(const DataType element, UnifyArguments(function, &arguments, all, context));
  const bool contains_null = AnyNullable(arguments);
  return MakeBoundExact(function, std::move(arguments), DataType::Array(element, contains_null), false, &ArrayKernel,
                        ModeOf(function, context));
}

Status DuplicateKey(const Column& keys, int64_t slot) {
  return Error("DUPLICATED_MAP_KEY")
      .With("key", data::ValueText(keys.GetValue(slot), keys.type()))
      .With("mapKeyDedupPolicy", "\"spark.sql.mapKeyDedupPolicy\"");
}

Result<ColumnPtr> MapKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  std::vector<ColumnPtr> keys;
  std::vector<ColumnPtr> values;
  for (size_t i = 0; i + 1 < input.arguments.size(); i += 2) {
    keys.push_back(input.arguments[i]);
    values.push_back(input.arguments[i + 1]);
  }
  const int64_t length = input.rows.length;
  Column::Parts parts;
  parts.type = call.type;
  parts.length = length;
  parts.values = EvenOffsets(length, static_cast<int32_t>(keys.size()));
  if (keys.empty()) {
    parts.children = {data::Flatten(Column::Nulls(call.type.key(), 0)), data::Flatten(Column::Nulls(call.type.value(), 0))};
    return Column::Make(std::move(parts));
  }
  parts.children = {Interleave(call.type.key(), keys, length), Interleave(call.type.value(), values, length)};
  const int64_t width = static_cast<int64_t>(keys.size());
  const Column& flat = *parts.children[0];
  TW_RETURN_NOT_OK(TryForEachValid(KernelInput{{}, input.rows, nullptr}, [&](int64_t row) -> Status {
    for (int64_t i = row * width; i < (row + 1) * width; ++i) {
      if (flat.IsNull(i)) return Error("NULL_MAP_KEY");
      for (int64_t j = row * width; j < i; ++j) {
        if (CompareRows(flat, i, flat, j) == 0) return DuplicateKey(flat, i);
      }
    }
    return {};
  }));
  return Column::Make(std::move(parts));
}

Result<BoundCall> BindMap(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  if (arguments.size() % 2 != 0) {
    return Error("WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
        .With("functionName", "`map`")
        .With("expectedNum", "2n (n > 0)")
        .With("actualNum", static_cast<long long>(arguments.size()))
        .With("docroot", "https://spark.apache.org/docs/latest");
  }
  DataType types[2];
  bool value_nullable = false;
  for (size_t side = 0; side < 2; ++side) {
    std::vector<size_t> which;
    std::vector<DataType> seen;
    for (size_t i = side; i < arguments.size(); i += 2) {
      which.push_back(i);
      seen.push_back(arguments[i]->type());
      if (side == 1) value_nullable = value_nullable || arguments[i]->nullable();
    }
    if (which.empty()) continue;
    const auto type = WiderTypeOf(seen, context.config.ansi);
    if (!type) {
      std::string listed;
      for (const auto& t : seen) listed += (listed.empty() ? "" : " or ") + QuoteSql(t.Sql());
      return Error(side == 0 ? "DATATYPE_MISMATCH.CREATE_MAP_KEY_DIFF_TYPES" : "DATATYPE_MISMATCH.CREATE_MAP_VALUE_DIFF_TYPES")
          .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
          .With("functionName", "`map`")
          .With("dataType", "(" + listed + ")");
    }
    for (const size_t i : which) arguments[i] = Coerce(arguments[i], *type, context.config);
    types[side] = *type;
  }
  if (types[0].Is(TypeKind::kMap)) {
    return Error("DATATYPE_MISMATCH.INVALID_MAP_KEY_TYPE")
        .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
        .With("keyType", QuoteSql(types[0].Sql()));
  }
  return MakeBoundExact(function, std::move(arguments), DataType::Map(types[0], types[1], value_nullable), false,
                        &MapKernel, ModeOf(function, context));
}

}  // namespace

void RegisterConstructors(FunctionLists& lists) {
  static const ScalarFunction kStruct{.name = "struct", .since = "1.4.0", .doc = "A struct of the arguments; columns and aliases name its fields.",
                                      .example = {"SELECT struct(1, 2, 3)", "{1, 2, 3}"}, .nulls = NullPolicy::kCustom,
                                      .bind = &BindStruct, .may_raise = false, .sql = &StructText};
  static const ScalarFunction kNamedStruct{.name = "named_struct", .since = "1.5.0", .doc = "A struct of names and values in turn.",
                                           .example = {"SELECT named_struct('a', 1, 'b', 2)", "{1, 2}"},
                                           .nulls = NullPolicy::kCustom, .bind = &BindNamedStruct, .may_raise = false};
  static const ScalarFunction kArray{.name = "array", .since = "1.1.0", .doc = "An array of the arguments.",
                                     .example = {"SELECT array(1, 2, 3)", "[1, 2, 3]"}, .nulls = NullPolicy::kCustom,
                                     .bind = &BindArray};
  static const ScalarFunction kMap{.name = "map", .since = "2.0.0", .doc = "A map of keys and values in turn.",
                                   .example = {"SELECT map(1.0, '2', 3.0, '4')", "{1.0 -> 2, 3.0 -> 4}"},
                                   .nulls = NullPolicy::kCustom, .bind = &BindMap};
  for (const auto* f : {&kStruct, &kNamedStruct, &kArray, &kMap}) lists.Add(*f);
}

}  // namespace thalweg::sql
