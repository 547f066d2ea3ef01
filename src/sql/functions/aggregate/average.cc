// avg, mean, try_avg. Buffers: sum, count (start 0, 0). Source: Spark's Average.

#include "data/text/decimal128.h"
#include "sql/functions/alike.h"
#include "sql/functions/aggregate/accumulate.h"
#include "sql/functions/operators/register.h"

namespace thalweg::sql {
namespace {

struct DoubleAverage {
  double sum;
  int64_t count;
};

template <typename T>
void AddNumbers(const Column& column, int64_t rows, uint8_t* const* accumulators) {
  const Reader<T> values(column);
  ForEachNotNull(column, rows, [&](int64_t row) {
    auto& acc = As<DoubleAverage>(accumulators[row]);
    acc.sum += static_cast<double>(values[row]);
    ++acc.count;
  });
}

Status UpdateDoubleAverage(const BoundAggregate&, std::span<const ColumnPtr> arguments, int64_t rows, uint8_t* const* accumulators,
                    EvalContext&) {
  const Column& column = *arguments[0];
  switch (column.physical()) {
    case PhysicalType::kInt8: AddNumbers<int8_t>(column, rows, accumulators); break;
    case PhysicalType::kInt16: AddNumbers<int16_t>(column, rows, accumulators); break;
    case PhysicalType::kInt32: AddNumbers<int32_t>(column, rows, accumulators); break;
    case PhysicalType::kInt64: AddNumbers<int64_t>(column, rows, accumulators); break;
    case PhysicalType::kFloat: AddNumbers<float>(column, rows, accumulators); break;
    case PhysicalType::kDouble: AddNumbers<double>(column, rows, accumulators); break;
    default: break;
  }
  return {};
}

Status MergeDoubleAverage(const BoundAggregate&, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators,
                   EvalContext&) {
  const Reader<double> sums(*buffers[0]);
  const Reader<int64_t> counts(*buffers[1]);
  ForEachNotNull(*buffers[0], rows, [&](int64_t row) {
    auto& acc = As<DoubleAverage>(accumulators[row]);
    acc.sum += sums[row];
    acc.count += counts[row];
  });
  return {};
}

Status ImportDoubleAverage(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows,
                    uint8_t* const* accumulators) {
  for (int64_t row = 0; row < rows; ++row) As<DoubleAverage>(accumulators[row]) = DoubleAverage{};
  EvalContext context;
  return MergeDoubleAverage(call, buffers, rows, accumulators, context);
}

template <typename A>
ColumnPtr AverageCounts(std::span<uint8_t* const> accumulators) {
  return ColumnOf<int64_t, A>(DataType::Long(), accumulators, [](const A& acc, int64_t* out) {
    *out = acc.count;
    return true;
  });
}

Status ExportDoubleAverage(const BoundAggregate&, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  out->push_back(ColumnOf<double, DoubleAverage>(DataType::Double(), accumulators, [](const DoubleAverage& acc, double* sum) {
    *sum = acc.sum;
    return true;
  }));
  out->push_back(AverageCounts<DoubleAverage>(accumulators));
  return {};
}

Result<ColumnPtr> FinishDoubleAverage(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  return ColumnOf<double, DoubleAverage>(call.type, accumulators, [](const DoubleAverage& acc, double* out) {
    *out = acc.sum / static_cast<double>(acc.count);
    return acc.count != 0;
  });
}

constexpr AggregateKernels kDoubleAverageKernels{.size = sizeof(DoubleAverage), .update = &UpdateDoubleAverage, .merge = &MergeDoubleAverage,
                                          .export_buffers = &ExportDoubleAverage, .import_buffers = &ImportDoubleAverage,
                                          .finish = &FinishDoubleAverage};

// --- decimals and intervals: exact sums ---

struct ExactAverage {
  PackedInt128 sum;
  int64_t count;
  uint8_t overflow;
};

/// One above the greatest sum the buffer can hold.
Int128 LimitOf(const DataType& sum) {
  if (sum.Is(TypeKind::kDecimal)) return data::PowerOfTen(sum.precision());
  if (sum.Is(TypeKind::kYearMonthInterval)) return Int128{1} << 31;
  return Int128{1} << 63;
}

void AddExact(ExactAverage& acc, Int128 value, int64_t count, Int128 limit) {
  acc.count += count;
  Int128 sum;
  if (acc.overflow || __builtin_add_overflow(acc.sum.get(), value, &sum) || sum >= limit || sum <= -limit) {
    acc.overflow = 1;
    return;
  }
  acc.sum.set(sum);
}

Status SumOverflow(const BoundAggregate& call) {
  if (call.type.IsAnsiInterval()) {
    return Error("INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION").With("functionName", "`try_add`");
  }
  return OverflowError("Overflow in sum of decimals", "try_avg");
}

template <typename T>
Status UpdateExactOf(const BoundAggregate& call, const Column& column, int64_t rows, uint8_t* const* accumulators) {
  const Reader<T> values(column);
  const Int128 limit = LimitOf(call.buffer[0].type);
  bool overflow = false;
  ForEachNotNull(column, rows, [&](int64_t row) {
    auto& acc = As<ExactAverage>(accumulators[row]);
    AddExact(acc, values[row], 1, limit);
    overflow |= acc.overflow != 0;
  });
  if (overflow && call.type.IsAnsiInterval() && call.mode != EvalMode::kTry) return SumOverflow(call);
  return {};
}

Status UpdateExact(const BoundAggregate& call, std::span<const ColumnPtr> arguments, int64_t rows,
                   uint8_t* const* accumulators, EvalContext&) {
  const Column& column = *arguments[0];
  switch (column.physical()) {
    case PhysicalType::kInt32: return UpdateExactOf<int32_t>(call, column, rows, accumulators);
    case PhysicalType::kInt64: return UpdateExactOf<int64_t>(call, column, rows, accumulators);
    default: return UpdateExactOf<Int128>(call, column, rows, accumulators);
  }
}

template <typename T>
void MergeExactOf(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows,
                  uint8_t* const* accumulators) {
  const Reader<T> sums(*buffers[0]);
  const Reader<int64_t> counts(*buffers[1]);
  const Int128 limit = LimitOf(call.buffer[0].type);
  for (int64_t row = 0; row < rows; ++row) {
    auto& acc = As<ExactAverage>(accumulators[row]);
    if (buffers[0]->IsNull(row)) {
      acc.overflow = 1;
      acc.count += counts[row];
    } else {
      AddExact(acc, sums[row], counts[row], limit);
    }
  }
}

Status MergeExact(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators,
                  EvalContext&) {
  switch (buffers[0]->physical()) {
    case PhysicalType::kInt32: MergeExactOf<int32_t>(call, buffers, rows, accumulators); break;
    case PhysicalType::kInt64: MergeExactOf<int64_t>(call, buffers, rows, accumulators); break;
    default: MergeExactOf<Int128>(call, buffers, rows, accumulators); break;
  }
  return {};
}

Status ImportExact(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows,
                   uint8_t* const* accumulators) {
  for (int64_t row = 0; row < rows; ++row) As<ExactAverage>(accumulators[row]) = ExactAverage{};
  EvalContext context;
  return MergeExact(call, buffers, rows, accumulators, context);
}

Status ExportExact(const BoundAggregate& call, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  const auto get = [](const ExactAverage& acc, auto* sum) {
    *sum = static_cast<std::remove_reference_t<decltype(*sum)>>(acc.sum.get());
    return acc.overflow == 0;
  };
  const DataType& type = call.buffer[0].type;
  switch (type.physical()) {
    case PhysicalType::kInt32: out->push_back(ColumnOf<int32_t, ExactAverage>(type, accumulators, get)); break;
    case PhysicalType::kInt64: out->push_back(ColumnOf<int64_t, ExactAverage>(type, accumulators, get)); break;
    default: out->push_back(ColumnOf<Int128, ExactAverage>(type, accumulators, get)); break;
  }
  out->push_back(AverageCounts<ExactAverage>(accumulators));
  return {};
}

Result<ColumnPtr> FinishDecimal(const BoundAggregate& call, std::span<uint8_t* const> accumulators) {
  const DataType& sum = call.buffer[0].type;
  FixedOutput<Int128> out(call.type, static_cast<int64_t>(accumulators.size()));
  for (size_t i = 0; i < accumulators.size(); ++i) {
    const auto& acc = As<ExactAverage>(accumulators[i]);
    Int128 value = 0;
    const bool fits = !acc.overflow && acc.count != 0 &&
                      data::DecimalDivide(acc.sum.get(), sum.scale(), acc.count, 0, call.type.precision(),
                                          call.type.scale(), &value);
    if (acc.count != 0 && !fits && call.mode == EvalMode::kAnsi) return SumOverflow(call);
    if (fits) {
      out.Set(static_cast<int64_t>(i), value);
    } else {
      out.SetNull(static_cast<int64_t>(i));
    }
  }
  return out.Finish();
}

Result<ColumnPtr> FinishExact(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  if (call.type.Is(TypeKind::kDecimal)) return FinishDecimal(call, accumulators);
  const auto get = [](const ExactAverage& acc, auto* out) {
    if (acc.count == 0 || acc.overflow) return false;
    const Int128 sum = acc.sum.get();
    const Int128 twice = 2 * sum + (sum < 0 ? -acc.count : acc.count);
    *out = static_cast<std::remove_reference_t<decltype(*out)>>(twice / (2 * static_cast<Int128>(acc.count)));
    return true;
  };
  if (call.type.physical() == PhysicalType::kInt32) return ColumnOf<int32_t, ExactAverage>(call.type, accumulators, get);
  return ColumnOf<int64_t, ExactAverage>(call.type, accumulators, get);
}

constexpr AggregateKernels kExactKernels{.size = sizeof(ExactAverage), .update = &UpdateExact, .merge = &MergeExact,
                                         .export_buffers = &ExportExact, .import_buffers = &ImportExact,
                                         .finish = &FinishExact};

Result<BoundAggregateCall> BindAverage(const AggregateFunction& function, ExprList arguments, bool,
                                       const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  const EvalMode mode = AggregateMode(function, context);
  if (arguments[0]->type().Is(TypeKind::kString) || arguments[0]->type().Is(TypeKind::kNull)) {
    arguments[0] = Coerce(arguments[0], DataType::Double(), context.config);
  }
  const DataType type = arguments[0]->type();
  const BufferField count{"count", DataType::Long(), true};
  if (type.Is(TypeKind::kDecimal)) {
    const DataType sum = DataType::Decimal(std::min(38, type.precision() + 10), type.scale());
    const DataType result = DataType::Decimal(std::min(38, type.precision() + 4), std::min(38, type.scale() + 4));
    return MakeAggregate(function, std::move(arguments), result, true, {{"sum", sum, true}, count}, &kExactKernels, mode);
  }
  if (type.IsAnsiInterval()) {
    const DataType result =
        type.Is(TypeKind::kYearMonthInterval) ? DataType::YearMonthInterval() : DataType::DayTimeInterval();
    return MakeAggregate(function, std::move(arguments), result, true, {{"sum", type, true}, count}, &kExactKernels, mode);
  }
  if (!type.IsNumeric()) return UnexpectedInputType(function.name, arguments, 0, "(\"NUMERIC\" or \"ANSI INTERVAL\")");
  return MakeAggregate(function, std::move(arguments), DataType::Double(), true, {{"sum", DataType::Double(), true}, count},
                       &kDoubleAverageKernels, mode);
}

}  // namespace

void RegisterAverage(FunctionLists& lists) {
  static const AggregateFunction kAvg{.name = "avg", .doc = "The mean.",
                                      .example = {"SELECT avg(c) FROM VALUES (1), (2), (3) AS t(c)", "2.0"},
                                      .bind = &BindAverage};
  static const AggregateFunction kMean = Renamed(kAvg, "mean");
  static const AggregateFunction kTryAvg =
      Alike(kAvg, "try_avg", "The mean, NULL when it overflows.",
            {"SELECT try_avg(c) FROM VALUES (1), (2), (3) AS t(c)", "2.0"});
  for (const auto* f : {&kAvg, &kMean, &kTryAvg}) lists.Add(*f);
}

}  // namespace thalweg::sql
