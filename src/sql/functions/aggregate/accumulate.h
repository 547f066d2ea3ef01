#pragma once

// What aggregate kernels are written with. Accumulators lie at 8-byte aligned addresses of zeroed memory; zero is the empty state.

#include <array>
#include <limits>

#include "sql/expr/binding.h"
#include "sql/expr/kernels.h"
#include "sql/functions/registry.h"

namespace thalweg::sql {

/// 128 bits where only 8-byte alignment is given.
struct PackedInt128 {
  uint64_t low = 0;
  uint64_t high = 0;
  Int128 get() const { return static_cast<Int128>(static_cast<unsigned __int128>(high) << 64 | low); }
  void set(Int128 value) {
    low = static_cast<uint64_t>(value);
    high = static_cast<uint64_t>(static_cast<unsigned __int128>(value) >> 64);
  }
};

/// How a value of a fixed-width type is kept.
template <typename T>
struct Kept {
  T value;
  T get() const { return value; }
  void set(T v) { value = v; }
};
template <>
struct Kept<Int128> : PackedInt128 {};

template <typename A>
A& As(uint8_t* accumulator) {
  return *reinterpret_cast<A*>(accumulator);
}
template <typename A>
const A& As(const uint8_t* accumulator) {
  return *reinterpret_cast<const A*>(accumulator);
}

/// f(row) for the rows of a dense column that are not null.
template <typename F>
void ForEachNotNull(const Column& column, int64_t rows, F&& f) {
  if (column.physical() == PhysicalType::kNull || (column.null_count() == column.length() && rows > 0)) return;
  const uint64_t* words = column.validity_words();
  if (words == nullptr) {
    for (int64_t row = 0; row < rows; ++row) f(row);
    return;
  }
  for (int64_t base = 0; base < rows; base += 64) {
    uint64_t bits = words[base >> 6];
    if (rows - base < 64) bits &= data::LowBits(rows - base);
    if (bits == ~uint64_t{0}) {
      for (int64_t row = base; row < base + 64; ++row) f(row);
      continue;
    }
    while (bits != 0) {
      f(base + std::countr_zero(bits));
      bits &= bits - 1;
    }
  }
}

/// A column out of accumulators: get(accumulator, Out*) -> bool, false for null.
template <typename Out, typename A, typename Get>
ColumnPtr ColumnOf(const DataType& type, std::span<uint8_t* const> accumulators, Get get) {
  FixedOutput<Out> out(type, static_cast<int64_t>(accumulators.size()));
  for (size_t i = 0; i < accumulators.size(); ++i) {
    Out value{};
    if (get(As<A>(accumulators[i]), &value)) {
      out.Set(static_cast<int64_t>(i), value);
    } else {
      out.SetNull(static_cast<int64_t>(i));
    }
  }
  return out.Finish();
}

/// The call an aggregate's binder answers.
inline BoundAggregateCall MakeAggregate(const AggregateFunction& function, ExprList arguments, DataType type, bool nullable,
                                        std::vector<BufferField> buffer, const AggregateKernels* kernels, EvalMode mode,
                                        std::shared_ptr<const BoundData> data = nullptr) {
  auto bound = std::make_shared<BoundAggregate>();
  bound->function = &function;
  bound->type = std::move(type);
  bound->nullable = nullable;
  bound->mode = mode;
  for (const auto& argument : arguments) bound->argument_types.push_back(argument->type());
  bound->buffer = std::move(buffer);
  bound->kernels = kernels;
  bound->data = std::move(data);
  BoundAggregateCall call;
  call.bound = std::move(bound);
  call.arguments = std::move(arguments);
  return call;
}

inline EvalMode AggregateMode(const AggregateFunction& function, const BindContext& context) {
  if (function.name.starts_with("try_")) return EvalMode::kTry;
  return context.config.ansi ? EvalMode::kAnsi : EvalMode::kLegacy;
}

// One function per file of the family.
void RegisterApproxCountDistinct(FunctionLists& lists);
void RegisterAverage(FunctionLists& lists);
void RegisterCollect(FunctionLists& lists);
void RegisterCount(FunctionLists& lists);
void RegisterFrequentItems(FunctionLists& lists);
void RegisterMinMax(FunctionLists& lists);
void RegisterFirstLast(FunctionLists& lists);
void RegisterMoments(FunctionLists& lists);
void RegisterPercentile(FunctionLists& lists);
void RegisterSum(FunctionLists& lists);
void RegisterTwoValues(FunctionLists& lists);

}  // namespace thalweg::sql
