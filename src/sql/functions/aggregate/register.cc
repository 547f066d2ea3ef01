#include "sql/functions/aggregate/accumulate.h"

namespace thalweg::sql {

void RegisterAggregate(FunctionLists& lists) {
  RegisterAverage(lists);
  RegisterCollect(lists);
  RegisterCount(lists);
  RegisterFirstLast(lists);
  RegisterMinMax(lists);
  RegisterMoments(lists);
  RegisterSum(lists);
}

}  // namespace thalweg::sql
