#include "engine/exec/operators/window.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include <gtest/gtest.h>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "engine/exec/testing.h"
#include "sql/functions/registry.h"

namespace thalweg::engine {
namespace {

using data::DataType;
using data::Value;
using data::ValueList;
using sql::FrameEdge;
using sql::FrameUnit;
using Kind = WindowFunctionSpec::Kind;

// Columns: partition, order (double: ties, NaN, both zeros, null), value (null now and then), filter, lower bound, upper bound, row number.
enum Column { kPartition, kOrder, kValue, kFilter, kLower, kUpper, kNumber, kColumns };

const std::vector<DataType>& Types() {
  static const auto* const kTypes = new std::vector<DataType>{DataType::String(), DataType::Double(),  DataType::Long(), DataType::Boolean(),
                                                              DataType::Double(), DataType::Double(), DataType::Long()};
  return *kTypes;
}

constexpr double kBelow = 1.5;  // of a range

struct Order {
  bool ascending = true;
  bool nulls_first = true;
};

/// Negative when a stands before b.
int Compare(const Value& a, const Value& b, const Order& order) {
  if (a.is_null() || b.is_null()) return a.is_null() && b.is_null() ? 0 : (a.is_null() == order.nulls_first ? -1 : 1);
  const double x = a.get<double>(), y = b.get<double>();
  int result = x < y ? -1 : x > y ? 1 : 0;
  if (x != x || y != y) result = static_cast<int>(x != x) - static_cast<int>(y != y);
  return order.ascending ? result : -result;
}

std::vector<ValueList> RandomRows(Random& random, int64_t count, int partitions, const Order& order) {
  std::vector<ValueList> rows;
  const double step = order.ascending ? kBelow : -kBelow;
  for (int64_t i = 0; i < count; ++i) {
    ValueList row(kColumns);
    const uint64_t partition = random.NextBelow(partitions + 1);
    if (partition > 0) row[kPartition] = Value("a partition with a long name " + std::to_string(partition));
    static constexpr double kSpecial[] = {0.0, -0.0, NAN, INFINITY};
    const uint64_t kind = random.NextBelow(12);
    if (kind > 0) row[kOrder] = Value(kind < 5 ? kSpecial[kind - 1] : static_cast<double>(random.NextBelow(20)) / 2);
    if (random.NextBelow(4) != 0) row[kValue] = Value(static_cast<int64_t>(random.NextBelow(100)) - 50);
    if (random.NextBelow(5) != 0) row[kFilter] = Value(random.NextBelow(2) == 0);
    if (!row[kOrder].is_null()) {
      row[kLower] = Value(row[kOrder].get<double>() - step);
      row[kUpper] = Value(row[kOrder].get<double>() + step);
    }
    rows.push_back(std::move(row));
  }
  std::stable_sort(rows.begin(), rows.end(), [&](const ValueList& a, const ValueList& b) {
    const bool a_null = a[kPartition].is_null(), b_null = b[kPartition].is_null();
    if (a_null != b_null) return a_null;
    if (!a_null && a[kPartition].get<std::string>() != b[kPartition].get<std::string>()) {
      return a[kPartition].get<std::string>() < b[kPartition].get<std::string>();
    }
    return Compare(a[kOrder], b[kOrder], order) < 0;
  });
  for (int64_t i = 0; i < count; ++i) rows[i][kNumber] = Value(i);
  return rows;
}

sql::ExprPtr ColumnExpr(int column) { return sql::Attribute::Make("c", Types()[column], true); }

std::shared_ptr<const sql::BoundAggregate> BoundOf(const std::string& name, int column) {
  const sql::EvalConfig config;
  const auto call = sql::BindAggregate(*sql::BuiltinFunctions().FindAggregate(name), {ColumnExpr(column)}, false, nullptr, {config});
  return static_cast<const sql::AggregateCall&>(**call).bound_ptr();
}

WindowFunctionSpec Aggregate(const std::string& name, FrameSpec frame, bool filtered = false) {
  WindowFunctionSpec spec;
  spec.aggregate = BoundOf(name, name == "array_agg" ? kNumber : kValue);
  spec.type = spec.aggregate->type;
  spec.arguments = {{name == "array_agg" ? kNumber : kValue, DataType::Long(), {}}};
  spec.frame = frame;
  if (filtered) spec.filter = kFilter;
  return spec;
}

WindowFunctionSpec Picking(Kind kind, FrameSpec frame, bool ignore_nulls, int64_t number = 1) {
  WindowFunctionSpec spec;
  spec.kind = kind;
  spec.type = DataType::Long();
  spec.arguments = {{kValue, DataType::Long(), {}}};
  spec.frame = frame;
  spec.ignore_nulls = ignore_nulls;
  spec.number = number;
  return spec;
}

WindowFunctionSpec Ahead(int64_t rows, bool ignore_nulls, WindowArgument otherwise) {
  WindowFunctionSpec spec = Picking(Kind::kOffset, {}, ignore_nulls, rows);
  spec.arguments.push_back(std::move(otherwise));
  return spec;
}

WindowFunctionSpec Ranking(Kind kind, int64_t number = 1) {
  WindowFunctionSpec spec;
  spec.kind = kind;
  spec.number = number;
  spec.type = kind == Kind::kPercentRank || kind == Kind::kCumeDist ? DataType::Double() : DataType::Integer();
  return spec;
}

/// The definition, row by row.
class Naive {
 public:
  Naive(const std::vector<ValueList>& rows, const Order& order) : rows_(rows), order_(order) {}

