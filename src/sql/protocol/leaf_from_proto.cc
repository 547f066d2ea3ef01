// Relations without inputs: tables, sources, SQL text, local data.
#include <spark/connect/expressions.pb.h>
#include <spark/connect/relations.pb.h>

#include "base/query_context.h"
#include "data/columnar/arrow_bridge.h"
#include "sql/protocol/literal_proto.h"
#include "sql/protocol/plan_proto.h"
#include "sql/protocol/protocol_errors.h"
#include "sql/protocol/relation_readers.h"

// Clients before 4.1 still send the deprecated fields.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace thalweg::sql {

namespace {

namespace pb = ::spark::connect;

Result<PlanPtr> ReadDataSource(const pb::Read::DataSource& message, bool streaming) {
  if (streaming && message.paths_size() > 1) {
    return Error("CONNECT_INVALID_PLAN.MULTIPLE_PATHS_NOT_SUPPORTED_FOR_STREAMING_SOURCE");
  }
  if (message.predicates_size() > 0) return Unsupported("predicates of the jdbc source");
  if (message.has_source_name() && !message.source_name().empty()) return Unsupported("named streaming sources (source_name)");
  auto source = std::make_shared<UnresolvedDataSource>();
  source->format = message.format();
  source->paths.assign(message.paths().begin(), message.paths().end());
  source->options = OptionsFromProto(message.options());
  if (!message.schema().empty()) source->schema_text = message.schema();
  source->streaming = streaming;
  return source;
}

// Columns by position under the names, types and nullability of the declared schema.
Result<PlanPtr> LocalPlan(data::IpcStream stream, const std::optional<data::Schema>& declared) {
  if (!declared) {
    AttributeList attributes;
    for (const data::StructField& field : stream.schema) {
      attributes.push_back(Attribute::Make(field.name, field.type, field.nullable, NewExprId(), {}, field.metadata_json));
    }
    return std::make_shared<LocalRelation>(std::move(attributes), std::move(stream.chunks));
  }
  if (declared->size() != stream.schema.size()) {
    return InvalidPlan("The local data has " + std::to_string(stream.schema.size()) + " columns, its schema " +
                       std::to_string(declared->size()) + ".");
  }
  AttributeList attributes;
  ExprList list;
  bool casts = false;
  for (size_t i = 0; i < declared->size(); ++i) {
    const data::StructField& want = (*declared)[i];
    const data::DataType& have = stream.schema[i].type;
    const bool same = have.SameType(want.type);
    AttributePtr attribute = Attribute::Make(want.name, same ? want.type : have, want.nullable, NewExprId(), {}, want.metadata_json);
    if (same) {
      list.push_back(attribute);
    } else {
      casts = true;
      list.push_back(Alias::Make(Cast::Make(attribute, want.type, EvalMode::kAnsi), want.name, NewExprId(), want.metadata_json));
    }
    attributes.push_back(std::move(attribute));
  }
  PlanPtr local = std::make_shared<LocalRelation>(std::move(attributes), std::move(stream.chunks));
  if (!casts) return local;
  return std::make_shared<Project>(std::move(list), std::move(local));
}

Result<std::optional<data::Schema>> ReadSchemaText(const std::string& text) {
  if (text.empty()) return std::optional<data::Schema>{};
  Result<data::DataType> type = data::ParseTypeJson(text);
  if (!type.ok()) {
    Result<data::Schema> schema = data::ParseSchema(text);
    if (schema.ok()) return std::optional<data::Schema>(std::move(*schema));
    type = data::ParseTypeDdl(text);
    if (!type.ok()) return schema.status();
  }
  if (type->Is(data::TypeKind::kStruct)) return std::optional<data::Schema>(type->fields());
  return std::optional<data::Schema>(data::Schema{{"value", *type}});
}

Result<PlanPtr> LocalFromParts(const std::vector<std::string>& streams, const std::string& schema_text) {
  TW_ASSIGN_OR_RETURN(std::optional<data::Schema> schema, ReadSchemaText(schema_text));
  data::IpcStream all;
  for (size_t i = 0; i < streams.size(); ++i) {
    Result<data::IpcStream> read = data::ReadIpcStream(streams[i]);
    if (!read.ok() && read.status().condition() == "INTERNAL_ERROR") {
      return InvalidPlan("The data of the local relation cannot be read: " + read.status().message());
    }
    TW_ASSIGN_OR_RETURN(data::IpcStream stream, std::move(read));
    if (i == 0) all.schema = stream.schema;
    if (stream.schema.size() != all.schema.size()) return InvalidPlan("The parts of the local data differ in their columns.");
    for (data::Chunk& chunk : stream.chunks) all.chunks.push_back(std::move(chunk));
  }
  if (streams.empty()) {
    if (!schema) return Error("CONNECT_INVALID_PLAN.SCHEMA_REQUIRED_FOR_LOCAL_RELATION");
    all.schema = *schema;
  }
  return LocalPlan(std::move(all), schema);
}

}  // namespace

