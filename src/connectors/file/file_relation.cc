#include "connectors/file/file_relation.h"

#include <algorithm>

#include "base/string_case.h"
#include "connectors/file/file_settings.h"
#include "connectors/file/partitions.h"
#include "data/io/path.h"

namespace thalweg::connectors {
namespace {

Status CheckDuplicates(const data::Schema& schema, bool case_sensitive);

Status CheckDuplicatesWithin(const data::DataType& type, bool case_sensitive) {
  switch (type.kind()) {
    case data::TypeKind::kStruct:
      return CheckDuplicates(type.fields(), case_sensitive);
    case data::TypeKind::kArray:
      return CheckDuplicatesWithin(type.element(), case_sensitive);
    case data::TypeKind::kMap:
      TW_RETURN_NOT_OK(CheckDuplicatesWithin(type.key(), case_sensitive));
      return CheckDuplicatesWithin(type.value(), case_sensitive);
    default:
      return Status::OK();
  }
}

Status CheckDuplicates(const data::Schema& schema, bool case_sensitive) {
  for (const data::StructField& field : schema) TW_RETURN_NOT_OK(CheckDuplicatesWithin(field.type, case_sensitive));
  for (size_t i = 0; i < schema.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (SameName(schema[i].name, schema[j].name, case_sensitive))
        return Error("COLUMN_ALREADY_EXISTS")
            .With("columnName",
                  data::QuoteIdentifier(case_sensitive ? schema[i].name : ToAsciiLower(schema[i].name)));
    }
  }
  return Status::OK();
}

Result<bool> FlagOption(const FileRelation& relation, const Setting<bool>& setting, const char* option) {
  return relation.options.GetBool(option, relation.settings.Get(setting));
}

Status ResolvePaths(const sql::LoadRequest& request, FileRelation* relation) {
  for (const std::string& text : request.paths) {
    TW_ASSIGN_OR_RETURN(std::string path, data::PathFromText(text));
    relation->paths.push_back(data::AbsolutePath(path));
  }
  if (request.streaming && request.paths.size() != 1) {
    if (request.paths.empty()) return Error("_LEGACY_ERROR_TEMP_2047");
    std::string all;
    for (const std::string& path : request.paths) all += (all.empty() ? "" : ", ") + path;
    return Error("_LEGACY_ERROR_TEMP_2050").With("paths", all);
  }
  if (request.streaming && !IsGlob(relation->paths[0])) {
    TW_ASSIGN_OR_RETURN(const bool exists, relation->context.file_system->Exists(relation->paths[0]));
    if (!exists) return Error("PATH_NOT_FOUND").With("path", request.paths[0]);
  }
  return Status::OK();
}

/// Data and partition columns from the user's schema or from the files.
Status ResolveSchema(const sql::LoadRequest& request, FileRelation* relation) {
  data::Schema fields;
  if (request.schema) {
    fields = *request.schema;
    if (relation->listing.from_sink_log && !request.streaming) {
      for (const data::StructField& field : fields) relation->column_order.push_back(field.name);
    }
  } else {
    const bool may_infer = !request.streaming || relation->format->has_fixed_schema() ||
                           relation->settings.Get(kStreamingSchemaInference);
    if (!may_infer) return Error("_LEGACY_ERROR_TEMP_2048");
  }
  PartitionOptions options;
  options.infer_types = relation->settings.Get(kPartitionTypeInference);
  options.case_sensitive = relation->case_sensitive();
  options.timestamp_ntz = relation->context.config->timestamp_ntz_default;
  options.zone = relation->zone;
  if (!relation->listing_options.recursive) {
    TW_ASSIGN_OR_RETURN(relation->partition_schema, InferPartitionSchema(relation->listing, fields, options));
  }
  KeepOwnFiles(relation->partition_schema, relation->listing_options.recursive, &relation->listing);
  if (!request.schema) {
    TW_ASSIGN_OR_RETURN(const std::optional<data::Schema> inferred,
                        relation->format->InferSchema(relation->context, relation->listing.files));
    if (!inferred) return Error("UNABLE_TO_INFER_SCHEMA").With("format", ToAsciiUpper(relation->format->short_name()));
    fields = *inferred;
  }
  TW_RETURN_NOT_OK(CheckDuplicates(fields, relation->case_sensitive()));
  for (data::StructField& field : fields) {
    const bool in_path = std::any_of(
        relation->partition_schema.begin(), relation->partition_schema.end(), [&](const data::StructField& column) {
          return SameName(column.name, field.name, relation->case_sensitive());
        });
    if (!in_path) relation->data_schema.push_back(std::move(field));
  }
  const bool all_nullable = !request.streaming || relation->settings.Get(kForceNullable);
  if (all_nullable) relation->data_schema = data::DataType::Struct(relation->data_schema).AsNullable().fields();
  return relation->format->CheckSchema(relation->context, relation->data_schema);
}

}  // namespace