  Value Of(const WindowFunctionSpec& spec, int64_t row) const {
    std::vector<int64_t> partition;
    for (int64_t other = 0; other < static_cast<int64_t>(rows_.size()); ++other) {
      if (rows_[other][kPartition] == rows_[row][kPartition]) partition.push_back(other);
    }
    const auto at = std::find(partition.begin(), partition.end(), row) - partition.begin();
    switch (spec.kind) {
      case Kind::kAggregate: return OfAggregate(spec, Frame(spec.frame, row, partition));
      case Kind::kFirst:
      case Kind::kLast:
      case Kind::kNth: return Picked(spec, Frame(spec.frame, row, partition));
      case Kind::kOffset: return Ahead(spec, row, at, partition);
      default: return Rank(spec, row, at, partition);
    }
  }

 private:
  int At(int64_t a, int64_t b) const { return Compare(rows_[a][kOrder], rows_[b][kOrder], order_); }

  std::vector<int64_t> Frame(const FrameSpec& spec, int64_t row, const std::vector<int64_t>& partition) const {
    std::vector<int64_t> frame;
    const bool by_rows = spec.frame.unit == FrameUnit::kRows;
    for (const int64_t other : partition) {
      bool in = true;
      const int64_t distance = other - row;  // partitions lie together
      if (spec.frame.lower == FrameEdge::kCurrentRow) in = by_rows ? distance >= 0 : At(other, row) >= 0;
      if (spec.frame.lower == FrameEdge::kOffset) {
        in = by_rows ? distance >= spec.lower_rows : Compare(rows_[other][kOrder], rows_[row][kLower], order_) >= 0;
      }
      if (spec.frame.upper == FrameEdge::kCurrentRow) in = in && (by_rows ? distance <= 0 : At(other, row) <= 0);
      if (spec.frame.upper == FrameEdge::kOffset) {
        in = in && (by_rows ? distance <= spec.upper_rows : Compare(rows_[other][kOrder], rows_[row][kUpper], order_) <= 0);
      }
      if (in) frame.push_back(other);
    }
    return frame;
  }

