// Text of another collation than bytes: no function answers as if it were bytes.

#include <gtest/gtest.h>

#include "sql/expr/binding.h"
#include "sql/functions/registry.h"

namespace thalweg::sql {
namespace {

constexpr char kRefused[] = "UNSUPPORTED_FEATURE.THALWEG";

ExprPtr Column(const DataType& type) { return Attribute::Make("c", type, true); }

// A column's collation wins over the one of a literal, which says nothing: Spark compares without case here.
TEST(CollatedText, IsNotComparedAsBytes) {
  const DataType folded = DataType::String("UTF8_LCASE");
  for (const bool ansi : {true, false}) {
    EvalConfig config;
    config.ansi = ansi;
    const BindContext context{config};
    for (const char* name : {"==", "<", "<=>", "in", "contains", "greatest", "nullif"}) {
      EXPECT_EQ(BindBuiltin(name, {Column(folded), Literal::String("ABC")}, context).status().condition(), kRefused) << name;
      EXPECT_EQ(BindBuiltin(name, {Literal::String("ABC"), Column(folded)}, context).status().condition(), kRefused) << name;
    }
    EXPECT_EQ(BindBuiltin("array_distinct", {Column(DataType::Array(folded))}, context).status().condition(), kRefused);
    EXPECT_TRUE(BindBuiltin("==", {Column(DataType::String()), Literal::String("ABC")}, context).ok());
    EXPECT_EQ(BindBuiltin("coalesce", {Column(folded), Literal::String("ABC")}, context).ValueOrDie()->type(), folded);
    const AggregateFunction* least = BuiltinFunctions().FindAggregate("min");
    EXPECT_EQ(BindAggregate(*least, {Column(folded)}, false, nullptr, context).status().condition(), kRefused);
  }
}

}  // namespace
}  // namespace thalweg::sql
