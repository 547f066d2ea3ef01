#include "front/session/session_environment.h"

#include "base/string_case.h"
#include "data/io/path.h"
#include "front/session/session_impl.h"
#include "sql/catalog/catalog.h"
#include "sql/parser/parser.h"

namespace thalweg::front {

namespace {

constexpr int kMaxViewDepth = 100;  // spark.sql.view.maxNestedViewDepth

sql::PlanPtr Named(std::vector<std::string> name, sql::PlanPtr plan, bool is_view) {
  auto alias = std::make_shared<sql::SubqueryAlias>(std::move(name), std::move(plan));
  alias->is_view = is_view;
  return alias;
}

// The rows of a table whose place is not there (yet): none.
class MissingScan final : public sql::Scan {
 public:
  explicit MissingScan(data::Schema columns) : columns_(std::move(columns)) {}
  data::Schema schema() const override { return columns_; }
  std::string Describe() const override { return "EmptyScan"; }
  Result<std::vector<sql::InputSplitPtr>> PlanSplits() override { return std::vector<sql::InputSplitPtr>(); }
  std::optional<int64_t> EstimatedRows() const override { return 0; }

 private:
  data::Schema columns_;
};

class MissingTable final : public sql::Table {
 public:
  MissingTable(std::string format, data::Schema schema) : format_(std::move(format)), schema_(std::move(schema)) {}
  std::string name() const override { return format_; }
  data::Schema schema() const override { return schema_; }
  sql::TableCapabilities capabilities() const override {
    sql::TableCapabilities capabilities;
    capabilities.batch_read = true;
    return capabilities;
  }
  Result<std::unique_ptr<sql::Scan>> NewScan(const sql::ScanRequest& request, std::shared_ptr<const sql::EvalConfig>) override {
    data::Schema columns;
    for (const std::string& name : request.columns) {
      for (const data::StructField& field : schema_) {
        if (field.name == name) columns.push_back(field);
      }
    }
    return std::unique_ptr<sql::Scan>(std::make_unique<MissingScan>(std::move(columns)));
  }

