// timestamp_seconds, timestamp_millis, timestamp_micros, unix_seconds, unix_millis, unix_micros, unix_date,
// date_from_unix_date.

#include <cmath>
#include <limits>

#include "data/text/civil.h"
#include "data/text/decimal128.h"
#include "sql/expr/binding.h"
#include "sql/functions/alike.h"
#include "sql/functions/datetime/register.h"
#include "sql/functions/operators/register.h"

namespace thalweg::sql {
namespace {

template <int64_t kFactor>
Result<ColumnPtr> FromWhole(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapChecked<int64_t, int64_t>(call, input, [](int64_t value, std::optional<int64_t>* out) -> Status {
    int64_t micros;
    if (__builtin_mul_overflow(value, kFactor, &micros)) return OverflowError("long overflow", "");
    *out = micros;
    return {};
  });
}

Result<ColumnPtr> FromDoubleSeconds(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapNullable<int64_t, double>(call, input, [](double seconds, int64_t* out) {
    if (!std::isfinite(seconds)) return false;
    const double micros = seconds * 1e6;
    constexpr double kLimit = 9223372036854775808.0;
    *out = micros >= kLimit    ? std::numeric_limits<int64_t>::max()
           : micros <= -kLimit ? std::numeric_limits<int64_t>::min()
                               : static_cast<int64_t>(micros);
    return true;
  });
}

Result<ColumnPtr> FromDecimalSeconds(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const int scale = input.arguments[0]->type().scale();
  return MapChecked<int64_t, Int128>(call, input, [=](Int128 seconds, std::optional<int64_t>* out) -> Status {
    if (scale > 6 && seconds % data::PowerOfTen(scale - 6) != 0) return OverflowError("Rounding necessary", "");
    const Int128 micros = scale <= 6 ? seconds * data::PowerOfTen(6 - scale) : seconds / data::PowerOfTen(scale - 6);
    if (micros > std::numeric_limits<int64_t>::max() || micros < std::numeric_limits<int64_t>::min()) {
      return OverflowError("Overflow", "");
    }
    *out = static_cast<int64_t>(micros);
    return {};
  });
}

Result<BoundCall> BindFromSeconds(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 1));
  const DataType& type = arguments[0]->type();
  if (type.Is(TypeKind::kDecimal)) {
    return MakeBound(function, std::move(arguments), DataType::Timestamp(), false, &FromDecimalSeconds, context);
  }
  if (type.Is(TypeKind::kFloat) || type.Is(TypeKind::kDouble)) {
    arguments[0] = Coerce(arguments[0], DataType::Double(), context.config);
    return MakeBound(function, std::move(arguments), DataType::Timestamp(), true, &FromDoubleSeconds, context);
  }
  if (!type.IsIntegral() && !type.Is(TypeKind::kNull)) {
    return UnexpectedInputType(function.name, arguments, 0, "\"NUMERIC\"");
  }
  arguments[0] = Coerce(arguments[0], DataType::Long(), context.config);
  return MakeBound(function, std::move(arguments), DataType::Timestamp(), false, &FromWhole<1000000>, context);
}

template <int64_t kDivisor>
Result<ColumnPtr> ToWhole(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTotal1<int64_t, int64_t>(call, input, [](int64_t micros) { return data::FloorDiv(micros, kDivisor); });
}

Result<ColumnPtr> SameDays(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return data::WithType(input.arguments[0], call.type);
}

}  // namespace

void RegisterUnix(FunctionLists& lists) {
  static const ScalarFunction kSeconds{.name = "timestamp_seconds", .since = "3.1.0", .doc = "A timestamp of seconds since 1970.",
                                       .example = {"SELECT timestamp_seconds(1230219000)", "2008-12-25 15:30:00"},
                                       .bind = &BindFromSeconds};
  static const ScalarFunction kMillis{.name = "timestamp_millis", .signature = "(value BIGINT) -> TIMESTAMP", .since = "3.1.0",
                                      .doc = "A timestamp of milliseconds since 1970.",
                                      .example = {"SELECT timestamp_millis(1230219000123)", "2008-12-25 15:30:00.123"},
                                      .evaluate = &FromWhole<1000>};
  static const ScalarFunction kMicros = [] {
    ScalarFunction f = Alike(kMillis, "timestamp_micros", "A timestamp of microseconds since 1970.", {"SELECT timestamp_micros(1230219000123123)", "2008-12-25 15:30:00.123123"});
    f.evaluate = &FromWhole<1>;
    return f;
  }();
  static const ScalarFunction kUnixSeconds{.name = "unix_seconds", .signature = "(time TIMESTAMP) -> BIGINT", .since = "3.1.0",
                                           .doc = "Seconds since 1970, rounded down.",
                                           .example = {"SELECT unix_seconds(TIMESTAMP '1970-01-01 00:00:01Z')", "1"},
                                           .evaluate = &ToWhole<1000000>};
  static const ScalarFunction kUnixMillis = [] {
    ScalarFunction f = Alike(kUnixSeconds, "unix_millis", "Milliseconds since 1970, rounded down.", {"SELECT unix_millis(TIMESTAMP '1970-01-01 00:00:01Z')", "1000"});
    f.evaluate = &ToWhole<1000>;
    return f;
  }();
  static const ScalarFunction kUnixMicros = [] {
    ScalarFunction f = Alike(kUnixSeconds, "unix_micros", "Microseconds since 1970.", {"SELECT unix_micros(TIMESTAMP '1970-01-01 00:00:01Z')", "1000000"});
    f.evaluate = &ToWhole<1>;
    return f;
  }();
  static const ScalarFunction kUnixDate{.name = "unix_date", .signature = "(date DATE) -> INT", .since = "3.1.0",
                                        .doc = "Days since 1970-01-01.", .example = {"SELECT unix_date(DATE '1970-01-02')", "1"},
                                        .evaluate = &SameDays};
  static const ScalarFunction kFromUnixDate{.name = "date_from_unix_date", .signature = "(days INT) -> DATE", .since = "3.1.0",
                                            .doc = "The date so many days after 1970-01-01.",
                                            .example = {"SELECT date_from_unix_date(1)", "1970-01-02"}, .evaluate = &SameDays};
  for (const auto* f : {&kSeconds, &kMillis, &kMicros, &kUnixSeconds, &kUnixMillis, &kUnixMicros, &kUnixDate, &kFromUnixDate}) {
    lists.Add(*f);
  }
}

}  // namespace thalweg::sql
