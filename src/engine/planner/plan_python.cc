// Nodes that call Python functions.

#include <set>

#include "engine/exec/operators/eval_python.h"
#include "engine/planner/plan_context.h"
#include "engine/pyworker/pyworker_settings.h"
#include "engine/pyworker/session_python.h"
#include "sql/plan/eval_python.h"

namespace thalweg::engine {
namespace {

constexpr const char* kSafely = "spark.sql.execution.pandas.convertToArrowArraySafely";

/// Settings that pyspark's workers ask for, when the session has them.
constexpr const char* kWorkerKeys[] = {
    "spark.sql.execution.arrow.maxBytesPerBatch",
    "spark.sql.execution.arrow.maxRecordsPerBatch",
    "spark.sql.execution.arrow.useLargeVarTypes",
    kSafely,
    "spark.sql.execution.pyspark.binaryAsBytes",
    "spark.sql.execution.pythonUDF.arrow.concurrency.level",
    "spark.sql.execution.pythonUDF.pandas.intToDecimalCoercionEnabled",
    "spark.sql.execution.pythonUDF.pandas.preferIntExtensionDtype",
    "spark.sql.legacy.execution.pythonUDF.pandas.conversion.enabled",
};

/// One chain as the worker applies it; its arguments become columns that are sent once each.
UdfCall CallOf(const sql::ExprPtr& expr, sql::ExprList* columns) {
  UdfCall call;
  const auto* udf = expr->As<sql::PythonUdf>();
  call.commands.push_back(udf->function().command);
  while (udf->children().size() == 1 && udf->child()->kind() == sql::ExprKind::kPythonUdf) {
    udf = udf->child()->As<sql::PythonUdf>();
    call.commands.insert(call.commands.begin(), udf->function().command);
  }
  for (size_t i = 0; i < udf->children().size(); ++i) {
    const sql::ExprPtr& argument = udf->child(i);
    size_t at = 0;
    while (at < columns->size() && !(argument->deterministic() && (*columns)[at]->Equals(*argument))) ++at;
    if (at == columns->size()) columns->push_back(argument);
    UdfArgument sent{static_cast<int32_t>(at), std::nullopt};
    if (!udf->keywords()[i].empty()) sent.keyword = udf->keywords()[i];
    call.arguments.push_back(std::move(sent));
  }
  return call;
}

Result<std::shared_ptr<const UdfParams>> ParamsOf(const PlanContext& context, const sql::EvalPython& eval, sql::ExprList* columns) {
  const SessionPython* session = context.python.get();
  const sql::PythonFunction& function = eval.udfs.front()->As<sql::PythonUdf>()->function();
  if (session == nullptr || session->workers == nullptr) return Unsupported("Python functions in this program (" + function.name + ")");
  auto params = std::make_shared<UdfParams>();
  params->workers = session->workers;
  params->request.owner = session->owner;
  params->request.python_version = function.python_version;
  params->request.settings = session->settings;
  params->request.python_path = function.python_path;
  const auto says = [&](const char* key, bool default_value) {
    const std::string* value = session->settings.Find(key);
    return value != nullptr ? *value == "true" : default_value;
  };
  if (says("spark.sql.execution.pyspark.udf.simplifiedTraceback.enabled", true)) {
    params->request.environment["SPARK_SIMPLIFIED_TRACEBACK"] = "1";
  }
  if (says("spark.sql.execution.pyspark.udf.hideTraceback.enabled", false)) params->request.environment["SPARK_HIDE_TRACEBACK"] = "1";
  params->eval_type = static_cast<int32_t>(function.eval_type);
  params->files_directory = function.files_directory;
  params->time_zone = context.config->time_zone;
  params->large_var_types = says("spark.sql.execution.arrow.useLargeVarTypes", false);
  params->pickled_rows = session->settings.Get(kPickledRows);
  const int64_t arrow_rows = session->settings.Get(kArrowRows);
  params->arrow_rows = arrow_rows <= 0 ? INT32_MAX : arrow_rows;
  for (const char* key : kWorkerKeys) {
    if (const std::string* value = session->settings.Find(key)) params->runner_conf.emplace_back(key, *value);
  }
  // Spark's default; a worker's own is not to check.
  if (session->settings.Find(kSafely) == nullptr) params->runner_conf.emplace_back(kSafely, "true");
  for (const sql::ExprPtr& udf : eval.udfs) params->calls.push_back(CallOf(udf, columns));
  for (const sql::ExprPtr& column : *columns) params->arguments.push_back(column->type());
  for (const sql::AttributePtr& result : eval.results) params->results.push_back(result->type());
  return std::shared_ptr<const UdfParams>(std::move(params));
}

}  // namespace

Result<PhysicalNodePtr> NewEvalPython(PlanContext& context, const sql::PlanPtr& node, const std::function<bool(ExprId)>& wanted) {
  const auto& eval = static_cast<const sql::EvalPython&>(*node);
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(node->child()));
  auto params = std::make_shared<EvalPythonParams>();
  sql::ExprList columns;
  TW_ASSIGN_OR_RETURN(params->udfs, ParamsOf(context, eval, &columns));
  if (!columns.empty()) {
    TW_ASSIGN_OR_RETURN(params->arguments, context.Compile(columns, input->output));
  }
  sql::AttributeList output;
  for (size_t i = 0; i < input->output.size(); ++i) {
    if (!wanted(input->output[i]->id())) continue;
    params->carried.push_back(static_cast<int>(i));
    output.push_back(input->output[i]);
  }
  output.insert(output.end(), eval.results.begin(), eval.results.end());
  const char* const name = params->udfs->eval_type == 100 ? "BatchEvalPython" : "ArrowEvalPython";
  auto physical = NewMapNode(name, node->NodeText(), std::move(input), std::move(output),
                             [params = std::shared_ptr<const EvalPythonParams>(std::move(params))](
                                 PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<EvalPython>(params); });
  physical->varies = true;  // who knows what a function does
  // It may answer otherwise for a row that is taken back than it did for the row.
  return PhysicalNodePtr(PassingChanges(std::move(physical), sql::ChangelogMode::kUpsert));
}

Result<PhysicalNodePtr> PlanEvalPython(PlanContext& context, const sql::PlanPtr& node) {
  return NewEvalPython(context, node, [](ExprId) { return true; });
}

}  // namespace thalweg::engine
