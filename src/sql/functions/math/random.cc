// rand, random, randn: Spark's XORShiftRandom, seeded by seed + partition; a chunk's rows follow those of the chunks before.

#include <cmath>
#include <optional>
#include <utility>

#include "base/random.h"
#include "data/rowformat/xor_shift_random.h"
#include "sql/expr/binding.h"
#include "sql/functions/math/register.h"

namespace thalweg::sql {
namespace {

/// java.util.Random.nextGaussian: two at a time.
class Gaussian {
 public:
  explicit Gaussian(data::XorShiftRandom& random) : random_(random) {}
  double Next() {
    if (spare_) return *std::exchange(spare_, std::nullopt);
    for (;;) {
      const double v1 = 2 * random_.NextDouble() - 1;
      const double v2 = 2 * random_.NextDouble() - 1;
      const double s = v1 * v1 + v2 * v2;
      if (s >= 1 || s == 0) continue;
      const double multiplier = std::sqrt(-2 * std::log(s) / s);
      spare_ = v2 * multiplier;
      return v1 * multiplier;
    }
  }

 private:
  data::XorShiftRandom& random_;
  std::optional<double> spare_;
};

struct SeedData final : BoundData {
  explicit SeedData(int64_t s) : seed(s) {}
  int64_t seed;
};

template <bool kGaussian>
Result<ColumnPtr> Draw(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  data::XorShiftRandom random(static_cast<const SeedData&>(*call.data).seed + context.partition);
  Gaussian gaussian(random);
  if (kGaussian) {
    // How many draws the rows before took is not known: they are repeated.
    for (int64_t i = 0; i < context.row_base; ++i) (void)gaussian.Next();
  } else {
    random.Skip(context.row_base * 2);
  }
  FixedOutput<double> out(call.type, input.rows.length);
  input.rows.ForEach([&](int64_t row) { out.Set(row, kGaussian ? gaussian.Next() : random.NextDouble()); });
  return out.Finish();
}

Result<BoundCall> BindRandom(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 0, 1));
  if (arguments.empty()) arguments.push_back(Literal::Long(static_cast<int64_t>(OsRandomSeed())));
  if (!arguments[0]->type().IsIntegral() && !arguments[0]->type().Is(TypeKind::kNull)) {
    return UnexpectedInputType(function.name, arguments, 0, "(\"INT\" or \"BIGINT\")");
  }
  TW_ASSIGN_OR_RETURN(const Value seed, FoldArgument(function.name, arguments, 0, "seed", context));
  const int64_t value = seed.is_null() ? 0 : seed.AsInt64();
  return MakeBound(function, std::move(arguments), DataType::Double(), false,
                   function.name == "randn" ? &Draw<true> : &Draw<false>, context, std::make_shared<SeedData>(value));
}

}  // namespace

void RegisterRandom(FunctionLists& lists) {
  static const ScalarFunction kRand{.name = "rand", .since = "1.5.0", .doc = "A random number of [0, 1).",
                                    .example = {"SELECT rand(0)", "0.7604953758285915"}, .nulls = NullPolicy::kCustom,
                                    .bind = &BindRandom, .deterministic = false};
  static const ScalarFunction kRandom = Renamed(kRand, "random");
  static const ScalarFunction kRandn = [] {
    ScalarFunction f = Renamed(kRand, "randn");
    f.doc = "A random number of the standard normal distribution.";
    f.example = {"SELECT randn(0)", "1.6034991609278433"};
    return f;
  }();
  for (const auto* f : {&kRand, &kRandom, &kRandn}) lists.Add(*f);
}

}  // namespace thalweg::sql
