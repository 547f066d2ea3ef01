#include "sql/plan/eval_python.h"

namespace thalweg::sql {

AttributeList EvalPython::output() const {
  AttributeList output = child()->output();
  output.insert(output.end(), results.begin(), results.end());
  return output;
}

PlanPtr EvalPython::WithProduced(AttributeList columns) const {
  auto copy = std::make_shared<EvalPython>(*this);
  copy->results = std::move(columns);
  return copy;
}

PlanPtr EvalPython::WithExpressions(ExprList e) const {
  auto copy = std::make_shared<EvalPython>(*this);
  copy->udfs = std::move(e);
  return copy;
}

std::string EvalPython::NodeText() const {
  const PythonFunction& first = udfs.front()->As<PythonUdf>()->function();
  const std::string results_text = JoinPlanTexts(ExprList(results.begin(), results.end()));
  const std::string calls = "[" + JoinPlanTexts(udfs) + "], [" + results_text + "]";
  if (!first.arrow()) return "BatchEvalPython " + calls;
  return "ArrowEvalPython " + calls + ", " + std::to_string(static_cast<int32_t>(first.eval_type));
}

}  // namespace thalweg::sql
