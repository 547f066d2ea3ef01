// Promise: however rows are split, exported, imported and merged, an aggregate answers the same, and sums, counts, extremes and
// means are those of a naive loop; buffers have Spark's columns (recorded in a state schema of Spark 4.2.0).

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/columnar/random_column.h"
#include "data/text/literal.h"
#include "sql/functions/registry.h"

namespace thalweg::sql {
namespace {

using data::ColumnPtr;
using data::Int128;
using data::TypeKind;

/// The accumulators of one aggregate for a few groups.
class Groups {
 public:
  Groups(const BoundAggregate& call, size_t count) : call_(call) {
    const auto size = static_cast<size_t>(call.kernels->size + 7) / 8;
    for (size_t i = 0; i < count; ++i) {
      memory_.push_back(std::vector<uint64_t>(size, 0));
      if (call.kernels->init) call.kernels->init(call, At(i));
    }
  }
  ~Groups() {
    if (call_.kernels->destroy == nullptr) return;
    for (size_t i = 0; i < memory_.size(); ++i) call_.kernels->destroy(call_, At(i));
  }
  uint8_t* At(size_t i) { return reinterpret_cast<uint8_t*>(memory_[i].data()); }
  std::vector<uint8_t*> All() {
    std::vector<uint8_t*> all;
    for (size_t i = 0; i < memory_.size(); ++i) all.push_back(At(i));
    return all;
  }
  Status Update(const std::vector<ColumnPtr>& arguments, const std::vector<int>& group_of_row) {
    std::vector<uint8_t*> targets;
    for (const int group : group_of_row) targets.push_back(At(static_cast<size_t>(group)));
    return call_.kernels->update(call_, arguments, static_cast<int64_t>(targets.size()), targets.data(), context_);
  }
  std::vector<ColumnPtr> Export() {
    std::vector<ColumnPtr> buffers;
    const auto all = All();
    EXPECT_TRUE(call_.kernels->export_buffers(call_, all, &buffers).ok());
    EXPECT_EQ(buffers.size(), call_.buffer.size());
    for (size_t i = 0; i < buffers.size(); ++i) EXPECT_TRUE(buffers[i]->type().SameType(call_.buffer[i].type));
    return buffers;
  }
  Status Merge(const std::vector<ColumnPtr>& buffers) {
    const auto all = All();
    return call_.kernels->merge(call_, buffers, static_cast<int64_t>(all.size()), all.data(), context_);
  }
  Status Import(const std::vector<ColumnPtr>& buffers) {
    const auto all = All();
    return call_.kernels->import_buffers(call_, buffers, static_cast<int64_t>(all.size()), all.data());
  }
  Result<ColumnPtr> Finish() {
    const auto all = All();
    return call_.kernels->finish(call_, all, context_);
  }