data::Schema FileRelation::schema() const {
  data::Schema all = data_schema;
  all.insert(all.end(), partition_schema.begin(), partition_schema.end());
  auto placed = all.begin();
  for (const std::string& name : column_order) {
    const auto found = std::find_if(placed, all.end(), [&](const data::StructField& field) {
      return SameName(field.name, name, case_sensitive());
    });
    if (found != all.end()) std::rotate(placed++, found, found + 1);
  }
  return all;
}

Result<FileListing> FileRelation::List(bool missing_ok) const {
  TW_ASSIGN_OR_RETURN(FileListing listing,
                      ListDataFiles(*context.file_system, *clock, paths, listing_options, missing_ok));
  if (!partition_roots.empty()) listing.roots = partition_roots;
  return listing;
}

FormatContext ContextOf(const sql::ConnectorServices& services, const sql::LoadRequest& request) {
  FormatContext context;
  context.file_system = services.file_system;
  context.config = request.config != nullptr ? request.config : std::make_shared<const sql::EvalConfig>();
  context.options = request.options.entries();
  context.settings = request.settings != nullptr ? request.settings : std::make_shared<const SettingsMap>();
  return context;
}

void KeepOwnFiles(const data::Schema& partition_schema, bool recursive, FileListing* listing) {
  if (recursive || (partition_schema.empty() && listing->from_sink_log)) return;
  const auto foreign = [&](const FileEntry& file) {
    if (!partition_schema.empty()) return PartitionsOfPath(file.path, listing->roots).empty();
    const std::string directory = data::ParentPath(file.path);
    return std::find(listing->roots.begin(), listing->roots.end(), directory) == listing->roots.end();
  };
  listing->files.erase(std::remove_if(listing->files.begin(), listing->files.end(), foreign), listing->files.end());
}

Result<FileRelationPtr> MakeFileRelation(std::shared_ptr<const FileFormat> format,
                                         const sql::ConnectorServices& services, const sql::LoadRequest& request) {
  auto relation = std::make_shared<FileRelation>();
  relation->format = std::move(format);
  relation->context = ContextOf(services, request);
  relation->clock = services.clock;
  if (request.settings != nullptr) relation->settings = *request.settings;
  relation->options = request.options;
  TW_ASSIGN_OR_RETURN(relation->zone, data::TimeZone::Parse(relation->context.config->time_zone));
  TW_ASSIGN_OR_RETURN(relation->ignore_missing_files,
                      FlagOption(*relation, kIgnoreMissingFiles, "ignoreMissingFiles"));
  TW_ASSIGN_OR_RETURN(relation->ignore_corrupt_files,
                      FlagOption(*relation, kIgnoreCorruptFiles, "ignoreCorruptFiles"));
  TW_ASSIGN_OR_RETURN(relation->listing_options,
                      ListingOptions::Make(request.options, relation->context.config->time_zone));
  relation->listing_options.ignore_sink_log = relation->settings.Get(kIgnoreSinkLog);
  TW_RETURN_NOT_OK(ResolvePaths(request, relation.get()));
  if (const std::optional<std::string> base = request.options.Get("basePath")) {
    TW_ASSIGN_OR_RETURN(const std::string path, data::PathFromText(*base));
    relation->partition_roots = {data::AbsolutePath(path)};
  }
  TW_ASSIGN_OR_RETURN(relation->listing, relation->List(request.streaming));
  TW_RETURN_NOT_OK(ResolveSchema(request, relation.get()));
  return FileRelationPtr(std::move(relation));
}

}  // namespace thalweg::connectors
