// VACUUM: files that no version within the retention needs. Source: Delta's documentation, "Table utility commands".

#include <algorithm>
#include <cerrno>
#include <set>
#include <unordered_set>

#include "base/fault_point.h"
#include "base/log.h"
#include "base/string_case.h"
#include "connectors/delta/deletion_vector.h"
#include "connectors/delta/delta_command.h"
#include "connectors/delta/delta_protocol.h"
#include "connectors/delta/delta_schema.h"
#include "connectors/delta/delta_settings.h"
#include "data/io/own_tree.h"
#include "data/io/path.h"
#include "data/text/numbers.h"

namespace thalweg::connectors {

namespace {

constexpr int64_t kDefaultRetentionMs = int64_t{7} * 24 * 3600 * 1000;
constexpr double kHourMs = 3600.0 * 1000.0;
constexpr int kMaxNoteAttempts = 100;
constexpr const char* kStart = "VACUUM START";

struct Retention {
  bool checked = true;
  int64_t default_ms = kDefaultRetentionMs;
  std::optional<int64_t> specified_ms;
  int64_t used_ms = kDefaultRetentionMs;
};

Result<Retention> RetentionOf(const DeltaCommandRun& run) {
  Retention retention;
  const SettingsMap none;
  const SettingsMap& settings = run.request.settings != nullptr ? *run.request.settings : none;
  retention.checked = settings.Get(kVacuumCheckRetention);
  if (const auto property = run.snapshot->metadata().Property("delta.deletedFileRetentionDuration")) {
    const auto parsed = ParseDeltaInterval(*property);
    if (!parsed) return InternalError("delta.deletedFileRetentionDuration is no interval: " + *property);
    retention.default_ms = *parsed;
  }
  retention.used_ms = retention.default_ms;
  const auto text = run.request.arguments.Get("retainHours");
  if (!text) return retention;
  double hours = 0;
  if (!data::ParseJavaDouble(*text, &hours) || !(hours < 1e12)) return InternalError("RETAIN without a number");
  if (hours < 0) return Error("DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE");
  retention.specified_ms = static_cast<int64_t>(hours * kHourMs);
  if (*retention.specified_ms > 0 && settings.Get(kVacuumIgnoreWindow)) return retention;
  if (retention.checked && *retention.specified_ms < retention.default_ms) {
    return Error("DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT")
        .With("configuredRetentionHours", static_cast<int64_t>(static_cast<double>(retention.default_ms) / kHourMs));
  }
  retention.used_ms = *retention.specified_ms;
  return retention;
}

/// What lies below the table and may go.
struct Garbage {
  std::vector<std::string> files;
  std::vector<std::string> directories;  // empty ones
  int64_t bytes = 0;
};

class Collector {
 public:
  Collector(const DeltaCommandRun& run, int64_t horizon_ms) : run_(run), horizon_ms_(horizon_ms) {
    const bool mapped = HasColumnMapping(run.snapshot->metadata());
    for (const data::StructField& field : run.snapshot->schema()) {
      const auto& names = run.snapshot->metadata().partition_columns;
      if (std::find(names.begin(), names.end(), field.name) == names.end()) continue;
      prefixes_.push_back(data::EscapePartitionValue(PhysicalField(field, mapped).name) + "=");
    }
  }

  Result<Garbage> Collect() {
    const auto files = run_.snapshot->files();
    for (const AddFilePtr& add : files->live()) TW_RETURN_NOT_OK(Keep(add->path, add->deletion_vector));
    for (const auto& [key, remove] : files->tombstones()) {
      if (remove.deletion_timestamp.value_or(0) < horizon_ms_) continue;
      TW_RETURN_NOT_OK(Keep(remove.path, remove.deletion_vector));
    }
    TW_RETURN_NOT_OK(Walk(run_.log->table_path()));
    return std::move(garbage_);
  }

 private:
  Status Keep(const std::string& uri, const std::optional<DeletionVector>& vector) {
    TW_ASSIGN_OR_RETURN(std::string path, data::PathFromUri(uri));
    kept_.insert(path.starts_with("/") ? std::move(path) : data::JoinPath(run_.log->table_path(), path));
    if (!vector || vector->storage_type == "i") return Status::OK();
    TW_ASSIGN_OR_RETURN(std::string file, DeletionVectorPath(run_.log->table_path(), *vector));
    kept_.insert(std::move(file));
    return Status::OK();
  }

  bool IsHidden(std::string_view name) const {
    if (!name.starts_with(".") && !name.starts_with("_")) return false;
    if (name == "_delta_index" || name == "_change_data") return false;
    return std::none_of(prefixes_.begin(), prefixes_.end(), [&](const std::string& prefix) { return name.starts_with(prefix); });
  }