  Value OfAggregate(const WindowFunctionSpec& spec, const std::vector<int64_t>& frame) const {
    const std::string_view name = spec.aggregate->function->name;
    int64_t sum = 0, count = 0;
    Value least;
    ValueList list;
    for (const int64_t row : frame) {
      if (spec.filter && (rows_[row][kFilter].is_null() || !rows_[row][kFilter].get<bool>())) continue;
      list.push_back(rows_[row][kNumber]);
      const Value& value = rows_[row][kValue];
      if (value.is_null()) continue;
      ++count;
      sum += value.AsInt64();
      if (least.is_null() || value.AsInt64() < least.AsInt64()) least = value;
    }
    if (name == "count") return Value(count);
    if (name == "min") return least;
    if (name == "sum") return count == 0 ? Value() : Value(sum);
    if (name == "avg") return count == 0 ? Value() : Value(static_cast<double>(sum) / static_cast<double>(count));
    return Value(list);
  }

  Value Picked(const WindowFunctionSpec& spec, std::vector<int64_t> frame) const {
    if (spec.ignore_nulls) std::erase_if(frame, [&](int64_t row) { return rows_[row][kValue].is_null(); });
    const int64_t at = spec.kind == Kind::kLast ? static_cast<int64_t>(frame.size()) - 1 : spec.kind == Kind::kNth ? spec.number - 1 : 0;
    return at < 0 || at >= static_cast<int64_t>(frame.size()) ? Value() : rows_[frame[at]][kValue];
  }

  Value Ahead(const WindowFunctionSpec& spec, int64_t row, int64_t at, const std::vector<int64_t>& partition) const {
    int64_t left = spec.number < 0 ? -spec.number : spec.number;
    if (left == 0) return rows_[row][kValue];
    for (int64_t i = at; left > 0;) {
      i += spec.number < 0 ? -1 : 1;
      if (i < 0 || i >= static_cast<int64_t>(partition.size())) break;
      if (spec.ignore_nulls && rows_[partition[i]][kValue].is_null()) continue;
      if (--left == 0) return rows_[partition[i]][kValue];
    }
    const WindowArgument& otherwise = spec.arguments[1];
    return otherwise.column < 0 ? otherwise.constant : rows_[row][otherwise.column];
  }

  Value Rank(const WindowFunctionSpec& spec, int64_t row, int64_t at, const std::vector<int64_t>& partition) const {
    const auto size = static_cast<int64_t>(partition.size());
    int64_t before = 0, upto = 0, distinct = 1;
    for (int64_t i = 0; i < size; ++i) {
      before += At(partition[i], row) < 0;
      upto += At(partition[i], row) <= 0;
      distinct += i > 0 && At(partition[i], row) <= 0 && At(partition[i - 1], partition[i]) != 0;
    }
    switch (spec.kind) {
      case Kind::kRowNumber: return Value(static_cast<int32_t>(at + 1));
      case Kind::kRank: return Value(static_cast<int32_t>(before + 1));
      case Kind::kDenseRank: return Value(static_cast<int32_t>(distinct));
      case Kind::kPercentRank: return Value(size == 1 ? 0.0 : static_cast<double>(before) / static_cast<double>(size - 1));
      case Kind::kCumeDist: return Value(static_cast<double>(upto) / static_cast<double>(size));
      default: break;
    }
    // ntile: hand out rows one by one to buckets of sizes that differ by one, larger first.
    std::vector<int64_t> sizes(spec.number);
    for (int64_t i = 0; i < size; ++i) ++sizes[i % spec.number];
    int64_t bucket = 0;
    for (int64_t seen = sizes[0]; seen <= at; seen += sizes[++bucket]) {
    }
    return Value(static_cast<int32_t>(bucket + 1));
  }

