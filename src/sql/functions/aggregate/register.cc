#include "sql/functions/aggregate/accumulate.h"

namespace thalweg::sql {

void RegisterAggregate(FunctionLists& lists) {
  RegisterApproxCountDistinct(lists);
  RegisterAverage(lists);
  RegisterCollect(lists);
  RegisterCount(lists);
  RegisterFirstLast(lists);
  RegisterFrequentItems(lists);
  RegisterMinMax(lists);
  RegisterMoments(lists);
  RegisterPercentile(lists);
  RegisterSum(lists);
  RegisterTwoValues(lists);
}

}  // namespace thalweg::sql
