#include "front/dataframe/result_rows.h"

#include "data/text/literal.h"
#include "data/text/numbers.h"

namespace thalweg::internal {
namespace {

Cell CellOf(const data::Value& value, const data::DataType& type) {
  using data::TypeKind;
  if (value.is_null()) return {};
  const auto list_of = [&](auto&& type_at) {
    CellList cells;
    const auto& values = value.get<data::ValueList>();
    for (size_t i = 0; i < values.size(); ++i) cells.push_back(CellOf(values[i], type_at(i)));
    return Cell{std::move(cells)};
  };
  switch (type.kind()) {
    case TypeKind::kBoolean: return {value.get<bool>()};
    case TypeKind::kByte:
    case TypeKind::kShort:
    case TypeKind::kInteger:
    case TypeKind::kLong: return {value.AsInt64()};
    case TypeKind::kFloat: return {static_cast<double>(value.get<float>())};
    case TypeKind::kDouble: return {value.get<double>()};
    case TypeKind::kString:
    case TypeKind::kBinary: return {value.get<std::string>()};
    case TypeKind::kDate: return {DateDays{value.get<int32_t>()}};
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampNtz: return {TimestampMicros{value.get<int64_t>()}};
    case TypeKind::kDecimal: {
      DecimalText decimal;
      data::AppendDecimal(value.get<data::Int128>(), type.scale(), &decimal.text);
      return {std::move(decimal)};
    }
    case TypeKind::kArray: return list_of([&](size_t) -> const data::DataType& { return type.element(); });
    case TypeKind::kMap: return list_of([&](size_t i) -> const data::DataType& { return i % 2 == 0 ? type.key() : type.value(); });
    case TypeKind::kStruct: return list_of([&](size_t i) -> const data::DataType& { return type.fields()[i].type; });
    default: return {data::LiteralPlanText(value, type)};
  }
}

}  // namespace

std::vector<Row> RowsOf(const data::IpcStream& batch) {
  std::vector<Row> rows;
  for (const data::Chunk& chunk : batch.chunks) {
    const size_t first = rows.size();
    rows.resize(first + chunk.num_rows());
    for (int i = 0; i < chunk.num_columns(); ++i) {
      for (int64_t row = 0; row < chunk.num_rows(); ++row) {
        rows[first + row].push_back(CellOf(chunk.column(i)->GetValue(row), batch.schema[i].type));
      }
    }
  }
  return rows;
}

}  // namespace thalweg::internal
