// element_at, try_element_at, get, array_contains, array_position.

#include "sql/expr/binding.h"
#include "sql/functions/alike.h"
#include "sql/functions/collection/register.h"

namespace thalweg::sql {
namespace {

/// element_at counts from 1 or, when negative, from the end; get counts from 0.
Result<ColumnPtr> ArrayElementKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const ColumnPtr list = data::Flatten(input.arguments[0]);
  const Reader<int32_t> index(*input.arguments[1]);
  const bool from_zero = call.function->name == "get";
  std::vector<int32_t> rows(static_cast<size_t>(input.rows.length), -1);
  TW_RETURN_NOT_OK(TryForEachValid(input, [&](int64_t row) -> Status {
    const int32_t begin = list->offsets()[static_cast<size_t>(row)];
    const int64_t size = list->offsets()[static_cast<size_t>(row) + 1] - begin;
    int64_t at = index[row];
    if (!from_zero) {
      if (at == 0) return Error("INVALID_INDEX_OF_ZERO");
      at = at > 0 ? at - 1 : size + at;
    }
    if (at >= 0 && at < size) {
      rows[static_cast<size_t>(row)] = begin + static_cast<int32_t>(at);
    } else if (call.mode == EvalMode::kAnsi && !from_zero) {
      return Error("INVALID_ARRAY_INDEX_IN_ELEMENT_AT")
          .With("indexValue", static_cast<long long>(index[row]))
          .With("arraySize", static_cast<long long>(size));
    }
    return {};
  }));
  return data::Take(list->child(0), rows);
}

Result<ColumnPtr> MapElementKernel(const BoundScalar&, const KernelInput& input, EvalContext&) {
  const ColumnPtr map = data::Flatten(input.arguments[0]);
  const Column& key = *input.arguments[1];
  std::vector<int32_t> rows(static_cast<size_t>(input.rows.length), -1);
  ForEachValid(input, [&](int64_t row) {
    for (int32_t i = map->offsets()[static_cast<size_t>(row)]; i < map->offsets()[static_cast<size_t>(row) + 1]; ++i) {
      if (CompareRows(*map->child(0), i, key, row) == 0) {
        rows[static_cast<size_t>(row)] = i;
        return;
      }
    }
  });
  return data::Take(map->child(1), rows);
}

/// Whether a literal index lies inside an array written out as array(...).
bool IsInside(const ExprPtr& list, const ExprPtr& index) {
  const auto* call = list->As<Call>();
  const Value* at = LiteralValue(index);
  if (call == nullptr || call->function_name() != "array" || at == nullptr || at->is_null()) return false;
  return at->AsInt64() >= 0 && at->AsInt64() < static_cast<int64_t>(call->children().size());
}

Result<BoundCall> BindElementAt(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  const DataType type = arguments[0]->type();
  if (type.Is(TypeKind::kArray)) {
    if (!arguments[1]->type().IsIntegral() && !arguments[1]->type().Is(TypeKind::kNull)) {
      return UnexpectedInputType(function.name, arguments, 1, "\"INT\"");
    }
    arguments[1] = Coerce(arguments[1], DataType::Integer(), context.config);
    const EvalMode mode = ModeOf(function, context);
    const bool nullable =
        AnyNullable(arguments) || type.contains_null() ||
        (function.name == "get" ? !IsInside(arguments[0], arguments[1]) : mode != EvalMode::kAnsi);
    return MakeBoundExact(function, std::move(arguments), type.element(), nullable, &ArrayElementKernel, mode);
  }
  if (!type.Is(TypeKind::kMap) || function.name == "get") {
    return UnexpectedInputType(function.name, arguments, 0, function.name == "get" ? "\"ARRAY\"" : "(\"ARRAY\" or \"MAP\")");
  }
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, type.key(), context));
  return MakeBound(function, std::move(arguments), type.value(), true, &MapElementKernel, context);
}

