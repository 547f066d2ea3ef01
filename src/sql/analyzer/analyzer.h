#pragma once

// Contract: unresolved to resolved plans: names, types, coercion, and what streaming allows.

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "sql/expr/function.h"
#include "sql/expr/python_udf.h"
#include "sql/plan/commands.h"
#include "sql/plan/logical_plan.h"

namespace thalweg::sql {

/// What the analyzer asks of the session. Implemented by front/session; tests have their own.
class AnalyzerEnvironment {
 public:
  virtual ~AnalyzerEnvironment() = default;
  virtual std::shared_ptr<const EvalConfig> config() const = 0;
  virtual const FunctionRegistry& functions() const = 0;
  /// A temp view, catalogue table or view, or format.`path`; the answer is resolved (a SubqueryAlias over a Relation or the
  /// view's plan) with fresh ids. Errors: TABLE_OR_VIEW_NOT_FOUND with the name as written.
  virtual Result<PlanPtr> ResolveRelation(const UnresolvedRelation& relation) = 0;
  /// spark.read.format(...).load(...): checks options, infers schemas.
  virtual Result<TablePtr> LoadDataSource(const UnresolvedDataSource& source) = 0;
  /// A function that the session has registered (spark.udf.register), by its name without case; null when there is none.
  virtual PythonFunctionPtr FindPythonFunction(const std::string& /*name*/) { return nullptr; }
  /// Runs a resolved batch query now (the eager runner), where resolving needs rows: pivot without values, transpose. Blocks.
  /// Errors: those of the query; UNSUPPORTED_FEATURE.THALWEG where nothing can run.
  virtual Result<std::vector<data::Chunk>> RunEagerly(const PlanPtr& resolved);
  /// A setting of the session; nullopt: its default.
  virtual std::optional<std::string> Setting(const std::string& key);
};

/// Resolves a whole plan. For a Command, resolves the plans inside it where they must be. Errors carry Spark's condition,
/// SQLSTATE and query context (UNRESOLVED_COLUMN.WITH_SUGGESTION, DATATYPE_MISMATCH.*, MISSING_AGGREGATION, ...).
Result<PlanPtr> Analyze(const PlanPtr& plan, AnalyzerEnvironment& environment);

/// Resolves one expression against attributes (generated columns, merge conditions, tests).
Result<ExprPtr> AnalyzeExpression(const ExprPtr& expression, const AttributeList& input, AnalyzerEnvironment& environment);

/// Spark's UnsupportedOperationChecker for a streaming query with this output mode. `plan` is resolved.
Status CheckStreamingSupported(const PlanPtr& plan, OutputMode mode);
/// The same for a batch query: streaming leaves are refused ("Queries with streaming sources must be executed with
/// writeStream.start()").
Status CheckBatchSupported(const PlanPtr& plan);

}  // namespace thalweg::sql
