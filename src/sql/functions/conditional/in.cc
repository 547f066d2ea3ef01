// value IN (list): three-valued, the list is computed only as far as needed.

#include <algorithm>

#include "sql/expr/binding.h"
#include "sql/functions/conditional/register.h"

namespace thalweg::sql {
namespace {

/// A list of constants, sorted for search when values are whole numbers.
struct InList final : BoundData {
  std::vector<int64_t> sorted;
  bool has_null = false;
};

template <typename T>
Result<ColumnPtr> InNumbersKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const auto& list = static_cast<const InList&>(*call.data);
  FixedOutput<bool> out(call.type, input.rows.length);
  const Column& column = *input.arguments[0];
  const Reader<T> in(column);
  const int64_t* values = list.sorted.data();
  const size_t count = list.sorted.size();
  input.rows.ForEach([&](int64_t row) {
    if (column.IsNull(row)) {
      out.SetNull(row);
      return;
    }
    const int64_t value = in[row];
    bool found = false;
    if (count <= 8) {
      for (size_t i = 0; i < count; ++i) found |= values[i] == value;
    } else {
      found = std::binary_search(values, values + count, value);
    }
    if (!found && list.has_null) {
      out.SetNull(row);
    } else {
      out.Set(row, found);
    }
  });
  return out.Finish();
}

Result<ColumnPtr> InConstantsKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  FixedOutput<bool> out(call.type, input.rows.length);
  const Column& column = *input.arguments[0];
  input.rows.ForEach([&](int64_t row) {
    if (column.IsNull(row)) {
      out.SetNull(row);
      return;
    }
    bool null = false;
    for (size_t i = 1; i < input.arguments.size(); ++i) {
      const Column& item = *input.arguments[i];
      if (item.IsNull(row)) {
        null = true;
      } else if (CompareRows(column, row, item, row) == 0) {
        out.Set(row, true);
        return;
      }
    }
    if (null) out.SetNull(row);
  });
  return out.Finish();
}

/// CASE WHEN v IS NOT NULL THEN v = a OR (v = b OR ...) END: the same three-valued answer, lazy from left to right.
Result<ExprPtr> ExpandIn(const BoundScalar&, const ExprList& arguments, const BindContext& context) {
  ExprPtr result;
  for (size_t i = arguments.size(); i-- > 1;) {
    TW_ASSIGN_OR_RETURN(ExprPtr equal, BindBuiltin("==", {arguments[0], arguments[i]}, context));
    if (result == nullptr) {
      result = equal;
    } else {
      TW_ASSIGN_OR_RETURN(result, BindBuiltin("or", {equal, result}, context));
    }
  }
  if (!arguments[0]->nullable()) return result;
  // A null value asks for none of the list.
  TW_ASSIGN_OR_RETURN(ExprPtr present, BindBuiltin("isnotnull", {arguments[0]}, context));
  return BindBuiltin("when", {present, result}, context);
}

ScalarKernel NumbersKernel(const DataType& type) {
  switch (type.physical()) {
    case PhysicalType::kInt8: return &InNumbersKernel<int8_t>;
    case PhysicalType::kInt16: return &InNumbersKernel<int16_t>;
    case PhysicalType::kInt32: return &InNumbersKernel<int32_t>;
    case PhysicalType::kInt64: return &InNumbersKernel<int64_t>;
    default: return nullptr;
  }
}

Result<BoundCall> BindIn(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, -1));
  bool nullable = false;
  bool constant = true;
  for (size_t i = 0; i < arguments.size(); ++i) {
    constant = constant && (i == 0 || arguments[i]->As<Literal>() != nullptr);
  }
  std::vector<DataType> types;
  for (const auto& argument : arguments) types.push_back(argument->type());
  std::optional<DataType> type = WiderTypeOf(types, context.config.ansi);
  if (!type && types[0].IsNested()) {  // structs whose fields have other names are compared all the same
    type = types[0];
    for (size_t i = 1; i < types.size() && type; ++i) type = ComparisonType(*type, types[i], context.config.ansi);
  }
  if (!type || (!type->IsOrderable() && !type->Is(TypeKind::kNull))) {
    std::string listed;
    for (const auto& t : types) listed += (listed.empty() ? "" : ", ") + QuoteSql(t.Sql());
    std::string sql = "(" + arguments[0]->Sql() + " IN (";
    for (size_t i = 1; i < arguments.size(); ++i) sql += (i > 1 ? ", " : "") + arguments[i]->Sql();
    return Error("DATATYPE_MISMATCH.DATA_DIFF_TYPES")
        .With("sqlExpr", QuoteSql(sql + "))"))
        .With("functionName", "`in`")
        .With("dataType", "[" + listed + "]");
  }
  for (auto& argument : arguments) {
    argument = Coerce(argument, *type, context.config);
    nullable = nullable || argument->nullable();
  }
  const EvalMode mode = ModeOf(function, context);
  if (!constant) {
    BoundCall call = MakeBoundExact(function, std::move(arguments), DataType::Boolean(), nullable, nullptr, mode);
    auto bound = std::make_shared<BoundScalar>(*call.bound);
    bound->expand = &ExpandIn;
    call.bound = std::move(bound);
    return call;
  }
  const ScalarKernel numbers = NumbersKernel(*type);
  if (numbers == nullptr) {
    return MakeBoundExact(function, std::move(arguments), DataType::Boolean(), nullable, &InConstantsKernel, mode);
  }
  auto list = std::make_shared<InList>();
  for (size_t i = 1; i < arguments.size(); ++i) {
    TW_ASSIGN_OR_RETURN(const Value value, FoldArgument(function.name, arguments, i, "list", context));
    if (value.is_null()) {
      list->has_null = true;
    } else {
      list->sorted.push_back(value.AsInt64());
    }
  }
  std::sort(list->sorted.begin(), list->sorted.end());
  return MakeBoundExact(function, std::move(arguments), DataType::Boolean(), nullable, numbers, mode, std::move(list));
}

std::string InText(const Call& call, bool plan_text) {
  std::string text = plan_text ? call.child(0)->PlanText() + " IN (" : "(" + call.child(0)->Sql() + " IN (";
  for (size_t i = 1; i < call.children().size(); ++i) {
    text += (i > 1 ? (plan_text ? "," : ", ") : "") + TextOf(call.child(i), plan_text);
  }
  return text + (plan_text ? ")" : "))");
}

}  // namespace

void RegisterIn(FunctionLists& lists) {
  static const ScalarFunction kIn{.name = "in", .doc = "Whether the first equals one of the others.",
                                  .example = {"SELECT 1 in(1, 2, 3)", "true"}, .nulls = NullPolicy::kCustom,
                                  .bind = &BindIn, .sql = &InText};
  lists.Add(kIn);
}

}  // namespace thalweg::sql
