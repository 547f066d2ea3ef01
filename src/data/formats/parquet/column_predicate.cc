#include "data/formats/parquet/column_predicate.h"

#include <algorithm>
#include <cmath>

#include "base/status.h"

namespace thalweg::data {

bool HasOrderedBounds(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kString: return type.collation() == "UTF8_BINARY";
    case TypeKind::kNull:
    case TypeKind::kCalendarInterval:
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kStruct:
    case TypeKind::kVariant: return false;
    default: return true;
  }
}

namespace {

template <typename T>
int Order(const T& a, const T& b) {
  return a < b ? -1 : b < a ? 1 : 0;
}

template <typename T>
int OrderFloats(T a, T b) {
  const bool a_nan = std::isnan(a);
  const bool b_nan = std::isnan(b);
  if (a_nan || b_nan) return static_cast<int>(a_nan) - static_cast<int>(b_nan);
  return Order(a, b);
}

bool SameForm(const Value& a, const Value& b) { return a.variant().index() == b.variant().index(); }

bool MayEqual(const Value& value, const ColumnRange& range, const DataType& type) {
  if (range.min && SameForm(*range.min, value) && CompareValues(value, *range.min, type) < 0) return false;
  return !(range.max && SameForm(*range.max, value) && CompareValues(value, *range.max, type) > 0);
}

}  // namespace

int CompareValues(const Value& a, const Value& b, const DataType& type) {
  TW_DCHECK(SameForm(a, b));
  switch (type.physical()) {
    case PhysicalType::kBool: return Order(a.get<bool>(), b.get<bool>());
    case PhysicalType::kInt8: return Order(a.get<int8_t>(), b.get<int8_t>());
    case PhysicalType::kInt16: return Order(a.get<int16_t>(), b.get<int16_t>());
    case PhysicalType::kInt32: return Order(a.get<int32_t>(), b.get<int32_t>());
    case PhysicalType::kInt64: return Order(a.get<int64_t>(), b.get<int64_t>());
    case PhysicalType::kFloat: return OrderFloats(a.get<float>(), b.get<float>());
    case PhysicalType::kDouble: return OrderFloats(a.get<double>(), b.get<double>());
    case PhysicalType::kInt128: return Order(a.get<Int128>(), b.get<Int128>());
    case PhysicalType::kText: {
      const int order = a.get<std::string>().compare(b.get<std::string>());  // char_traits compares unsigned bytes
      return order < 0 ? -1 : order > 0 ? 1 : 0;
    }
    default: return 0;
  }
}

bool MayMatch(const ColumnPredicate& predicate, const ColumnRange& range) {
  const bool all_null = range.null_count && range.row_count && *range.null_count >= *range.row_count;
  if (range.row_count && *range.row_count == 0) return false;
  switch (predicate.op) {
    case ColumnPredicate::Op::kIsNull: return !range.null_count || *range.null_count > 0;
    case ColumnPredicate::Op::kIsNotNull: return !all_null;
    default: break;
  }
  if (all_null) return false;
  if (!HasOrderedBounds(predicate.type)) return true;
  if (predicate.op == ColumnPredicate::Op::kIn) {
    return std::any_of(predicate.values.begin(), predicate.values.end(),
                       [&](const Value& value) { return MayEqual(value, range, predicate.type); });
  }
  const Value& value = predicate.values.front();
  const auto below_min = [&](bool or_equal) {  // the value lies below every row's
    if (!range.min || !SameForm(*range.min, value)) return false;
    const int order = CompareValues(value, *range.min, predicate.type);
    return order < 0 || (or_equal && order == 0);
  };
  const auto above_max = [&](bool or_equal) {
    if (!range.max || !SameForm(*range.max, value)) return false;
    const int order = CompareValues(value, *range.max, predicate.type);
    return order > 0 || (or_equal && order == 0);
  };
  switch (predicate.op) {
    case ColumnPredicate::Op::kEqual: return MayEqual(value, range, predicate.type);
    case ColumnPredicate::Op::kLess: return !below_min(true);
    case ColumnPredicate::Op::kLessOrEqual: return !below_min(false);
    case ColumnPredicate::Op::kGreater: return !above_max(true);
    case ColumnPredicate::Op::kGreaterOrEqual: return !above_max(false);
    default: return true;
  }
}

}  // namespace thalweg::data
