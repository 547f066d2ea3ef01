// percentile(value, p or array of p), median, mode: exact, from a count per distinct value. Buffer: buf BINARY; per distinct value
// a big-endian int32 length and an UnsafeRow (value, count BIGINT), then -1. Source: Spark's TypedAggregateWithHashMapAsBuffer.

#include <algorithm>
#include <cmath>
#include <unordered_map>

#include "data/rowformat/unsafe_row_reader.h"
#include "data/rowformat/unsafe_row_writer.h"
#include "data/text/decimal128.h"
#include "sql/expr/fold_argument.h"
#include "sql/functions/alike.h"
#include "sql/functions/aggregate/held_value.h"

namespace thalweg::sql {
namespace {

/// Counts by value; a value is its UnsafeRow (equal values have equal bytes).
struct Counts {
  std::unordered_map<std::string, int64_t> by_value;
  int64_t value_bytes = 0;

  bool empty() const { return by_value.empty(); }
  void Add(std::string_view value, int64_t count) {
    const auto [at, is_new] = by_value.try_emplace(std::string(value), 0);
    at->second += count;
    if (is_new) value_bytes += static_cast<int64_t>(value.size());
  }
};

struct PercentileData final : BoundData {
  std::vector<double> points;
  bool many = false;  ///< the result is an array
};

Counts& GetPercentile(uint8_t* accumulator) {
  auto*& counts = As<Counts*>(accumulator);
  if (counts == nullptr) counts = new Counts();
  return *counts;
}

/// mode takes -0.0 and 0.0 for one value; a percentile has them apart.
template <bool kOneZero>
Status UpdatePercentile(const BoundAggregate&, std::span<const ColumnPtr> arguments, int64_t rows, uint8_t* const* accumulators,
              EvalContext&) {
  const ColumnPtr column = data::Flatten(arguments[0]);
  data::RowBatch keys;
  TW_RETURN_NOT_OK(data::UnsafeRowWriter({column->type()}, {.normalize_zero = kOneZero})
                       .Write(std::span(&column, 1), rows, nullptr, &keys));
  ForEachNotNull(*column, rows, [&](int64_t row) { GetPercentile(accumulators[row]).Add(keys.row(row), 1); });
  return {};
}

/// The distinct values of a group as a column, and their counts in the same order.
Result<ColumnPtr> ValuesOf(const DataType& type, const Counts& counts, std::vector<int64_t>* numbers) {
  std::vector<std::string_view> keys;
  for (const auto& [key, count] : counts.by_value) {
    keys.push_back(key);
    numbers->push_back(count);
  }
  TW_ASSIGN_OR_RETURN(const std::vector<ColumnPtr> columns, data::UnsafeRowReader({type}).Read(keys));
  return columns[0];
}

void AppendBigEndian(int32_t value, std::string* out) {
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>(static_cast<uint32_t>(value) >> shift));
}

Status ExportPercentile(const BoundAggregate& call, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  const DataType& type = call.argument_types[0];
  const data::UnsafeRowWriter writer({type, DataType::Long()});
  TextOutput bytes(DataType::Binary(), static_cast<int64_t>(accumulators.size()));
  std::string text;
  for (size_t i = 0; i < accumulators.size(); ++i) {
    text.clear();
    if (const auto* counts = As<Counts*>(accumulators[i]); counts != nullptr && !counts->empty()) {
      std::vector<int64_t> numbers;
      TW_ASSIGN_OR_RETURN(const ColumnPtr values, ValuesOf(type, *counts, &numbers));
      data::FixedBuilder<int64_t> builder(DataType::Long());
      for (const int64_t number : numbers) builder.Append(number);
      const ColumnPtr columns[] = {values, builder.Finish()};
      data::RowBatch rows;
      TW_RETURN_NOT_OK(writer.Write(columns, values->length(), nullptr, &rows));
      for (int64_t row = 0; row < rows.num_rows(); ++row) {
        AppendBigEndian(static_cast<int32_t>(rows.row(row).size()), &text);
        text.append(rows.row(row));
      }
    }
    AppendBigEndian(-1, &text);
    bytes.Set(static_cast<int64_t>(i), text);
  }
  out->push_back(bytes.Finish());
  return {};
}

Status MergeOne(const DataType& type, bool one_zero, std::string_view text, Counts* counts) {
  std::vector<std::string_view> rows;
  for (size_t at = 0;;) {
    if (at + 4 > text.size()) return Error("MALFORMED_STATE_ROW").With("reason", "a histogram ends early");
    int32_t size = 0;
    for (size_t i = 0; i < 4; ++i) size = static_cast<int32_t>(static_cast<uint32_t>(size) << 8 | static_cast<unsigned char>(text[at + i]));
    at += 4;
    if (size < 0) break;
    if (at + static_cast<size_t>(size) > text.size()) return Error("MALFORMED_STATE_ROW").With("reason", "a histogram ends early");
    rows.push_back(text.substr(at, static_cast<size_t>(size)));
    at += static_cast<size_t>(size);
  }
  TW_ASSIGN_OR_RETURN(const std::vector<ColumnPtr> columns, data::UnsafeRowReader({type, DataType::Long()}).Read(rows));
  data::RowBatch keys;
  TW_RETURN_NOT_OK(data::UnsafeRowWriter({type}, {.normalize_zero = one_zero})
                       .Write(std::span(&columns[0], 1), columns[0]->length(), nullptr, &keys));
  for (int64_t row = 0; row < keys.num_rows(); ++row) {
    counts->Add(keys.row(row), Reader<int64_t>(*columns[1])[row]);
  }
  return {};
}

template <bool kOneZero>
Status MergePercentile(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators,
             EvalContext&) {
  const Reader<std::string_view> texts(*buffers[0]);
  Status status;
  ForEachNotNull(*buffers[0], rows, [&](int64_t row) {
    if (status.ok()) status = MergeOne(call.argument_types[0], kOneZero, texts[row], &GetPercentile(accumulators[row]));
  });
  return status;
}

void DestroyPercentile(const BoundAggregate&, uint8_t* accumulator) {
  auto*& counts = As<Counts*>(accumulator);
  delete counts;
  counts = nullptr;
}

template <bool kOneZero>
Status ImportPercentile(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators) {
  for (int64_t row = 0; row < rows; ++row) DestroyPercentile(call, accumulators[row]);
  EvalContext context;
  return MergePercentile<kOneZero>(call, buffers, rows, accumulators, context);
}

int64_t OwnedPercentile(const BoundAggregate&, const uint8_t* accumulator) {
  const auto* counts = As<Counts*>(accumulator);
  constexpr int64_t kFixedBytes = 80;  // of one value: with what a map keeps beside it
  return counts == nullptr ? 0 : static_cast<int64_t>(counts->by_value.size()) * kFixedBytes + counts->value_bytes;
}

double NumberAt(const Column& column, int64_t row) {
  const Value value = column.GetValue(row);
  if (const auto* d = value.get_if<double>()) return *d;
  if (const auto* f = value.get_if<float>()) return static_cast<double>(*f);
  if (const auto* decimal = value.get_if<Int128>()) return data::DecimalToDouble(*decimal, column.type().scale());
  return static_cast<double>(value.AsInt64());
}

/// The values of a group in order. The one with rank r, from 1 to the last of `through`, is at the first place whose `through` reaches r.
struct Ranked {
  ColumnPtr values;
  std::vector<int32_t> order;    ///< rows of `values`
  std::vector<int64_t> through;  ///< how many there are up to this place
  int32_t RowOfRank(int64_t rank) const {
    return order[static_cast<size_t>(std::lower_bound(through.begin(), through.end(), rank) - through.begin())];
  }
};

Result<Ranked> RankedValues(const DataType& type, const Counts& counts) {
  Ranked ranked;
  std::vector<int64_t> numbers;
  TW_ASSIGN_OR_RETURN(ranked.values, ValuesOf(type, counts, &numbers));
  for (size_t i = 0; i < numbers.size(); ++i) ranked.order.push_back(static_cast<int32_t>(i));
  // -0.0 comes before 0.0: alike to CompareRows, of different signs.
  const bool floating = type.IsFractional() && !type.Is(TypeKind::kDecimal);
  std::sort(ranked.order.begin(), ranked.order.end(), [&](int32_t a, int32_t b) {
    const int order = CompareRows(*ranked.values, a, *ranked.values, b);
    if (order != 0 || !floating) return order < 0;
    return std::signbit(NumberAt(*ranked.values, a)) && !std::signbit(NumberAt(*ranked.values, b));
  });
  int64_t total = 0;
  for (const int32_t i : ranked.order) ranked.through.push_back(total += numbers[static_cast<size_t>(i)]);
  return ranked;
}

/// The value at `point` of [0, 1] of the sorted sequence, between neighbours by distance.
double At(const Ranked& ranked, double point) {
  const double position = static_cast<double>(ranked.through.back() - 1) * point;
  const auto find = [&](double place) { return NumberAt(*ranked.values, ranked.RowOfRank(static_cast<int64_t>(place) + 1)); };
  const double lower = std::floor(position);
  const double higher = std::ceil(position);
  const double low = find(lower);
  if (lower == higher) return low;
  const double high = find(higher);
  if (low == high) return low;
  return (higher - position) * low + (position - lower) * high;
}

Result<ColumnPtr> FinishPercentile(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  const auto& data = static_cast<const PercentileData&>(*call.data);
  auto builder = data::ColumnBuilder::Make(call.type);
  const auto number = [&](double value) {
    const DataType& type = data.many ? call.type.element() : call.type;
    if (type.physical() == PhysicalType::kInt32) return Value(static_cast<int32_t>(std::llround(value)));
    if (type.physical() == PhysicalType::kInt64) return Value(static_cast<int64_t>(std::llround(value)));
    return Value(value);
  };
  for (const uint8_t* accumulator : accumulators) {
    const auto* counts = As<Counts*>(accumulator);
    if (counts == nullptr || counts->empty()) {
      builder->AppendNull();
      continue;
    }
    TW_ASSIGN_OR_RETURN(const Ranked ranked, RankedValues(call.argument_types[0], *counts));
    if (!data.many) {
      builder->AppendValue(number(At(ranked, data.points[0])));
      continue;
    }
    for (const double point : data.points) builder->child(0)->AppendValue(number(At(ranked, point)));
    builder->AppendList();
  }
  return builder->Finish();
}

/// The most frequent value; of several the one that comes first in order, where Spark takes any.
Result<ColumnPtr> FinishMode(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  auto builder = data::ColumnBuilder::Make(call.type);
  for (const uint8_t* accumulator : accumulators) {
    const auto* counts = As<Counts*>(accumulator);
    if (counts == nullptr || counts->empty()) {
      builder->AppendNull();
      continue;
    }
    std::vector<int64_t> numbers;
    TW_ASSIGN_OR_RETURN(const ColumnPtr values, ValuesOf(call.argument_types[0], *counts, &numbers));
    int64_t best = 0;
    for (int64_t i = 1; i < values->length(); ++i) {
      const int64_t more = numbers[static_cast<size_t>(i)] - numbers[static_cast<size_t>(best)];
      if (more > 0 || (more == 0 && CompareRows(*values, i, *values, best) < 0)) best = i;
    }
    builder->AppendFrom(*values, best);
  }
  return builder->Finish();
}

/// The value of each point's rank, of the values themselves. Spark's summary answers one whose rank is off by at most n / accuracy;
/// this one is exact.
Result<ColumnPtr> FinishPercentileApprox(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  const auto& data = static_cast<const PercentileData&>(*call.data);
  auto builder = data::ColumnBuilder::Make(call.type);
  for (const uint8_t* accumulator : accumulators) {
    const auto* counts = As<Counts*>(accumulator);
    if (counts == nullptr || counts->empty()) {
      builder->AppendNull();
      continue;
    }
    TW_ASSIGN_OR_RETURN(const Ranked ranked, RankedValues(call.argument_types[0], *counts));
    const auto find = [&](double point) {
      const double wanted = std::ceil(point * static_cast<double>(ranked.through.back()));
      return ranked.RowOfRank(std::max<int64_t>(static_cast<int64_t>(wanted), 1));
    };
    if (!data.many) {
      builder->AppendFrom(*ranked.values, find(data.points[0]));
      continue;
    }
    for (const double point : data.points) builder->child(0)->AppendFrom(*ranked.values, find(point));
    builder->AppendList();
  }
  return builder->Finish();
}

constexpr AggregateKernels kPercentileApproxKernels{.size = sizeof(void*), .update = &UpdatePercentile<false>,
                                                    .merge = &MergePercentile<false>, .export_buffers = &ExportPercentile,
                                                    .import_buffers = &ImportPercentile<false>,
                                                    .finish = &FinishPercentileApprox, .destroy = &DestroyPercentile,
                                                    .owned_bytes = &OwnedPercentile};
constexpr AggregateKernels kPercentileKernels{.size = sizeof(void*), .update = &UpdatePercentile<false>, .merge = &MergePercentile<false>,
                                              .export_buffers = &ExportPercentile, .import_buffers = &ImportPercentile<false>,
                                              .finish = &FinishPercentile, .destroy = &DestroyPercentile, .owned_bytes = &OwnedPercentile};
constexpr AggregateKernels kModeKernels{.size = sizeof(void*), .update = &UpdatePercentile<true>, .merge = &MergePercentile<true>,
                                        .export_buffers = &ExportPercentile, .import_buffers = &ImportPercentile<true>, .finish = &FinishMode, .destroy = &DestroyPercentile,
                                        .owned_bytes = &OwnedPercentile};

/// The points of `arguments[1]`. Errors: DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE.
Status ReadPoints(std::string_view function, const ExprList& arguments, const BindContext& context, PercentileData* data) {
  data->many = arguments[1]->type().Is(TypeKind::kArray);
  const DataType target = data->many ? DataType::Array(DataType::Double()) : DataType::Double();
  TW_ASSIGN_OR_RETURN(const Value value, FoldArgumentAs(function, arguments, 1, "percentage", target, context));
  if (const auto* list = value.get_if<ValueList>()) {
    for (const Value& item : *list) data->points.push_back(item.is_null() ? -1 : item.get<double>());
  } else if (!value.is_null()) {
    data->points.push_back(value.get<double>());
  }
  for (const double point : data->points) {
    if (point >= 0 && point <= 1) continue;
    return Error("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE")
        .With("sqlExpr", QuoteSql(CallSql(function, arguments)))
        .With("exprName", "`percentage`")
        .With("valueRange", "[0.0, 1.0]")
        .With("currentValue", std::to_string(point));
  }
  return Status::OK();
}

Result<BoundAggregateCall> BindPercentileApprox(const AggregateFunction& function, ExprList arguments, bool, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 3));
  auto data = std::make_shared<PercentileData>();
  constexpr int32_t kDefaultAccuracy = 10000;
  if (arguments.size() == 2) arguments.push_back(Literal::Integer(kDefaultAccuracy));
  TW_RETURN_NOT_OK(ReadPoints(function.name, arguments, context, data.get()));
  TW_ASSIGN_OR_RETURN(const Value accuracy, FoldArgumentAs(function.name, arguments, 2, "accuracy", DataType::Long(), context));
  if (accuracy.is_null() || accuracy.get<int64_t>() <= 0 || accuracy.get<int64_t>() > std::numeric_limits<int32_t>::max()) {
    return Error("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE")
        .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
        .With("exprName", "accuracy")
        .With("valueRange", "(0, 2147483647]")
        .With("currentValue", accuracy.is_null() ? "NULL" : std::to_string(accuracy.get<int64_t>()));
  }
  // What a summary with this error answers for its ends.
  const double error = 1.0 / static_cast<double>(accuracy.get<int64_t>());
  for (double& point : data->points) point = point <= error ? 0 : point >= 1 - error ? 1 : point;
  const DataType& given = arguments[0]->type();
  if (!given.IsNumeric() && !given.IsAnsiInterval() && !given.Is(TypeKind::kDate) && !given.Is(TypeKind::kTimestamp) &&
      !given.Is(TypeKind::kTimestampNtz)) {
    TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::Double(), context));
  }
  const DataType one = arguments[0]->type();
  const DataType type = data->many ? DataType::Array(one, false) : one;
  return MakeAggregate(function, std::move(arguments), type, true, {{"buf", DataType::Binary(), true}}, &kPercentileApproxKernels,
                       AggregateMode(function, context), std::move(data));
}

