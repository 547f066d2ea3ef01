// Casts to strings and binaries, and between nested types.

#include "base/invariant.h"
#include "data/text/datetime.h"
#include "data/text/interval.h"
#include "data/text/numbers.h"
#include "sql/expr/cast_job.h"

namespace thalweg::sql {
namespace {

void AppendScalar(const Column& column, int64_t slot, const data::TimeZone& zone, bool ansi, std::string* out) {
  const DataType& type = column.type();
  const size_t i = static_cast<size_t>(slot);
  switch (type.kind()) {
    case TypeKind::kBoolean: return data::AppendBoolean(column.values<uint8_t>()[i] != 0, out);
    case TypeKind::kByte: return data::AppendInt64(column.values<int8_t>()[i], out);
    case TypeKind::kShort: return data::AppendInt64(column.values<int16_t>()[i], out);
    case TypeKind::kInteger: return data::AppendInt64(column.values<int32_t>()[i], out);
    case TypeKind::kLong: return data::AppendInt64(column.values<int64_t>()[i], out);
    case TypeKind::kFloat: return data::AppendFloat(column.values<float>()[i], out);
    case TypeKind::kDouble: return data::AppendDouble(column.values<double>()[i], out);
    case TypeKind::kDecimal:
      return ansi ? data::AppendDecimal(column.values<Int128>()[i], type.scale(), out)
                  : data::AppendDecimalScientific(column.values<Int128>()[i], type.scale(), out);
    case TypeKind::kString:
    case TypeKind::kBinary: out->append(column.values<TextView>()[i].view()); return;
    case TypeKind::kDate: return data::AppendDate(column.values<int32_t>()[i], out);
    case TypeKind::kTimestamp: return data::AppendTimestamp(column.values<int64_t>()[i], zone, out);
    case TypeKind::kTimestampNtz: return data::AppendTimestampNtz(column.values<int64_t>()[i], out);
    case TypeKind::kTime: return data::AppendTime(column.values<int64_t>()[i], out);
    case TypeKind::kYearMonthInterval:
      return data::AppendYearMonthInterval(column.values<int32_t>()[i], type.year_month_start(), type.year_month_end(),
                                           data::IntervalStyle::kAnsi, out);
    case TypeKind::kDayTimeInterval:
      return data::AppendDayTimeInterval(column.values<int64_t>()[i], type.day_time_start(), type.day_time_end(),
                                         data::IntervalStyle::kAnsi, out);
    case TypeKind::kCalendarInterval:
      return data::AppendCalendarInterval(column.values<data::CalendarInterval>()[i], out);
    default: return;
  }
}

void AppendNullable(const Column& column, int64_t row, const data::TimeZone& zone, bool ansi, std::string* out) {
  if (column.IsNull(row)) {
    out->append("null");
  } else {
    AppendCastText(column, row, zone, ansi, out);
  }
}

/// Every row is written by `append(value, out)`.
template <typename In, typename Append>
Result<ColumnPtr> TextOf(const CastJob& job, Append append) {
  TextOutput out(job.to, job.rows.length);
  const Reader<In> in(*job.column);
  std::string text;
  ForEachValid(KernelInput{{}, job.rows, job.validity}, [&](int64_t row) {
    text.clear();
    append(in[row], &text);
    out.Set(row, text);
  });
  return out.Finish();
}

/// Elements of the rows of a list that the cast has to look at.
std::vector<int32_t> ElementRows(const CastJob& job) {
  std::vector<int32_t> elements;
  const auto offsets = job.column->offsets();
  ForEachValid(KernelInput{{}, job.rows, job.validity}, [&](int64_t row) {
    const size_t slot = static_cast<size_t>(SlotOf(*job.column, row));
    for (int32_t i = offsets[slot]; i < offsets[slot + 1]; ++i) elements.push_back(i);
  });
  return elements;
}

Result<ColumnPtr> CastChild(const CastJob& job, int i, const DataType& to, const RowSet& rows) {
  const ColumnPtr child = data::Flatten(job.column->child(i));
  TW_ASSIGN_OR_RETURN(const ColumnPtr cast,
                      CastColumn(child, to, job.mode, rows, child->validity_words(), job.context));
  return data::Flatten(AndValidity(cast, child->validity_words()));
}

}  // namespace

void AppendCastText(const Column& column, int64_t row, const data::TimeZone& zone, bool ansi, std::string* out) {
  const int64_t slot = SlotOf(column, row);
  switch (column.physical()) {
    case PhysicalType::kNull: out->append("null"); return;
    case PhysicalType::kList: {
      out->push_back('[');
      for (int32_t i = column.offsets()[static_cast<size_t>(slot)]; i < column.offsets()[static_cast<size_t>(slot) + 1]; ++i) {
        if (i > column.offsets()[static_cast<size_t>(slot)]) out->append(", ");
        AppendNullable(*column.child(0), i, zone, ansi, out);
      }
      out->push_back(']');
      return;
    }
    case PhysicalType::kMap: {
      out->push_back('{');
      for (int32_t i = column.offsets()[static_cast<size_t>(slot)]; i < column.offsets()[static_cast<size_t>(slot) + 1]; ++i) {
        if (i > column.offsets()[static_cast<size_t>(slot)]) out->append(", ");
        AppendNullable(*column.child(0), i, zone, ansi, out);
        out->append(" ->");
        if (column.child(1)->IsNull(i)) {
          out->append(" null");
        } else {
          out->push_back(' ');
          AppendCastText(*column.child(1), i, zone, ansi, out);
        }
      }
      out->push_back('}');
      return;
    }
    case PhysicalType::kStruct:
      out->push_back('{');
      for (int i = 0; i < column.num_children(); ++i) {
        if (i > 0) out->append(", ");
        AppendNullable(*column.child(i), slot, zone, ansi, out);
      }
      out->push_back('}');
      return;
    default: return AppendScalar(column, slot, zone, ansi, out);
  }
}

Result<ColumnPtr> CastToString(const CastJob& job) {
  switch (job.from.kind()) {
    case TypeKind::kBinary: return data::WithType(job.column, job.to);
    case TypeKind::kLong: return TextOf<int64_t>(job, [](int64_t v, std::string* out) { data::AppendInt64(v, out); });
    case TypeKind::kInteger: return TextOf<int32_t>(job, [](int32_t v, std::string* out) { data::AppendInt64(v, out); });
    case TypeKind::kDouble: return TextOf<double>(job, [](double v, std::string* out) { data::AppendDouble(v, out); });
    case TypeKind::kDate: return TextOf<int32_t>(job, [](int32_t v, std::string* out) { data::AppendDate(v, out); });
    case TypeKind::kTimestamp: {
      const data::TimeZone zone = job.Zone();
      return TextOf<int64_t>(job, [&](int64_t v, std::string* out) { data::AppendTimestamp(v, zone, out); });
    }
    case TypeKind::kVariant: return Unsupported("CAST of variant to string");
    default: break;
  }
  const data::TimeZone zone = job.Zone();
  const bool ansi = job.context.config->ansi;
  const ColumnPtr column = data::Flatten(job.column);
  TextOutput out(job.to, job.rows.length);
  std::string text;
  ForEachValid(KernelInput{{}, job.rows, job.validity}, [&](int64_t row) {
    text.clear();
    AppendCastText(*column, row, zone, ansi, &text);
    out.Set(row, text);
  });
  return out.Finish();
}

Result<ColumnPtr> CastToBinary(const CastJob& job) {
  if (job.from.Is(TypeKind::kString)) return data::WithType(job.column, job.to);
  return VisitNumber(job.from, [&](auto zero) -> Result<ColumnPtr> {
    using From = decltype(zero);
    if constexpr (std::is_integral_v<From> && sizeof(From) <= 8) {
      return TextOf<From>(job, [](From v, std::string* out) {
        for (int shift = static_cast<int>(sizeof(From)) * 8 - 8; shift >= 0; shift -= 8) {
          out->push_back(static_cast<char>(static_cast<uint64_t>(v) >> shift));
        }
      });
    } else {
      return Unsupported("CAST of " + job.from.SimpleString() + " to binary");
    }
  });
}

Result<ColumnPtr> CastNested(const CastJob& job) {
  Column::Parts parts = job.column->parts();
  parts.type = job.to;
  // Constants stay constants: their children have the one row.
  switch (job.to.kind()) {
    case TypeKind::kArray:
    case TypeKind::kMap: {
      const std::vector<int32_t> elements = ElementRows(job);
      const RowSet rows{job.column->child(0)->length(), &elements};
      const bool map = job.to.Is(TypeKind::kMap);
      TW_ASSIGN_OR_RETURN(parts.children[0], CastChild(job, 0, map ? job.to.key() : job.to.element(), rows));
      if (map) {
        TW_ASSIGN_OR_RETURN(parts.children[1], CastChild(job, 1, job.to.value(), rows));
      }
      break;
    }
    case TypeKind::kStruct: {
      std::vector<int32_t> selected;
      ForEachValid(KernelInput{{}, job.rows, job.validity},
                   [&](int64_t row) { selected.push_back(static_cast<int32_t>(SlotOf(*job.column, row))); });
      for (size_t i = 0; i < parts.children.size(); ++i) {
        const RowSet rows{job.column->child(static_cast<int>(i))->length(), &selected};
        TW_ASSIGN_OR_RETURN(parts.children[i], CastChild(job, static_cast<int>(i), job.to.fields()[i].type, rows));
      }
      break;
    }
    default: return InternalError("not a nested type");
  }
  return Column::Make(std::move(parts));
}

}  // namespace thalweg::sql
