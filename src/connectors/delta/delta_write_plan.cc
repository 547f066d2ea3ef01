#include "connectors/delta/delta_write_plan.h"

#include <algorithm>

#include "base/string_case.h"
#include "connectors/delta/delta_protocol.h"
#include "connectors/delta/delta_schema.h"

namespace thalweg::connectors {

using data::DataType;
using data::StructField;
using data::TypeKind;

namespace {

Status Mismatch(Error&& detail) { return Error("DELTA_METADATA_MISMATCH").Because(Status(std::move(detail))); }

Status SchemaMismatch(const DeltaSnapshot& snapshot, const data::Schema& query) {
  return Mismatch(Error("DELTA_METADATA_MISMATCH.SCHEMA_MISMATCH").With("id", snapshot.metadata().id)
                      .With("tableSchema", data::SchemaTree(snapshot.schema())).With("dataSchema", data::SchemaTree(query)));
}

Status FailedMerge(const StructField& table, const StructField& query) {
  return Error("DELTA_FAILED_TO_MERGE_FIELDS").With("currentField", table.name).With("updateField", query.name)
      .Because(Error("DELTA_MERGE_INCOMPATIBLE_DATATYPE").With("currentDataType", table.type.Sql())
                   .With("updateDataType", query.type.Sql()));
}

Status RefuseOptions(const sql::OptionMap& options) {
  for (const char* name : {"replaceWhere", "replaceOn", "replaceUsing"}) {
    if (options.Has(name)) return Unsupported(std::string("option ") + name + " of Delta writes");
  }
  const auto mode = options.Get("partitionOverwriteMode");
  if (mode && EqualsIgnoreCase(*mode, "dynamic")) return Unsupported("dynamic partition overwrite of Delta tables");
  const auto change = options.Get("dataChange");
  if (change && EqualsIgnoreCase(*change, "false")) return Unsupported("option dataChange=false of Delta writes");
  return Status::OK();
}

/// Expressions for the table's columns over the query's. Empty when they are the same, in the same order.
class Matcher {
 public:
  Matcher(const DeltaWriteRequest& request, bool case_sensitive) : request_(request), case_sensitive_(case_sensitive) {
    for (const StructField& field : request.schema) {
      input_.push_back(sql::Attribute::Make(field.name, field.type, field.nullable));
    }
  }

  Status Add(const StructField& table, bool is_partition) {
    const int at = FindColumn(request_.schema, table.name, case_sensitive_);
    if (at < 0) {
      identity_ = false;
      if (is_partition) {
        return Error("DELTA_PARTITION_COLUMN_NOT_FOUND").With("columnName", data::QuoteIdentifier(table.name)).With("schemaMap", "");
      }
      if (!table.nullable) return Error("DELTA_MISSING_NOT_NULL_COLUMN_VALUE").With("columnName", table.name);
      outputs_.push_back(sql::Literal::Null(table.type));
      return Status::OK();
    }
    const StructField& query = request_.schema[static_cast<size_t>(at)];
    identity_ = identity_ && at == static_cast<int>(outputs_.size());
    if (query.type.SameType(table.type)) {
      outputs_.push_back(input_[static_cast<size_t>(at)]);
      return Status::OK();
    }
    identity_ = false;
    if (query.type.Is(TypeKind::kNull)) {
      outputs_.push_back(sql::Literal::Null(table.type));
      return Status::OK();
    }
    if (!request_.streaming || query.type.IsNested() != table.type.IsNested()) return FailedMerge(table, query);
    outputs_.push_back(sql::Cast::Make(input_[static_cast<size_t>(at)], table.type, sql::EvalMode::kAnsi));
    return Status::OK();
  }

  Result<std::shared_ptr<const sql::Program>> Finish() const {
    if (identity_ && outputs_.size() == input_.size()) return std::shared_ptr<const sql::Program>();
    return sql::Program::Compile(outputs_, input_, request_.config);
  }

