// sum, try_sum. Buffers: sum; of decimals and of try_sum over whole numbers also isEmpty (start 0, true; sum NULL and isEmpty
// false: overflow, which stays). Source: Spark's Sum.

#include "data/text/decimal128.h"
#include "sql/functions/aggregate/accumulate.h"
#include "sql/functions/operators/register.h"

namespace thalweg::sql {
namespace {

// --- whole numbers and intervals ---

struct WholeSum {
  int64_t sum;
  uint8_t present;
  uint8_t overflow;  ///< try_sum only
};

Status WholeOverflow(const BoundAggregate& call) {
  if (call.type.IsAnsiInterval()) {
    return Error("INTERVAL_ARITHMETIC_OVERFLOW.WITH_SUGGESTION").With("functionName", "`try_add`");
  }
  return OverflowError("long overflow", "try_add");
}

/// kInt32: the type sums in 32 bits (year-month intervals).
Status AddWhole(const BoundAggregate& call, WholeSum& acc, int64_t value) {
  acc.present = 1;
  if (acc.overflow) return {};
  int64_t sum;
  const bool narrow = call.type.Is(TypeKind::kYearMonthInterval);
  const bool bad = __builtin_add_overflow(acc.sum, value, &sum) ||
                   (narrow && (sum > std::numeric_limits<int32_t>::max() || sum < std::numeric_limits<int32_t>::min()));
  if (bad && (call.mode != EvalMode::kLegacy || call.type.IsAnsiInterval())) {
    if (call.mode != EvalMode::kTry) return WholeOverflow(call);
    acc.overflow = 1;
    return {};
  }
  acc.sum = sum;  // without ANSI it wraps
  return {};
}

/// All but try_sum and year-month intervals: nothing to remember beside the sum, which without ANSI wraps.
/// False when one overflowed.
template <typename T>
bool AddPlain(const Column& column, int64_t rows, uint8_t* const* accumulators) {
  const Reader<T> values(column);
  // Cold columns: the processor's own prefetching ends at every page.
  const char* const ahead = reinterpret_cast<const char*>(values.data()) + 512;
  const int64_t step = values.constant() ? 0 : sizeof(T);
  bool good = true;
  ForEachNotNull(column, rows, [&](int64_t row) {
    __builtin_prefetch(ahead + row * step);
    auto& acc = As<WholeSum>(accumulators[row]);
    good &= !__builtin_add_overflow(acc.sum, int64_t{values[row]}, &acc.sum);
    acc.present = 1;
  });
  return good;
}

template <typename T>
Status UpdateWholeOf(const BoundAggregate& call, const Column& column, int64_t rows, uint8_t* const* accumulators) {
  if (call.mode != EvalMode::kTry && !call.type.Is(TypeKind::kYearMonthInterval)) {
    const bool good = AddPlain<T>(column, rows, accumulators);
    return good || (call.mode == EvalMode::kLegacy && !call.type.IsAnsiInterval()) ? Status() : WholeOverflow(call);
  }
  const Reader<T> values(column);
  Status status;
  ForEachNotNull(column, rows, [&](int64_t row) {
    if (status.ok()) status = AddWhole(call, As<WholeSum>(accumulators[row]), values[row]);
  });
  return status;
}

Status UpdateWhole(const BoundAggregate& call, std::span<const ColumnPtr> arguments, int64_t rows,
                   uint8_t* const* accumulators, EvalContext&) {
  const Column& column = *arguments[0];
  switch (column.physical()) {
    case PhysicalType::kInt8: return UpdateWholeOf<int8_t>(call, column, rows, accumulators);
    case PhysicalType::kInt16: return UpdateWholeOf<int16_t>(call, column, rows, accumulators);
    case PhysicalType::kInt32: return UpdateWholeOf<int32_t>(call, column, rows, accumulators);
    default: return UpdateWholeOf<int64_t>(call, column, rows, accumulators);
  }
}

bool HasEmptyFlag(const BoundAggregate& call) { return call.buffer.size() == 2; }

template <typename T>
Status MergeWholeOf(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows,
                    uint8_t* const* accumulators) {
  if (!HasEmptyFlag(call) && call.mode != EvalMode::kTry) return UpdateWholeOf<T>(call, *buffers[0], rows, accumulators);
  const Reader<T> sums(*buffers[0]);
  Status status;
  for (int64_t row = 0; row < rows && status.ok(); ++row) {
    auto& acc = As<WholeSum>(accumulators[row]);
    const bool null = buffers[0]->IsNull(row);
    if (HasEmptyFlag(call)) {
      if (Reader<bool>(*buffers[1])[row]) continue;
      if (null) {
        acc.present = acc.overflow = 1;
        continue;
      }
    } else if (null) {
      continue;
    }
    status = AddWhole(call, acc, sums[row]);
  }
  return status;
}

Status MergeWhole(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows,
                  uint8_t* const* accumulators, EvalContext&) {
  if (buffers[0]->physical() == PhysicalType::kInt32) return MergeWholeOf<int32_t>(call, buffers, rows, accumulators);
  return MergeWholeOf<int64_t>(call, buffers, rows, accumulators);
}

Status ImportWhole(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows,
                   uint8_t* const* accumulators) {
  for (int64_t row = 0; row < rows; ++row) As<WholeSum>(accumulators[row]) = WholeSum{};
  EvalContext context;
  return MergeWhole(call, buffers, rows, accumulators, context);
}

ColumnPtr WholeSums(const BoundAggregate& call, std::span<uint8_t* const> accumulators, bool buffer) {
  const bool zero_when_empty = buffer && HasEmptyFlag(call);
  const auto get = [=](const WholeSum& acc, auto* out) {
    *out = static_cast<std::remove_reference_t<decltype(*out)>>(acc.sum);
    return (acc.present || zero_when_empty) && !acc.overflow;
  };
  const DataType& type = buffer ? call.buffer[0].type : call.type;
  if (type.physical() == PhysicalType::kInt32) return ColumnOf<int32_t, WholeSum>(type, accumulators, get);
  return ColumnOf<int64_t, WholeSum>(type, accumulators, get);
}

Status ExportWhole(const BoundAggregate& call, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  out->push_back(WholeSums(call, accumulators, true));
  if (HasEmptyFlag(call)) {
    out->push_back(ColumnOf<bool, WholeSum>(DataType::Boolean(), accumulators, [](const WholeSum& acc, bool* empty) {
      *empty = !acc.present;
      return true;
    }));
  }
  return {};
}

Result<ColumnPtr> FinishWhole(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  return WholeSums(call, accumulators, false);
}

constexpr AggregateKernels kWholeKernels{.size = sizeof(WholeSum), .update = &UpdateWhole, .merge = &MergeWhole,
                                         .export_buffers = &ExportWhole, .import_buffers = &ImportWhole,
                                         .finish = &FinishWhole};

// --- floating numbers ---

struct DoubleSum {
  double sum;
  uint8_t present;
};

Status UpdateDoubleSum(const BoundAggregate&, std::span<const ColumnPtr> arguments, int64_t rows, uint8_t* const* accumulators,
                    EvalContext&) {
  const Column& column = *arguments[0];
  const auto add = [&](auto reader) {
    ForEachNotNull(column, rows, [&](int64_t row) {
      auto& acc = As<DoubleSum>(accumulators[row]);
      acc.sum += static_cast<double>(reader[row]);
      acc.present = 1;
    });
  };
  if (column.physical() == PhysicalType::kFloat) {
    add(Reader<float>(column));
  } else {
    add(Reader<double>(column));
  }
  return {};
}

Status MergeDoubleSum(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators,
                   EvalContext& context) {
  return UpdateDoubleSum(call, buffers, rows, accumulators, context);
}

Status ImportDoubleSum(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows,
                    uint8_t* const* accumulators) {
  for (int64_t row = 0; row < rows; ++row) As<DoubleSum>(accumulators[row]) = DoubleSum{};
  EvalContext context;
  return UpdateDoubleSum(call, buffers, rows, accumulators, context);
}

ColumnPtr DoubleSums(std::span<uint8_t* const> accumulators) {
  return ColumnOf<double, DoubleSum>(DataType::Double(), accumulators, [](const DoubleSum& acc, double* out) {
    *out = acc.sum;
    return acc.present != 0;
  });
}

Status ExportDoubleSum(const BoundAggregate&, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  out->push_back(DoubleSums(accumulators));
  return {};
}

Result<ColumnPtr> FinishDoubleSum(const BoundAggregate&, std::span<uint8_t* const> accumulators, EvalContext&) {
  return DoubleSums(accumulators);
}

constexpr AggregateKernels kDoubleSumKernels{.size = sizeof(DoubleSum), .update = &UpdateDoubleSum, .merge = &MergeDoubleSum,
                                          .export_buffers = &ExportDoubleSum, .import_buffers = &ImportDoubleSum,
                                          .finish = &FinishDoubleSum};

// --- decimals ---

struct DecimalSum {
  PackedInt128 sum;
  uint8_t present;
  uint8_t overflow;
};

void AddDecimal(DecimalSum& acc, Int128 value, Int128 limit) {
  acc.present = 1;
  Int128 sum;
  if (acc.overflow || __builtin_add_overflow(acc.sum.get(), value, &sum) || sum >= limit || sum <= -limit) {
    acc.overflow = 1;
    return;
  }
  acc.sum.set(sum);
}

Status UpdateDecimal(const BoundAggregate& call, std::span<const ColumnPtr> arguments, int64_t rows,
                     uint8_t* const* accumulators, EvalContext&) {
  const Reader<Int128> values(*arguments[0]);
  const Int128 limit = data::PowerOfTen(call.buffer[0].type.precision());
  ForEachNotNull(*arguments[0], rows,
                 [&](int64_t row) { AddDecimal(As<DecimalSum>(accumulators[row]), values[row], limit); });
  return {};
}

Status MergeDecimal(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows,
                    uint8_t* const* accumulators, EvalContext&) {
  const Reader<Int128> sums(*buffers[0]);
  const Reader<bool> empty(*buffers[1]);
  const Int128 limit = data::PowerOfTen(call.buffer[0].type.precision());
  for (int64_t row = 0; row < rows; ++row) {
    auto& acc = As<DecimalSum>(accumulators[row]);
    if (empty[row]) continue;
    if (buffers[0]->IsNull(row)) {
      acc.present = acc.overflow = 1;
    } else {
      AddDecimal(acc, sums[row], limit);
    }
  }
  return {};
}

Status ImportDecimal(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows,
                     uint8_t* const* accumulators) {
  for (int64_t row = 0; row < rows; ++row) As<DecimalSum>(accumulators[row]) = DecimalSum{};
  EvalContext context;
  return MergeDecimal(call, buffers, rows, accumulators, context);
}

Status ExportDecimal(const BoundAggregate& call, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  out->push_back(ColumnOf<Int128, DecimalSum>(call.buffer[0].type, accumulators, [](const DecimalSum& acc, Int128* sum) {
    *sum = acc.sum.get();
    return acc.overflow == 0;
  }));
  out->push_back(ColumnOf<bool, DecimalSum>(DataType::Boolean(), accumulators, [](const DecimalSum& acc, bool* empty) {
    *empty = !acc.present;
    return true;
  }));
  return {};
}

Result<ColumnPtr> FinishDecimal(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  if (call.mode == EvalMode::kAnsi) {
    for (const uint8_t* accumulator : accumulators) {
      if (As<DecimalSum>(accumulator).overflow) return OverflowError("Overflow in sum of decimals", "try_sum");
    }
  }
  return ColumnOf<Int128, DecimalSum>(call.type, accumulators, [](const DecimalSum& acc, Int128* sum) {
    *sum = acc.sum.get();
    return acc.present != 0 && acc.overflow == 0;
  });
}

constexpr AggregateKernels kDecimalKernels{.size = sizeof(DecimalSum), .update = &UpdateDecimal, .merge = &MergeDecimal,
                                           .export_buffers = &ExportDecimal, .import_buffers = &ImportDecimal,
                                           .finish = &FinishDecimal};

Result<BoundAggregateCall> BindSum(const AggregateFunction& function, ExprList arguments, bool, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  const EvalMode mode = AggregateMode(function, context);
  if (arguments[0]->type().Is(TypeKind::kString) || arguments[0]->type().Is(TypeKind::kNull)) {
    arguments[0] = Coerce(arguments[0], DataType::Double(), context.config);
  }
  const DataType type = arguments[0]->type();
  const BufferField is_empty{"isEmpty", DataType::Boolean(), false};
  if (type.Is(TypeKind::kDecimal)) {
    const DataType sum = DataType::Decimal(std::min(38, type.precision() + 10), type.scale());
    return MakeAggregate(function, std::move(arguments), sum, true, {{"sum", sum, true}, is_empty}, &kDecimalKernels, mode);
  }
  if (type.IsIntegral() || type.IsAnsiInterval()) {
    const DataType sum = type.IsIntegral() ? DataType::Long() : type;
    std::vector<BufferField> buffer{{"sum", sum, true}};
    if (mode == EvalMode::kTry) buffer.push_back(is_empty);
    return MakeAggregate(function, std::move(arguments), sum, true, std::move(buffer), &kWholeKernels, mode);
  }
  if (type.Is(TypeKind::kFloat) || type.Is(TypeKind::kDouble)) {
    return MakeAggregate(function, std::move(arguments), DataType::Double(), true, {{"sum", DataType::Double(), true}},
                         &kDoubleSumKernels, mode);
  }
  return UnexpectedInputType(function.name, arguments, 0, "(\"NUMERIC\" or \"ANSI INTERVAL\")");
}

}  // namespace

void RegisterSum(FunctionLists& lists) {
  static const AggregateFunction kSum{.name = "sum", .doc = "The sum.",
                                      .example = {"SELECT sum(c) FROM VALUES (5), (10), (15) AS t(c)", "30"},
                                      .bind = &BindSum};
  static const AggregateFunction kTrySum = [] {
    AggregateFunction f = Renamed(kSum, "try_sum");
    f.since = "3.3.0";
    f.doc = "The sum, NULL when it overflows.";
    return f;
  }();
  lists.Add(kSum);
  lists.Add(kTrySum);
}

}  // namespace thalweg::sql