Status UnifyElement(const ScalarFunction& function, ExprList* arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments->size(), 2, 2));
  const DataType list = (*arguments)[0]->type();
  const DataType value = (*arguments)[1]->type();
  const auto element = list.Is(TypeKind::kArray) ? WiderTypeWithoutPromotion(list.element(), value, context.config.ansi) : std::nullopt;
  if (!element || value.Is(TypeKind::kNull)) {
    if (value.Is(TypeKind::kNull)) {
      return Error("DATATYPE_MISMATCH.NULL_TYPE")
          .With("sqlExpr", QuoteSql(CallSql(function.name, *arguments)))
          .With("functionName", QuoteFunctionName(function.name));
    }
    return Error("DATATYPE_MISMATCH.ARRAY_FUNCTION_DIFF_TYPES")
        .With("sqlExpr", QuoteSql(CallSql(function.name, *arguments)))
        .With("functionName", QuoteFunctionName(function.name))
        .With("dataType", "\"ARRAY\"")
        .With("leftType", QuoteSql(list.Sql()))
        .With("rightType", QuoteSql(value.Sql()));
  }
  (*arguments)[0] = Coerce((*arguments)[0], DataType::Array(*element, list.contains_null()), context.config);
  (*arguments)[1] = Coerce((*arguments)[1], *element, context.config);
  return {};
}

Result<ColumnPtr> ContainsKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Column& list = *input.arguments[0];
  const Column& value = *input.arguments[1];
  FixedOutput<bool> out(call.type, input.rows.length);
  ForEachValid(input, [&](int64_t row) {
    const auto slot = static_cast<size_t>(SlotOf(list, row));
    bool null = false;
    for (int32_t i = list.offsets()[slot]; i < list.offsets()[slot + 1]; ++i) {
      if (list.child(0)->IsNull(i)) {
        null = true;
      } else if (CompareRows(*list.child(0), i, value, row) == 0) {
        out.Set(row, true);
        return;
      }
    }
    if (null) out.SetNull(row);
  });
  return out.Finish();
}

Result<BoundCall> BindContains(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(UnifyElement(function, &arguments, context));
  const bool may_be_null = arguments[0]->type().contains_null();
  return MakeBound(function, std::move(arguments), DataType::Boolean(), may_be_null, &ContainsKernel, context);
}

Result<ColumnPtr> PositionKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Column& list = *input.arguments[0];
  const Column& value = *input.arguments[1];
  FixedOutput<int64_t> out(call.type, input.rows.length);
  ForEachValid(input, [&](int64_t row) {
    const auto slot = static_cast<size_t>(SlotOf(list, row));
    const int32_t begin = list.offsets()[slot];
    for (int32_t i = begin; i < list.offsets()[slot + 1]; ++i) {
      if (!list.child(0)->IsNull(i) && CompareRows(*list.child(0), i, value, row) == 0) {
        out.Set(row, i - begin + 1);
        return;
      }
    }
  });
  return out.Finish();
}

Result<BoundCall> BindPosition(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(UnifyElement(function, &arguments, context));
  return MakeBound(function, std::move(arguments), DataType::Long(), false, &PositionKernel, context);
}

}  // namespace

void RegisterElementAt(FunctionLists& lists) {
  static const ScalarFunction kElementAt{.name = "element_at", .since = "2.4.0",
                                         .doc = "The element of an array at a position from 1, or the value of a map's key.",
                                         .example = {"SELECT element_at(array(1, 2, 3), 2)", "2"}, .bind = &BindElementAt};
  static const ScalarFunction kTryElementAt =
      Alike(kElementAt, "try_element_at", "As element_at, NULL where there is no such element.",
            {"SELECT try_element_at(array(1, 2, 3), 9)", "NULL"});
  static const ScalarFunction kGet =
      Alike(kElementAt, "get", "The element of an array at a position from 0; NULL outside.",
            {"SELECT get(array(1, 2, 3), 0)", "1"});
  static const ScalarFunction kContains{.name = "array_contains", .since = "1.5.0", .doc = "Whether the array has the value.",
                                        .example = {"SELECT array_contains(array(1, 2, 3), 2)", "true"}, .bind = &BindContains};
  static const ScalarFunction kPosition{.name = "array_position", .since = "2.4.0", .doc = "The first position of the value, from 1; 0 without one.",
                                        .example = {"SELECT array_position(array(312, 773, 708, 708), 708)", "3"},
                                        .bind = &BindPosition};
  for (const auto* f : {&kElementAt, &kTryElementAt, &kGet, &kContains, &kPosition}) lists.Add(*f);
}

}  // namespace thalweg::sql
