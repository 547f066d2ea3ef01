// min, max, bool_and, every, bool_or, some, any, bit_and, bit_or, bit_xor. Buffer: one column of the input type, NULL at first.

#include <cmath>

#include "sql/functions/alike.h"
#include "sql/functions/aggregate/held_value.h"

namespace thalweg::sql {
namespace {

enum class Keep : uint8_t { kLeast, kGreatest, kAnd, kOr, kXor };

template <typename T>
struct FixedSlot {
  Kept<T> kept;
  uint8_t present;
};

/// SQL's order: NaN above all, -0.0 equal to 0.0.
template <typename T>
bool Less(T a, T b) {
  if constexpr (std::is_floating_point_v<T>) {
    return a < b || (std::isnan(b) && !std::isnan(a));
  } else {
    return a < b;
  }
}

template <typename T, Keep kKeep>
void Offer(FixedSlot<T>& slot, T value) {
  if (!slot.present) {
    slot.present = 1;
    slot.kept.set(value);
    return;
  }
  const T kept = slot.kept.get();
  if constexpr (kKeep == Keep::kLeast) {
    if (Less(value, kept)) slot.kept.set(value);
  } else if constexpr (kKeep == Keep::kGreatest) {
    if (Less(kept, value)) slot.kept.set(value);
  } else if constexpr (std::is_integral_v<T>) {
    if constexpr (kKeep == Keep::kAnd) slot.kept.set(static_cast<T>(kept & value));
    if constexpr (kKeep == Keep::kOr) slot.kept.set(static_cast<T>(kept | value));
    if constexpr (kKeep == Keep::kXor) slot.kept.set(static_cast<T>(kept ^ value));
  }
}

template <typename T, Keep kKeep>
Status UpdateFixed(const BoundAggregate&, std::span<const ColumnPtr> arguments, int64_t rows, uint8_t* const* accumulators,
                   EvalContext&) {
  const Reader<T> values(*arguments[0]);
  ForEachNotNull(*arguments[0], rows,
                 [&](int64_t row) { Offer<T, kKeep>(As<FixedSlot<T>>(accumulators[row]), values[row]); });
  return {};
}

template <typename T, Keep kKeep>
Status ImportFixed(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows,
                   uint8_t* const* accumulators) {
  for (int64_t row = 0; row < rows; ++row) As<FixedSlot<T>>(accumulators[row]) = FixedSlot<T>{};
  EvalContext context;
  return UpdateFixed<T, kKeep>(call, buffers, rows, accumulators, context);
}

template <typename T>
ColumnPtr FixedColumn(const DataType& type, std::span<uint8_t* const> accumulators) {
  return ColumnOf<T, FixedSlot<T>>(type, accumulators, [](const FixedSlot<T>& slot, T* out) {
    *out = slot.kept.get();
    return slot.present != 0;
  });
}

template <typename T>
Status ExportFixed(const BoundAggregate& call, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  out->push_back(FixedColumn<T>(call.type, accumulators));
  return {};
}

template <typename T>
Result<ColumnPtr> FinishFixed(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  return FixedColumn<T>(call.type, accumulators);
}

template <typename T, Keep kKeep>
constexpr AggregateKernels kFixedKernels{.size = sizeof(FixedSlot<T>), .update = &UpdateFixed<T, kKeep>,
                                         .merge = &UpdateFixed<T, kKeep>, .export_buffers = &ExportFixed<T>,
                                         .import_buffers = &ImportFixed<T, kKeep>, .finish = &FinishFixed<T>};

// --- text ---

struct TextSlot {
  HeldText text;
  uint8_t present;
};

template <Keep kKeep>
Status UpdateText(const BoundAggregate&, std::span<const ColumnPtr> arguments, int64_t rows, uint8_t* const* accumulators,
                  EvalContext&) {
  const Reader<std::string_view> values(*arguments[0]);
  ForEachNotNull(*arguments[0], rows, [&](int64_t row) {
    auto& slot = As<TextSlot>(accumulators[row]);
    const std::string_view value = values[row];
    if (!slot.present || (kKeep == Keep::kLeast ? value < slot.text.view() : slot.text.view() < value)) {
      slot.text.Set(value);
      slot.present = 1;
    }
  });
  return {};
}

template <Keep kKeep>
Status ImportText(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators) {
  for (int64_t row = 0; row < rows; ++row) As<TextSlot>(accumulators[row]).present = 0;
  EvalContext context;
  return UpdateText<kKeep>(call, buffers, rows, accumulators, context);
}

ColumnPtr TextColumn(const DataType& type, std::span<uint8_t* const> accumulators) {
  TextOutput out(type, static_cast<int64_t>(accumulators.size()));
  for (size_t i = 0; i < accumulators.size(); ++i) {
    const auto& slot = As<TextSlot>(accumulators[i]);
    if (slot.present) {
      out.Set(static_cast<int64_t>(i), slot.text.view());
    } else {
      out.SetNull(static_cast<int64_t>(i));
    }
  }
  return out.Finish();
}

Status ExportText(const BoundAggregate& call, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  out->push_back(TextColumn(call.type, accumulators));
  return {};
}
Result<ColumnPtr> FinishText(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  return TextColumn(call.type, accumulators);
}
void DestroyText(const BoundAggregate&, uint8_t* accumulator) { As<TextSlot>(accumulator).text.Free(); }
int64_t OwnedText(const BoundAggregate&, const uint8_t* accumulator) { return As<TextSlot>(accumulator).text.capacity; }

template <Keep kKeep>
constexpr AggregateKernels kTextKernels{.size = sizeof(TextSlot), .update = &UpdateText<kKeep>, .merge = &UpdateText<kKeep>,
                                        .export_buffers = &ExportText, .import_buffers = &ImportText<kKeep>,
                                        .finish = &FinishText, .destroy = &DestroyText, .owned_bytes = &OwnedText};

// --- arrays, structs ---

template <Keep kKeep>
Status UpdateRow(const BoundAggregate&, std::span<const ColumnPtr> arguments, int64_t rows, uint8_t* const* accumulators,
                 EvalContext&) {
  const ColumnPtr column = data::Flatten(arguments[0]);
  ForEachNotNull(*column, rows, [&](int64_t row) {
    auto& slot = As<HeldRow>(accumulators[row]);
    const int order = slot.row == nullptr || *slot.row == nullptr ? 0 : CompareRows(*column, row, **slot.row, 0);
    if (slot.row == nullptr || *slot.row == nullptr || (kKeep == Keep::kLeast ? order < 0 : order > 0)) slot.Set(*column, row);
  });
  return {};
}

template <Keep kKeep>
Status ImportRow(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators) {
  for (int64_t row = 0; row < rows; ++row) {
    auto& slot = As<HeldRow>(accumulators[row]);
    if (slot.row != nullptr) slot.row->reset();
  }
  EvalContext context;
  return UpdateRow<kKeep>(call, buffers, rows, accumulators, context);
}

ColumnPtr RowColumn(const DataType& type, std::span<uint8_t* const> accumulators) {
  auto builder = data::ColumnBuilder::Make(type);
  for (const uint8_t* accumulator : accumulators) {
    const auto& slot = As<HeldRow>(accumulator);
    if (slot.row == nullptr || *slot.row == nullptr) {
      builder->AppendNull();
    } else {
      builder->AppendFrom(**slot.row, 0);
    }
  }
  return builder->Finish();
}

Status ExportRow(const BoundAggregate& call, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  out->push_back(RowColumn(call.type, accumulators));
  return {};
}
Result<ColumnPtr> FinishRow(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  return RowColumn(call.type, accumulators);
}
void DestroyRow(const BoundAggregate&, uint8_t* accumulator) { As<HeldRow>(accumulator).Free(); }
int64_t OwnedRow(const BoundAggregate&, const uint8_t* accumulator) {
  const auto& slot = As<HeldRow>(accumulator);
  return slot.row == nullptr || *slot.row == nullptr ? 0 : (*slot.row)->bytes();
}

template <Keep kKeep>
constexpr AggregateKernels kRowKernels{.size = sizeof(HeldRow), .update = &UpdateRow<kKeep>, .merge = &UpdateRow<kKeep>,
                                       .export_buffers = &ExportRow, .import_buffers = &ImportRow<kKeep>,
                                       .finish = &FinishRow, .destroy = &DestroyRow, .owned_bytes = &OwnedRow};

template <Keep kKeep>
const AggregateKernels* KernelsFor(const DataType& type) {
  switch (type.physical()) {
    case PhysicalType::kBool: return &kFixedKernels<uint8_t, kKeep>;
    case PhysicalType::kInt8: return &kFixedKernels<int8_t, kKeep>;
    case PhysicalType::kInt16: return &kFixedKernels<int16_t, kKeep>;
    case PhysicalType::kInt32: return &kFixedKernels<int32_t, kKeep>;
    case PhysicalType::kInt64: return &kFixedKernels<int64_t, kKeep>;
    case PhysicalType::kFloat: return &kFixedKernels<float, kKeep>;
    case PhysicalType::kDouble: return &kFixedKernels<double, kKeep>;
    case PhysicalType::kInt128: return &kFixedKernels<Int128, kKeep>;
    case PhysicalType::kText: return &kTextKernels<kKeep>;
    default: return &kRowKernels<kKeep>;
  }
}

Result<BoundAggregateCall> BindMinMax(const AggregateFunction& function, ExprList arguments, bool, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  const DataType type = WithoutLength(arguments[0]->type());
  if (!type.IsOrderable() && !type.Is(TypeKind::kNull)) {
    return Error("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE")
        .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
        .With("functionName", QuoteFunctionName(function.name))
        .With("dataType", QuoteSql(type.Sql()));
  }
  const bool max = function.name == "max";
  const AggregateKernels* kernels = max ? KernelsFor<Keep::kGreatest>(type) : KernelsFor<Keep::kLeast>(type);
  return MakeAggregate(function, std::move(arguments), type, true, {{std::string(function.name), type, true}}, kernels,
                       AggregateMode(function, context));
}

Result<BoundAggregateCall> BindBoolean(const AggregateFunction& function, ExprList arguments, bool,
                                       const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  if (!arguments[0]->type().Is(TypeKind::kBoolean) && !arguments[0]->type().Is(TypeKind::kNull)) {
    return UnexpectedInputType(function.name, arguments, 0, "\"BOOLEAN\"");
  }
  arguments[0] = Coerce(arguments[0], DataType::Boolean(), context.config);
  const bool all = function.name == "bool_and" || function.name == "every";
  return MakeAggregate(function, std::move(arguments), DataType::Boolean(), true,
                       {{all ? "min" : "max", DataType::Boolean(), true}},
                       all ? KernelsFor<Keep::kLeast>(DataType::Boolean()) : KernelsFor<Keep::kGreatest>(DataType::Boolean()),
                       AggregateMode(function, context));
}

template <Keep kKeep>
const AggregateKernels* BitKernels(const DataType& type) {
  switch (type.physical()) {
    case PhysicalType::kInt8: return &kFixedKernels<int8_t, kKeep>;
    case PhysicalType::kInt16: return &kFixedKernels<int16_t, kKeep>;
    case PhysicalType::kInt32: return &kFixedKernels<int32_t, kKeep>;
    default: return &kFixedKernels<int64_t, kKeep>;
  }
}

Result<BoundAggregateCall> BindBits(const AggregateFunction& function, ExprList arguments, bool, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  const DataType type = arguments[0]->type();
  if (!type.IsIntegral()) return UnexpectedInputType(function.name, arguments, 0, "\"INTEGRAL\"");
  const AggregateKernels* kernels = BitKernels<Keep::kXor>(type);
  if (function.name == "bit_and") kernels = BitKernels<Keep::kAnd>(type);
  if (function.name == "bit_or") kernels = BitKernels<Keep::kOr>(type);
  return MakeAggregate(function, std::move(arguments), type, true, {{std::string(function.name), type, true}}, kernels,
                       AggregateMode(function, context));
}

}  // namespace

void RegisterMinMax(FunctionLists& lists) {
  static const AggregateFunction kMin{.name = "min", .doc = "The least value.",
                                      .example = {"SELECT min(c) FROM VALUES (10), (-1), (20) AS t(c)", "-1"},
                                      .bind = &BindMinMax};
  static const AggregateFunction kMax{.name = "max", .doc = "The greatest value.",
                                      .example = {"SELECT max(c) FROM VALUES (10), (50), (20) AS t(c)", "50"},
                                      .bind = &BindMinMax};
  static const AggregateFunction kBoolAnd{.name = "bool_and", .since = "3.0.0", .doc = "Whether all values are true.",
                                          .example = {"SELECT bool_and(c) FROM VALUES (true), (true) AS t(c)", "true"},
                                          .bind = &BindBoolean};
  static const AggregateFunction kEvery = Renamed(kBoolAnd, "every");
  static const AggregateFunction kBoolOr =
      Alike(kBoolAnd, "bool_or", "Whether any value is true.",
            {"SELECT bool_or(c) FROM VALUES (true), (false) AS t(c)", "true"});
  static const AggregateFunction kSome = Renamed(kBoolAnd, "some");
  static const AggregateFunction kAny = Renamed(kBoolAnd, "any");
  static const AggregateFunction kBitAnd{.name = "bit_and", .since = "3.0.0", .doc = "Bitwise AND of all values.",
                                         .example = {"SELECT bit_and(c) FROM VALUES (3), (5) AS t(c)", "1"},
                                         .bind = &BindBits};
  static const AggregateFunction kBitOr =
      Alike(kBitAnd, "bit_or", "Bitwise OR of all values.", {"SELECT bit_or(c) FROM VALUES (3), (5) AS t(c)", "7"});
  static const AggregateFunction kBitXor =
      Alike(kBitAnd, "bit_xor", "Bitwise XOR of all values.", {"SELECT bit_xor(c) FROM VALUES (3), (5) AS t(c)", "6"});
  for (const auto* f : {&kMin, &kMax, &kBoolAnd, &kEvery, &kBoolOr, &kSome, &kAny, &kBitAnd, &kBitOr, &kBitXor}) lists.Add(*f);
}

}  // namespace thalweg::sql