 private:
  const DeltaWriteRequest& request_;
  const bool case_sensitive_;
  sql::AttributeList input_;
  sql::ExprList outputs_;
  bool identity_ = true;
};

// Columns of the query that the table lacks.
data::Schema ExtraColumns(const data::Schema& table, const data::Schema& query, bool case_sensitive) {
  data::Schema out;
  for (const StructField& field : query) {
    if (FindColumn(table, field.name, case_sensitive) >= 0) continue;
    out.push_back({.name = field.name, .type = field.type.AsNullable()});
  }
  return out;
}

Status CheckPartitioning(const DeltaSnapshot& snapshot, const std::vector<std::string>& named, bool case_sensitive) {
  const auto& table = snapshot.metadata().partition_columns;
  const bool same = named.size() == table.size() &&
                    std::equal(named.begin(), named.end(), table.begin(), [&](const std::string& a, const std::string& b) {
                      return case_sensitive ? a == b : EqualsIgnoreCase(a, b);
                    });
  if (named.empty() || same) return Status::OK();
  return Mismatch(Error("DELTA_METADATA_MISMATCH.PARTITIONING_MISMATCH").With("provided", JsonStringArray(named))
                      .With("original", JsonStringArray(table)));
}

StringPairs DeltaOptions(const sql::OptionMap& options) {
  StringPairs out;
  for (const auto& [key, value] : options.entries()) {
    if (ToAsciiLower(key).starts_with("delta.")) out.emplace_back(key, value);
  }
  return out;
}

Status PlanNewTable(DeltaLog& log, const DeltaWriteRequest& request, bool case_sensitive, DeltaWriteTarget* target) {
  data::Schema schema;
  for (StructField field : request.schema) {
    field.nullable = true;
    field.type = field.type.AsNullable();
    schema.push_back(std::move(field));
  }
  TW_ASSIGN_OR_RETURN(DeltaNewTable made,
                      MakeNewDeltaTable(log, std::move(schema), request.partition_columns, DeltaOptions(request.options), case_sensitive));
  target->metadata = std::move(made.metadata);
  target->protocol = std::move(made.protocol);
  return Status::OK();
}

// An existing table: its metadata as the write leaves it.
Status PlanExisting(DeltaLog& log, const DeltaWriteRequest& request, bool case_sensitive, DeltaWriteTarget* target) {
  const DeltaSnapshot& snapshot = *target->snapshot;
  TW_RETURN_NOT_OK(CheckDeltaWritable(snapshot, "delta.`" + log.table_path() + "`"));
  if (request.overwrite && target->overwrite_schema) {
    DeltaWriteTarget fresh;
    TW_RETURN_NOT_OK(PlanNewTable(log, request, case_sensitive, &fresh));
    DeltaMetadata metadata = snapshot.metadata();
    metadata.schema_string = fresh.metadata->schema_string;
    metadata.partition_columns = fresh.metadata->partition_columns;
    if (metadata == snapshot.metadata()) return Status::OK();
    for (const std::string& feature : fresh.protocol->writer_features.value_or(std::vector<std::string>{})) {
      if (!SupportsFeature(snapshot.protocol(), feature)) {
        return Error("DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT").With("unsupportedFeatures", feature).With("supportedFeatures", "");
      }
    }
    target->metadata = std::move(metadata);
    return Status::OK();
  }
  TW_RETURN_NOT_OK(CheckPartitioning(snapshot, request.partition_columns, case_sensitive));
  data::Schema extra = ExtraColumns(snapshot.schema(), request.schema, case_sensitive);
  if (extra.empty()) return Status::OK();
  if (!target->merge_schema) return SchemaMismatch(snapshot, request.schema);
  data::Schema merged = snapshot.schema();
  merged.insert(merged.end(), extra.begin(), extra.end());
  TW_ASSIGN_OR_RETURN(const DeltaNewTable made, MakeNewDeltaTable(log, merged, {}, {}, case_sensitive));
  if (made.protocol.min_reader_version > snapshot.protocol().min_reader_version) {
    return Error("DELTA_FEATURES_REQUIRE_MANUAL_ENABLEMENT")
        .With("unsupportedFeatures", JsonStringArray(made.protocol.reader_features.value_or(std::vector<std::string>{})))
        .With("supportedFeatures", "");
  }
  DeltaMetadata metadata = snapshot.metadata();
  metadata.schema_string = DataType::Struct(std::move(merged)).Json();
  target->metadata = std::move(metadata);
  return Status::OK();
}

}  // namespace

Result<DeltaWriteTarget> PlanDeltaWrite(DeltaLog& log, DeltaSnapshotPtr snapshot, const DeltaWriteRequest& request) {
  TW_RETURN_NOT_OK(RefuseOptions(request.options));
  const bool case_sensitive = request.config != nullptr && request.config->case_sensitive;
  if (request.streaming) {
    for (const StructField& field : request.schema) {
      if (field.type.Is(TypeKind::kNull)) return Error("DELTA_NULL_SCHEMA_IN_STREAMING_WRITE");
    }
  }
  DeltaWriteTarget target;
  target.snapshot = std::move(snapshot);
  TW_ASSIGN_OR_RETURN(target.merge_schema, request.options.GetBool("mergeSchema", false));
  TW_ASSIGN_OR_RETURN(target.overwrite_schema, request.options.GetBool("overwriteSchema", false));
  TW_RETURN_NOT_OK(target.snapshot == nullptr ? PlanNewTable(log, request, case_sensitive, &target)
                                              : PlanExisting(log, request, case_sensitive, &target));
  const DeltaMetadata& metadata = target.metadata ? *target.metadata : target.snapshot->metadata();
  const DeltaProtocol& protocol = target.protocol ? *target.protocol : target.snapshot->protocol();
  TW_ASSIGN_OR_RETURN(const DataType table_type, data::ParseTypeJson(metadata.schema_string));

  auto plan = std::make_shared<DeltaWritePlan>();
  plan->table_path = log.table_path();
  plan->partition_columns = metadata.partition_columns;
  plan->config = request.config;
  plan->file_system = &log.file_system();
  plan->clock = &log.clock();
  plan->stats = StatsOptionsFor(metadata);
  plan->stats.partition_columns = metadata.partition_columns;
  plan->stats.tight_bounds = SupportsFeature(protocol, "deletionVectors");
  if (request.config != nullptr) {
    TW_ASSIGN_OR_RETURN(plan->stats.zone, data::TimeZone::Parse(request.config->time_zone));
  }
  Matcher matcher(request, case_sensitive);
  for (const StructField& field : table_type.fields()) {
    if (field.type.Is(TypeKind::kNull)) {
      plan->stats.void_columns.push_back(field.name);
      continue;
    }
    const bool is_partition = std::find(metadata.partition_columns.begin(), metadata.partition_columns.end(), field.name) !=
                              metadata.partition_columns.end();
    TW_RETURN_NOT_OK(matcher.Add(field, is_partition));
    plan->schema.push_back(field);
  }
  TW_ASSIGN_OR_RETURN(plan->program, matcher.Finish());
  plan->parquet.compression = request.options.Get("compression").value_or("snappy");
  if (metadata.Property("delta.parquet.format.version").value_or("1").starts_with("2")) {
    plan->parquet.timestamps = data::ParquetWriteOptions::Timestamps::kMicros;
  }
  TW_ASSIGN_OR_RETURN(plan->codec_suffix, data::ParquetCodecSuffix(plan->parquet.compression));
  TW_ASSIGN_OR_RETURN(plan->max_records_per_file, request.options.GetInt("maxRecordsPerFile", 0));
  target.plan = std::move(plan);
  return target;
}

}  // namespace thalweg::connectors