  const std::vector<ValueList>& rows_;
  const Order order_;
};

FrameSpec Frame(FrameUnit unit, FrameEdge lower, FrameEdge upper, int64_t lower_rows = 0, int64_t upper_rows = 0) {
  return {{unit, lower, upper}, lower_rows, upper_rows, kLower, kUpper};
}

std::vector<FrameSpec> Frames() {
  std::vector<FrameSpec> frames;
  for (const FrameUnit unit : {FrameUnit::kRows, FrameUnit::kRange}) {
    for (const FrameEdge lower : {FrameEdge::kUnboundedPreceding, FrameEdge::kCurrentRow, FrameEdge::kOffset}) {
      for (const FrameEdge upper : {FrameEdge::kCurrentRow, FrameEdge::kUnboundedFollowing, FrameEdge::kOffset}) {
        frames.push_back(Frame(unit, lower, upper, -2, 1));
      }
    }
  }
  using E = FrameEdge;
  frames.push_back(Frame(FrameUnit::kRows, E::kOffset, E::kOffset, -3, -1));
  frames.push_back(Frame(FrameUnit::kRows, E::kOffset, E::kOffset, 2, 5));
  frames.push_back(Frame(FrameUnit::kRows, E::kOffset, E::kOffset, -2147483647, 2147483647));
  frames.push_back(Frame(FrameUnit::kRows, E::kUnboundedPreceding, E::kOffset, 0, -2));
  frames.push_back(Frame(FrameUnit::kRows, E::kOffset, E::kCurrentRow, 1, 0));  // always empty
  return frames;
}

std::vector<WindowFunctionSpec> EveryFunction() {
  std::vector<WindowFunctionSpec> specs = {Ranking(Kind::kRowNumber),   Ranking(Kind::kRank),     Ranking(Kind::kDenseRank),
                                           Ranking(Kind::kPercentRank), Ranking(Kind::kCumeDist), Ranking(Kind::kNtile, 3),
                                           Ranking(Kind::kNtile, 100)};
  for (const int64_t rows : {-2, -1, 0, 1, 3}) {
    for (const bool ignore : {false, true}) {
      specs.push_back(Ahead(rows, ignore, {-1, DataType::Long(), {}}));
      specs.push_back(Ahead(rows, ignore, {-1, DataType::Long(), Value(int64_t{777})}));
      specs.push_back(Ahead(rows, ignore, {kNumber, DataType::Long(), {}}));
    }
  }
  for (const FrameSpec& frame : Frames()) {
    for (const char* name : {"sum", "count", "min", "avg", "array_agg"}) {
      specs.push_back(Aggregate(name, frame));
      specs.push_back(Aggregate(name, frame, true));
    }
    for (const bool ignore : {false, true}) {
      specs.push_back(Picking(Kind::kFirst, frame, ignore));
      specs.push_back(Picking(Kind::kLast, frame, ignore));
      specs.push_back(Picking(Kind::kNth, frame, ignore, 2));
    }
  }
  return specs;
}

void Check(uint64_t seed, int64_t count, int partitions, const Order& order) {
  SCOPED_TRACE(seed);
  Random random(seed);
  const std::vector<ValueList> rows = RandomRows(random, count, partitions, order);
  std::vector<data::Chunk> chunks;
  for (int64_t at = 0; at < count;) {
    const int64_t size = std::min<int64_t>(count - at, 1 + static_cast<int64_t>(random.NextBelow(40)));
    chunks.push_back(data::ChunkFromRows(Types(), std::vector<ValueList>(rows.begin() + at, rows.begin() + at + size)));
    at += size;
  }
  auto params = std::make_shared<WindowParams>();
  params->types = Types();
  params->kept_columns = kColumns;
  params->partition_columns = {kPartition};
  params->orders = {{kOrder, DataType::Double(), order.ascending, order.nulls_first}};
  params->functions = EveryFunction();
  auto source = testing::Node("Source", {}, 1, [chunks](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<testing::ChunkSource>(chunks);
  });
  const auto window = testing::Node("Window", {{source, Distribution::kSame, {}}}, 1, [params](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<Window>(params);
  });
  const Naive naive(rows, order);
  int64_t at = 0;
  for (const data::Chunk& chunk : testing::RunPlan(testing::Plan(window)).ValueOrDie()) {
    for (int64_t i = 0; i < chunk.num_rows(); ++i, ++at) {
      ASSERT_EQ(chunk.column(kNumber)->GetValue(i).AsInt64(), at);
      for (size_t f = 0; f < params->functions.size(); ++f) {
        ASSERT_EQ(chunk.column(static_cast<int>(kColumns + f))->GetValue(i), naive.Of(params->functions[f], at)) << "function " << f << " row " << at;
      }
    }
  }
  EXPECT_EQ(at, count);
}

TEST(Window, AgreesWithTheDefinition) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Check(seed, 90, 8, {seed % 2 == 0, seed % 3 == 0});
  }
  Check(20, 60, 0, {});
  Check(21, 1, 1, {});
}

