// writeStream ... start(): from what the user said to what a driver needs. Source: Spark's DataStreamWriter.
#include <cstdlib>

#include "base/string_case.h"
#include "base/uuid.h"
#include "data/io/path.h"
#include "front/session/exception_classes.h"
#include "front/session/session_environment.h"
#include "front/session/session_impl.h"
#include "front/session/view_name.h"
#include "sql/catalog/catalog.h"
#include "sql/datasource/output_modes.h"

namespace thalweg::front {

namespace {

using sql::TablePtr;

bool UsesTemporaryCheckpoint(const std::string& format) {
  return format == "memory" || format == "console" || format == "noop" || format == "foreach" || format == "foreachBatch";
}

Result<std::string> CheckpointLocation(const Session& session, const StreamStart& start, const std::string& format) {
  std::string text = start.options.Get("checkpointLocation").value_or("");
  if (text.empty()) {
    const std::string base = session.GetConfOption("spark.sql.streaming.checkpointLocation").value_or("");
    if (!base.empty()) {
      text = data::JoinPath(base, start.query_name.empty() ? Uuid::MakeRandom().ToString() : start.query_name);
    }
  }
  if (!text.empty()) {
    TW_ASSIGN_OR_RETURN(const std::string path, data::PathFromText(text));
    return data::AbsolutePath(path);
  }
  if (UsesTemporaryCheckpoint(format)) return std::string();
  return Error("_LEGACY_ERROR_TEMP_1298").With("config", "spark.sql.streaming.checkpointLocation");
}

// The real spelling of partition columns. Errors: _LEGACY_ERROR_TEMP_1196.
Result<std::vector<std::string>> ResolveColumns(const char* what, const std::vector<std::string>& names,
                                                const data::Schema& schema, bool case_sensitive) {
  std::vector<std::string> resolved;
  for (const std::string& name : names) {
    const data::StructField* found = nullptr;
    for (const data::StructField& field : schema) {
      if (case_sensitive ? field.name == name : EqualsIgnoreCase(field.name, name)) found = &field;
    }
    if (found == nullptr) {
      std::string valid;
      for (const data::StructField& field : schema) valid += (valid.empty() ? "" : ", ") + field.name;
      return Error("_LEGACY_ERROR_TEMP_1196").With("columnType", what).With("columnName", name).With("validColumnNames", valid);
    }
    resolved.push_back(found->name);
  }
  return resolved;
}

data::Schema Nullable(data::Schema schema) {
  for (data::StructField& field : schema) {
    field.nullable = true;
    field.type = field.type.AsNullable();
    field.metadata_json = sql::WithWatermarkDelayMs(field.metadata_json, std::nullopt);
  }
  return schema;
}

// A checkpoint that goes with its query.
Result<std::string> TemporaryCheckpoint() {
  const char* base = std::getenv("TMPDIR");
  std::string path = std::string(base != nullptr && *base != '\0' ? base : "/tmp") + "/temporary-" + Uuid::MakeRandom().ToString();
  return data::AbsolutePath(path);
}

struct Sink {
  TablePtr table;
  std::string format;
};

Result<Sink> TableSink(Session& session, const StreamStart& start, const std::vector<std::string>& partitions,
                       const data::Schema& schema) {
  if (start.table_name.size() == 1 && session.FindTempView(start.table_name[0], false) != nullptr) {
    return Error("_LEGACY_ERROR_TEMP_1190").With("viewName", start.table_name[0]);
  }
  TW_ASSIGN_OR_RETURN(const auto name, session.TableName(start.table_name));
  sql::Catalog& catalog = *session.server().catalog;
  TW_ASSIGN_OR_RETURN(const bool exists, catalog.TableExists(name.first, name.second));
  sql::TableInfo info;
  if (exists) {
    TW_ASSIGN_OR_RETURN(info, catalog.GetTable(name.first, name.second));
    if (info.type == sql::TableType::kView) {
      return Error("VIEW_WRITE_NOT_ALLOWED").With("name", sql::QuoteName(info.QualifiedName()));
    }
    if (!start.format.empty()) {
      TW_ASSIGN_OR_RETURN(const auto source, session.FindDataSource(start.format));
      if (source->short_name() != info.format) {
        return Error("_LEGACY_ERROR_TEMP_3102")
            .With("msg", "The input source(" + start.format + ") is different from the table " +
                             sql::QuoteName(info.QualifiedName()) + "'s data source provider(" + info.format + ").");
      }
    }
  } else {
    info.database = name.first;
    info.name = name.second;
    info.format = start.format;
    info.schema = Nullable(schema);
    info.partition_columns = partitions;
    info.location = start.path.empty() ? start.options.Get("path").value_or("") : start.path;
    TW_RETURN_NOT_OK(session.CreateTable(&info, true, start.stop).status());
  }
  sql::OptionMap options;
  for (const auto& [key, value] : start.options.entries()) {
    if (!EqualsIgnoreCase(key, "path")) options.Set(key, value);
  }
  Sink sink;
  sink.format = info.format;
  TW_ASSIGN_OR_RETURN(sink.table, session.OpenTable(info, options, true, true));
  return sink;
}

Result<Sink> FormatSink(Session& session, const StreamStart& start, const data::Schema& schema) {
  const std::string format =
      start.format.empty() ? session.GetConfOption("spark.sql.sources.default").value_or("parquet") : start.format;
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<const sql::DataSource> source, session.FindDataSource(format));
  if (!start.path.empty() && start.options.Has("path")) {
    return Error("_LEGACY_ERROR_TEMP_1188").With("method", "start").With("config", "spark.sql.legacy.pathOptionBehavior.enabled");
  }
  sql::LoadRequest request;
  request.options = start.options;
  const std::string path = start.path.empty() ? start.options.Get("path").value_or("") : start.path;
  if (!path.empty()) request.paths = {path};
  request.schema = schema;
  request.streaming = true;
  request.for_write = true;
  request.config = session.eval_config();
  request.settings = std::make_shared<const SettingsMap>(session.SettingsSnapshot());
  Sink sink;
  sink.format = source->short_name();
  TW_ASSIGN_OR_RETURN(sink.table, source->Load(request));
  if (!sink.table->capabilities().streaming_write)
    return Error("_LEGACY_ERROR_TEMP_2049").With("className", format).With("operator", "writing");
  return sink;
}

// What a memory table shows is gone with its query: only complete mode can make it again from the state.
Status CheckMemoryIsNew(data::FileSystem& files, const std::string& checkpoint, sql::OutputMode mode) {
  if (mode == sql::OutputMode::kComplete) return Status::OK();
  const std::string offsets = data::JoinPath(checkpoint, "offsets");
  TW_ASSIGN_OR_RETURN(const bool exists, files.Exists(offsets));
  if (exists) return Error("_LEGACY_ERROR_TEMP_1299").With("checkpointPath", offsets);
  return Status::OK();
}

}  // namespace

