#include "connectors/delta/delta_source.h"

#include <algorithm>
#include <map>

#include "base/mutex.h"
#include "connectors/delta/delta_commit.h"
#include "connectors/delta/delta_protocol.h"
#include "connectors/delta/delta_schema.h"
#include "connectors/delta/delta_streaming_source.h"
#include "connectors/delta/delta_table.h"
#include "connectors/delta/delta_write_plan.h"
#include "data/io/atomic_write.h"
#include "data/io/path.h"
#include "data/text/datetime.h"
#include "data/text/numbers.h"
#include "sql/datasource/table_command.h"

namespace thalweg::connectors {

namespace {

using data::Schema;

constexpr size_t kMaxLogs = 128;  // tables whose newest snapshot is kept

/// A path with what the user said of a version.
struct Location {
  std::string path;
  std::optional<int64_t> version;
  std::optional<int64_t> timestamp_ms;
};

bool AllDigits(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

class DeltaDataSource final : public sql::DataSource, public sql::SupportsReplaceTable {
 public:
  explicit DeltaDataSource(const sql::ConnectorServices& services) : services_(services) {}

  std::string short_name() const override { return "delta"; }
  std::vector<std::string> aliases() const override { return {"org.apache.spark.sql.delta.sources.DeltaDataSource"}; }
  Result<sql::TablePtr> Load(const sql::LoadRequest& request) const override;
  Status CreateTable(const std::string& location, const Schema& schema, const std::vector<std::string>& partition_columns,
                     const std::map<std::string, std::string>& properties, const sql::EvalConfig& config) const override;
  Status ReplaceTable(const std::string& location, const Schema& schema, const std::vector<std::string>& partition_columns,
                      const std::map<std::string, std::string>& properties, bool or_create, const sql::EvalConfig& config) const override;

 private:
  std::shared_ptr<DeltaLog> LogOf(const std::string& path) const TW_EXCLUDES(mutex_);
  Result<Location> Locate(const sql::LoadRequest& request) const;
  Status SplitSuffix(const data::TimeZone& zone, Location* location) const;
  Status CheckMatches(const DeltaSnapshot& snapshot, const std::string& location, const Schema& schema,
                      const std::vector<std::string>& partition_columns) const;

  sql::ConnectorServices services_;
  mutable Mutex mutex_;
  mutable std::map<std::string, std::shared_ptr<DeltaLog>> logs_ TW_GUARDED_BY(mutex_);
};

std::shared_ptr<DeltaLog> DeltaDataSource::LogOf(const std::string& path) const {
  const MutexLock lock(mutex_);
  auto& log = logs_[path];
  if (log == nullptr) log = std::make_shared<DeltaLog>(*services_.file_system, *services_.clock, path);
  auto found = log;
  if (logs_.size() > kMaxLogs) {
    for (auto it = logs_.begin(); it != logs_.end();) it = it->second.use_count() == 1 && it->second != found ? logs_.erase(it) : std::next(it);
  }
  return found;
}

// `path@v12` and `path@yyyyMMddHHmmssSSS`, where no such path exists.
Status DeltaDataSource::SplitSuffix(const data::TimeZone& zone, Location* location) const {
  const size_t at = location->path.rfind('@');
  if (at == std::string::npos || at == 0) return Status::OK();
  const std::string suffix = location->path.substr(at + 1);
  const bool is_version = suffix.starts_with("v") && AllDigits(std::string_view(suffix).substr(1));
  if (!is_version && !(suffix.size() == 17 && AllDigits(suffix))) return Status::OK();
  TW_ASSIGN_OR_RETURN(const bool exists, services_.file_system->Exists(location->path));
  if (exists) return Status::OK();
  location->path.resize(at);
  if (is_version) {
    int64_t version = 0;
    if (!data::ParseJavaLong(std::string_view(suffix).substr(1), &version)) return InternalError("a version of too many digits");
    location->version = version;
    return Status::OK();
  }
  const std::string text = suffix.substr(0, 4) + "-" + suffix.substr(4, 2) + "-" + suffix.substr(6, 2) + " " + suffix.substr(8, 2) + ":" +
                           suffix.substr(10, 2) + ":" + suffix.substr(12, 2) + "." + suffix.substr(14, 3);
  int64_t micros = 0;
  if (!data::ParseTimestamp(text, zone, 0, &micros)) return Status::OK();
  location->timestamp_ms = micros / 1000;
  return Status::OK();
}

Result<Location> DeltaDataSource::Locate(const sql::LoadRequest& request) const {
  if (request.paths.empty()) return Error("_LEGACY_ERROR_TEMP_2047");
  if (request.paths.size() > 1) return Unsupported("reading several Delta tables at once");
  Location location;
  TW_ASSIGN_OR_RETURN(location.path, data::PathFromText(request.paths[0]));
  location.path = data::AbsolutePath(location.path);
  data::TimeZone zone;
  if (request.config != nullptr) {
    TW_ASSIGN_OR_RETURN(zone, data::TimeZone::Parse(request.config->time_zone));
  }
  TW_RETURN_NOT_OK(SplitSuffix(zone, &location));
  const auto version = request.options.Get("versionAsOf");
  const auto timestamp = request.options.Get("timestampAsOf");
  if (version && timestamp) return Error("DELTA_ONEOF_IN_TIMETRAVEL");
  if ((version || timestamp) && (location.version || location.timestamp_ms)) {
    return Error("DELTA_UNSUPPORTED_TIME_TRAVEL_MULTIPLE_FORMATS");
  }
  if (version) {
    TW_ASSIGN_OR_RETURN(location.version, request.options.GetInt("versionAsOf", 0));
  }
  if (timestamp) {
    int64_t micros = 0;
    if (!data::ParseTimestamp(*timestamp, zone, services_.clock->NowMicros(), &micros)) {
      return Error("DELTA_TIMESTAMP_INVALID").With("expr", "'" + *timestamp + "'");
    }
    location.timestamp_ms = micros / 1000 - (micros % 1000 < 0 ? 1 : 0);
  }
  return location;
}

Result<sql::TablePtr> DeltaDataSource::Load(const sql::LoadRequest& request) const {
  TW_ASSIGN_OR_RETURN(const Location location, Locate(request));
  const std::shared_ptr<DeltaLog> log = LogOf(location.path);
  const std::string name = "delta.`" + location.path + "`";
  const bool pinned = location.version || location.timestamp_ms;
  if (request.for_write) {
    TW_ASSIGN_OR_RETURN(DeltaSnapshotPtr snapshot, log->Update());
    if (pinned) return Error("DELTA_FAILED_SCAN_WITH_HISTORICAL_VERSION").With("historicalVersion", location.version.value_or(-1));
    return MakeDeltaTable(log, std::move(snapshot), false);
  }
  if (request.streaming && pinned) return Error("DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS");
  if (request.options.Has("readChangeFeed") || request.options.Has("readChangeData")) return Unsupported("the change data feed of Delta tables");
  DeltaSnapshotPtr snapshot;
  if (location.timestamp_ms) {
    TW_ASSIGN_OR_RETURN(const int64_t version, log->VersionAt(*location.timestamp_ms));
    TW_ASSIGN_OR_RETURN(snapshot, log->At(version));
  } else if (location.version) {
    TW_ASSIGN_OR_RETURN(snapshot, log->At(*location.version));
  } else {
    TW_ASSIGN_OR_RETURN(snapshot, log->Update());
  }
  if (snapshot == nullptr) {
    TW_ASSIGN_OR_RETURN(const bool exists, services_.file_system->Exists(location.path));
    if (!exists) return Error("PATH_NOT_FOUND").With("path", data::QualifiedPathText(location.path));
    return Error("DELTA_TABLE_NOT_FOUND").With("tableName", "`" + data::QualifiedPathText(location.path) + "`");
  }
  TW_RETURN_NOT_OK(CheckDeltaReadable(snapshot->protocol(), name));
  if (!request.streaming) return MakeDeltaTable(log, std::move(snapshot), pinned);
  TW_RETURN_NOT_OK(CheckDeltaStream(*snapshot, request));
  return MakeDeltaTable(log, std::move(snapshot), pinned, request.options);
}

Status DeltaDataSource::CheckMatches(const DeltaSnapshot& snapshot, const std::string& location, const Schema& schema,
                                     const std::vector<std::string>& partition_columns) const {
  if (schema.empty()) return Status::OK();
  const auto same = [](const data::StructField& a, const data::StructField& b) { return a.name == b.name && a.type.SameType(b.type); };
  if (!std::equal(schema.begin(), schema.end(), snapshot.schema().begin(), snapshot.schema().end(), same)) {
    return Error("DELTA_CREATE_TABLE_SCHEME_MISMATCH").With("path", data::QualifiedPathText(location))
        .With("specifiedSchema", data::SchemaTree(schema)).With("existingSchema", data::SchemaTree(snapshot.schema()))
        .With("schemaDifferences", "- columns differ");
  }
  if (partition_columns != snapshot.metadata().partition_columns) {
    return Error("DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING").With("path", data::QualifiedPathText(location))
        .With("specifiedColumns", JsonStringArray(partition_columns))
        .With("existingColumns", JsonStringArray(snapshot.metadata().partition_columns));
  }
  return Status::OK();
}

// A commit that says what a table is.
DeltaTransaction DefinitionOf(DeltaNewTable made, std::string operation) {
  DeltaTransaction transaction;
  transaction.operation = std::move(operation);
  std::string configuration;
  AppendJsonObject(made.metadata.configuration, &configuration);
  std::string& parameters = transaction.parameters_json;
  parameters = "{\"partitionBy\":";
  AppendJsonText(JsonStringArray(made.metadata.partition_columns), &parameters);
  parameters += ",\"clusterBy\":\"[]\",\"description\":null,\"isManaged\":\"false\",\"properties\":";
  AppendJsonText(configuration, &parameters);
  parameters += "}";
  transaction.metadata = std::move(made.metadata);
  transaction.protocol = std::move(made.protocol);
  return transaction;
}

namespace {

// Whether a table may be made in a folder: it is not there, or empty, or holds no more than a crash leaves that came before the first entry
// of the log.
bool HoldsNoData(data::FileSystem& files, const std::string& path) {
  const auto entries = files.List(path);
  if (!entries.ok()) return true;
  return std::all_of(entries->begin(), entries->end(), [&](const data::FileInfo& entry) {
    if (data::IsTemporaryName(entry.name())) return true;
    if (entry.name() != "_delta_log") return false;
    const auto log = files.List(entry.path);
    return log.ok() && std::all_of(log->begin(), log->end(), [](const data::FileInfo& file) { return data::IsTemporaryName(file.name()); });
  });
}

// The folders of a table that could not be made go, as far as they are new and empty.
class NewFolders {
 public:
  NewFolders(data::FileSystem& files, const std::vector<std::string>& innermost_first) : files_(files) {
    for (const std::string& path : innermost_first) {
      const Result<bool> exists = files.Exists(path);
      if (exists.ok() && !*exists) missing_.push_back(path);
    }
  }
  void Remove() {
    for (const std::string& path : missing_) Ignore(files_.Remove(path), "it was never made, or somebody else uses it");
  }

 private:
  data::FileSystem& files_;
  std::vector<std::string> missing_;
};

Error MadeByAnother(const std::string& path) { return Error("TABLE_OR_VIEW_ALREADY_EXISTS").With("relationName", "`delta`.`" + path + "`"); }

}  // namespace

Status DeltaDataSource::CreateTable(const std::string& location, const Schema& schema,
                                    const std::vector<std::string>& partition_columns,
                                    const std::map<std::string, std::string>& properties, const sql::EvalConfig& config) const {
  TW_ASSIGN_OR_RETURN(std::string path, data::PathFromText(location));
  path = data::AbsolutePath(path);
  const std::shared_ptr<DeltaLog> log = LogOf(path);
  TW_ASSIGN_OR_RETURN(const DeltaSnapshotPtr existing, log->Update());
  if (existing != nullptr) {
    TW_RETURN_NOT_OK(CheckDeltaReadable(existing->protocol(), "delta.`" + path + "`"));
    return CheckMatches(*existing, path, schema, partition_columns);
  }
  if (schema.empty()) {
    return Error("DELTA_CREATE_EXTERNAL_TABLE_WITHOUT_TXN_LOG").With("tableName", data::QuoteIdentifier(std::string(data::PathName(path))))
        .With("path", path).With("logPath", log->log_path()).With("docLink", "https://docs.delta.io/latest/index.html");
  }
  if (!HoldsNoData(*services_.file_system, path)) {
    TW_ASSIGN_OR_RETURN(const DeltaSnapshotPtr meanwhile, log->Update());
    if (meanwhile != nullptr) return MadeByAnother(path);
    return Error("DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION").With("tableId", std::string(data::PathName(path)))
        .With("tableLocation", data::QualifiedPathText(path));
  }
  TW_ASSIGN_OR_RETURN(DeltaNewTable made, MakeNewDeltaTable(*log, schema, partition_columns,
                                                            StringPairs(properties.begin(), properties.end()), config.case_sensitive));
  NewFolders folders(*services_.file_system, {log->log_path(), path});
  const Status committed = CommitDelta(*log, DefinitionOf(std::move(made), "CREATE TABLE")).status();
  if (IsDeltaConflict(committed)) return MadeByAnother(path);
  if (!committed.ok()) folders.Remove();
  return committed;
}

Status DeltaDataSource::ReplaceTable(const std::string& location, const Schema& schema, const std::vector<std::string>& partition_columns,
                                     const std::map<std::string, std::string>& properties, bool or_create,
                                     const sql::EvalConfig& config) const {
  TW_ASSIGN_OR_RETURN(std::string path, data::PathFromText(location));
  path = data::AbsolutePath(path);
  const std::shared_ptr<DeltaLog> log = LogOf(path);
  TW_ASSIGN_OR_RETURN(DeltaSnapshotPtr existing, log->Update());
  if (existing == nullptr) {
    if (!or_create) return Error("TABLE_OR_VIEW_NOT_FOUND").With("relationName", "`delta`.`" + path + "`");
    const Status created = CreateTable(location, schema, partition_columns, properties, config);
    if (created.condition() != "TABLE_OR_VIEW_ALREADY_EXISTS") return created;
    TW_ASSIGN_OR_RETURN(existing, log->Update());  // somebody was faster: theirs is replaced
    if (existing == nullptr) return created;
  }
  const std::string name = "delta.`" + path + "`";
  TW_RETURN_NOT_OK(CheckDeltaReadable(existing->protocol(), name));
  TW_RETURN_NOT_OK(CheckDeltaWriterFeatures(existing->protocol(), name));
  TW_ASSIGN_OR_RETURN(DeltaNewTable made, MakeNewDeltaTable(*log, schema, partition_columns,
                                                            StringPairs(properties.begin(), properties.end()), config.case_sensitive));
  // What the table supports stays, what the new definition needs comes in addition.
  DeltaProtocol protocol = existing->protocol();
  const auto needed = made.protocol.writer_features ? *made.protocol.writer_features : ImpliedWriterFeatures(made.protocol.min_writer_version);
  for (const std::string& feature : needed) {
    TW_ASSIGN_OR_RETURN(protocol, WithFeature(protocol, feature, name));
  }
  DeltaTransaction transaction = DefinitionOf(std::move(made), or_create ? "CREATE OR REPLACE TABLE" : "REPLACE TABLE");
  transaction.read = existing;
  transaction.reads_whole_table = true;
  transaction.protocol.reset();
  if (protocol != existing->protocol()) transaction.protocol = protocol;
  const int64_t now = services_.clock->NowMillis();
  for (const AddFilePtr& add : existing->files()->live()) transaction.removes.push_back(RemoveOf(*add, now));
  return CommitDelta(*log, std::move(transaction)).status();
}

}  // namespace

std::shared_ptr<const sql::DataSource> MakeDeltaDataSource(const sql::ConnectorServices& services) {
  return std::make_shared<DeltaDataSource>(services);
}

}  // namespace thalweg::connectors