  Status Walk(const std::string& directory) {
    if (run_.request.stop.stop_requested()) return Cancelled();
    TW_ASSIGN_OR_RETURN(const std::vector<data::FileInfo> entries, run_.log->file_system().List(directory));
    for (const data::FileInfo& entry : entries) {
      const std::string path = data::JoinPath(directory, std::string(entry.name()));
      if (IsHidden(entry.name())) continue;
      if (entry.is_directory) {
        // Files of the table may be reached through a link, so it stays, and what else it leads to is not the table's.
        TW_ASSIGN_OR_RETURN(const bool link, data::IsSymbolicLink(run_.log->file_system(), path));
        if (link) continue;
        TW_RETURN_NOT_OK(Walk(path));
        TW_ASSIGN_OR_RETURN(const std::vector<data::FileInfo> inside, run_.log->file_system().List(path));
        if (inside.empty() && entry.modification_time_ms < horizon_ms_) garbage_.directories.push_back(path);
        continue;
      }
      if (entry.modification_time_ms >= horizon_ms_ || kept_.contains(path)) continue;
      garbage_.files.push_back(path);
      garbage_.bytes += entry.size_bytes;
    }
    return Status::OK();
  }

  const DeltaCommandRun& run_;
  const int64_t horizon_ms_;
  std::vector<std::string> prefixes_;
  std::unordered_set<std::string> kept_;
  Garbage garbage_;
};

// An entry without actions conflicts with nobody: it only has to find its place.
Status CommitNote(const DeltaCommandRun& run, const std::string& operation, const std::string& parameters, const StringPairs& metrics) {
  for (int attempt = 0; attempt < kMaxNoteAttempts; ++attempt) {
    DeltaTransaction transaction;
    TW_ASSIGN_OR_RETURN(transaction.read, run.log->Update());
    transaction.operation = operation;
    transaction.parameters_json = parameters;
    transaction.metrics = metrics;
    transaction.snapshot_isolation = true;
    const Status committed = CommitDelta(*run.log, std::move(transaction)).status();
    if (committed.ok() || !committed.condition().starts_with("DELTA_METADATA_CHANGED")) return committed;
  }
  return Error("DELTA_METADATA_CHANGED").With("conflictingCommit", "").With("docLink", "");
}

// A full disk is why people run VACUUM, and the note is what it has no room for.
Status WriteNote(const DeltaCommandRun& run, const std::string& operation, const std::string& parameters, const StringPairs& metrics) {
  const Status written = CommitNote(run, operation, parameters, metrics);
  const int number = data::ErrorNumber(written);
  if (number != ENOSPC && number != EDQUOT) return written;
  return Error("DELTA_VACUUM_NO_ROOM_FOR_LOGGING")
      .With("operation", operation)
      .With("path", data::QualifiedPathText(run.log->log_path()))
      .With("error", written.message_text())
      .With("deleted", operation == kStart ? "Nothing was deleted" : "The files were deleted")
      .With("config", kVacuumLogging.key)
      .Kind(ErrorKind::kEnvironment);
}

}  // namespace

Result<sql::TableCommandAnswer> VacuumDelta(const DeltaCommandRun& run) {
  TW_RETURN_NOT_OK(CheckDeltaWriterFeatures(run.snapshot->protocol(), run.table_name()));
  if (run.request.arguments.Has("lite")) return Unsupported("VACUUM LITE");
  TW_ASSIGN_OR_RETURN(const Retention retention, RetentionOf(run));
  const bool dry_run = run.request.arguments.Get("dryRun").value_or("false") == "true";
  TW_ASSIGN_OR_RETURN(const Garbage garbage, Collector(run, run.log->clock().NowMillis() - retention.used_ms).Collect());
  sql::TableCommandAnswer answer;
  answer.schema = {{"path", data::DataType::String()}};
  if (dry_run) {
    for (const std::string& path : garbage.files) answer.rows.push_back({data::Value(data::UriFromPath(path))});
    return answer;
  }
  const bool logged = run.request.settings == nullptr || run.request.settings->Get(kVacuumLogging);
  if (logged) {
    std::string parameters = std::string("{\"retentionCheckEnabled\":") + (retention.checked ? "true" : "false") +
                             ",\"defaultRetentionMillis\":" + std::to_string(retention.default_ms);
    if (retention.specified_ms) parameters += ",\"specifiedRetentionMillis\":" + std::to_string(*retention.specified_ms);
    TW_RETURN_NOT_OK(WriteNote(run, kStart, parameters + "}",
                                {{"numFilesToDelete", std::to_string(garbage.files.size())},
                                 {"sizeOfDataToDelete", std::to_string(garbage.bytes)}}));
  }
  data::FileSystem& files = run.log->file_system();
  for (const std::string& path : garbage.files) {
    if (run.request.stop.stop_requested()) return Cancelled();
    TW_FAULT_POINT("delta vacuum: before a file goes");
    const Status removed = files.Remove(path);
    if (!removed.ok() && !data::IsNotFound(removed)) return removed;
  }
  for (const std::string& path : garbage.directories) {
    Ignore(files.Remove(path), "somebody may have put a file there");
  }
  if (logged) {
    TW_RETURN_NOT_OK(WriteNote(run, "VACUUM END", "{\"status\":\"COMPLETED\"}",
                                {{"numDeletedFiles", std::to_string(garbage.files.size())},
                                 {"numVacuumedDirectories", std::to_string(garbage.directories.size() + 1)}}));
  }
  answer.rows.push_back({data::Value(data::QualifiedPathText(run.log->table_path()))});
  return answer;
}

}  // namespace thalweg::connectors
