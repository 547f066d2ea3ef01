#include "sql/analyzer/test_environment.h"

#include "base/invariant.h"
#include "sql/functions/registry.h"

namespace thalweg::sql {

TestEnvironment::TestEnvironment() = default;

void TestEnvironment::AddTable(const std::string& name, std::string_view ddl, bool streaming) {
  Result<data::Schema> schema = data::ParseSchemaDdl(ddl);
  TW_CHECK(schema.ok());
  tables_[name] = {std::make_shared<SchemaTable>(name, *std::move(schema)), streaming};
}

const FunctionRegistry& TestEnvironment::functions() const { return BuiltinFunctions(); }

PlanPtr TestEnvironment::Leaf(const std::string& name) {
  const Entry& entry = tables_.at(name);
  AttributeList attributes;
  for (const data::StructField& field : entry.table->schema()) {
    attributes.push_back(Attribute::Make(field.name, field.type, field.nullable, NewExprId(), {}, field.metadata_json));
  }
  auto relation = std::make_shared<Relation>(entry.table, std::move(attributes), entry.streaming);
  relation->format = "memory";
  return relation;
}

Result<PlanPtr> TestEnvironment::ResolveRelation(const UnresolvedRelation& relation) {
  const std::string& name = relation.name_parts.back();
  if (const auto view = views_.find(name); view != views_.end()) {
    TW_ASSIGN_OR_RETURN(PlanPtr fresh, WithFreshIds(view->second));
    return PlanPtr(std::make_shared<SubqueryAlias>(std::vector<std::string>{name}, std::move(fresh)));
  }
  if (tables_.count(name) == 0) {
    return Error("TABLE_OR_VIEW_NOT_FOUND").With("relationName", data::QuoteIdentifier(name));
  }
  return PlanPtr(std::make_shared<SubqueryAlias>(std::vector<std::string>{name}, Leaf(name)));
}

Result<TablePtr> TestEnvironment::LoadDataSource(const UnresolvedDataSource& source) {
  const auto entry = tables_.find(source.format);
  if (entry == tables_.end()) return Error("DATA_SOURCE_NOT_FOUND").With("provider", source.format);
  return entry->second.table;
}

}  // namespace thalweg::sql
