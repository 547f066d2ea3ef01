// current_timestamp, now, current_date, curdate, localtimestamp: the time of the epoch, the same in all rows.

#include "data/text/civil.h"
#include "sql/expr/binding.h"
#include "sql/functions/datetime/register.h"

namespace thalweg::sql {
namespace {

int64_t EpochMicros(const EvalContext& context) {
  return context.epoch == nullptr ? 0 : context.epoch->batch_timestamp_us;
}

Result<ColumnPtr> CurrentTimestamp(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  return Column::Constant(call.type, Value(EpochMicros(context)), input.rows.length);
}

Result<ColumnPtr> LocalTimestamp(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  return Column::Constant(call.type, Value(SessionZone(context).ToLocal(EpochMicros(context))), input.rows.length);
}

Result<ColumnPtr> CurrentDate(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const auto days = static_cast<int32_t>(data::DaysOfMicros(SessionZone(context).ToLocal(EpochMicros(context))));
  return Column::Constant(call.type, Value(days), input.rows.length);
}

}  // namespace

void RegisterNow(FunctionLists& lists) {
  static const ScalarFunction kTimestamp{.name = "current_timestamp", .signature = "() -> TIMESTAMP", .since = "1.5.0",
                                         .doc = "The time at the start of the query or micro-batch.",
                                         .nulls = NullPolicy::kCustom, .evaluate = &CurrentTimestamp, .batch_time = true};
  static const ScalarFunction kNow = Renamed(kTimestamp, "now");
  static const ScalarFunction kDate{.name = "current_date", .signature = "() -> DATE", .since = "1.5.0",
                                    .doc = "The date at the start of the query or micro-batch.",
                                    .nulls = NullPolicy::kCustom, .evaluate = &CurrentDate, .batch_time = true};
  static const ScalarFunction kCurdate = Renamed(kDate, "curdate");
  static const ScalarFunction kLocal{.name = "localtimestamp", .signature = "() -> TIMESTAMP_NTZ", .since = "3.4.0",
                                     .doc = "The local time at the start of the query or micro-batch.",
                                     .nulls = NullPolicy::kCustom, .evaluate = &LocalTimestamp, .batch_time = true};
  for (const auto* f : {&kTimestamp, &kNow, &kDate, &kCurdate, &kLocal}) lists.Add(*f);
}

}  // namespace thalweg::sql
