#pragma once

// What the families of casts share: private to sql/expr.

#include "data/text/literal.h"
#include "data/text/time_zone.h"
#include "sql/expr/binding.h"
#include "sql/expr/cast.h"

namespace thalweg::sql {

/// One cast of one column.
struct CastJob {
  const ColumnPtr& column;
  const DataType& from;
  const DataType& to;
  EvalMode mode;
  const RowSet& rows;
  const uint64_t* validity;
  EvalContext& context;

  bool ansi() const { return mode == EvalMode::kAnsi; }
  data::TimeZone Zone() const;
  int64_t NowMicros() const { return context.epoch == nullptr ? 0 : context.epoch->batch_timestamp_us; }
  Value ValueAt(int64_t row) const { return column->GetValue(row); }

  /// Errors of one row.
  Status InvalidInput(int64_t row) const;
  Status Overflow(int64_t row) const;
  Status OutOfDecimal(int64_t row) const;
};

/// f(In, Out*) -> bool for every valid row; false: null, or the error fail(row) with ANSI on.
template <typename Out, typename In, typename F, typename Fail>
Result<ColumnPtr> Convert(const CastJob& job, F f, Fail fail) {
  FixedOutput<Out> out(job.to, job.rows.length);
  const Reader<In> in(*job.column);
  const KernelInput input{{}, job.rows, job.validity};
  int64_t failed = -1;
  const bool ansi = job.ansi();
  ForEachValid(input, [&](int64_t row) {
    Out value{};
    if (f(in[row], &value)) [[likely]] {
      out.Set(row, value);
    } else if (ansi) {
      if (failed < 0) failed = row;
    } else {
      out.SetNull(row);
    }
  });
  if (failed >= 0) return fail(failed);
  return out.Finish();
}

/// f(In) -> Out for every row: cannot fail, so null slots are converted too.
template <typename Out, typename In, typename F>
Result<ColumnPtr> ConvertAll(const CastJob& job, F f) {
  BoundScalar call;
  call.type = job.to;
  const KernelInput input{std::span(&job.column, 1), job.rows, job.validity};
  return MapTotal1<Out, In>(call, input, f);
}

/// A cast that no analyzer should have let pass. `from` and `to` as error messages show them.
Status NoSuchCast(const std::string& from, const std::string& to);

/// Calls visit(T{}) with the C++ type of a numeric physical type (int8_t to double, Int128).
template <typename Visit>
Result<ColumnPtr> VisitNumber(const DataType& type, Visit&& visit) {
  switch (type.physical()) {
    case PhysicalType::kInt8: return visit(int8_t{});
    case PhysicalType::kInt16: return visit(int16_t{});
    case PhysicalType::kInt32: return visit(int32_t{});
    case PhysicalType::kInt64: return visit(int64_t{});
    case PhysicalType::kFloat: return visit(float{});
    case PhysicalType::kDouble: return visit(double{});
    case PhysicalType::kInt128: return visit(Int128{});
    default: return NoSuchCast(QuoteSql(type.Sql()), "a number");
  }
}

Result<ColumnPtr> CastToNumber(const CastJob& job);
Result<ColumnPtr> CastToBoolean(const CastJob& job);
Result<ColumnPtr> CastToString(const CastJob& job);
Result<ColumnPtr> CastToBinary(const CastJob& job);
Result<ColumnPtr> CastToDatetime(const CastJob& job);  ///< date, timestamps, time
Result<ColumnPtr> CastToInterval(const CastJob& job);
Result<ColumnPtr> CastNested(const CastJob& job);      ///< array, map, struct to the same kind

/// Appends the value of a row as CAST(... AS STRING) writes it; null elements are "null".
void AppendCastText(const Column& column, int64_t row, const data::TimeZone& zone, bool ansi, std::string* out);

/// Months or microseconds of one unit of an interval field.
int32_t MonthsOf(data::YearMonthField field);
int64_t MicrosOf(data::DayTimeField field);

}  // namespace thalweg::sql
