// approx_count_distinct(value[, rsd]): HyperLogLog++ over xxhash64. Buffer: w BIGINT columns MS[0]..., ten 6-bit registers each.
// The registers are Spark's bit for bit. Of the estimate the bias tables of the paper are left out: between about 0.8 and 5
// values a register it is a few percent above Spark's.
// Source: Heule, Nunkesser, Hall, "HyperLogLog in Practice"; Spark's HyperLogLogPlusPlusHelper.

#include <bit>
#include <cmath>
#include <cstdlib>

#include "base/process_memory.h"
#include "sql/functions/aggregate/accumulate.h"
#include "sql/functions/hash/xxhash64.h"

namespace thalweg::sql {
namespace {

constexpr int kRegisterBits = 6;
constexpr int kRegistersPerWord = 10;

struct SketchData final : BoundData {
  int p = 9;
  int registers() const { return 1 << p; }
  int words() const { return registers() / kRegistersPerWord + 1; }
};
const SketchData& SketchDataOf(const BoundAggregate& call) { return static_cast<const SketchData&>(*call.data); }

/// The words of a group, owned; null pointer is all zero.
struct Sketch {
  uint64_t* words;
};

uint64_t* WordsOf(const SketchData& data, uint8_t* accumulator) {
  auto& sketch = As<Sketch>(accumulator);
  if (sketch.words == nullptr) {
    sketch.words = static_cast<uint64_t*>(std::calloc(static_cast<size_t>(data.words()), sizeof(uint64_t)));
    if (sketch.words == nullptr) ThrowOutOfMemory(data.words() * 8, "an aggregate");
  }
  return sketch.words;
}

void Raise(uint64_t* words, int index, uint64_t rank) {
  uint64_t& word = words[index / kRegistersPerWord];
  const int shift = kRegisterBits * (index % kRegistersPerWord);
  const uint64_t mask = uint64_t{63} << shift;
  if (rank > (word & mask) >> shift) word = (word & ~mask) | rank << shift;
}

/// -0.0 counts as 0.0 (the hash sees to it, and to NaN).
Status UpdateSketch(const BoundAggregate& call, std::span<const ColumnPtr> arguments, int64_t rows, uint8_t* const* accumulators,
              EvalContext&) {
  const SketchData& data = SketchDataOf(call);
  const ColumnPtr column = data::Flatten(arguments[0]);
  ForEachNotNull(*column, rows, [&](int64_t row) {
    const uint64_t hash = XxHashRow(*column, row, 42);
    const auto index = static_cast<int>(hash >> (64 - data.p));
    const uint64_t rest = hash << data.p | uint64_t{1} << (data.p - 1);
    Raise(WordsOf(data, accumulators[row]), index, static_cast<uint64_t>(std::countl_zero(rest)) + 1);
  });
  return {};
}

Status MergeSketch(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators,
             EvalContext&) {
  const SketchData& data = SketchDataOf(call);
  for (size_t w = 0; w < buffers.size(); ++w) {
    const Reader<int64_t> words(*buffers[w]);
    for (int64_t row = 0; row < rows; ++row) {
      auto word = static_cast<uint64_t>(words[row]);
      if (word == 0) continue;
      uint64_t* target = WordsOf(data, accumulators[row]);
      for (int i = 0; i < kRegistersPerWord; ++i, word >>= kRegisterBits) {
        const int index = static_cast<int>(w) * kRegistersPerWord + i;
        if (index < data.registers()) Raise(target, index, word & 63);
      }
    }
  }
  return {};
}

void DestroySketch(const BoundAggregate&, uint8_t* accumulator) {
  auto& sketch = As<Sketch>(accumulator);
  std::free(sketch.words);
  sketch.words = nullptr;
}

Status ImportSketch(const BoundAggregate& call, std::span<const ColumnPtr> buffers, int64_t rows, uint8_t* const* accumulators) {
  for (int64_t row = 0; row < rows; ++row) DestroySketch(call, accumulators[row]);
  EvalContext context;
  return MergeSketch(call, buffers, rows, accumulators, context);
}

Status ExportSketch(const BoundAggregate& call, std::span<uint8_t* const> accumulators, std::vector<ColumnPtr>* out) {
  for (int w = 0; w < SketchDataOf(call).words(); ++w) {
    out->push_back(ColumnOf<int64_t, Sketch>(DataType::Long(), accumulators, [w](const Sketch& sketch, int64_t* word) {
      *word = sketch.words == nullptr ? 0 : static_cast<int64_t>(sketch.words[w]);
      return true;
    }));
  }
  return {};
}

int64_t Estimate(const SketchData& data, const Sketch& sketch) {
  if (sketch.words == nullptr) return 0;
  const int m = data.registers();
  double inverse = 0;
  double zeros = 0;
  for (int i = 0; i < m; ++i) {
    const uint64_t value = sketch.words[i / kRegistersPerWord] >> (kRegisterBits * (i % kRegistersPerWord)) & 63;
    inverse += 1.0 / static_cast<double>(uint64_t{1} << value);
    zeros += value == 0;
  }
  double alpha = 0.7213 / (1.0 + 1.079 / m);
  if (data.p == 4) alpha = 0.673;
  if (data.p == 5) alpha = 0.697;
  if (data.p == 6) alpha = 0.709;
  const double raw = alpha * m * m / inverse;
  // Below this count of the paper the empty registers say more.
  static constexpr double kThresholds[] = {10,   20,   40,   80,    220,   400,   900,   1800,
                                           3100, 6500, 11500, 20000, 50000, 120000, 350000};
  if (zeros > 0) {
    const double linear = m * std::log(m / zeros);
    if (data.p <= 18 && linear <= kThresholds[data.p - 4]) return static_cast<int64_t>(std::llround(linear));
  }
  return static_cast<int64_t>(std::llround(raw));
}

Result<ColumnPtr> FinishSketch(const BoundAggregate& call, std::span<uint8_t* const> accumulators, EvalContext&) {
  const SketchData& data = SketchDataOf(call);
  return ColumnOf<int64_t, Sketch>(call.type, accumulators, [&](const Sketch& sketch, int64_t* out) {
    *out = Estimate(data, sketch);
    return true;
  });
}

int64_t OwnedSketch(const BoundAggregate& call, const uint8_t* accumulator) {
  return As<Sketch>(accumulator).words == nullptr ? 0 : SketchDataOf(call).words() * 8;
}

constexpr AggregateKernels kSketchKernels{.size = sizeof(Sketch), .update = &UpdateSketch, .merge = &MergeSketch, .export_buffers = &ExportSketch,
                                    .import_buffers = &ImportSketch, .finish = &FinishSketch, .destroy = &DestroySketch,
                                    .owned_bytes = &OwnedSketch};

Result<BoundAggregateCall> BindSketch(const AggregateFunction& function, ExprList arguments, bool, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 2));
  double rsd = 0.05;
  if (arguments.size() == 2) {
    TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, DataType::Double(), context));
    TW_ASSIGN_OR_RETURN(const Value value, FoldArgument(function.name, arguments, 1, "relativeSD", context));
    if (!value.is_null()) rsd = value.get<double>();
  }
  auto data = std::make_shared<SketchData>();
  data->p = static_cast<int>(std::ceil(2.0 * std::log(1.106 / rsd) / std::log(2.0)));
  if (data->p < 4 || data->p > 24) {
    return Error("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE")
        .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
        .With("exprName", "`relativeSD`")
        .With("valueRange", "(0, 0.39]")
        .With("currentValue", std::to_string(rsd));
  }
  std::vector<BufferField> buffer;
  for (int w = 0; w < data->words(); ++w) buffer.push_back({"MS[" + std::to_string(w) + "]", DataType::Long(), true});
  return MakeAggregate(function, std::move(arguments), DataType::Long(), false, std::move(buffer), &kSketchKernels,
                       AggregateMode(function, context), std::move(data));
}

}  // namespace

void RegisterApproxCountDistinct(FunctionLists& lists) {
  static const AggregateFunction kFunction{.name = "approx_count_distinct", .since = "1.6.0",
                                           .doc = "About how many different values there are.",
                                           .example = {"SELECT approx_count_distinct(c) FROM VALUES (1), (1), (2) AS t(c)", "2"},
                                           .bind = &BindSketch};
  lists.Add(kFunction);
}

}  // namespace thalweg::sql
