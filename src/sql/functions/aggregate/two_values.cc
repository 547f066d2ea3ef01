// max_by, min_by; covar_pop, covar_samp, corr; regr_*, whose first argument is the dependent one.
// Buffers of the statistics: n, xAvg, yAvg, ck (and xMk, yMk), doubles NOT NULL.

#include <cmath>

#include "sql/functions/alike.h"
#include "sql/functions/aggregate/held_value.h"

namespace thalweg::sql {
namespace {

// --- max_by, min_by ---

struct BySlot {
  HeldRow value;
  HeldRow order;  ///< null pointer: nothing seen
};

bool HasOrder(const BySlot& slot) { return slot.order.row != nullptr && *slot.order.row != nullptr; }

template <bool kMax>
void Offer(BySlot& slot, const Column& value, const Column& order, int64_t row) {
  if (order.IsNull(row)) return;
  if (HasOrder(slot)) {
    const int compared = CompareRows(order, row, **slot.order.row, 0);
    // Of equal ones the later wins for max_by, and for min_by, as Spark's comparisons have it.
    if (kMax ? compared < 0 : compared > 0) return;
  }
  slot.value.Set(value, row);
  slot.order.Set(order, row);
}

template <bool kMax>
Status UpdateBy(const BoundAggregate&, std::span<const ColumnPtr> arguments, int64_t rows, uint8_t* const* accumulators,
                EvalContext&) {
  const ColumnPtr order = data::Flatten(arguments[1]);
  for (int64_t row = 0; row < rows; ++row) Offer<kMax>(As<BySlot>(accumulators[row]), *arguments[0], *order, row);
  return {};
}

template <bool kMax>
Status ImportBy(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators) {
  for (int64_t row = 0; row < rows; ++row) {
    auto& slot = As<BySlot>(accumulators[row]);
    if (slot.order.row != nullptr) slot.order.row->reset();
  }
  EvalContext context;
  return UpdateBy<kMax>(call, buffers, rows, accumulators, context);
}

ColumnPtr HeldColumn(const DataType& type, std::span<uint8_t* const> accumulators, bool order) {
  auto builder = data::ColumnBuilder::Make(type);
  for (const uint8_t* accumulator : accumulators) {
    const auto& slot = As<BySlot>(accumulator);
    if (!HasOrder(slot)) {
      builder->AppendNull();
    } else {
      builder->AppendFrom(order ? **slot.order.row : **slot.value.row, 0);
    }
  }
  return builder->Finish();
}

Status ExportBy(const BoundAggregate& call, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  out->push_back(HeldColumn(call.buffer[0].type, accumulators, false));
  out->push_back(HeldColumn(call.buffer[1].type, accumulators, true));
  return {};
}
Result<ColumnPtr> FinishBy(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  return HeldColumn(call.type, accumulators, false);
}
void DestroyBy(const BoundAggregate&, uint8_t* accumulator) {
  As<BySlot>(accumulator).value.Free();
  As<BySlot>(accumulator).order.Free();
}
int64_t OwnedBy(const BoundAggregate&, const uint8_t* accumulator) {
  const auto& slot = As<BySlot>(accumulator);
  return HasOrder(slot) ? (*slot.order.row)->bytes() + (*slot.value.row)->bytes() : 0;
}

template <bool kMax>
constexpr AggregateKernels kByKernels{.size = sizeof(BySlot), .update = &UpdateBy<kMax>, .merge = &UpdateBy<kMax>,
                                      .export_buffers = &ExportBy, .import_buffers = &ImportBy<kMax>, .finish = &FinishBy,
                                      .destroy = &DestroyBy, .owned_bytes = &OwnedBy};

Result<BoundAggregateCall> BindBy(const AggregateFunction& function, ExprList arguments, bool, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  const DataType value = WithoutLength(arguments[0]->type());
  const DataType order = WithoutLength(arguments[1]->type());
  if (!order.IsOrderable()) {
    return Error("DATATYPE_MISMATCH.INVALID_ORDERING_TYPE")
        .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
        .With("functionName", QuoteFunctionName(function.name))
        .With("dataType", QuoteSql(order.Sql()));
  }
  return MakeAggregate(function, std::move(arguments), value, true,
                       {{"valueWithExtremumOrdering", value, true}, {"extremumOrdering", order, true}},
                       function.name == "max_by" ? &kByKernels<true> : &kByKernels<false>, AggregateMode(function, context));
}

// --- covariance, correlation, regression ---

struct Pair {
  double n;
  double x;
  double y;
  double ck;
  double xm;
  double ym;
};

void AddPair(Pair& p, double x, double y) {
  const double n = p.n + 1;
  const double dx = x - p.x;
  const double dy = y - p.y;
  const double x_avg = p.x + dx / n;
  const double y_avg = p.y + dy / n;
  p.ck += dx * (y - y_avg);
  p.xm += dx * (x - x_avg);
  p.ym += dy * (y - y_avg);
  p.n = n;
  p.x = x_avg;
  p.y = y_avg;
}

void MergePair(Pair& a, const Pair& b) {
  const double n = a.n + b.n;
  if (n == 0) return;
  const double dx = b.x - a.x;
  const double dy = b.y - a.y;
  const double dx_n = dx / n;
  const double dy_n = dy / n;
  a.ck += b.ck + dx * dy_n * a.n * b.n;
  a.xm += b.xm + dx * dx_n * a.n * b.n;
  a.ym += b.ym + dy * dy_n * a.n * b.n;
  a.x += dx_n * b.n;
  a.y += dy_n * b.n;
  a.n = n;
}

Status UpdatePairs(const BoundAggregate&, std::span<const ColumnPtr> arguments, int64_t rows, uint8_t* const* accumulators,
                   EvalContext&) {
  if (arguments[0]->physical() == PhysicalType::kNull || arguments[1]->physical() == PhysicalType::kNull) return {};
  const Reader<double> a(*arguments[0]);
  const Reader<double> b(*arguments[1]);
  for (int64_t row = 0; row < rows; ++row) {
    if (!arguments[0]->IsNull(row) && !arguments[1]->IsNull(row)) AddPair(As<Pair>(accumulators[row]), a[row], b[row]);
  }
  return {};
}

Pair PairOf(std::span<const ColumnPtr> buffers, int64_t row) {
  Pair p{};
  double* const fields[] = {&p.n, &p.x, &p.y, &p.ck, &p.xm, &p.ym};
  for (size_t i = 0; i < buffers.size(); ++i) *fields[i] = Reader<double>(*buffers[i])[row];
  return p;
}

Status MergePairs(const BoundAggregate&, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators,
                  EvalContext&) {
  for (int64_t row = 0; row < rows; ++row) MergePair(As<Pair>(accumulators[row]), PairOf(buffers, row));
  return {};
}

Status ImportPairs(const BoundAggregate&, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators) {
  for (int64_t row = 0; row < rows; ++row) As<Pair>(accumulators[row]) = PairOf(buffers, row);
  return {};
}

Status ExportPairs(const BoundAggregate& call, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  for (size_t field = 0; field < call.buffer.size(); ++field) {
    out->push_back(ColumnOf<double, Pair>(DataType::Double(), accumulators, [field](const Pair& p, double* value) {
      const double fields[] = {p.n, p.x, p.y, p.ck, p.xm, p.ym};
      *value = fields[field];
      return true;
    }));
  }
  return {};
}

bool PairValue(std::string_view name, const Pair& p, double* out) {
  if (p.n == 0) return false;
  if (name == "covar_pop") *out = p.ck / p.n;
  if (name == "covar_samp") {
    if (p.n == 1) return false;
    *out = p.ck / (p.n - 1.0);
  }
  if (name == "corr") {
    if (p.n == 1) return false;
    *out = p.ck / std::sqrt(p.xm * p.ym);
  }
  return true;
}

bool RegressionValue(std::string_view name, const Pair& p, double* out) {
  if (p.n == 0) return false;
  const std::string_view what = name.substr(std::string_view("regr_").size());
  if (what == "avgx") *out = p.y;
  if (what == "avgy") *out = p.x;
  if (what == "sxx") *out = p.ym;
  if (what == "syy") *out = p.xm;
  if (what == "sxy") *out = p.ck;
  if (what == "r2") {
    if (p.ym == 0) return false;
    const double corr = p.ck / std::sqrt(p.xm * p.ym);
    *out = p.xm == 0 ? 1.0 : corr * corr;
  }
  if (what == "slope" || what == "intercept") {
    if (p.ym == 0) return false;
    const double slope = p.ck / p.ym;
    *out = what == "slope" ? slope : p.x - slope * p.y;
  }
  return true;
}

Result<ColumnPtr> FinishPairs(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  const std::string_view name = call.function->name;
  if (name == "regr_count") {
    return ColumnOf<int64_t, Pair>(call.type, accumulators, [](const Pair& p, int64_t* out) {
      *out = static_cast<int64_t>(p.n);
      return true;
    });
  }
  const bool regression = name.starts_with("regr_");
  return ColumnOf<double, Pair>(call.type, accumulators, [=](const Pair& p, double* out) {
    return regression ? RegressionValue(name, p, out) : PairValue(name, p, out);
  });
}

constexpr AggregateKernels kPairKernels{.size = sizeof(Pair), .update = &UpdatePairs, .merge = &MergePairs,
                                        .export_buffers = &ExportPairs, .import_buffers = &ImportPairs,
                                        .finish = &FinishPairs};

Result<BoundAggregateCall> BindPair(const AggregateFunction& function, ExprList arguments, bool, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 2));
  for (size_t i = 0; i < 2; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::Double(), context));
  std::vector<BufferField> buffer;
  for (const char* name : {"n", "xAvg", "yAvg", "ck"}) buffer.push_back({name, DataType::Double(), false});
  if (function.name != "covar_pop" && function.name != "covar_samp" && function.name != "regr_sxy") {
    buffer.push_back({"xMk", DataType::Double(), false});
    buffer.push_back({"yMk", DataType::Double(), false});
  }
  const bool count = function.name == "regr_count";
  return MakeAggregate(function, std::move(arguments), count ? DataType::Long() : DataType::Double(), !count, std::move(buffer),
                       &kPairKernels, AggregateMode(function, context));
}

