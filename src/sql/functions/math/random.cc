// rand, random, randn: Spark's XORShiftRandom, seeded by seed + partition; a chunk's rows follow those of the chunks before.

#include <array>
#include <bit>
#include <cmath>
#include <optional>

#include "base/random.h"
#include "data/rowformat/murmur3.h"
#include "sql/expr/binding.h"
#include "sql/functions/math/register.h"

namespace thalweg::sql {
namespace {

/// MurmurHash3 x86 32 of Scala over 8 big-endian bytes, as XORShiftRandom.hashSeed takes it.
uint32_t HashBytes(uint64_t value, uint32_t seed) {
  uint32_t hash = seed;
  std::array<uint8_t, 8> bytes{};
  for (int i = 0; i < 8; ++i) bytes[static_cast<size_t>(i)] = static_cast<uint8_t>(value >> (56 - 8 * i));
  for (size_t i = 0; i < 8; i += 4) {
    const uint32_t word = static_cast<uint32_t>(bytes[i]) | static_cast<uint32_t>(bytes[i + 1]) << 8 |
                          static_cast<uint32_t>(bytes[i + 2]) << 16 | static_cast<uint32_t>(bytes[i + 3]) << 24;
    hash = data::murmur3::MixHash(hash, data::murmur3::MixKey(word));
  }
  return data::murmur3::Finish(hash, 8);
}

uint64_t HashSeed(int64_t seed) {
  const uint32_t low = HashBytes(static_cast<uint64_t>(seed), 0x3c074a61);
  const uint32_t high = HashBytes(static_cast<uint64_t>(seed), low);
  return static_cast<uint64_t>(high) << 32 | low;
}

class XorShift {
 public:
  explicit XorShift(int64_t seed) : state_(HashSeed(seed)) {}

  uint32_t Next(int bits) {
    state_ = Step(state_);
    return static_cast<uint32_t>(state_ & ((uint64_t{1} << bits) - 1));
  }
  double NextDouble() {
    const auto high = static_cast<int64_t>(Next(26)) << 27;
    return static_cast<double>(high + static_cast<int64_t>(Next(27))) * 0x1.0p-53;
  }
  /// java.util.Random.nextGaussian: two at a time.
  double NextGaussian() {
    if (spare_) {
      const double value = *spare_;
      spare_.reset();
      return value;
    }
    for (;;) {
      const double v1 = 2 * NextDouble() - 1;
      const double v2 = 2 * NextDouble() - 1;
      const double s = v1 * v1 + v2 * v2;
      if (s >= 1 || s == 0) continue;
      const double multiplier = std::sqrt(-2 * std::log(s) / s);
      spare_ = v2 * multiplier;
      return v1 * multiplier;
    }
  }
  /// As `steps` calls of Next: the step is linear over bits, so its powers are matrices.
  void Skip(int64_t steps) {
    std::array<uint64_t, 64> power{};
    for (size_t i = 0; i < 64; ++i) power[i] = Step(uint64_t{1} << i);
    for (; steps > 0; steps >>= 1) {
      if (steps & 1) state_ = Apply(power, state_);
      std::array<uint64_t, 64> square{};
      for (size_t i = 0; i < 64; ++i) square[i] = Apply(power, power[i]);
      power = square;
    }
  }

 private:
  static uint64_t Step(uint64_t s) {
    s ^= s << 21;
    s ^= s >> 35;
    s ^= s << 4;
    return s;
  }
  static uint64_t Apply(const std::array<uint64_t, 64>& matrix, uint64_t vector) {
    uint64_t result = 0;
    for (; vector != 0; vector &= vector - 1) result ^= matrix[static_cast<size_t>(std::countr_zero(vector))];
    return result;
  }
  uint64_t state_;
  std::optional<double> spare_;
};

struct SeedData final : BoundData {
  explicit SeedData(int64_t s) : seed(s) {}
  int64_t seed;
};

template <bool kGaussian>
Result<ColumnPtr> Draw(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  XorShift random(static_cast<const SeedData&>(*call.data).seed + context.partition);
  if (kGaussian) {
    // How many draws the rows before took is not known: they are repeated.
    for (int64_t i = 0; i < context.row_base; ++i) (void)random.NextGaussian();
  } else {
    random.Skip(context.row_base * 2);
  }
  FixedOutput<double> out(call.type, input.rows.length);
  input.rows.ForEach([&](int64_t row) { out.Set(row, kGaussian ? random.NextGaussian() : random.NextDouble()); });
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
