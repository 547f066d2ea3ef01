// Dispatch of casts, their errors, and which are allowed.

#include "sql/expr/cast.h"

#include <cmath>

#include "data/text/decimal128.h"
#include "sql/expr/cast_job.h"

namespace thalweg::sql {
namespace {

constexpr std::string_view kAnsiConfig = "\"spark.sql.ansi.enabled\"";

bool IsDatetime(const DataType& t) {
  return t.Is(TypeKind::kDate) || t.Is(TypeKind::kTimestamp) || t.Is(TypeKind::kTimestampNtz);
}
/// Rules that hold with and without ANSI.
bool CanCastBoth(const DataType& from, const DataType& to) {
  const TypeKind f = from.kind();
  const TypeKind t = to.kind();
  if (f == TypeKind::kNull) return true;
  if (t == TypeKind::kString) return true;
  if (f == TypeKind::kString) {
    return to.IsNumeric() || IsDatetime(to) || to.IsAnsiInterval() || t == TypeKind::kBoolean || t == TypeKind::kBinary ||
           t == TypeKind::kTime || t == TypeKind::kCalendarInterval;
  }
  if (from.IsNumeric() && to.IsNumeric()) return true;
  if (f == TypeKind::kBoolean) return to.IsNumeric();
  if (t == TypeKind::kBoolean) return from.IsNumeric();
  if (from.IsNumeric() && t == TypeKind::kTimestamp) return true;
  if (f == TypeKind::kTimestamp && to.IsNumeric()) return true;
  if (IsDatetime(from) && IsDatetime(to)) return true;
  if (f == TypeKind::kTime) return t == TypeKind::kTime || to.IsNumeric();
  if (t == TypeKind::kTime) return f == TypeKind::kTimestampNtz;
  if (from.IsAnsiInterval() && f == t) return true;
  if (from.IsAnsiInterval()) return to.IsIntegral() || t == TypeKind::kDecimal;
  if (to.IsAnsiInterval()) return from.IsIntegral() || f == TypeKind::kDecimal;
  return false;
}

bool CanCastLegacyOnly(const DataType& from, const DataType& to) {
  const TypeKind f = from.kind();
  const TypeKind t = to.kind();
  if (t == TypeKind::kBinary) return from.IsIntegral();
  if (f == TypeKind::kBoolean && t == TypeKind::kTimestamp) return true;
  if (IsDatetime(from) && f != TypeKind::kTimestampNtz && t == TypeKind::kBoolean) return true;
  if (f == TypeKind::kDate && to.IsNumeric()) return true;
  return false;
}

}  // namespace

data::TimeZone CastJob::Zone() const {
  auto zone = data::TimeZone::Find(context.config->time_zone);
  return zone ? *zone : data::TimeZone::Utc();
}

Status CastJob::InvalidInput(int64_t row) const {
  return Error("CAST_INVALID_INPUT")
      .With("expression", data::LiteralSql(ValueAt(row), WithoutLength(from), Zone()))
      .With("sourceType", QuoteSql(from.Sql()))
      .With("targetType", QuoteSql(to.Sql()))
      .With("ansiConfig", kAnsiConfig);
}

Status CastJob::Overflow(int64_t row) const {
  const Value value = ValueAt(row);
  const auto* number = value.get_if<double>();
  const auto* small = value.get_if<float>();
  const bool finite = (number == nullptr || std::isfinite(*number)) && (small == nullptr || std::isfinite(*small));
  return Error("CAST_OVERFLOW")
      .With("value", finite ? data::LiteralSql(value, from, Zone()) : data::ValueText(value, from, Zone()))
      .With("sourceType", QuoteSql(from.Sql()))
      .With("targetType", QuoteSql(to.Sql()))
      .With("ansiConfig", kAnsiConfig);
}

Status CastJob::OutOfDecimal(int64_t row) const {
  std::string text = data::ValueText(ValueAt(row), from, Zone());
  return Error("NUMERIC_VALUE_OUT_OF_RANGE.WITH_SUGGESTION")
      .With("value", text)
      .With("precision", static_cast<long long>(to.precision()))
      .With("scale", static_cast<long long>(to.scale()))
      .With("config", kAnsiConfig);
}

bool CanCast(const DataType& from, const DataType& to, EvalMode mode) {
  if (from == to || from.SameType(to)) return true;
  if (CanCastBoth(from, to)) return true;
  if (mode == EvalMode::kLegacy && CanCastLegacyOnly(from, to)) return true;
  if (from.kind() != to.kind()) return false;
  switch (from.kind()) {
    case TypeKind::kArray: return CanCast(from.element(), to.element(), mode);
    case TypeKind::kMap: return CanCast(from.key(), to.key(), mode) && CanCast(from.value(), to.value(), mode);
    case TypeKind::kStruct: {
      if (from.fields().size() != to.fields().size()) return false;
      for (size_t i = 0; i < from.fields().size(); ++i) {
        if (!CanCast(from.fields()[i].type, to.fields()[i].type, mode)) return false;
      }
      return true;
    }
    case TypeKind::kString: return true;
    default: return false;
  }
}

Status CastTypeError(const Expr& cast, const DataType& from, const DataType& to, EvalMode mode) {
  const bool named = (from.IsNumeric() && to.Is(TypeKind::kDate));
  if (mode != EvalMode::kLegacy && (named || CanCast(from, to, EvalMode::kLegacy))) {
    // Spark names the function that does what the cast did.
    std::string functions;
    if (from.IsNumeric() && to.Is(TypeKind::kTimestamp)) functions = "`TIMESTAMP_SECONDS`/`TIMESTAMP_MILLIS`/`TIMESTAMP_MICROS`";
    if (from.IsNumeric() && to.Is(TypeKind::kDate)) functions = "`DATE_FROM_UNIX_DATE`";
    if (from.Is(TypeKind::kDate) && to.IsNumeric()) functions = "`UNIX_DATE`";
    if (!functions.empty()) {
      return Error("DATATYPE_MISMATCH.CAST_WITH_FUNC_SUGGESTION")
          .With("sqlExpr", QuoteSql(cast.Sql()))
          .With("srcType", QuoteSql(from.Sql()))
          .With("targetType", QuoteSql(to.Sql()))
          .With("functionNames", functions);
    }
    return Error("DATATYPE_MISMATCH.CAST_WITH_CONF_SUGGESTION")
        .With("sqlExpr", QuoteSql(cast.Sql()))
        .With("srcType", QuoteSql(from.Sql()))
        .With("targetType", QuoteSql(to.Sql()))
        .With("config", kAnsiConfig)
        .With("configVal", "'false'");
  }
  return Error("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION")
      .With("sqlExpr", QuoteSql(cast.Sql()))
      .With("srcType", QuoteSql(from.Sql()))
      .With("targetType", QuoteSql(to.Sql()));
}

Status NoSuchCast(const std::string& from, const std::string& to) {
  return Error("DATATYPE_MISMATCH.CAST_WITHOUT_SUGGESTION").With("sqlExpr", "\"CAST\"").With("srcType", from).With("targetType", to);
}

bool CastIsTotal(const DataType& from, const DataType& to) {
  if (from.SameType(to)) return true;
  if (from.IsIntegral() && (to.Is(TypeKind::kFloat) || to.Is(TypeKind::kDouble))) return true;
  if (from.IsIntegral() && to.IsIntegral()) return from.byte_width() <= to.byte_width();
  if (from.Is(TypeKind::kFloat) && to.Is(TypeKind::kDouble)) return true;
  if (from.IsIntegral() && to.Is(TypeKind::kDecimal)) {
    return to.precision() - to.scale() >= DecimalForType(from).precision();
  }
  if (from.Is(TypeKind::kDecimal) && to.Is(TypeKind::kDecimal)) {
    return to.scale() >= from.scale() && to.precision() - to.scale() >= from.precision() - from.scale();
  }
  return from.Is(TypeKind::kDate) && to.Is(TypeKind::kTimestamp);
}

Result<ColumnPtr> CastColumn(const ColumnPtr& column, const DataType& to, EvalMode mode, const RowSet& rows,
                             const uint64_t* validity, EvalContext& context) {
  const DataType& from = column->type();
  if (from.Is(TypeKind::kNull)) return Column::Nulls(to, rows.length);
  if (from == to) return column;
  if (from.SameType(to) || (from.Is(TypeKind::kString) && to.Is(TypeKind::kString))) return data::WithType(column, to);
  const CastJob job{column, from, to, mode, rows, validity, context};
  switch (to.kind()) {
    case TypeKind::kBoolean: return CastToBoolean(job);
    case TypeKind::kByte:
    case TypeKind::kShort:
    case TypeKind::kInteger:
    case TypeKind::kLong:
    case TypeKind::kFloat:
    case TypeKind::kDouble:
    case TypeKind::kDecimal: return CastToNumber(job);
    case TypeKind::kString: return CastToString(job);
    case TypeKind::kBinary: return CastToBinary(job);
    case TypeKind::kDate:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampNtz:
    case TypeKind::kTime: return CastToDatetime(job);
    case TypeKind::kYearMonthInterval:
    case TypeKind::kDayTimeInterval:
    case TypeKind::kCalendarInterval: return CastToInterval(job);
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kStruct:
      if (from.kind() != to.kind()) return NoSuchCast(QuoteSql(from.Sql()), QuoteSql(to.Sql()));
      return CastNested(job);
    default: return Unsupported("CAST to " + to.SimpleString());
  }
}

}  // namespace thalweg::sql
