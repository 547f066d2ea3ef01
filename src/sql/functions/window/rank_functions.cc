// row_number, rank, dense_rank, percent_rank, cume_dist and ntile: where a row stands in its partition.

#include "base/string_case.h"
#include "sql/functions/window/window_binding.h"

namespace thalweg::sql {
namespace {

std::string RankSql(const Call& call, bool plan_text) { return CallText(call, plan_text); }

std::string BareSql(const Call& call, bool) { return std::string(call.bound().function->name) + "()"; }

/// These print in capitals, and without what Spark lets them be called with.
std::string CapitalSql(const Call& call, bool) { return ToAsciiUpper(call.bound().function->name) + "()"; }

template <WindowFunctionKind kKind>
Result<BoundCall> BindRank(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  const bool any = kKind == WindowFunctionKind::kRank || kKind == WindowFunctionKind::kDenseRank || kKind == WindowFunctionKind::kPercentRank;
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 0, any ? -1 : 0));
  auto data = std::make_shared<WindowFunctionData>();
  data->kind = kKind;
  const bool share = kKind == WindowFunctionKind::kPercentRank || kKind == WindowFunctionKind::kCumeDist;
  return MakeBoundExact(function, {}, share ? DataType::Double() : DataType::Integer(), false, nullptr, ModeOf(function, context), std::move(data));
}

Result<BoundCall> BindNtile(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 0, 1));
  if (arguments.empty()) arguments.push_back(Literal::Integer(1));
  const auto wrong = [&](std::string_view condition) { return Error(condition).With("sqlExpr", QuoteSql(CallSql(function.name, arguments))); };
  if (!arguments[0]->foldable()) {
    return wrong("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT")
        .With("inputName", "`buckets`")
        .With("inputType", "\"INT\"")
        .With("inputExpr", QuoteSql(AutoName(arguments[0])));
  }
  if (!arguments[0]->type().Is(TypeKind::kInteger)) return UnexpectedInputType(function.name, arguments, 0, "\"INT\"");
  TW_ASSIGN_OR_RETURN(const Value buckets, EvaluateConstant(arguments[0], context.config));
  if (buckets.is_null() || buckets.AsInt64() <= 0) {
    return wrong("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE")
        .With("exprName", "buckets")
        .With("valueRange", "(0, 2147483647]")
        .With("currentValue", buckets.is_null() ? "null" : std::to_string(buckets.AsInt64()));
  }
  auto data = std::make_shared<WindowFunctionData>();
  data->kind = WindowFunctionKind::kNtile;
  data->number = buckets.AsInt64();
  return MakeBoundExact(function, std::move(arguments), DataType::Integer(), false, nullptr, ModeOf(function, context), std::move(data));
}

}  // namespace

void RegisterRankFunctions(std::vector<const ScalarFunction*>* functions) {
  static const ScalarFunction kRowNumber{.name = "row_number", .signature = "() -> INT", .since = "2.0.0",
                                         .doc = "The number of the row in its partition, from 1.",
                                         .bind = &BindRank<WindowFunctionKind::kRowNumber>, .deterministic = false, .sql = &BareSql};
  static const ScalarFunction kRank{.name = "rank", .signature = "() -> INT", .since = "2.0.0",
                                    .doc = "One more than the number of rows that stand before the row and its equals.",
                                    .bind = &BindRank<WindowFunctionKind::kRank>, .deterministic = false, .sql = &CapitalSql};
  static const ScalarFunction kDenseRank{.name = "dense_rank", .signature = "() -> INT", .since = "2.0.0",
                                         .doc = "The rank without gaps after equal rows.",
                                         .bind = &BindRank<WindowFunctionKind::kDenseRank>, .deterministic = false, .sql = &CapitalSql};
  static const ScalarFunction kPercentRank{.name = "percent_rank", .signature = "() -> DOUBLE", .since = "2.0.0",
                                           .doc = "(rank - 1) / (rows of the partition - 1).",
                                           .bind = &BindRank<WindowFunctionKind::kPercentRank>, .deterministic = false, .sql = &CapitalSql};
  static const ScalarFunction kCumeDist{.name = "cume_dist", .signature = "() -> DOUBLE", .since = "2.0.0",
                                        .doc = "The share of the partition's rows that stand before the row or equal it.",
                                        .bind = &BindRank<WindowFunctionKind::kCumeDist>, .deterministic = false, .sql = &BareSql};
  static const ScalarFunction kNtile{.name = "ntile", .signature = "([buckets INT]) -> INT", .since = "2.0.0",
                                     .doc = "Which of `buckets` parts of nearly equal size the row is in, from 1.",
                                     .bind = &BindNtile, .deterministic = false, .sql = &RankSql};
  functions->insert(functions->end(), {&kRowNumber, &kRank, &kDenseRank, &kPercentRank, &kCumeDist, &kNtile});
}

}  // namespace thalweg::sql
