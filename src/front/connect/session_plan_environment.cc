#include "front/connect/session_plan_environment.h"

#include <spark/connect/catalog.pb.h>

#include <algorithm>

#include "base/string_case.h"
#include "front/connect/catalog_calls.h"
#include "sql/parser/parser.h"

namespace thalweg::front {

namespace {

// Formats of files whose schema is found in them.
constexpr std::string_view kInferring[] = {"csv", "json", "orc", "parquet"};

}  // namespace

Result<sql::PlanPtr> SessionPlanEnvironment::ParseSql(const std::string& text, const std::map<std::string, sql::ExprPtr>& named,
                                                      const std::vector<sql::ExprPtr>& positional) {
  return holder_.session().ParseSql(text, named, positional);
}

Result<sql::ExprPtr> SessionPlanEnvironment::ParseExpression(const std::string& text) {
  return sql::ParseExpression(text, holder_.session().parser_options());
}

Result<std::vector<std::string>> SessionPlanEnvironment::ParseName(const std::string& text) {
  return sql::ParseMultipartIdentifier(text);
}

Result<sql::PlanPtr> SessionPlanEnvironment::CachedRemoteRelation(const std::string& id) {
  sql::PlanPtr plan = holder_.FindRelation(id);
  if (plan == nullptr) {
    return Error("CONNECT_INVALID_PLAN.DATAFRAME_NOT_FOUND").With("dfId", id).With("sessionId", holder_.id());
  }
  return sql::WithFreshIds(plan);
}

Result<std::string> SessionPlanEnvironment::CachedBlob(const std::string& hash) {
  std::optional<std::string> blob = holder_.artifacts().Blob(hash);
  if (!blob) return Error("CONNECT_INVALID_PLAN.CANNOT_FIND_CACHED_LOCAL_RELATION").With("hash", hash);
  return std::move(*blob);
}

Result<data::Schema> SessionPlanEnvironment::SchemaOf(const sql::PlanPtr& plan) {
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr analyzed, holder_.session().Analyze(plan, stop_));
  return analyzed->schema();
}

// A schema that was inferred from files belongs to the frame: files that come later do not change it, though every request brings the
// frame's plan anew. What has a schema of its own (tables, topics) is looked at anew.
Result<sql::PlanPtr> SessionPlanEnvironment::SourceOfFrame(const std::string& frame, sql::PlanPtr source) {
  if (holder_.session().GetConfOption("spark.sql.streaming.schemaInference").value_or("false") != "true") return source;
  const std::string& format = source->As<sql::UnresolvedDataSource>()->format;
  if (std::find(std::begin(kInferring), std::end(kInferring), ToAsciiLower(format)) == std::end(kInferring)) return source;
  if (const sql::PlanPtr found = holder_.CachedRows(frame)) return sql::WithFreshIds(found);
  TW_ASSIGN_OR_RETURN(sql::PlanPtr analyzed, holder_.session().Analyze(source, stop_));
  holder_.CacheRows(frame, analyzed);
  return analyzed;
}

Result<sql::PlanPtr> SessionPlanEnvironment::CommandRows(const sql::PlanPtr& command) {
  return holder_.session().CommandRows(command, stop_);
}

sql::PythonPlace SessionPlanEnvironment::python_place() {
  return {holder_.artifacts().PythonPath(), holder_.artifacts().FilesDirectory()};
}

Result<sql::PlanPtr> SessionPlanEnvironment::CatalogCall(const ::spark::connect::Catalog& call) {
  return RunCatalogCall(holder_.session(), call, stop_);
}

}  // namespace thalweg::front