/// A window by hand, over chunks; what is pulled, and what it charged.
class Driver {
 public:
  explicit Driver(std::shared_ptr<const WindowParams> params, int64_t limit_bytes = MemoryAccount::kNoLimit)
      : account("query", nullptr, limit_bytes), memory_(account), window_(std::move(params)) {
    context_.config = std::make_shared<const sql::EvalConfig>();
    context_.memory = &memory_;
    EXPECT_TRUE(window_.Open(context_).ok());
    EXPECT_TRUE(window_.BeginEpoch(epoch_).ok());
  }
  using Each = std::function<void(const data::Chunk& chunk)>;
  Status Run(const std::vector<data::Chunk>& chunks, const Each& each) {
    for (const data::Chunk& chunk : chunks) {
      TW_ASSIGN_OR_RETURN(const OperatorState state, window_.Push(0, chunk));
      TW_RETURN_NOT_OK(Drain(state, each));
    }
    TW_ASSIGN_OR_RETURN(const OperatorState state, window_.EndInput(0));
    return Drain(state, each);
  }
  MemoryAccount account;

 private:
  Status Drain(OperatorState state, const Each& each) {
    while (state == OperatorState::kHaveOutput) {
      TW_ASSIGN_OR_RETURN(const std::optional<data::Chunk> out, window_.Pull(&state));
      if (out) each(*out);
    }
    return Status::OK();
  }

  MemoryReservation memory_;
  TaskContext context_;
  sql::EpochContext epoch_;
  Window window_;
};

WindowFunctionSpec OverNumbers(const std::string& name, FrameSpec frame) {
  WindowFunctionSpec spec;
  spec.aggregate = BoundOf(name, kNumber);
  spec.type = spec.aggregate->type;
  spec.arguments = {{1, DataType::Long(), {}}};
  spec.frame = frame;
  return spec;
}

/// Rows of partitions of that length: number of the partition, number of the row.
std::vector<data::Chunk> NumberedRows(int64_t count, int64_t length) {
  std::vector<data::Chunk> chunks;
  for (int64_t at = 0; at < count; at += 1000) {
    std::vector<ValueList> rows;
    for (int64_t row = at; row < std::min(at + 1000, count); ++row) rows.push_back({Value(row / length), Value(row)});
    chunks.push_back(data::ChunkFromRows(std::vector<DataType>{DataType::Long(), DataType::Long()}, rows));
  }
  return chunks;
}

std::shared_ptr<WindowParams> OverNumberedRows(std::vector<WindowFunctionSpec> functions) {
  auto params = std::make_shared<WindowParams>();
  params->types = {DataType::Long(), DataType::Long()};
  params->kept_columns = 2;
  params->partition_columns = {0};
  params->orders = {{1, DataType::Long(), true, true}};
  params->functions = std::move(functions);
  return params;
}

constexpr FrameEdge kFirst = FrameEdge::kUnboundedPreceding, kHere = FrameEdge::kCurrentRow, kLast = FrameEdge::kUnboundedFollowing, kSome = FrameEdge::kOffset;

