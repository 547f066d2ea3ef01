#pragma once

// What converting a client's plan asks of its session.

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "data/types/data_type.h"
#include "sql/expr/expression.h"
#include "sql/plan/logical_plan.h"

namespace spark::connect {
class Catalog;
}

namespace thalweg::sql {

/// Where the files of a session are that its Python functions may import or open.
struct PythonPlace {
  std::vector<std::string> python_path;
  std::string files_directory = "/";
};

/// Implemented by front/connect over a session; tests have their own. Thread: confined to one conversion.
class PlanEnvironment {
 public:
  virtual ~PlanEnvironment() = default;
  /// A statement with its parameters, unresolved. Errors: the parser's.
  virtual Result<PlanPtr> ParseSql(const std::string& text, const std::map<std::string, ExprPtr>& named,
                                   const std::vector<ExprPtr>& positional) = 0;
  virtual Result<ExprPtr> ParseExpression(const std::string& text) = 0;
  /// A dotted name with back-tick quoting.
  virtual Result<std::vector<std::string>> ParseName(const std::string& text) = 0;
  /// The plan behind a relation id (foreachBatch, checkpoint). Errors: CONNECT_INVALID_PLAN.DATAFRAME_NOT_FOUND.
  virtual Result<PlanPtr> CachedRemoteRelation(const std::string& id) = 0;
  /// The bytes of the artifact cache/<hash>. Errors: CONNECT_INVALID_PLAN.CANNOT_FIND_CACHED_LOCAL_RELATION.
  virtual Result<std::string> CachedBlob(const std::string& hash) = 0;
  /// The schema of an unresolved plan; for relations whose shape depends on it (fillna, dropna, describe).
  virtual Result<data::Schema> SchemaOf(const PlanPtr& plan) = 0;
  /// A streaming source without a schema of the user's, in a frame that its client made (`frame`: the message, with the client's id of
  /// it): as it was found first, or as it is.
  virtual Result<PlanPtr> SourceOfFrame(const std::string& frame, PlanPtr source) {
    (void)frame;
    return source;
  }
  /// Runs a Command now and answers its rows.
  virtual Result<PlanPtr> CommandRows(const PlanPtr& command) = 0;
  /// A call of spark.catalog: runs it now and answers its rows. Source: spark/connect/catalog.proto.
  virtual Result<PlanPtr> CatalogCall(const ::spark::connect::Catalog& call) = 0;
  virtual PythonPlace python_place() { return {}; }
};

}  // namespace thalweg::sql
