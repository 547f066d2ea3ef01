// RESTORE, protocol upgrades and single features. Source: Delta's protocol; Delta's documentation, "Table utility commands".

#include <algorithm>
#include <map>

#include "connectors/delta/delta_command.h"
#include "connectors/delta/delta_protocol.h"
#include "connectors/delta/delta_write_plan.h"
#include "data/io/path.h"
#include "data/text/datetime.h"
#include "data/text/numbers.h"
#include "data/text/time_zone.h"

namespace thalweg::connectors {

using data::Value;

namespace {

/// The version to go back to, and how the user named it.
struct RestoreTarget {
  int64_t version = 0;
  std::string parameters;
};

Result<RestoreTarget> TargetOf(const DeltaCommandRun& run) {
  RestoreTarget target;
  if (const auto text = run.request.arguments.Get("version")) {
    if (!data::ParseJavaLong(*text, &target.version)) return Error("DELTA_VERSION_INVALID").With("version", *text);
    target.parameters = "{\"version\":" + std::to_string(target.version) + ",\"timestamp\":null}";
    return target;
  }
  const std::string text = run.request.arguments.Get("timestamp").value_or("");
  data::TimeZone zone;
  if (run.request.config != nullptr) {
    TW_ASSIGN_OR_RETURN(zone, data::TimeZone::Parse(run.request.config->time_zone));
  }
  int64_t micros = 0;
  if (!data::ParseTimestamp(text, zone, run.log->clock().NowMicros(), &micros)) {
    return Error("DELTA_TIMESTAMP_INVALID").With("expr", "'" + text + "'");
  }
  TW_ASSIGN_OR_RETURN(target.version, run.log->VersionAt(micros / 1000 - (micros % 1000 < 0 ? 1 : 0)));
  target.parameters = "{\"version\":null,\"timestamp\":";
  AppendJsonText(text, &target.parameters);
  target.parameters += "}";
  return target;
}

// The files that come back have to be there still.
Status CheckThere(const DeltaCommandRun& run, const std::vector<AddFile>& adds) {
  for (const AddFile& add : adds) {
    TW_ASSIGN_OR_RETURN(std::string path, data::PathFromUri(add.path));
    if (!path.starts_with("/")) path = data::JoinPath(run.log->table_path(), path);
    TW_ASSIGN_OR_RETURN(const bool exists, run.log->file_system().Exists(path));
    if (!exists) return Error("FAILED_READ_FILE.FILE_NOT_EXIST").With("path", data::UriFromPath(path));
  }
  return Status::OK();
}

// Versions and features of both: a table never goes back below what its files may need.
DeltaProtocol JoinedProtocols(const DeltaProtocol& now, const DeltaProtocol& then) {
  if (now == then) return now;
  DeltaProtocol joined = now;
  joined.min_reader_version = std::max(now.min_reader_version, then.min_reader_version);
  joined.min_writer_version = std::max(now.min_writer_version, then.min_writer_version);
  const auto unite = [](std::optional<std::vector<std::string>>* list, const std::vector<std::string>& more) {
    if (!*list) list->emplace();
    for (const std::string& name : more) {
      if (std::find((*list)->begin(), (*list)->end(), name) == (*list)->end()) (*list)->push_back(name);
    }
  };
  if (joined.min_writer_version >= 7) {
    for (const DeltaProtocol& part : {now, then}) {
      unite(&joined.writer_features, part.writer_features ? *part.writer_features : ImpliedWriterFeatures(part.min_writer_version));
    }
  }
  if (joined.min_reader_version >= 3) {
    for (const DeltaProtocol& part : {now, then}) unite(&joined.reader_features, part.reader_features.value_or(std::vector<std::string>{}));
  }
  return joined;
}

Status CommitProtocol(const DeltaCommandRun& run, const DeltaProtocol& protocol) {
  DeltaTransaction transaction;
  transaction.read = run.snapshot;
  transaction.operation = "UPGRADE PROTOCOL";
  std::string text = ActionLine(protocol);  // {"protocol":{...}}
  constexpr size_t kPrefix = std::string_view("{\"protocol\":").size();
  text = text.substr(kPrefix, text.size() - kPrefix - 1);
  transaction.parameters_json = "{\"newProtocol\":";
  AppendJsonText(text, &transaction.parameters_json);
  transaction.parameters_json += "}";
  transaction.protocol = protocol;
  return CommitDelta(*run.log, std::move(transaction)).status();
}

}  // namespace

Result<sql::TableCommandAnswer> RestoreDelta(const DeltaCommandRun& run) {
  TW_RETURN_NOT_OK(CheckDeltaWriterFeatures(run.snapshot->protocol(), run.table_name()));
  TW_ASSIGN_OR_RETURN(const RestoreTarget target, TargetOf(run));
  const int64_t newest = run.snapshot->version();
  if (target.version < 0 || target.version > newest) {
    return Error("DELTA_CANNOT_RESTORE_TABLE_VERSION").With("version", target.version).With("startVersion", 0).With("endVersion", newest);
  }
  TW_ASSIGN_OR_RETURN(const DeltaSnapshotPtr then, run.log->At(target.version));
  std::map<std::string, AddFilePtr> gone;  // live now, by path and vector
  for (const AddFilePtr& add : run.snapshot->files()->live()) gone.emplace(DeltaFileKey(add->path, add->deletion_vector), add);
  DeltaTransaction transaction;
  int64_t size = 0, files = 0, restored_bytes = 0, removed_bytes = 0;
  for (const AddFilePtr& add : then->files()->live()) {
    size += add->size;
    ++files;
    if (gone.erase(DeltaFileKey(add->path, add->deletion_vector)) > 0) continue;
    transaction.adds.push_back(*add);
    transaction.adds.back().data_change = true;
    restored_bytes += add->size;
  }
  TW_RETURN_NOT_OK(CheckThere(run, transaction.adds));
  for (const auto& [key, add] : gone) {
    transaction.removes.push_back(RemoveOf(*add, run.log->clock().NowMillis()));
    removed_bytes += add->size;
  }
  transaction.read = run.snapshot;
  transaction.reads_whole_table = true;
  transaction.metadata = then->metadata();
  transaction.protocol = JoinedProtocols(run.snapshot->protocol(), then->protocol());
  transaction.operation = "RESTORE";
  transaction.parameters_json = target.parameters;
  const std::vector<std::pair<const char*, int64_t>> metrics = {
      {"tableSizeAfterRestore", size},
      {"numOfFilesAfterRestore", files},
      {"numRemovedFiles", static_cast<int64_t>(transaction.removes.size())},
      {"numRestoredFiles", static_cast<int64_t>(transaction.adds.size())},
      {"removedFilesSize", removed_bytes},
      {"restoredFilesSize", restored_bytes}};
  sql::TableCommandAnswer answer;
  TW_ASSIGN_OR_RETURN(answer.schema,
                      data::ParseSchemaDdl("table_size_after_restore BIGINT, num_of_files_after_restore BIGINT, num_removed_files BIGINT, "
                                           "num_restored_files BIGINT, removed_files_size BIGINT, restored_files_size BIGINT"));
  data::ValueList row;
  for (const auto& [name, value] : metrics) {
    transaction.metrics.emplace_back(name, std::to_string(value));
    row.emplace_back(value);
  }
  answer.rows.push_back(std::move(row));
  TW_RETURN_NOT_OK(CommitDelta(*run.log, std::move(transaction)).status());
  return answer;
}

Result<sql::TableCommandAnswer> UpgradeDeltaProtocol(const DeltaCommandRun& run) {
  int64_t reader = 0, writer = 0;
  if (!data::ParseJavaLong(run.request.arguments.Get("readerVersion").value_or(""), &reader) ||
      !data::ParseJavaLong(run.request.arguments.Get("writerVersion").value_or(""), &writer)) {
    return InternalError("a protocol upgrade without versions");
  }
  DeltaProtocol next = run.snapshot->protocol();
  if (reader < 1 || reader > 3 || writer < 1 || writer > 7 || (reader == 3 && writer != 7)) {
    DeltaProtocol wanted;
    wanted.min_reader_version = static_cast<int>(std::clamp<int64_t>(reader, 0, 1000));
    wanted.min_writer_version = static_cast<int>(std::clamp<int64_t>(writer, 0, 1000));
    return Error("DELTA_INVALID_PROTOCOL_VERSION").With("tableNameOrPath", run.table_name())
        .With("readerRequired", wanted.min_reader_version).With("writerRequired", wanted.min_writer_version).With("deltaVersion", "4.4.0")
        .With("supportedReaders", "1, 2, 3").With("supportedWriters", "1, 2, 3, 4, 5, 6, 7");
  }
  if (writer == 7 && !next.writer_features) next.writer_features = ImpliedWriterFeatures(next.min_writer_version);
  if (next.writer_features && writer < 7) {
    for (const std::string& name : ImpliedWriterFeatures(static_cast<int>(writer))) {
      TW_ASSIGN_OR_RETURN(next, WithFeature(next, name, run.table_name()));
    }
  }
  if (reader == 3 && !next.reader_features) {
    next.reader_features.emplace();
    if (next.min_reader_version == 2) next.reader_features->emplace_back("columnMapping");
  }
  next.min_reader_version = std::max(next.min_reader_version, static_cast<int>(reader));
  next.min_writer_version = std::max(next.min_writer_version, static_cast<int>(writer));
  if (next != run.snapshot->protocol()) TW_RETURN_NOT_OK(CommitProtocol(run, next));
  return sql::TableCommandAnswer{};
}

Result<sql::TableCommandAnswer> AddDeltaFeature(const DeltaCommandRun& run) {
  TW_ASSIGN_OR_RETURN(const DeltaProtocol next,
                      WithFeature(run.snapshot->protocol(), run.request.arguments.Get("feature").value_or(""), run.table_name()));
  if (next != run.snapshot->protocol()) TW_RETURN_NOT_OK(CommitProtocol(run, next));
  return sql::TableCommandAnswer{};
}

}  // namespace thalweg::connectors