Result<PlanPtr> ReadTableOrSource(const pb::Read& message, PlanReader& reader) {
  switch (message.read_type_case()) {
    case pb::Read::kNamedTable: {
      TW_ASSIGN_OR_RETURN(std::vector<std::string> name,
                          reader.environment().ParseName(message.named_table().unparsed_identifier()));
      return std::make_shared<UnresolvedRelation>(std::move(name), OptionsFromProto(message.named_table().options()),
                                                  message.is_streaming());
    }
    case pb::Read::kDataSource: return ReadDataSource(message.data_source(), message.is_streaming());
    case pb::Read::READ_TYPE_NOT_SET: break;
  }
  return OneOfNotSet(message.GetTypeName(), "READTYPE_NOT_SET");
}

Result<PlanPtr> ReadSql(const pb::SQL& message, PlanReader& reader) {
  std::map<std::string, ExprPtr> named;
  std::vector<ExprPtr> positional;
  for (const auto& [name, literal] : message.args()) {
    TW_ASSIGN_OR_RETURN(named[name], LiteralFromProto(literal));
  }
  for (const auto& [name, expression] : message.named_arguments()) {
    TW_ASSIGN_OR_RETURN(named[name], reader.ReadExpression(expression));
  }
  for (const auto& literal : message.pos_args()) {
    TW_ASSIGN_OR_RETURN(ExprPtr value, LiteralFromProto(literal));
    positional.push_back(std::move(value));
  }
  for (const auto& expression : message.pos_arguments()) {
    TW_ASSIGN_OR_RETURN(ExprPtr value, reader.ReadExpression(expression));
    positional.push_back(std::move(value));
  }
  return reader.environment().ParseSql(message.query(), named, positional);
}

Result<PlanPtr> ReadWithRelations(const pb::WithRelations& message, PlanReader& reader) {
  if (!message.root().has_sql()) return reader.ReadRelation(message.root());
  std::vector<std::pair<std::string, PlanPtr>> ctes;
  for (const pb::Relation& reference : message.references()) {
    if (!reference.has_subquery_alias()) return Error("CONNECT_INVALID_PLAN.INVALID_SQL_WITH_REFERENCES");
    TW_ASSIGN_OR_RETURN(PlanPtr plan, reader.ReadRelation(reference.subquery_alias().input()));
    ctes.emplace_back(reference.subquery_alias().alias(), std::move(plan));
  }
  TW_ASSIGN_OR_RETURN(PlanPtr root, reader.ReadRelation(message.root()));
  if (root->kind() == PlanKind::kCommand) return Unsupported("DataFrame arguments of a SQL command");
  if (ctes.empty()) return root;
  return std::make_shared<UnresolvedWith>(std::move(ctes), std::move(root));
}

Result<PlanPtr> ReadLocalRelation(const pb::LocalRelation& message) {
  std::vector<std::string> streams;
  if (message.has_data() && !message.data().empty()) streams.push_back(message.data());
  return LocalFromParts(streams, message.schema());
}

Result<PlanPtr> ReadCachedLocalRelation(const pb::CachedLocalRelation& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(const std::string bytes, reader.environment().CachedBlob(message.hash()));
  pb::LocalRelation local;
  if (!ParseDeepMessage(bytes, &local)) return InvalidPlan("The cached local relation " + message.hash() + " is damaged.");
  return ReadLocalRelation(local);
}

Result<PlanPtr> ReadChunkedLocalRelation(const pb::ChunkedCachedLocalRelation& message, PlanReader& reader) {
  if (message.datahashes_size() == 0) return Error("CONNECT_INVALID_PLAN.CHUNKED_CACHED_LOCAL_RELATION_WITHOUT_DATA");
  std::vector<std::string> streams;
  for (const std::string& hash : message.datahashes()) {
    TW_ASSIGN_OR_RETURN(std::string bytes, reader.environment().CachedBlob(hash));
    streams.push_back(std::move(bytes));
  }
  std::string schema;
  if (message.has_schemahash() && !message.schemahash().empty()) {
    TW_ASSIGN_OR_RETURN(schema, reader.environment().CachedBlob(message.schemahash()));
  }
  return LocalFromParts(streams, schema);
}

}  // namespace thalweg::sql
