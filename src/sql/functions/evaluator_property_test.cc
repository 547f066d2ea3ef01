// Promise: a program answers, for any chunk and selection, what a naive evaluator answers row by row: the same values, and an
// error exactly when a selected row raises one.

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/columnar/random_column.h"
#include "data/text/literal.h"
#include "sql/expr/evaluator.h"
#include "sql/functions/registry.h"

namespace thalweg::sql {
namespace {

using data::TypeKind;
using data::ValueList;

// --- the naive evaluator: one row, boxed values, no kernels ---

struct Naive {
  const AttributeList& input;
  const ValueList& row;

  Result<Value> Of(const ExprPtr& expr) const {
    if (const auto* literal = expr->As<Literal>()) return literal->value();
    if (const auto* attribute = expr->As<Attribute>()) {
      for (size_t i = 0; i < input.size(); ++i) {
        if (input[i]->id() == attribute->id()) return row[i];
      }
    }
    return Call_(*expr->As<Call>());
  }

  Result<Value> Call_(const Call& call) const {
    const std::string& name = call.function_name();
    if (name == "and" || name == "or") return Logic(call, name == "and");
    if (name == "if") return If(call);
    if (name == "when") return When(call);
    if (name == "coalesce") return Coalesce(call);
    if (name == "in") return In(call);
    if (Stops(name)) return NullStops(call);
    ValueList arguments;
    for (const auto& child : call.children()) {
      TW_ASSIGN_OR_RETURN(Value value, Of(child));
      arguments.push_back(std::move(value));
    }
    if (name == "isnull") return Value(arguments[0].is_null());
    if (name == "isnotnull") return Value(!arguments[0].is_null());
    if (name == "<=>") {
      if (arguments[0].is_null() || arguments[1].is_null()) return Value(arguments[0].is_null() && arguments[1].is_null());
      return Value(arguments[0] == arguments[1]);
    }
    for (const Value& argument : arguments) {
      if (argument.is_null()) return Value();
    }
    return Binary(name, arguments);
  }

  static bool Stops(const std::string& name) {
    static constexpr std::string_view kOthers[] = {"and", "or", "if", "when", "coalesce", "in", "isnull", "isnotnull", "<=>", "concat"};
    return std::find(std::begin(kOthers), std::end(kOthers), name) == std::end(kOthers);
  }

  static bool AlwaysNull(const ExprPtr& expr) {
    if (const auto* literal = expr->As<Literal>()) return literal->value().is_null();
    const auto* call = expr->As<Call>();
    return call != nullptr && Stops(call->function_name()) &&
           std::any_of(call->children().begin(), call->children().end(), AlwaysNull);
  }

  /// The first null ends it: what stands to the right is not evaluated. Division begins with the divisor.
  Result<Value> NullStops(const Call& call) const {
    const auto& children = call.children();
    if (std::any_of(children.begin(), children.end(), AlwaysNull)) return Value();
    const std::string& name = call.function_name();
    const bool from_right = name == "%" || name == "div";
    ValueList arguments(children.size());
    for (size_t i = 0; i < children.size(); ++i) {
      const size_t index = from_right ? children.size() - 1 - i : i;
      TW_ASSIGN_OR_RETURN(arguments[index], Of(children[index]));
      if (arguments[index].is_null()) return Value();
    }
    if (name == "not") return Value(!arguments[0].get<bool>());
    return Binary(name, arguments);
  }

  static Result<Value> Binary(const std::string& name, const ValueList& a) {
    if (const auto* text = a[0].get_if<std::string>()) {
      if (name == "concat") return Value(*text + a[1].get<std::string>());
      return Compare(name, text->compare(a[1].get<std::string>()));
    }
    const int64_t x = a[0].AsInt64();
    const int64_t y = a[1].AsInt64();
    int64_t result = 0;
    if (name == "+" || name == "-" || name == "*") {
      const bool bad = name == "+"   ? __builtin_add_overflow(x, y, &result)
                       : name == "-" ? __builtin_sub_overflow(x, y, &result)
                                     : __builtin_mul_overflow(x, y, &result);
      if (bad) return Error("ARITHMETIC_OVERFLOW");
      return Value(result);
    }
    if (name == "%" || name == "div") {
      if (y == 0) return Error(name == "%" ? "REMAINDER_BY_ZERO" : "DIVIDE_BY_ZERO");
      if (y == -1 && x == std::numeric_limits<int64_t>::min()) {
        if (name == "%") return Value(int64_t{0});
        return Error("ARITHMETIC_OVERFLOW");
      }
      return Value(name == "%" ? x % y : x / y);
    }
    return Compare(name, x < y ? -1 : (x > y ? 1 : 0));
  }

