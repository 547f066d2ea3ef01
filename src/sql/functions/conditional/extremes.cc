// greatest, least: NULLs are skipped.

#include "sql/expr/binding.h"
#include "sql/functions/conditional/register.h"

namespace thalweg::sql {
namespace {

template <bool kGreatest>
Result<ColumnPtr> ExtremeKernel(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  std::vector<Piece> pieces;
  for (const ColumnPtr& argument : input.arguments) pieces.push_back({argument, {}});
  input.rows.ForEach([&](int64_t row) {
    int best = -1;
    for (int i = 0; i < static_cast<int>(input.arguments.size()); ++i) {
      const Column& candidate = *input.arguments[static_cast<size_t>(i)];
      if (candidate.IsNull(row)) continue;
      if (best >= 0) {
        const int order = CompareRows(candidate, row, *input.arguments[static_cast<size_t>(best)], row);
        if (kGreatest ? order <= 0 : order >= 0) continue;
      }
      best = i;
    }
    if (best >= 0) pieces[static_cast<size_t>(best)].rows.push_back(static_cast<int32_t>(row));
  });
  return MergePieces(call.type, input.rows.length, pieces);
}

Result<BoundCall> BindExtreme(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, -1));
  std::optional<DataType> common = DataType::Null();
  std::string listed;
  for (const auto& argument : arguments) {
    if (common) common = WiderTypeWithoutPromotion(*common, argument->type(), context.config.ansi);
    listed += (listed.empty() ? "" : ", ") + QuoteSql(argument->type().Sql());
  }
  if (!common) {
    return Error("DATATYPE_MISMATCH.DATA_DIFF_TYPES")
        .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
        .With("functionName", QuoteFunctionName(function.name))
        .With("dataType", "[" + listed + "]");
  }
  const DataType type = *common;
  bool nullable = true;
  for (auto& argument : arguments) {
    argument = Coerce(argument, type, context.config);
    nullable = nullable && argument->nullable();
  }
  if (!type.IsOrderable() && !type.Is(TypeKind::kNull)) {
    return Error("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE")
        .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
        .With("functionName", QuoteFunctionName(function.name))
        .With("dataType", QuoteSql(type.Sql()));
  }
  const ScalarKernel kernel = function.name == "greatest" ? &ExtremeKernel<true> : &ExtremeKernel<false>;
  return MakeBoundExact(function, std::move(arguments), type, nullable, kernel, ModeOf(function, context));
}

}  // namespace

void RegisterExtremes(FunctionLists& lists) {
  static const ScalarFunction kGreatest{.name = "greatest", .since = "1.5.0", .doc = "The greatest argument; NULLs are skipped.",
                                        .example = {"SELECT greatest(10, 9, 2, 4, 3)", "10"},
                                        .nulls = NullPolicy::kCustom, .bind = &BindExtreme};
  static const ScalarFunction kLeast = [] {
    ScalarFunction f = Renamed(kGreatest, "least");
    f.doc = "The least argument; NULLs are skipped.";
    f.example = {"SELECT least(10, 9, 2, 4, 3)", "2"};
    return f;
  }();
  lists.Add(kGreatest);
  lists.Add(kLeast);
}

}  // namespace thalweg::sql
