#include <spark/connect/base.pb.h>

#include <map>

#include "front/connect/execute_plan.h"
#include "front/connect/unary_calls.h"
#include "sql/protocol/plan_proto.h"
#include "sql/protocol/protocol_errors.h"
#include "sql/protocol/type_proto.h"

namespace thalweg::front {

namespace {

namespace pb = ::spark::connect;
using Request = pb::AnalyzePlanRequest;

constexpr const char* kSparkVersion = "4.2.0";

Result<sql::PlanPtr> ReadRoot(SessionHolder& holder, const pb::Plan& message, const std::stop_token& stop) {
  if (message.has_root()) return ReadRelation(holder, message.root(), stop);
  pb::Plan plan = message;
  TW_RETURN_NOT_OK(sql::DecompressPlan(MaxPlanBytes(holder), &plan));
  if (plan.has_root()) return ReadRelation(holder, plan.root(), stop);
  return sql::OneOfNotSet(plan.GetTypeName(), "OPTYPE_NOT_SET");
}

Result<sql::PlanPtr> AnalyzeRoot(SessionHolder& holder, const pb::Plan& message, const std::stop_token& stop) {
  TW_ASSIGN_OR_RETURN(sql::PlanPtr plan, ReadRoot(holder, message, stop));
  if (plan->kind() == sql::PlanKind::kCommand) return plan;
  return holder.session().Analyze(plan, stop);
}

Result<std::string> ModeText(Request::Explain::ExplainMode mode) {
  switch (mode) {
    case Request::Explain::EXPLAIN_MODE_SIMPLE: return std::string("simple");
    case Request::Explain::EXPLAIN_MODE_EXTENDED: return std::string("extended");
    case Request::Explain::EXPLAIN_MODE_CODEGEN: return std::string("codegen");
    case Request::Explain::EXPLAIN_MODE_COST: return std::string("cost");
    case Request::Explain::EXPLAIN_MODE_FORMATTED: return std::string("formatted");
    default: return sql::InvalidEnum("spark.connect.AnalyzePlanRequest.Explain.ExplainMode", mode);
  }
}

Result<data::DataType> ParseDdl(const std::string& text) {
  Result<data::Schema> schema = data::ParseSchemaDdl(text);
  if (schema.ok()) return data::DataType::Struct(std::move(*schema));
  Result<data::DataType> type = data::ParseTypeDdl(text);
  if (type.ok()) return type;
  Result<data::DataType> wrapped = data::ParseTypeDdl("struct<" + text + ">");
  if (wrapped.ok()) return wrapped;
  return schema.status();
}

// Text that is equal for plans which differ only in ids and names of columns: "age#12L" becomes "#0L", the first id seen.
std::string CanonicalText(const sql::PlanPtr& plan) {
  const std::string text = plan->TreeText();
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const auto in_word = [&](char c) { return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  std::map<std::string, size_t> ordinals;
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '#') {
      out += text[i];
      continue;
    }
    while (!out.empty() && in_word(out.back())) out.pop_back();
    size_t end = i + 1;
    while (end < text.size() && is_digit(text[end])) ++end;
    const size_t ordinal = ordinals.emplace(text.substr(i + 1, end - i - 1), ordinals.size()).first->second;
    out += '#' + std::to_string(ordinal);
    i = end - 1;
  }
  return out;
}

Result<std::vector<std::string>> InputFiles(Session& session, const sql::PlanPtr& plan) {
  std::vector<std::string> files;
  Status status;
  sql::Visit(plan, [&](const sql::PlanPtr& node) {
    const auto* relation = node->As<sql::Relation>();
    if (relation == nullptr || relation->streaming || !status.ok()) return true;
    sql::ScanRequest request;
    Result<std::unique_ptr<sql::Scan>> scan = relation->table->NewScan(request, session.eval_config());
    if (!scan.ok()) {
      status = scan.status();
      return false;
    }
    for (std::string& file : (*scan)->InputFiles()) files.push_back(std::move(file));
    return true;
  });
  TW_RETURN_NOT_OK(status);
  return files;
}

void SetNoStorage(pb::StorageLevel* level) { level->set_replication(1); }

}  // namespace