 private:
  std::string format_;
  data::Schema schema_;
};

}  // namespace

sql::PlanPtr MakeRelation(sql::TablePtr table, const std::string& format, bool streaming) {
  sql::AttributeList attributes;
  for (const data::StructField& field : table->schema()) {
    attributes.push_back(
        sql::Attribute::Make(field.name, field.type, field.nullable, sql::NewExprId(), {}, field.metadata_json));
  }
  auto relation = std::make_shared<sql::Relation>(std::move(table), std::move(attributes), streaming);
  relation->format = format;
  return relation;
}

Result<sql::PlanPtr> SessionEnvironment::TempView(const std::string& name, bool global) {
  const sql::PlanPtr view = session_.FindTempView(name, global);
  if (view == nullptr) return sql::PlanPtr();
  TW_ASSIGN_OR_RETURN(sql::PlanPtr fresh, sql::WithFreshIds(view));
  std::vector<std::string> qualifier{ToAsciiLower(name)};
  if (global) qualifier.insert(qualifier.begin(), std::string(kGlobalTempDatabase));
  return Named(std::move(qualifier), std::move(fresh), true);
}

Result<sql::PlanPtr> SessionEnvironment::CatalogView(const sql::TableInfo& info) {
  if (depth_ >= kMaxViewDepth) {
    return Error("VIEW_EXCEED_MAX_NESTED_DEPTH")
        .With("viewName", sql::QuoteName(info.QualifiedName()))
        .With("maxNestedDepth", kMaxViewDepth);
  }
  auto config = std::make_shared<sql::EvalConfig>(*config_);
  config->current_database = info.view_database;
  if (const auto ansi = info.view_settings.find("spark.sql.ansi.enabled"); ansi != info.view_settings.end()) {
    config->ansi = EqualsIgnoreCase(ansi->second, "true");
  }
  if (const auto zone = info.view_settings.find("spark.sql.session.timeZone"); zone != info.view_settings.end()) {
    config->time_zone = zone->second;
  }
  sql::ParserOptions options = session_.parser_options();
  options.ansi = config->ansi;
  options.time_zone = config->time_zone;
  TW_ASSIGN_OR_RETURN(sql::PlanPtr parsed, sql::ParsePlan(info.view_text, options));
  SessionEnvironment inner(session_, config, stop_, depth_ + 1);
  TW_ASSIGN_OR_RETURN(sql::PlanPtr plan, sql::Analyze(parsed, inner));
  // The view's own column names, whatever the query calls them now.
  const sql::AttributeList output = plan->output();
  sql::ExprList list;
  for (size_t i = 0; i < output.size() && i < info.schema.size(); ++i) {
    list.push_back(sql::Alias::Make(output[i], info.schema[i].name));
  }
  return std::make_shared<sql::Project>(std::move(list), std::move(plan));
}

Result<sql::PlanPtr> SessionEnvironment::CatalogRelation(const sql::TableInfo& info, const sql::UnresolvedRelation& relation) {
  if (info.type == sql::TableType::kView) {
    TW_ASSIGN_OR_RETURN(sql::PlanPtr view, CatalogView(info));
    return Named(info.QualifiedName(), std::move(view), true);
  }
  TW_ASSIGN_OR_RETURN(sql::TablePtr table, session_.OpenTable(info, relation.options, relation.streaming, false));
  auto leaf = std::make_shared<sql::Relation>(
      static_cast<const sql::Relation&>(*MakeRelation(std::move(table), info.format, relation.streaming)));
  leaf->catalog_name = info.QualifiedName();
  return Named(info.QualifiedName(), std::move(leaf), false);
}

Result<sql::PlanPtr> SessionEnvironment::ResolveRelation(const sql::UnresolvedRelation& relation) {
  const std::vector<std::string>& parts = relation.name_parts;
  const bool global = parts.size() == 2 && EqualsIgnoreCase(parts[0], kGlobalTempDatabase);
  if (parts.size() == 1 || global) {
    TW_ASSIGN_OR_RETURN(sql::PlanPtr view, TempView(parts.back(), global));
    if (view != nullptr && relation.streaming && !view->is_streaming()) {
      std::string quoted;
      for (const std::string& part : parts) quoted += (quoted.empty() ? "" : ".") + data::QuoteIfNeeded(part);
      return Error("_LEGACY_ERROR_TEMP_1008").With("quoted", quoted);
    }
    if (view != nullptr) return view;
  }
  Status not_found = sql::TableNotFound(parts, config_->current_database);
  if (relation.origin != nullptr) not_found = not_found.WithQueryContext(*relation.origin);
  if (global) return not_found;
  std::pair<std::string, std::string> name;
  if (parts.size() == 1) {
    name = {config_->current_database, parts[0]};
  } else {
    TW_ASSIGN_OR_RETURN(name, session_.TableName(parts));
  }
  Result<sql::TableInfo> info = session_.server().catalog->GetTable(name.first, name.second);
  if (info.ok()) return CatalogRelation(*info, relation);
  if (info.status().kind() != ErrorKind::kUser) return info.status();
  if (parts.size() == 2) {
    Result<std::shared_ptr<const sql::DataSource>> format = session_.FindDataSource(parts[0]);
    if (format.ok()) {
      sql::UnresolvedDataSource source;
      source.format = parts[0];
      source.paths = {parts[1]};
      source.options = relation.options;
      source.streaming = relation.streaming;
      TW_ASSIGN_OR_RETURN(sql::TablePtr table, LoadDataSource(source));
      return Named({parts[0], parts[1]}, MakeRelation(std::move(table), (*format)->short_name(), relation.streaming), false);
    }
  }
  return not_found;
}

Result<sql::TablePtr> SessionEnvironment::LoadDataSource(const sql::UnresolvedDataSource& source) {
  const std::string format =
      source.format.empty() ? session_.GetConfOption("spark.sql.sources.default").value_or("parquet") : source.format;
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<const sql::DataSource> data_source, session_.FindDataSource(format));
  sql::LoadRequest request;
  request.paths = source.paths;
  request.options = source.options;
  const std::optional<std::string> path = source.options.Get("path");
  if (path && !source.paths.empty()) {
    return Error("_LEGACY_ERROR_TEMP_1188").With("method", "load").With("config", "spark.sql.legacy.pathOptionBehavior.enabled");
  }
  if (path) request.paths = {*path};
  if (source.schema_text) {
    TW_ASSIGN_OR_RETURN(request.schema, data::ParseSchema(*source.schema_text));
  }
  request.streaming = source.streaming;
  request.config = config_;
  request.settings = std::make_shared<const SettingsMap>(session_.SettingsSnapshot());
  return data_source->Load(request);
}

Result<std::shared_ptr<const sql::DataSource>> Session::FindDataSource(std::string_view name) const {
  return impl_->server.data_sources->Find(name);
}

Result<sql::TablePtr> Session::OpenTable(const sql::TableInfo& info, const sql::OptionMap& options, bool streaming,
                                         bool for_write) const {
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<const sql::DataSource> source, FindDataSource(info.format));
  sql::LoadRequest request;
  if (!info.location.empty()) request.paths = {info.location};
  for (const auto& [key, value] : info.options) request.options.Set(key, value);
  for (const auto& [key, value] : options.entries()) request.options.Set(key, value);
  // The schema of a Delta table stands in its log; what the catalog remembers may be old.
  if (!info.schema.empty() && info.format != "delta") request.schema = info.schema;
  request.streaming = streaming;
  request.for_write = for_write;
  request.config = eval_config();
  request.settings = std::make_shared<const SettingsMap>(SettingsSnapshot());
  const bool may_be_missing = !for_write && !streaming && request.schema.has_value() && !info.location.empty();
  if (may_be_missing) {
    TW_ASSIGN_OR_RETURN(const bool exists, impl_->server.connectors.file_system->Exists(info.location));
    if (!exists) return sql::TablePtr(std::make_shared<MissingTable>(info.format, info.schema));
  }
  return source->Load(request);
}

}  // namespace thalweg::front
