#include "sql/functions/collection/element_set.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "data/columnar/random_column.h"

namespace thalweg::sql {
namespace {

// Against comparing each with each: few elements and many, of types that have a hash and of one that has none.
TEST(ElementSet, TakesEachValueOnce) {
  Random random(11);
  const DataType types[] = {DataType::Long(), DataType::Double(), DataType::String(), DataType::Boolean(),
                            DataType::Struct({{.name = "a", .type = DataType::Integer()}, {.name = "b", .type = DataType::String()}})};
  for (int round = 0; round < 60; ++round) {
    const DataType& type = types[round % 5];
    const ColumnPtr once = data::RandomColumn(random, type, 40, 0.1, data::Encoding::kFlat);
    std::vector<int32_t> picks;
    for (int i = 0; i < 200; ++i) picks.push_back(static_cast<int32_t>(random.NextBelow(40)));
    const ColumnPtr column = data::Take(once, picks);
    ElementSet set(column);
    for (const int32_t count : {5, 200, 12}) {
      set.Clear();
      std::vector<int32_t> kept;
      for (int32_t i = 0; i < count; ++i) {
        bool known = false;
        for (const int32_t k : kept) {
          known = known || (column->IsNull(i) || column->IsNull(k) ? column->IsNull(i) && column->IsNull(k)
                                                                  : CompareRows(*column, i, *column, k) == 0);
        }
        EXPECT_EQ(set.Contains(i), known);
        EXPECT_EQ(set.Insert(i), !known);
        if (!known) kept.push_back(i);
      }
    }
  }
}

}  // namespace
}  // namespace thalweg::sql
