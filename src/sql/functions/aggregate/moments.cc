// stddev, stddev_samp, std, stddev_pop, variance, var_samp, var_pop, skewness, kurtosis: central moments.
// Buffers: n, avg, m2 (m3, m4), doubles NOT NULL. Source: Spark's CentralMomentAgg; Meng, "Simpler Online Updates for
// Arbitrary-Order Central Moments".

#include <cmath>

#include "sql/functions/alike.h"
#include "sql/functions/aggregate/accumulate.h"

namespace thalweg::sql {
namespace {

struct Moments {
  double n;
  double avg;
  double m2;
  double m3;
  double m4;
};

template <int kOrder>
void AddValue(Moments& a, double value) {
  const double n = a.n + 1;
  const double delta = value - a.avg;
  const double delta_n = delta / n;
  const double avg = a.avg + delta_n;
  const double m2 = a.m2 + delta * (delta - delta_n);
  if constexpr (kOrder >= 3) {
    const double delta2 = delta * delta;
    const double delta_n2 = delta_n * delta_n;
    const double m3 = a.m3 - 3.0 * delta_n * m2 + delta * (delta2 - delta_n2);
    if constexpr (kOrder >= 4) {
      a.m4 = a.m4 - 4.0 * delta_n * m3 - 6.0 * delta_n2 * m2 + delta * (delta * delta2 - delta_n * delta_n2);
    }
    a.m3 = m3;
  }
  a.n = n;
  a.avg = avg;
  a.m2 = m2;
}

template <int kOrder>
void Combine(Moments& a, const Moments& b) {
  const double n1 = a.n;
  const double n2 = b.n;
  const double n = n1 + n2;
  const double delta = b.avg - a.avg;
  const double delta_n = n == 0 ? 0 : delta / n;
  const double avg = a.avg + delta_n * n2;
  const double m2 = a.m2 + b.m2 + delta * delta_n * n1 * n2;
  if constexpr (kOrder >= 3) {
    const double m3 = a.m3 + b.m3 + delta_n * delta_n * delta * n1 * n2 * (n1 - n2) + 3.0 * delta_n * (n1 * b.m2 - n2 * a.m2);
    if constexpr (kOrder >= 4) {
      a.m4 = a.m4 + b.m4 + delta_n * delta_n * delta_n * delta * n1 * n2 * (n1 * n1 - n1 * n2 + n2 * n2) +
             6.0 * delta_n * delta_n * (n1 * n1 * b.m2 + n2 * n2 * a.m2) + 4.0 * delta_n * (n1 * b.m3 - n2 * a.m3);
    }
    a.m3 = m3;
  }
  a.n = n;
  a.avg = avg;
  a.m2 = m2;
}

template <int kOrder>
Status UpdateMoments(const BoundAggregate&, std::span<const ColumnPtr> arguments, int64_t rows, uint8_t* const* accumulators,
              EvalContext&) {
  const Reader<double> values(*arguments[0]);
  ForEachNotNull(*arguments[0], rows, [&](int64_t row) { AddValue<kOrder>(As<Moments>(accumulators[row]), values[row]); });
  return {};
}

template <int kOrder>
Moments FromBuffers(std::span<const ColumnPtr> buffers, int64_t row) {
  Moments m{};
  double* const fields[] = {&m.n, &m.avg, &m.m2, &m.m3, &m.m4};
  for (size_t i = 0; i < kOrder + 1; ++i) *fields[i] = Reader<double>(*buffers[i])[row];
  return m;
}

template <int kOrder>
Status MergeMoments(const BoundAggregate&, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators,
             EvalContext&) {
  for (int64_t row = 0; row < rows; ++row) {
    Combine<kOrder>(As<Moments>(accumulators[row]), FromBuffers<kOrder>(buffers, row));
  }
  return {};
}

template <int kOrder>
Status ImportMoments(const BoundAggregate&, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators) {
  for (int64_t row = 0; row < rows; ++row) As<Moments>(accumulators[row]) = FromBuffers<kOrder>(buffers, row);
  return {};
}

template <int kOrder>
Status ExportMoments(const BoundAggregate&, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  for (int field = 0; field <= kOrder; ++field) {
    out->push_back(ColumnOf<double, Moments>(DataType::Double(), accumulators, [field](const Moments& m, double* value) {
      const double fields[] = {m.n, m.avg, m.m2, m.m3, m.m4};
      *value = fields[field];
      return true;
    }));
  }
  return {};
}

bool ValueOf(std::string_view name, const Moments& m, double* out) {
  if (m.n == 0) return false;
  if (name == "stddev_pop") {
    *out = std::sqrt(m.m2 / m.n);
  } else if (name == "var_pop") {
    *out = m.m2 / m.n;
  } else if (name == "skewness") {
    if (m.m2 == 0) return false;
    *out = std::sqrt(m.n) * m.m3 / std::sqrt(m.m2 * m.m2 * m.m2);
  } else if (name == "kurtosis") {
    if (m.m2 == 0) return false;
    *out = m.n * m.m4 / (m.m2 * m.m2) - 3.0;
  } else {
    if (m.n == 1) return false;
    *out = m.m2 / (m.n - 1.0);
    if (name.starts_with("std")) *out = std::sqrt(*out);
  }
  return true;
}

/// Spark's result has always been combined with an empty buffer: far from zero (beyond 1e154) that alone gives NaN.
template <int kOrder>
Result<ColumnPtr> FinishMoments(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  const std::string_view name = call.function->name;
  return ColumnOf<double, Moments>(call.type, accumulators, [=](const Moments& m, double* out) {
    Moments combined{};
    Combine<kOrder>(combined, m);
    return ValueOf(name, combined, out);
  });
}

template <int kOrder>
constexpr AggregateKernels kMomentsKernels{.size = sizeof(Moments), .update = &UpdateMoments<kOrder>,
                                    .merge = &MergeMoments<kOrder>, .export_buffers = &ExportMoments<kOrder>,
                                    .import_buffers = &ImportMoments<kOrder>, .finish = &FinishMoments<kOrder>};

Result<BoundAggregateCall> BindMoments(const AggregateFunction& function, ExprList arguments, bool,
                                       const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::Double(), context));
  const size_t fields = function.name == "kurtosis" ? 5 : (function.name == "skewness" ? 4 : 3);
  const AggregateKernels* kernels = fields == 5 ? &kMomentsKernels<4> : (fields == 4 ? &kMomentsKernels<3> : &kMomentsKernels<2>);
  std::vector<BufferField> buffer;
  for (const char* name : {"n", "avg", "m2", "m3", "m4"}) {
    if (buffer.size() < fields) buffer.push_back({name, DataType::Double(), false});
  }
  return MakeAggregate(function, std::move(arguments), DataType::Double(), true, std::move(buffer), kernels,
                       AggregateMode(function, context));
}

}  // namespace

