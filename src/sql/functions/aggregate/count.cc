// count, count_if. Buffer: count BIGINT NOT NULL.

#include "sql/functions/aggregate/accumulate.h"

namespace thalweg::sql {
namespace {

Status CountAll(uint8_t* const* accumulators, int64_t rows) {
  for (int64_t i = 0; i < rows; ++i) ++As<int64_t>(accumulators[i]);
  return {};
}

/// Rows where no argument is null.
Status UpdateCount(const BoundAggregate&, std::span<const ColumnPtr> arguments, int64_t rows, uint8_t* const* accumulators,
              EvalContext&) {
  const Column* with_nulls = nullptr;
  int count = 0;
  for (const auto& argument : arguments) {
    if (argument->has_nulls()) {
      if (argument->null_count() == argument->length()) return {};
      with_nulls = argument.get();
      ++count;
    }
  }
  if (count == 0) return CountAll(accumulators, rows);
  if (count == 1) {
    ForEachNotNull(*with_nulls, rows, [&](int64_t row) { ++As<int64_t>(accumulators[row]); });
    return {};
  }
  for (int64_t row = 0; row < rows; ++row) {
    bool null = false;
    for (const auto& argument : arguments) null = null || argument->IsNull(row);
    As<int64_t>(accumulators[row]) += !null;
  }
  return {};
}

Status UpdateIf(const BoundAggregate&, std::span<const ColumnPtr> arguments, int64_t rows, uint8_t* const* accumulators,
                EvalContext&) {
  if (arguments[0]->physical() == PhysicalType::kNull) return {};
  const Reader<bool> values(*arguments[0]);
  ForEachNotNull(*arguments[0], rows, [&](int64_t row) { As<int64_t>(accumulators[row]) += values[row]; });
  return {};
}

Status MergeCount(const BoundAggregate&, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators,
             EvalContext&) {
  const Reader<int64_t> counts(*buffers[0]);
  ForEachNotNull(*buffers[0], rows, [&](int64_t row) { As<int64_t>(accumulators[row]) += counts[row]; });
  return {};
}

Status ImportCount(const BoundAggregate&, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators) {
  const Reader<int64_t> counts(*buffers[0]);
  ForEachNotNull(*buffers[0], rows, [&](int64_t row) { As<int64_t>(accumulators[row]) = counts[row]; });
  return {};
}

ColumnPtr CountColumn(std::span<uint8_t* const> accumulators) {
  return ColumnOf<int64_t, int64_t>(DataType::Long(), accumulators, [](int64_t count, int64_t* out) {
    *out = count;
    return true;
  });
}

Status ExportCount(const BoundAggregate&, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  out->push_back(CountColumn(accumulators));
  return {};
}

Result<ColumnPtr> FinishCount(const BoundAggregate&, std::span<uint8_t* const> accumulators, EvalContext&) {
  return CountColumn(accumulators);
}

constexpr AggregateKernels kCountKernels{.size = 8, .update = &UpdateCount, .merge = &MergeCount, .export_buffers = &ExportCount,
                                         .import_buffers = &ImportCount, .finish = &FinishCount};
constexpr AggregateKernels kCountIfKernels{.size = 8, .update = &UpdateIf, .merge = &MergeCount, .export_buffers = &ExportCount,
                                           .import_buffers = &ImportCount, .finish = &FinishCount};

Result<BoundAggregateCall> BindCount(const AggregateFunction& function, ExprList arguments, bool, const BindContext& context) {
  if (arguments.empty()) {
    return Error("WRONG_NUM_ARGS.WITH_SUGGESTION")
        .With("functionName", "`count`")
        .With("expectedNum", ">= 1")
        .With("actualNum", "0")
        .With("legacyNum", "0")
        .With("legacyConfKey", "\"spark.sql.legacy.allowParameterlessCount\"")
        .With("legacyConfValue", "\"true\"");
  }
  return MakeAggregate(function, std::move(arguments), DataType::Long(), false, {{"count", DataType::Long(), false}},
                       &kCountKernels, AggregateMode(function, context));
}

Result<BoundAggregateCall> BindCountIf(const AggregateFunction& function, ExprList arguments, bool,
                                       const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::Boolean(), context));
  return MakeAggregate(function, std::move(arguments), DataType::Long(), false, {{"count", DataType::Long(), false}},
                       &kCountIfKernels, AggregateMode(function, context));
}

}  // namespace

void RegisterCount(FunctionLists& lists) {
  static const AggregateFunction kCount{.name = "count", .doc = "Rows where no argument is NULL.",
                                        .example = {"SELECT count(*) FROM VALUES (NULL), (5), (5) AS t(c)", "3"},
                                        .bind = &BindCount};
  static const AggregateFunction kCountIf{.name = "count_if", .since = "3.0.0", .doc = "Rows where the condition is true.",
                                          .example = {"SELECT count_if(c > 1) FROM VALUES (1), (2), (3) AS t(c)", "2"},
                                          .bind = &BindCountIf};
  lists.Add(kCount);
  lists.Add(kCountIf);
}

}  // namespace thalweg::sql