Status AnswerAnalyze(SessionHolder& holder, const Request& request, pb::AnalyzePlanResponse* response, const std::stop_token& stop) {
  Session& session = holder.session();
  switch (request.analyze_case()) {
    case Request::kSchema: {
      TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, AnalyzeRoot(holder, request.schema().plan(), stop));
      sql::SchemaToProto(plan->schema(), response->mutable_schema()->mutable_schema());
      return Status::OK();
    }
    case Request::kExplain: {
      TW_ASSIGN_OR_RETURN(const std::string mode, ModeText(request.explain().explain_mode()));
      TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, ReadRoot(holder, request.explain().plan(), stop));
      TW_ASSIGN_OR_RETURN(*response->mutable_explain()->mutable_explain_string(), session.Explain(plan, mode, stop));
      return Status::OK();
    }
    case Request::kTreeString: {
      TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, AnalyzeRoot(holder, request.tree_string().plan(), stop));
      const int level = request.tree_string().has_level() ? request.tree_string().level() : 0;
      response->mutable_tree_string()->set_tree_string(data::SchemaTree(plan->schema(), level));
      return Status::OK();
    }
    case Request::kIsLocal: {
      TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, AnalyzeRoot(holder, request.is_local().plan(), stop));
      response->mutable_is_local()->set_is_local(plan->kind() == sql::PlanKind::kLocalRelation ||
                                                 plan->kind() == sql::PlanKind::kCommand);
      return Status::OK();
    }
    case Request::kIsStreaming: {
      TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, AnalyzeRoot(holder, request.is_streaming().plan(), stop));
      response->mutable_is_streaming()->set_is_streaming(plan->is_streaming());
      return Status::OK();
    }
    case Request::kInputFiles: {
      TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, AnalyzeRoot(holder, request.input_files().plan(), stop));
      TW_ASSIGN_OR_RETURN(const std::vector<std::string> files, InputFiles(session, plan));
      response->mutable_input_files();
      for (const std::string& file : files) response->mutable_input_files()->add_files(file);
      return Status::OK();
    }
    case Request::kSparkVersion: response->mutable_spark_version()->set_version(kSparkVersion); return Status::OK();
    case Request::kDdlParse: {
      TW_ASSIGN_OR_RETURN(const data::DataType type, ParseDdl(request.ddl_parse().ddl_string()));
      sql::TypeToProto(type, response->mutable_ddl_parse()->mutable_parsed());
      return Status::OK();
    }
    case Request::kJsonToDdl: {
      TW_ASSIGN_OR_RETURN(const data::DataType type, data::ParseTypeJson(request.json_to_ddl().json_string()));
      if (!type.Is(data::TypeKind::kStruct)) return sql::InvalidPlan("Only the JSON of a struct can be turned into DDL.");
      response->mutable_json_to_ddl()->set_ddl_string(data::SchemaDdl(type.fields()));
      return Status::OK();
    }
    case Request::kSameSemantics: {
      TW_ASSIGN_OR_RETURN(const sql::PlanPtr target, AnalyzeRoot(holder, request.same_semantics().target_plan(), stop));
      TW_ASSIGN_OR_RETURN(const sql::PlanPtr other, AnalyzeRoot(holder, request.same_semantics().other_plan(), stop));
      response->mutable_same_semantics()->set_result(CanonicalText(target) == CanonicalText(other));
      return Status::OK();
    }
    case Request::kSemanticHash: {
      TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, AnalyzeRoot(holder, request.semantic_hash().plan(), stop));
      response->mutable_semantic_hash()->set_result(static_cast<int32_t>(std::hash<std::string>{}(CanonicalText(plan))));
      return Status::OK();
    }
    // Nothing is kept between queries, so a persisted frame is only checked.
    case Request::kPersist: {
      TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, ReadRelation(holder, request.persist().relation(), stop));
      TW_RETURN_NOT_OK(session.Analyze(plan, stop).status());
      response->mutable_persist();
      return Status::OK();
    }
    case Request::kUnpersist: response->mutable_unpersist(); return Status::OK();
    case Request::kGetStorageLevel:
      SetNoStorage(response->mutable_get_storage_level()->mutable_storage_level());
      return Status::OK();
    case Request::ANALYZE_NOT_SET: break;
  }
  return Error("CONNECT_INVALID_PLAN.UNKNOWN_ANALYZE_METHOD").With("other", "ANALYZE_NOT_SET");
}

}  // namespace thalweg::front