TEST(Window, AgreesAcrossChunksThatAreComputedApart) {
  // More rows than are held together, in short partitions and in longer ones.
  for (const int64_t length : {7, 100, 5'000, 40'000}) {
    SCOPED_TRACE(length);
    const int64_t count = 50'000;
    WindowFunctionSpec before = Ranking(Kind::kOffset, -2);
    before.type = DataType::Long();
    before.arguments = {{1, DataType::Long(), {}}, {0, DataType::Long(), {}}};
    WindowFunctionSpec last = Ranking(Kind::kLast);
    last.type = DataType::Long();
    last.arguments = {{1, DataType::Long(), {}}};
    last.frame = Frame(FrameUnit::kRows, kHere, kSome, 0, 3);
    const auto params = OverNumberedRows({Ranking(Kind::kRowNumber), before, last, OverNumbers("sum", Frame(FrameUnit::kRange, kFirst, kHere)),
                                          OverNumbers("sum", Frame(FrameUnit::kRows, kFirst, kSome, 0, 20)),
                                          OverNumbers("sum", Frame(FrameUnit::kRows, kFirst, kSome, 0, -1)),
                                          OverNumbers("sum", Frame(FrameUnit::kRows, kFirst, kLast)),
                                          OverNumbers("sum", Frame(FrameUnit::kRows, kSome, kSome, -3, 1)),
                                          OverNumbers("array_agg", Frame(FrameUnit::kRows, kSome, kHere, -1, 0)),
                                          OverNumbers("array_agg", Frame(FrameUnit::kRows, kFirst, length <= 100 ? kHere : kSome, 0, INT32_MIN))});
    const auto list = [](int64_t first, int64_t end) {
      ValueList values;
      for (int64_t i = first; i < end; ++i) values.emplace_back(i);
      return Value(std::move(values));
    };
    int64_t row = 0;
    Driver driver(params);
    const Status status = driver.Run(NumberedRows(count, length), [&](const data::Chunk& out) {
      for (int64_t i = 0; i < out.num_rows(); ++i, ++row) {
        const int64_t first = row / length * length;
        const int64_t end = std::min(count, first + length);
        const bool at_edge = length > 7 && (row - first < 3 || end - row <= 3);
        if (row % 11 != 0 && !at_edge) continue;
        const auto sum = [&](int64_t from, int64_t to) {  // of the rows in [from, to) that the partition has
          from = std::max(from, first);
          to = std::min(to, end);
          return from >= to ? Value() : Value((to * (to - 1) - from * (from - 1)) / 2);
        };
        const auto value = [&](int function) { return out.column(2 + function)->GetValue(i); };
        ASSERT_EQ(value(0).AsInt64(), row - first + 1);
        ASSERT_EQ(value(1), Value(row - 2 < first ? row / length : row - 2));
        ASSERT_EQ(value(2), Value(std::min(row + 3, end - 1)));
        ASSERT_EQ(value(3), sum(first, row + 1));
        ASSERT_EQ(value(4), sum(first, row + 21));
        ASSERT_EQ(value(5), sum(first, row));
        ASSERT_EQ(value(6), sum(first, end));
        ASSERT_EQ(value(7), sum(row - 3, row + 2));
        ASSERT_EQ(value(8), list(std::max(first, row - 1), row + 1));
        ASSERT_EQ(value(9), list(first, length <= 100 ? row + 1 : first));
      }
    });
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(row, count);
    EXPECT_EQ(driver.account.used_bytes(), 0);
    EXPECT_GT(driver.account.peak_bytes(), 0);
  }
}