  static Result<Value> Compare(const std::string& name, int order) {
    if (name == "==") return Value(order == 0);
    if (name == "!=") return Value(order != 0);
    if (name == "<") return Value(order < 0);
    if (name == "<=") return Value(order <= 0);
    if (name == ">") return Value(order > 0);
    return Value(order >= 0);
  }

  Result<Value> Logic(const Call& call, bool is_and) const {
    TW_ASSIGN_OR_RETURN(const Value left, Of(call.child(0)));
    if (!left.is_null() && left.get<bool>() != is_and) return left;
    TW_ASSIGN_OR_RETURN(const Value right, Of(call.child(1)));
    if (!right.is_null() && right.get<bool>() != is_and) return right;
    if (left.is_null() || right.is_null()) return Value();
    return Value(is_and);
  }

  Result<Value> If(const Call& call) const {
    TW_ASSIGN_OR_RETURN(const Value condition, Of(call.child(0)));
    return Of(call.child(!condition.is_null() && condition.get<bool>() ? 1 : 2));
  }

  Result<Value> When(const Call& call) const {
    const auto& children = call.children();
    for (size_t i = 0; i + 1 < children.size(); i += 2) {
      TW_ASSIGN_OR_RETURN(const Value condition, Of(children[i]));
      if (!condition.is_null() && condition.get<bool>()) return Of(children[i + 1]);
    }
    if (children.size() % 2 == 1) return Of(children.back());
    return Value();
  }

  Result<Value> Coalesce(const Call& call) const {
    for (const auto& child : call.children()) {
      TW_ASSIGN_OR_RETURN(Value value, Of(child));
      if (!value.is_null()) return value;
    }
    return Value();
  }

  Result<Value> In(const Call& call) const {
    TW_ASSIGN_OR_RETURN(const Value value, Of(call.child(0)));
    if (value.is_null()) return Value();
    bool null = false;
    for (size_t i = 1; i < call.children().size(); ++i) {
      TW_ASSIGN_OR_RETURN(const Value item, Of(call.child(i)));
      if (item.is_null()) {
        null = true;
      } else if (item == value) {
        return Value(true);
      }
    }
    return null ? Value() : Value(false);
  }
};

// --- random trees ---

class TreeMaker {
 public:
  TreeMaker(Random& random, const AttributeList& input, const BindContext& context)
      : random_(random), input_(input), context_(context) {}

  ExprPtr Make(TypeKind kind, int depth) {
    if (depth == 0 || random_.NextBool(0.15)) return Leaf(kind);
    if (random_.NextBool(0.3)) return Conditional(kind, depth);
    switch (kind) {
      case TypeKind::kLong: {
        static constexpr std::string_view kOps[] = {"+", "-", "*", "%", "div"};
        return Bind(kOps[random_.NextBelow(5)], {Make(kind, depth - 1), Make(kind, depth - 1)});
      }
      case TypeKind::kString: return Bind("concat", {Make(kind, depth - 1), Make(kind, depth - 1)});
      default: return Boolean(depth);
    }
  }

 private:
  ExprPtr Bind(std::string_view name, ExprList arguments) {
    return BindBuiltin(name, std::move(arguments), context_).ValueOrDie();
  }

  static DataType TypeOf(TypeKind kind) {
    if (kind == TypeKind::kLong) return DataType::Long();
    return kind == TypeKind::kString ? DataType::String() : DataType::Boolean();
  }

  ExprPtr Leaf(TypeKind kind) {
    if (random_.NextBool(0.7)) {
      std::vector<ExprPtr> fitting;
      for (const auto& attribute : input_) {
        if (attribute->type().Is(kind)) fitting.push_back(attribute);
      }
      return fitting[random_.NextBelow(fitting.size())];
    }
    if (random_.NextBool(0.15)) return Literal::Null(TypeOf(kind));
    if (kind == TypeKind::kLong) return Literal::Long(static_cast<int64_t>(random_.NextBelow(7)) - 3);
    if (kind == TypeKind::kString) return Literal::String(random_.NextBool() ? "a" : "a text longer than inline ones");
    return Literal::Boolean(random_.NextBool());
  }

  ExprPtr Conditional(TypeKind kind, int depth) {
    const auto part = [&] { return Make(kind, depth - 1); };
    const auto condition = [&] { return Make(TypeKind::kBoolean, depth - 1); };
    switch (random_.NextBelow(4)) {
      case 0: return Bind("if", {condition(), part(), part()});
      case 1: return Bind("coalesce", {part(), part(), part()});
      case 2: return Bind("when", {condition(), part(), condition(), part()});
      default: return Bind("when", {condition(), part(), condition(), part(), part()});
    }
  }