Result<BoundAggregateCall> BindPercentile(const AggregateFunction& function, ExprList arguments, bool,
                                          const BindContext& context) {
  const bool median = function.name == "median";
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), median ? 1 : 2, median ? 1 : 3));
  if (arguments.size() == 3) return Unsupported("percentile with frequencies");
  auto data = std::make_shared<PercentileData>();
  if (median) {
    data->points = {0.5};
  } else {
    TW_RETURN_NOT_OK(ReadPoints(function.name, arguments, context, data.get()));
    arguments.push_back(Literal::Integer(1));  // each row counts once: Spark's name shows it
  }
  if (!arguments[0]->type().IsNumeric() && !arguments[0]->type().IsAnsiInterval()) {
    TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::Double(), context));
  }
  const DataType one = arguments[0]->type().IsAnsiInterval() ? arguments[0]->type() : DataType::Double();
  const DataType type = data->many ? DataType::Array(one, false) : one;
  return MakeAggregate(function, std::move(arguments), type, true, {{"buf", DataType::Binary(), true}}, &kPercentileKernels,
                       AggregateMode(function, context), std::move(data));
}

Result<BoundAggregateCall> BindMode(const AggregateFunction& function, ExprList arguments, bool, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 2));
  const DataType type = WithoutLength(arguments[0]->type());
  return MakeAggregate(function, std::move(arguments), type, true, {{"buf", DataType::Binary(), true}}, &kModeKernels,
                       AggregateMode(function, context));
}

}  // namespace