// The results of all rows together would be 576 and 128 MB.
TEST(Window, HoldsNoMoreResultsThanAPiece) {
  for (const auto& [upper, count] : std::vector<std::pair<FrameEdge, int64_t>>{{kHere, 12'000}, {kLast, 4'000}}) {
    const FrameEdge upper_edge = upper;
    const int64_t rows = count;
    Driver driver(OverNumberedRows({OverNumbers("array_agg", Frame(FrameUnit::kRows, kFirst, upper))}), 24 << 20);
    int64_t row = 0;
    const Status status = driver.Run(NumberedRows(rows, rows), [&](const data::Chunk& out) {
      const auto offsets = out.column(2)->offsets();
      const bool running = upper_edge == kHere;
      for (int64_t i = 0; i < out.num_rows(); ++i, ++row) ASSERT_EQ(offsets[i + 1] - offsets[i], running ? row + 1 : rows);
    });
    ASSERT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(row, rows);
    EXPECT_EQ(driver.account.used_bytes(), 0);
  }
}

/// Every row that is added to it; stops the query at the first.
struct Stopping {
  static Status Update(const sql::BoundAggregate&, std::span<const data::ColumnPtr>, int64_t rows, uint8_t* const*, sql::EvalContext&) {
    if (added == 0) execution->Cancel(Cancelled());
    added += rows;
    return Status::OK();
  }
  static Result<data::ColumnPtr> Finish(const sql::BoundAggregate&, std::span<uint8_t* const> accumulators, sql::EvalContext&) {
    return data::Column::Nulls(DataType::Long(), static_cast<int64_t>(accumulators.size()));
  }
  static inline Execution* execution = nullptr;
  static inline int64_t added = 0;
};

TEST(Window, StopsWithinAStep) {
  static const sql::AggregateKernels kKernels{.size = 8, .update = &Stopping::Update, .finish = &Stopping::Finish};
  struct Case {
    FrameEdge lower, upper;
    int64_t rows;
  };
  for (const auto& [lower, upper, count] : std::vector<Case>{{kHere, kLast, 20'000}, {kFirst, kLast, 300'000}, {kFirst, kHere, 300'000}}) {
    WindowFunctionSpec function = OverNumbers("sum", Frame(FrameUnit::kRows, lower, upper));
    auto bound = std::make_shared<sql::BoundAggregate>(*function.aggregate);
    bound->kernels = &kKernels;
    function.aggregate = bound;
    const auto params = OverNumberedRows({function});
    auto source = testing::Node("Source", {}, 1, [chunks = NumberedRows(count, count)](PartitionId) -> Result<std::unique_ptr<Operator>> {
      return std::make_unique<testing::ChunkSource>(chunks);
    });
    testing::Runner runner(testing::Plan(testing::Node("Window", {{source, Distribution::kSame, {}}}, 1, [params](PartitionId) -> Result<std::unique_ptr<Operator>> {
      return std::make_unique<Window>(params);
    })));
    Stopping::execution = runner.execution.get();
    Stopping::added = 0;
    int64_t rows = 0;
    const auto result = runner.execution->RunEpoch({}, [&](PartitionId, data::Chunk chunk, std::shared_ptr<Signal>*) -> Result<bool> {
      rows += chunk.num_rows();
      return true;
    });
    EXPECT_EQ(result.status().kind(), ErrorKind::kCancelled);
    EXPECT_GT(Stopping::added, 0);
    EXPECT_LE(Stopping::added, 64 << 10);
    EXPECT_EQ(rows, 0);
  }
}

TEST(Window, FailsByNameWhenItsRowsDoNotFit) {
  auto params = std::make_shared<WindowParams>();
  params->types = {DataType::Long()};
  params->kept_columns = 1;
  params->functions = {Ranking(Kind::kRowNumber)};
  MemoryAccount account("query", nullptr, 100'000);
  MemoryReservation memory(account);
  Window window(params);
  TaskContext context;
  context.config = std::make_shared<const sql::EvalConfig>();
  context.memory = &memory;
  ASSERT_TRUE(window.Open(context).ok());
  Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) status = window.Push(0, testing::LongChunk(std::vector<int64_t>(4096, i))).status();
  EXPECT_EQ(status.condition(), "OUT_OF_MEMORY");
}

}  // namespace
}  // namespace thalweg::engine