  ExprPtr Boolean(int depth) {
    const TypeKind side = random_.NextBool() ? TypeKind::kLong : TypeKind::kString;
    switch (random_.NextBelow(6)) {
      case 0: return Bind("and", {Make(TypeKind::kBoolean, depth - 1), Make(TypeKind::kBoolean, depth - 1)});
      case 1: return Bind("or", {Make(TypeKind::kBoolean, depth - 1), Make(TypeKind::kBoolean, depth - 1)});
      case 2: return Bind("not", {Make(TypeKind::kBoolean, depth - 1)});
      case 3: return Bind(random_.NextBool() ? "isnull" : "isnotnull", {Make(side, depth - 1)});
      case 4: {
        const int items = 1 + static_cast<int>(random_.NextBelow(3));
        ExprList arguments{Make(side, depth - 1)};
        for (int i = 0; i < items; ++i) arguments.push_back(Make(side, depth - 1));
        return Bind("in", std::move(arguments));
      }
      default: {
        static constexpr std::string_view kOps[] = {"==", "!=", "<", "<=", ">", ">=", "<=>"};
        return Bind(kOps[random_.NextBelow(7)], {Make(side, depth - 1), Make(side, depth - 1)});
      }
    }
  }

  Random& random_;
  const AttributeList& input_;
  BindContext context_;
};

AttributeList Input() {
  return {Attribute::Make("a", DataType::Long(), true), Attribute::Make("b", DataType::Long(), true),
          Attribute::Make("s", DataType::String(), true), Attribute::Make("t", DataType::String(), true),
          Attribute::Make("p", DataType::Boolean(), true), Attribute::Make("q", DataType::Boolean(), true)};
}

/// Few, some or all of the rows; now and then in any order, or with rows that are named twice.
std::shared_ptr<std::vector<int32_t>> RandomSelection(Random& random, int32_t rows) {
  static constexpr double kShares[] = {0.03, 0.4, 1};
  const double share = kShares[random.NextBelow(3)];
  auto selection = std::make_shared<std::vector<int32_t>>();
  for (int32_t row = 0; row < rows; ++row) {
    if (random.NextBool(share)) selection->push_back(row);
  }
  if (random.NextBool(0.4)) {
    for (size_t i = selection->size(); i > 1; --i) std::swap((*selection)[i - 1], (*selection)[random.NextBelow(i)]);
    if (!selection->empty() && random.NextBool(0.3)) selection->push_back(selection->front());
  }
  return selection;
}

data::Chunk RandomChunk(Random& random, const AttributeList& input) {
  static constexpr int64_t kSizes[] = {0, 1, 2, 63, 64, 65, 200};
  const int64_t rows = kSizes[random.NextBelow(7)];
  std::vector<data::ColumnPtr> columns;
  for (const auto& attribute : input) columns.push_back(data::RandomColumn(random, attribute->type(), rows));
  data::Chunk chunk(std::move(columns), rows);
  if (rows > 0 && random.NextBool()) {
    chunk.set_selection(RandomSelection(random, static_cast<int32_t>(rows)));
  }
  return chunk;
}

std::vector<int32_t> SelectedRows(const data::Chunk& chunk) {
  if (chunk.selection()) return *chunk.selection();
  std::vector<int32_t> rows(static_cast<size_t>(chunk.physical_rows()));
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int32_t>(i);
  return rows;
}

/// The naive answers for the selected rows of a chunk.
struct Expected {
  std::vector<ValueList> values;  // per selected row, per expression
  bool fails = false;
};

Expected NaiveAnswers(const ExprList& expressions, const AttributeList& input, const data::Chunk& chunk) {
  Expected expected;
  for (const int32_t row : SelectedRows(chunk)) {
    ValueList values;
    for (const auto& column : chunk.columns()) values.push_back(column->GetValue(row));
    ValueList answers;
    for (const auto& expression : expressions) {
      auto answer = Naive{input, values}.Of(expression);
      if (!answer.ok()) {
        expected.fails = true;
        return expected;
      }
      answers.push_back(*answer);
    }
    expected.values.push_back(std::move(answers));
  }
  return expected;
}

TEST(EvaluatorProperty, ProgramsAnswerAsTheNaiveEvaluator) {
  auto config = std::make_shared<EvalConfig>();
  int failures = 0;
  for (uint64_t seed = 1; seed <= 3000; ++seed) {
    Random random(seed);
    const AttributeList input = Input();
    TreeMaker trees(random, input, BindContext{*config});
    ExprList expressions;
    const int count = 1 + static_cast<int>(random.NextBelow(3));
    static constexpr TypeKind kKinds[] = {TypeKind::kLong, TypeKind::kString, TypeKind::kBoolean};
    for (int i = 0; i < count; ++i) {
      expressions.push_back(trees.Make(kKinds[random.NextBelow(3)], 1 + static_cast<int>(random.NextBelow(4))));
    }
    const auto program = Program::Compile(expressions, input, config).ValueOrDie();
    for (int round = 0; round < 3; ++round) {
      const data::Chunk chunk = RandomChunk(random, input);
      const Expected expected = NaiveAnswers(expressions, input, chunk);
      EvalContext context;
      context.config = config.get();
      auto result = program->Run(chunk, context);
      ASSERT_EQ(result.ok(), !expected.fails) << "seed " << seed << ": " << result.status().message() << "\n"
                                              << expressions[0]->PlanText();
      if (expected.fails) {
        ++failures;
        continue;
      }
      const std::vector<int32_t> rows = SelectedRows(chunk);
      for (size_t i = 0; i < rows.size(); ++i) {
        for (size_t e = 0; e < expressions.size(); ++e) {
          const Value actual = result->column(static_cast<int>(e))->GetValue(rows[i]);
          ASSERT_TRUE(actual == expected.values[i][e])
              << "seed " << seed << " row " << rows[i] << ": " << expressions[e]->PlanText() << "\n  got "
              << data::ValueText(actual, expressions[e]->type()) << ", want "
              << data::ValueText(expected.values[i][e], expressions[e]->type());
        }
      }
    }
  }
  EXPECT_GT(failures, 100);  // errors were met, too
}

TEST(EvaluatorProperty, FilterKeepsTheRowsThatAreTrue) {
  auto config = std::make_shared<EvalConfig>();
  for (uint64_t seed = 1; seed <= 1000; ++seed) {
    Random random(seed);
    const AttributeList input = Input();
    TreeMaker trees(random, input, BindContext{*config});
    const ExprList condition{trees.Make(TypeKind::kBoolean, 3)};
    const data::Chunk chunk = RandomChunk(random, input);
    const Expected expected = NaiveAnswers(condition, input, chunk);
    EvalContext context;
    auto result = Program::Compile(condition, input, config).ValueOrDie()->Filter(chunk, context);
    ASSERT_EQ(result.ok(), !expected.fails) << "seed " << seed;
    if (expected.fails) continue;
    std::vector<int32_t> kept;
    const std::vector<int32_t> rows = SelectedRows(chunk);
    for (size_t i = 0; i < rows.size(); ++i) {
      const Value& value = expected.values[i][0];
      if (!value.is_null() && value.get<bool>()) kept.push_back(rows[i]);
    }
    ASSERT_EQ(SelectedRows(*result), kept) << "seed " << seed << ": " << condition[0]->PlanText();
  }
}

TEST(Evaluator, CommonSubexpressionsAreComputedOnceAndErrorsCarryTheirContext) {
  auto config = std::make_shared<EvalConfig>();
  const AttributeList input = Input();
  QueryContext place;
  place.fragment = "a div b";
  ExprPtr quotient = BindBuiltin("div", {input[0], input[1]}, BindContext{*config}).ValueOrDie();
  quotient = quotient->WithOrigin(std::make_shared<QueryContext>(place));
  const auto program = Program::Compile({quotient}, input, config).ValueOrDie();
  const data::Chunk chunk = data::ChunkFromRows(
      {DataType::Long(), DataType::Long(), DataType::String(), DataType::String(), DataType::Boolean(), DataType::Boolean()},
      {{Value(int64_t{1}), Value(int64_t{0}), Value(), Value(), Value(), Value()}});
  EvalContext context;
  const auto result = program->Run(chunk, context);
  ASSERT_EQ(result.status().condition(), "DIVIDE_BY_ZERO");
  ASSERT_EQ(result.status().query_context().size(), 1u);
  EXPECT_EQ(result.status().query_context()[0].fragment, "a div b");
}

TEST(Evaluator, RowsWithPatternsOfTheirOwnKeepEmptyPieces) {
  auto config = std::make_shared<EvalConfig>();
  const AttributeList input{Attribute::Make("s", DataType::String(), true), Attribute::Make("p", DataType::String(), true)};
  const ExprPtr split = BindBuiltin("split", {input[0], input[1]}, BindContext{*config}).ValueOrDie();
  const ExprPtr text = Cast::Make(split, DataType::String(), EvalMode::kAnsi);
  const auto program = Program::Compile({text}, input, config).ValueOrDie();
  const auto cell = [](const char* value) { return Value(std::string(value)); };
  const data::Chunk chunk = data::ChunkFromRows(
      {DataType::String(), DataType::String()},
      {{cell("oneAtwoBthreeC"), cell("[ABC]")}, {cell("1A2B3C"), cell("[1-9]+")}, {cell("aa2bb3cc4"), cell("[1-9]+")}});
  EvalContext context;
  const auto result = program->Run(chunk, context).ValueOrDie();
  EXPECT_EQ(result.column(0)->GetValue(0).get<std::string>(), "[one, two, three, ]");
  EXPECT_EQ(result.column(0)->GetValue(1).get<std::string>(), "[, A, B, C]");
  EXPECT_EQ(result.column(0)->GetValue(2).get<std::string>(), "[aa, bb, cc, ]");
}

TEST(Evaluator, ErrorsBehindANullAreNone) {
  auto config = std::make_shared<EvalConfig>();
  const BindContext bind{*config};
  const AttributeList input = Input();
  const ExprPtr one = Literal::Long(1);
  const ExprPtr quotient = BindBuiltin("div", {one, input[1]}, bind).ValueOrDie();
  const std::vector<DataType> types = {DataType::Long(),   DataType::Long(),    DataType::String(),
                                       DataType::String(), DataType::Boolean(), DataType::Boolean()};
  const auto chunk = [&](Value a, int64_t b) {
    // The second row makes sure that the column has other rows, too.
    return data::ChunkFromRows(types, {{std::move(a), Value(b), Value(), Value(), Value(), Value()},
                                       {Value(int64_t{5}), Value(int64_t{1}), Value(), Value(), Value(), Value()}});
  };
  const auto run = [&](const ExprPtr& expr, const data::Chunk& rows) -> std::string {
    const auto program = Program::Compile({expr}, input, config).ValueOrDie();
    EvalContext context;
    const auto result = program->Run(rows, context);
    if (!result.ok()) return result.status().condition();
    const Value value = result->column(0)->GetValue(0);
    return value.is_null() ? "null" : value.get_if<bool>() ? "boolean" : std::to_string(value.AsInt64());
  };
  const ExprPtr sum = BindBuiltin("+", {input[0], quotient}, bind).ValueOrDie();
  EXPECT_EQ(run(sum, chunk(Value(), 0)), "null");
  EXPECT_EQ(run(sum, chunk(Value(int64_t{1}), 0)), "DIVIDE_BY_ZERO");
  EXPECT_EQ(run(sum, chunk(Value(int64_t{1}), 1)), "2");
  EXPECT_EQ(run(BindBuiltin("<", {input[0], quotient}, bind).ValueOrDie(), chunk(Value(), 0)), "null");
  // The operand on the left comes first, but a divisor before what it divides.
  EXPECT_EQ(run(BindBuiltin("+", {quotient, input[0]}, bind).ValueOrDie(), chunk(Value(), 0)), "DIVIDE_BY_ZERO");
  EXPECT_EQ(run(BindBuiltin("%", {quotient, input[0]}, bind).ValueOrDie(), chunk(Value(), 0)), "null");
  EXPECT_EQ(run(BindBuiltin("%", {input[0], quotient}, bind).ValueOrDie(), chunk(Value(), 0)), "DIVIDE_BY_ZERO");
  // A null in the text of the query needs nothing else.
  EXPECT_EQ(run(BindBuiltin("+", {quotient, Literal::Null(DataType::Long())}, bind).ValueOrDie(), chunk(Value(), 0)), "null");
  const ExprPtr zero = BindBuiltin("div", {one, Literal::Long(0)}, bind).ValueOrDie();
  EXPECT_TRUE(EvaluateConstant(BindBuiltin("+", {Literal::Null(DataType::Long()), zero}, bind).ValueOrDie(), *config)->is_null());
}

TEST(Evaluator, TimeOfTheEpochIsReadNotFolded) {
  auto config = std::make_shared<EvalConfig>();
  const ExprPtr now = BindBuiltin("current_timestamp", {}, BindContext{*config}).ValueOrDie();
  const auto program = Program::Compile({now}, {}, config).ValueOrDie();
  for (const int64_t micros : {int64_t{5}, int64_t{1577836800000000}}) {
    EpochContext epoch;
    epoch.batch_timestamp_us = micros;
    EvalContext context;
    context.epoch = &epoch;
    const auto result = program->Run(data::Chunk({}, 3), context).ValueOrDie();
    EXPECT_EQ(result.column(0)->GetValue(2).get<int64_t>(), micros);
  }
}

}  // namespace
}  // namespace thalweg::sql