void RegisterPercentile(FunctionLists& lists) {
  static const AggregateFunction kPercentile{.name = "percentile", .since = "2.1.0", .doc = "The exact percentile.",
                                             .example = {"SELECT percentile(c, 0.3) FROM VALUES (0), (10) AS t(c)", "3.0"},
                                             .bind = &BindPercentile};
  static const AggregateFunction kMedian =
      Alike(kPercentile, "median", "The value in the middle.",
            {"SELECT median(c) FROM VALUES (0), (10) AS t(c)", "5.0"});
  static const AggregateFunction kMode{.name = "mode", .since = "3.4.0", .doc = "The most frequent value.", .bind = &BindMode};
  static const AggregateFunction kApprox{.name = "percentile_approx", .since = "2.1.0",
                                         .doc = "The value of a rank among the values of a column.",
                                         .example = {"SELECT percentile_approx(c, 0.5) FROM VALUES (0), (6), (7) AS t(c)", "6"},
                                         .bind = &BindPercentileApprox, .spark_buffer = false};
  static const AggregateFunction kApproxPercentile =
      Alike(kApprox, "approx_percentile", "The value of a rank among the values of a column.",
            {"SELECT approx_percentile(c, 0.5) FROM VALUES (0), (6), (7) AS t(c)", "6"});
  for (const auto* f : {&kPercentile, &kMedian, &kMode, &kApprox, &kApproxPercentile}) lists.Add(*f);
}

}  // namespace thalweg::sql
