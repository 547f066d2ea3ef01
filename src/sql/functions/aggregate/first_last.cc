// first, first_value, any_value, last, last_value (value, ignoreNulls). Buffers: the value, and whether one was seen.

#include "sql/functions/alike.h"
#include "sql/functions/aggregate/held_value.h"

namespace thalweg::sql {
namespace {

/// Which row is kept.
struct FirstLastData final : BoundData {
  bool last = false;
  bool ignore_nulls = false;
};
const FirstLastData& FirstLastDataOf(const BoundAggregate& call) { return static_cast<const FirstLastData&>(*call.data); }

struct Slot {
  HeldRow held;  ///< a row of the value's type, null values included
  uint8_t present;
};

void Offer(const FirstLastData& data, Slot& slot, const Column& column, int64_t row) {
  if (data.ignore_nulls && column.IsNull(row)) return;
  if (!data.last && slot.present) return;
  slot.held.Set(column, row);
  slot.present = 1;
}

Status UpdateFirstLast(const BoundAggregate& call, std::span<const ColumnPtr> arguments, int64_t rows, uint8_t* const* accumulators,
              EvalContext&) {
  const FirstLastData& data = FirstLastDataOf(call);
  if (!data.last) {
    for (int64_t row = 0; row < rows; ++row) Offer(data, As<Slot>(accumulators[row]), *arguments[0], row);
    return {};
  }
  // The last row of a group wins, so rows are offered backwards, each group once.
  std::vector<Slot*> done;
  for (int64_t row = rows; row-- > 0;) {
    if (data.ignore_nulls && arguments[0]->IsNull(row)) continue;
    Slot& slot = As<Slot>(accumulators[row]);
    if (slot.present == 2) continue;
    slot.held.Set(*arguments[0], row);
    slot.present = 2;
    done.push_back(&slot);
  }
  for (Slot* slot : done) slot->present = 1;
  return {};
}

Status MergeFirstLast(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators,
             EvalContext&) {
  const Reader<bool> present(*buffers[1]);
  for (int64_t row = 0; row < rows; ++row) {
    Slot& slot = As<Slot>(accumulators[row]);
    if (!present[row] || (!FirstLastDataOf(call).last && slot.present)) continue;
    slot.held.Set(*buffers[0], row);
    slot.present = 1;
  }
  return {};
}

Status ImportFirstLast(const BoundAggregate&, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators) {
  const Reader<bool> present(*buffers[1]);
  for (int64_t row = 0; row < rows; ++row) {
    Slot& slot = As<Slot>(accumulators[row]);
    slot.held.Set(*buffers[0], row);
    slot.present = present[row];
  }
  return {};
}

ColumnPtr Values(const BoundAggregate& call, std::span<uint8_t* const> accumulators) {
  auto builder = data::ColumnBuilder::Make(call.type);
  for (const uint8_t* accumulator : accumulators) {
    const Slot& slot = As<Slot>(accumulator);
    if (slot.held.row == nullptr) {
      builder->AppendNull();
    } else {
      builder->AppendFrom(**slot.held.row, 0);
    }
  }
  return builder->Finish();
}

Status ExportFirstLast(const BoundAggregate& call, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  out->push_back(Values(call, accumulators));
  out->push_back(ColumnOf<bool, Slot>(DataType::Boolean(), accumulators, [](const Slot& slot, bool* present) {
    *present = slot.present != 0;
    return true;
  }));
  return {};
}

Result<ColumnPtr> FinishFirstLast(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  return Values(call, accumulators);
}

void DestroyFirstLast(const BoundAggregate&, uint8_t* accumulator) { As<Slot>(accumulator).held.Free(); }
int64_t OwnedFirstLast(const BoundAggregate&, const uint8_t* accumulator) {
  const Slot& slot = As<Slot>(accumulator);
  return slot.held.row == nullptr ? 0 : (*slot.held.row)->bytes();
}

constexpr AggregateKernels kFirstLastKernels{.size = sizeof(Slot), .update = &UpdateFirstLast, .merge = &MergeFirstLast, .export_buffers = &ExportFirstLast,
                                    .import_buffers = &ImportFirstLast, .finish = &FinishFirstLast, .destroy = &DestroyFirstLast,
                                    .owned_bytes = &OwnedFirstLast};

Result<BoundAggregateCall> BindFirstLast(const AggregateFunction& function, ExprList arguments, bool,
                                         const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 2));
  auto data = std::make_shared<FirstLastData>();
  data->last = function.name.starts_with("last");
  if (arguments.size() == 2) {
    TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, DataType::Boolean(), context));
    TW_ASSIGN_OR_RETURN(const Value ignore, FoldArgument(function.name, arguments, 1, "ignoreNulls", context));
    data->ignore_nulls = !ignore.is_null() && ignore.get<bool>();
  }
  const DataType type = WithoutLength(arguments[0]->type());
  std::vector<BufferField> buffer{{data->last ? "last" : "first", type, true}, {"valueSet", DataType::Boolean(), true}};
  return MakeAggregate(function, std::move(arguments), type, true, std::move(buffer), &kFirstLastKernels,
                       AggregateMode(function, context), std::move(data));
}

}  // namespace

void RegisterFirstLast(FunctionLists& lists) {
  static const AggregateFunction kFirst{.name = "first", .since = "2.0.0", .doc = "The first value.",
                                        .example = {"SELECT first(c) FROM VALUES (10), (5), (20) AS t(c)", "10"},
                                        .bind = &BindFirstLast, .ignores_order = false};
  static const AggregateFunction kFirstValue = Renamed(kFirst, "first_value");
  static const AggregateFunction kAnyValue =
      Alike(kFirst, "any_value", "Some value: the first.",
            {"SELECT any_value(c) FROM VALUES (10), (5), (20) AS t(c)", "10"});
  static const AggregateFunction kLast =
      Alike(kFirst, "last", "The last value.", {"SELECT last(c) FROM VALUES (10), (5), (20) AS t(c)", "20"});
  static const AggregateFunction kLastValue =
      Alike(kFirst, "last_value", "The last value.",
            {"SELECT last_value(c) FROM VALUES (10), (5), (20) AS t(c)", "20"});
  for (const auto* f : {&kFirst, &kFirstValue, &kAnyValue, &kLast, &kLastValue}) lists.Add(*f);
}

}  // namespace thalweg::sql