void RegisterMoments(FunctionLists& lists) {
  static const AggregateFunction kStddev{.name = "stddev", .since = "1.6.0", .doc = "Standard deviation of a sample.",
                                         .example = {"SELECT stddev(c) FROM VALUES (1), (2), (3) AS t(c)", "1.0"},
                                         .bind = &BindMoments};
  static const AggregateFunction kStd = Renamed(kStddev, "std");
  static const AggregateFunction kStddevSamp = Renamed(kStddev, "stddev_samp");
  static const AggregateFunction kStddevPop =
      Alike(kStddev, "stddev_pop", "Standard deviation of a population.",
            {"SELECT stddev_pop(c) FROM VALUES (1), (3) AS t(c)", "1.0"});
  static const AggregateFunction kVariance =
      Alike(kStddev, "variance", "Variance of a sample.",
            {"SELECT variance(c) FROM VALUES (1), (2), (3) AS t(c)", "1.0"});
  static const AggregateFunction kVarSamp =
      Alike(kStddev, "var_samp", "Variance of a sample.",
            {"SELECT var_samp(c) FROM VALUES (1), (2), (3) AS t(c)", "1.0"});
  static const AggregateFunction kVarPop =
      Alike(kStddev, "var_pop", "Variance of a population.", {"SELECT var_pop(c) FROM VALUES (1), (3) AS t(c)", "1.0"});
  static const AggregateFunction kSkewness =
      Alike(kStddev, "skewness", "Skewness of a population.",
            {"SELECT skewness(c) FROM VALUES (1), (2), (3) AS t(c)", "0.0"});
  static const AggregateFunction kKurtosis =
      Alike(kStddev, "kurtosis", "Excess kurtosis of a population.",
            {"SELECT kurtosis(c) FROM VALUES (1), (2) AS t(c)", "-2.0"});
  for (const auto* f : {&kStddev, &kStd, &kStddevSamp, &kStddevPop, &kVariance, &kVarSamp, &kVarPop, &kSkewness, &kKurtosis}) {
    lists.Add(*f);
  }
}

}  // namespace thalweg::sql