 private:
  const BoundAggregate& call_;
  std::vector<std::vector<uint64_t>> memory_;
  EvalContext context_;
};

std::shared_ptr<const BoundAggregate> Bind(std::string_view name, std::vector<DataType> types, const EvalConfig& config) {
  ExprList arguments;
  for (const auto& type : types) arguments.push_back(Attribute::Make("c", type, true));
  const AggregateFunction* function = BuiltinFunctions().FindAggregate(name);
  auto bound = BindAggregate(*function, arguments, false, nullptr, BindContext{config}).ValueOrDie();
  return bound->As<AggregateCall>()->bound_ptr();
}

bool Close(const Value& a, const Value& b) {
  const auto* x = a.get_if<double>();
  const auto* y = b.get_if<double>();
  if (x == nullptr || y == nullptr) return a == b;
  if (std::isnan(*x) || std::isnan(*y)) return true;  // sums of infinities depend on the order
  if (std::isinf(*x) || std::isinf(*y)) return true;
  return std::abs(*x - *y) <= 1e-6 * (1 + std::abs(*x) + std::abs(*y)) || std::abs(*x) > 1e100;
}

TEST(Aggregates, SplitsExportsAndMergesDoNotChangeTheAnswer) {
  EvalConfig config;
  config.ansi = false;
  static constexpr std::string_view kAny[] = {"count", "min", "max", "first", "collect_list", "approx_count_distinct", "mode"};
  static constexpr std::string_view kNumeric[] = {"sum", "avg", "try_sum", "try_avg", "stddev", "kurtosis", "skewness", "var_pop", "median"};
  for (uint64_t seed = 1; seed <= 1500; ++seed) {
    Random random(seed);
    const bool numeric = random.NextBool();
    std::string_view name = numeric ? kNumeric[random.NextBelow(9)] : kAny[random.NextBelow(7)];
    static const DataType kNumbers[] = {DataType::Integer(),     DataType::Long(), DataType::Double(), DataType::Float(),
                                        DataType::Decimal(9, 2), DataType::Decimal(20, 10)};
    DataType type = numeric ? kNumbers[random.NextBelow(6)] : data::RandomType(random, 1);
    if ((name == "min" || name == "max") && !type.IsOrderable()) type = DataType::String();
    // Means of large whole numbers are differences of large doubles.
    if (name.ends_with("avg") && type.Is(TypeKind::kLong)) type = DataType::Integer();
    DataType argument = type;
    if (name == "approx_count_distinct" || name == "mode") type = argument = data::EveryScalarType()[random.NextBelow(8)];
    if (name != "median" && name != "sum" && name != "avg" && name != "try_sum" && name != "try_avg" && numeric) argument = DataType::Double();
    const auto bound = Bind(name, {argument}, config);
    constexpr size_t kGroups = 4;
    Groups whole(*bound, kGroups);
    Groups merged(*bound, kGroups);
    Status whole_status;
    Status merged_status;
    const int parts = 1 + static_cast<int>(random.NextBelow(4));
    for (int part = 0; part < parts; ++part) {
      const auto rows = static_cast<int64_t>(random.NextBelow(100));
      const auto encoding = random.NextBool(0.2) ? data::Encoding::kConstant : data::Encoding::kFlat;
      const ColumnPtr column = data::RandomColumn(random, argument, rows, 0.2, encoding);
      std::vector<int> groups;
      for (int64_t i = 0; i < rows; ++i) groups.push_back(static_cast<int>(random.NextBelow(kGroups)));
      if (whole_status.ok()) whole_status = whole.Update({column}, groups);
      Groups piece(*bound, kGroups);
      ASSERT_TRUE(piece.Update({column}, groups).ok() || name == "sum");
      Groups copy(*bound, kGroups);
      ASSERT_TRUE(copy.Import(piece.Export()).ok());
      if (merged_status.ok()) merged_status = merged.Merge(copy.Export());
    }
    if (!whole_status.ok() || !merged_status.ok()) continue;
    const auto a = whole.Finish();
    const auto b = merged.Finish();
    ASSERT_EQ(a.ok(), b.ok()) << name;
    if (!a.ok()) continue;
    for (size_t g = 0; g < kGroups; ++g) {
      const auto row = static_cast<int64_t>(g);
      // Where the partial sums overflow depends on the order.
      if (name.starts_with("try_") && ((*a)->IsNull(row) || (*b)->IsNull(row))) continue;
      ASSERT_TRUE(Close((*a)->GetValue(row), (*b)->GetValue(row)))
          << "seed " << seed << " " << name << "(" << argument.SimpleString() << ") "
          << data::ValueText((*a)->GetValue(row), bound->type) << " / " << data::ValueText((*b)->GetValue(row), bound->type);
    }
  }
}

TEST(Aggregates, SumsCountsAndExtremesAreThoseOfALoop) {
  EvalConfig config;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    Random random(seed);
    const auto rows = static_cast<int64_t>(random.NextBelow(300));
    const ColumnPtr column = data::RandomColumn(random, DataType::Integer(), rows, 0.3, data::Encoding::kFlat);
    std::vector<int> groups;
    struct Loop {
      int64_t sum = 0;
      int64_t count = 0;
      int32_t min = INT32_MAX;
      int32_t max = INT32_MIN;
    };
    Loop loops[3];
    for (int64_t i = 0; i < rows; ++i) {
      groups.push_back(static_cast<int>(random.NextBelow(3)));
      if (column->IsNull(i)) continue;
      const int32_t value = column->GetValue(i).get<int32_t>();
      Loop& loop = loops[groups.back()];
      loop.sum += value;
      ++loop.count;
      loop.min = std::min(loop.min, value);
      loop.max = std::max(loop.max, value);
    }
    for (const std::string_view name : {"sum", "count", "min", "max", "avg"}) {
      const auto bound = Bind(name, {DataType::Integer()}, config);
      Groups accumulators(*bound, 3);
      ASSERT_TRUE(accumulators.Update({column}, groups).ok());
      const ColumnPtr result = accumulators.Finish().ValueOrDie();
      for (int g = 0; g < 3; ++g) {
        const Loop& loop = loops[g];
        Value want;
        if (name == "count") want = Value(loop.count);
        if (loop.count > 0 && name == "sum") want = Value(loop.sum);
        if (loop.count > 0 && name == "min") want = Value(loop.min);
        if (loop.count > 0 && name == "max") want = Value(loop.max);
        if (loop.count > 0 && name == "avg") want = Value(static_cast<double>(loop.sum) / static_cast<double>(loop.count));
        ASSERT_TRUE(Close(result->GetValue(g), want)) << name << " seed " << seed;
      }
    }
  }
}

ColumnPtr Decimals(const std::vector<Int128>& values) {
  std::vector<data::ValueList> rows;
  for (const Int128 value : values) rows.push_back({Value(value)});
  return data::ChunkFromRows({DataType::Decimal(38, 0)}, rows).column(0);
}

TEST(Aggregates, AnOverflownDecimalSumStaysSo) {
  Int128 large = 9;
  for (int i = 0; i < 37; ++i) large *= 10;
  EvalConfig ansi;
  EvalConfig legacy;
  legacy.ansi = false;
  for (const EvalConfig* config : {&ansi, &legacy}) {
    const auto bound = Bind("sum", {DataType::Decimal(38, 0)}, *config);
    ASSERT_EQ(bound->buffer.size(), 2u);
    EXPECT_EQ(bound->buffer[1].name, "isEmpty");
    Groups first(*bound, 1);
    ASSERT_TRUE(first.Update({Decimals({large, large})}, {0, 0}).ok());
    const auto buffers = first.Export();
    EXPECT_TRUE(buffers[0]->IsNull(0));  // overflow: sum NULL and not empty
    EXPECT_FALSE(buffers[1]->GetValue(0).get<bool>());
    Groups later(*bound, 1);
    ASSERT_TRUE(later.Import(buffers).ok());
    ASSERT_TRUE(later.Update({Decimals({-large})}, {0}).ok());
    const auto result = later.Finish();
    if (config->ansi) {
      EXPECT_EQ(result.status().condition(), "ARITHMETIC_OVERFLOW");
    } else {
      EXPECT_TRUE((*result)->IsNull(0));
    }
  }
}

TEST(Aggregates, BuffersHaveSparksColumns) {
  // The columns of the state schema that Spark wrote for these functions: name, type, nullable.
  const EvalConfig config;
  const auto text = [&](std::string_view name, const DataType& type) {
    std::string out;
    const auto bound = Bind(name, {type}, config);
    for (const auto& field : bound->buffer) {
      out += field.name + ":" + field.type.SimpleString() + (field.nullable ? "? " : " ");
    }
    return out;
  };
  EXPECT_EQ(text("count", DataType::String()), "count:bigint ");
  EXPECT_EQ(text("sum", DataType::Integer()), "sum:bigint? ");
  EXPECT_EQ(text("sum", DataType::Double()), "sum:double? ");
  EXPECT_EQ(text("sum", DataType::Decimal(10, 2)), "sum:decimal(20,2)? isEmpty:boolean ");
  EXPECT_EQ(text("avg", DataType::Integer()), "sum:double? count:bigint? ");
  EXPECT_EQ(text("min", DataType::String()), "min:string? ");
  EXPECT_EQ(text("first", DataType::String()), "first:string? valueSet:boolean? ");
  EXPECT_EQ(text("last", DataType::String()), "last:string? valueSet:boolean? ");
  EXPECT_EQ(text("stddev", DataType::Double()), "n:double avg:double m2:double ");
  EXPECT_EQ(text("kurtosis", DataType::Double()), "n:double avg:double m2:double m3:double m4:double ");
  EXPECT_EQ(text("bit_and", DataType::Integer()), "bit_and:int? ");
  EXPECT_EQ(text("try_sum", DataType::Integer()), "sum:bigint? isEmpty:boolean ");
  EXPECT_EQ(text("bool_and", DataType::Boolean()), "min:boolean? ");
  EXPECT_EQ(text("count_if", DataType::Boolean()), "count:bigint ");
  EXPECT_EQ(text("collect_list", DataType::Integer()), "buf:binary? ");
}

/// The answer of `call` over doubles in one group.
double OneGroup(const std::shared_ptr<const BoundAggregate>& bound, const std::vector<double>& values) {
  data::FixedBuilder<double> column(DataType::Double());
  for (const double value : values) column.Append(value);
  Groups group(*bound, 1);
  EXPECT_TRUE(group.Update({column.Finish()}, std::vector<int>(values.size(), 0)).ok());
  const ColumnPtr answer = group.Finish().ValueOrDie();
  return answer->GetValue(0).get<double>();
}

// Answers of Spark 4.2.0 over VALUES (0.0D), (-0.0D).
TEST(Aggregates, APercentileHasTheZerosApartAndTheModeHasNot) {
  const EvalConfig config;
  const auto percentile = [&](double point) {
    const AggregateFunction* function = BuiltinFunctions().FindAggregate("percentile");
    const ExprList arguments = {Attribute::Make("c", DataType::Double(), true), Literal::Make(Value(point), DataType::Double())};
    const ExprPtr call = BindAggregate(*function, arguments, false, nullptr, BindContext{config}).ValueOrDie();
    return OneGroup(call->As<AggregateCall>()->bound_ptr(), {0.0, -0.0});
  };
  EXPECT_TRUE(std::signbit(percentile(0.0)));
  EXPECT_TRUE(std::signbit(percentile(0.5)));
  EXPECT_FALSE(std::signbit(percentile(1.0)));
  EXPECT_TRUE(std::signbit(OneGroup(Bind("median", {DataType::Double()}, config), {-0.0, -0.0})));
  EXPECT_FALSE(std::signbit(OneGroup(Bind("mode", {DataType::Double()}, config), {-0.0, 0.0, -0.0})));
}

// Answers of Spark 4.2.0: what is combined with an empty buffer is NaN where squares do not fit.
TEST(Aggregates, DeviationsFarFromZero) {
  const EvalConfig config;
  const auto answer = [&](std::string_view name, const std::vector<double>& values) {
    return OneGroup(Bind(name, {DataType::Double()}, config), values);
  };
  EXPECT_DOUBLE_EQ(answer("stddev", {1e154, 2e154}), 7.071067811865475e153);
  EXPECT_DOUBLE_EQ(answer("stddev_pop", {1e154, 2e154}), 5e153);
  EXPECT_DOUBLE_EQ(answer("var_samp", {1e154, 2e154}), 5e307);
  for (const char* name : {"stddev", "stddev_pop", "variance", "var_pop"}) {
    EXPECT_TRUE(std::isnan(answer(name, {1e155, -1e155, 3e155}))) << name;
    EXPECT_TRUE(std::isnan(answer(name, {1e300, 1e300}))) << name;
  }
}

/// Of texts.
std::shared_ptr<const BoundAggregate> BindFrequentItems(int32_t size) {
  const EvalConfig config;
  const AggregateFunction* function = BuiltinFunctions().FindAggregate("collect_frequent_items");
  ExprList arguments{Attribute::Make("c", DataType::String(), true), Literal::Integer(size)};
  return BindAggregate(*function, std::move(arguments), false, nullptr, BindContext{config}).ValueOrDie()->As<AggregateCall>()->bound_ptr();
}

std::vector<std::string> FrequentItems(const std::vector<std::string>& values, int32_t size) {
  data::TextBuilder texts(DataType::String());
  for (const std::string& value : values) texts.Append(value);
  const auto call = BindFrequentItems(size);
  Groups groups(*call, 1);
  EXPECT_TRUE(groups.Update({texts.Finish()}, std::vector<int>(values.size(), 0)).ok());
  std::vector<std::string> found;
  const data::Value items = groups.Finish().ValueOrDie()->GetValue(0);
  for (const data::Value& item : items.get<data::ValueList>()) found.push_back(item.get<std::string>());
  return found;
}

TEST(Aggregates, FrequentItemsAreThoseOfAPlainList) {
  Random random(11);
  for (int trial = 0; trial < 50; ++trial) {
    const auto size = static_cast<int32_t>(1 + random.NextBelow(6));
    std::vector<std::string> values;
    std::vector<std::pair<std::string, int>> expected;  // in the order in which they came
    for (int i = 0; i < 200; ++i) {
      values.push_back(std::string(20, 'v') + std::to_string(random.NextBelow(1 + random.NextBelow(12))));
      const auto known = std::find_if(expected.begin(), expected.end(), [&](const auto& item) { return item.first == values.back(); });
      if (known != expected.end()) {
        ++known->second;
      } else if (expected.size() < static_cast<size_t>(size)) {
        expected.emplace_back(values.back(), 1);
      } else {  // one of each, and one of the new value, cancel each other
        for (auto& item : expected) --item.second;
        std::erase_if(expected, [](const auto& item) { return item.second == 0; });
      }
    }
    std::vector<std::string> names;
    for (const auto& item : expected) names.push_back(item.first);
    EXPECT_EQ(FrequentItems(values, size), names) << trial;
  }
}

TEST(Aggregates, ManyFrequentItemsAreFoundByTheirValue) {
  std::vector<std::string> values;
  for (int i = 0; i < 200'000; ++i) values.push_back(std::to_string(i));
  values.resize(400'000);
  std::copy_n(values.begin(), 200'000, values.begin() + 200'000);
  const std::vector<std::string> found = FrequentItems(values, 200'000);  // comparing each with each would take minutes
  ASSERT_EQ(found.size(), 200'000u);
  EXPECT_EQ(found.front(), "0");
  EXPECT_EQ(found.back(), "199999");
}

TEST(Aggregates, TextsThatAreHeldAreMeasured) {
  data::TextBuilder texts(DataType::String());
  for (int i = 0; i < 100; ++i) texts.Append(std::string(1000, static_cast<char>('a' + i % 26)) + std::to_string(i));
  const ColumnPtr column = texts.Finish();
  for (const char* name : {"string_agg", "collect_list", "collect_set", "mode", "collect_frequent_items"}) {
    const auto call = std::string_view(name) == "collect_frequent_items" ? BindFrequentItems(1000) : Bind(name, {DataType::String()}, EvalConfig());
    Groups groups(*call, 1);
    ASSERT_TRUE(groups.Update({column}, std::vector<int>(100, 0)).ok());
    EXPECT_GE(call->kernels->owned_bytes(*call, groups.At(0)), 100'000) << name;
    Groups merged(*call, 1);
    ASSERT_TRUE(merged.Merge(groups.Export()).ok());
    EXPECT_GE(call->kernels->owned_bytes(*call, merged.At(0)), 100'000) << name;
    ASSERT_TRUE(groups.Finish().ok());
    EXPECT_GE(call->kernels->owned_bytes(*call, groups.At(0)), 100'000) << name;
  }
}

}  // namespace
}  // namespace thalweg::sql