Result<std::shared_ptr<streaming::StreamingQuery>> Session::StartStream(StreamStart start) {
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, Analyze(start.input, start.stop));
  if (!plan->is_streaming()) return Error("WRITE_STREAM_NOT_ALLOWED");
  if (std::holds_alternative<streaming::Continuous>(start.trigger)) return Unsupported("trigger(continuous=...)");
  if (std::holds_alternative<streaming::RealTime>(start.trigger)) return Unsupported("trigger(realTime=...)");
  const data::Schema schema = plan->schema();
  const std::shared_ptr<const sql::EvalConfig> config = eval_config();
  if (!start.partition_columns.empty() && !start.clustering_columns.empty()) {
    return Unsupported("partitionBy together with clusterBy");
  }
  TW_ASSIGN_OR_RETURN(std::vector<std::string> partitions,
                      ResolveColumns("Partition", start.partition_columns, schema, config->case_sensitive));
  TW_RETURN_NOT_OK(ResolveColumns("Clustering", start.clustering_columns, schema, config->case_sensitive).status());

  streaming::StreamingQuerySpec spec;
  std::string format = start.format;
  TablePtr table;
  if (start.open_callback_sink) {
    if (!partitions.empty()) return Error("_LEGACY_ERROR_TEMP_1197").With("operation", format);
    spec.is_callback = true;
    spec.interrupt_sink = start.interrupt_sink;
  } else if (!start.table_name.empty()) {
    TW_ASSIGN_OR_RETURN(Sink sink, TableSink(*this, start, partitions, schema));
    table = std::move(sink.table);
    format = std::move(sink.format);
  } else {
    TW_ASSIGN_OR_RETURN(Sink sink, FormatSink(*this, start, schema));
    table = std::move(sink.table);
    format = std::move(sink.format);
    if (format == "memory" && start.query_name.empty()) return Error("_LEGACY_ERROR_TEMP_1194");
    if (format == "memory" && !partitions.empty()) return Error("_LEGACY_ERROR_TEMP_1197").With("operation", "memory");
  }
  if (const auto* modes = dynamic_cast<const sql::DeclaresOutputModes*>(table.get()); modes != nullptr) {
    TW_RETURN_NOT_OK(modes->CheckOutputMode(start.output_mode));
  }
  std::string view_name;
  if (format == "memory") {
    TW_ASSIGN_OR_RETURN(view_name, ParseTempViewName(start.query_name));
  }
  TW_ASSIGN_OR_RETURN(spec.checkpoint_location, CheckpointLocation(*this, start, format));
  spec.delete_checkpoint_on_stop = spec.checkpoint_location.empty();
  if (spec.delete_checkpoint_on_stop) {
    TW_ASSIGN_OR_RETURN(spec.checkpoint_location, TemporaryCheckpoint());
  } else if (format == "memory") {
    TW_RETURN_NOT_OK(
        CheckMemoryIsNew(*impl_->server.connectors.file_system, spec.checkpoint_location, start.output_mode));
  }
  if (impl_->conf->GetBool("spark.sql.streaming.unsupportedOperationCheck", true)) {
    TW_RETURN_NOT_OK(sql::CheckStreamingSupported(plan, start.output_mode));
  }

  spec.name = start.query_name;
  spec.plan = plan;
  spec.mode = start.output_mode;
  spec.trigger = start.trigger;
  spec.options = start.options;
  spec.partition_columns = partitions;
  spec.job_tags = start.job_tags;
  spec.exception_text = [](const Status& failure) { return ExceptionClasses(failure).front() + ": " + failure.message(); };
  spec.settings = SettingsSnapshot();
  spec.config = config;
  spec.python = PythonOf(*this, impl_->server);
  ServerContext& server = impl_->server;
  spec.scheduler = server.scheduler;
  spec.state = server.state;
  spec.file_system = server.connectors.file_system;
  spec.clock = server.connectors.clock;
  spec.memory = &impl_->memory;
  if (start.open_callback_sink) {
    TW_ASSIGN_OR_RETURN(spec.make_sink, start.open_callback_sink());
  } else {
    spec.sink_accepts = table->accepted_changes(start.output_mode);
    spec.make_sink = [table](const sql::StreamWriteRequest& request) { return table->NewStreamingWrite(request); };
  }
  TW_ASSIGN_OR_RETURN(std::shared_ptr<streaming::StreamingQuery> query, impl_->queries.Start(std::move(spec)));
  if (format == "memory") {
    // SELECT * FROM <query name> sees the batches so far.
    sql::PlanPtr rows = MakeRelation(table, "memory", false);
    TW_RETURN_NOT_OK(CreateTempView(view_name, std::move(rows), true, false));
  }
  return query;
}

}  // namespace thalweg::front