/// Those whose buffer is not the one that Spark makes of other functions.
AggregateFunction Regression(const AggregateFunction& like, const char* name, const char* doc, FunctionExample example) {
  AggregateFunction made = Alike(like, name, doc, example);
  made.spark_buffer = made.name == "regr_sxy" || made.name == "regr_r2";
  return made;
}

}  // namespace

void RegisterTwoValues(FunctionLists& lists) {
  static const AggregateFunction kMaxBy{.name = "max_by", .since = "3.0.0", .doc = "The first argument where the second is greatest.",
                                        .bind = &BindBy, .ignores_order = false};
  static const AggregateFunction kMinBy =
      Alike(kMaxBy, "min_by", "The first argument where the second is least.",
            {"SELECT min_by(x, y) FROM VALUES ('a', 10), ('b', 50) AS t(x, y)", "a"});
  static const AggregateFunction kCovarPop{.name = "covar_pop", .since = "2.0.0", .doc = "Covariance of a population.", .bind = &BindPair};
  static const AggregateFunction kCovarSamp =
      Alike(kCovarPop, "covar_samp", "Covariance of a sample.",
            {"SELECT covar_samp(x, y) FROM VALUES (1, 1), (2, 2), (3, 3) AS t(x, y)", "1.0"});
  static const AggregateFunction kCorr =
      Alike(kCovarPop, "corr", "Pearson's correlation.",
            {"SELECT corr(x, y) FROM VALUES (1, 2), (2, 4) AS t(x, y)", "1.0"});
  static const AggregateFunction kRegressions[] = {
      Regression(kCovarPop, "regr_avgx", "The average of the second argument over the pairs without null.",
                 {"SELECT regr_avgx(y, x) FROM VALUES (1, 2), (2, 4), (3, NULL) AS t(y, x)", "3.0"}),
      Regression(kCovarPop, "regr_avgy", "The average of the first argument over the pairs without null.",
                 {"SELECT regr_avgy(y, x) FROM VALUES (1, 2), (2, 4), (3, NULL) AS t(y, x)", "1.5"}),
      Regression(kCovarPop, "regr_count", "The number of pairs without null.",
                 {"SELECT regr_count(y, x) FROM VALUES (1, 2), (2, 4), (3, NULL) AS t(y, x)", "2"}),
      Regression(kCovarPop, "regr_intercept", "Where the line of least squares meets the axis of the first argument.",
                 {"SELECT regr_intercept(y, x) FROM VALUES (1, 1), (2, 2), (3, 3) AS t(y, x)", "0.0"}),
      Regression(kCovarPop, "regr_r2", "The coefficient of determination.",
                 {"SELECT regr_r2(y, x) FROM VALUES (1, 2), (2, 4) AS t(y, x)", "1.0"}),
      Regression(kCovarPop, "regr_slope", "The slope of the line of least squares.",
                 {"SELECT regr_slope(y, x) FROM VALUES (1, 2), (2, 4) AS t(y, x)", "0.5"}),
      Regression(kCovarPop, "regr_sxx", "Squares of the second argument's deviations, summed.",
                 {"SELECT regr_sxx(y, x) FROM VALUES (1, 2), (2, 4) AS t(y, x)", "2.0"}),
      Regression(kCovarPop, "regr_sxy", "Products of the arguments' deviations, summed.",
                 {"SELECT regr_sxy(y, x) FROM VALUES (1, 2), (2, 4) AS t(y, x)", "1.0"}),
      Regression(kCovarPop, "regr_syy", "Squares of the first argument's deviations, summed.",
                 {"SELECT regr_syy(y, x) FROM VALUES (1, 2), (2, 4) AS t(y, x)", "0.5"})};
  for (const AggregateFunction& regression : kRegressions) lists.Add(regression);
  for (const auto* f : {&kMaxBy, &kMinBy, &kCovarPop, &kCovarSamp, &kCorr}) lists.Add(*f);
}

}  // namespace thalweg::sql
