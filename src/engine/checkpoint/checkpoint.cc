#include "engine/checkpoint/checkpoint.h"

#include <algorithm>
#include <set>

#include "base/log.h"
#include "base/probe.h"
#include "data/io/atomic_write.h"
#include "data/io/path.h"
#include "data/logs/log_text.h"
#include "engine/checkpoint/log_json.h"

namespace thalweg::engine {
namespace {

Result<std::optional<QueryId>> ReadQueryId(data::FileSystem& file_system, const std::string& path) {
  const Result<std::string> text = file_system.ReadWhole(path);
  if (!text.ok()) {
    if (data::IsNotFound(text.status())) return std::optional<QueryId>();
    return text.status();
  }
  Result<QueryId> id = ParseQueryMetadata(*text);
  if (!id.ok()) return data::InLogFile(id.status(), path);
  return std::optional<QueryId>(*id);
}

Result<QueryId> CreateQueryId(data::FileSystem& file_system, const std::string& path, const QueryId& id_if_new) {
  const Status written = data::AtomicWriteFile(file_system, path, FormatQueryMetadata(id_if_new));
  if (written.ok()) return id_if_new;
  if (!data::IsAlreadyExists(written)) return written;
  // Another run was faster; the logs will tell whether it is still there.
  TW_ASSIGN_OR_RETURN(const std::optional<QueryId> id, ReadQueryId(file_system, path));
  if (!id.has_value()) return InternalError("the file " + path + " vanished");
  return *id;
}

Result<bool> HasEntries(data::FileSystem& file_system, const std::string& directory) {
  const Result<std::vector<data::FileInfo>> entries = file_system.List(directory);
  if (entries.ok()) return !entries->empty();
  if (data::IsNotFound(entries.status())) return false;
  return entries.status();
}

// Removes what a crash left of a file that was being written. Spark takes any file, hidden ones too, for a used checkpoint.
Status RemoveTemporaryFiles(data::FileSystem& file_system, const std::string& directory) {
  const Result<std::vector<data::FileInfo>> entries = file_system.List(directory);
  if (!entries.ok()) return data::IsNotFound(entries.status()) ? Status::OK() : entries.status();
  for (const data::FileInfo& entry : *entries) {
    if (entry.is_directory || !data::IsTemporaryName(entry.name())) continue;
    TW_PROBE("checkpoint: temporary file of a crash removed");
    TW_RETURN_NOT_OK(file_system.Remove(entry.path));
  }
  return Status::OK();
}

Status BatchMissing(BatchId batch_id) {
  return Error("_LEGACY_ERROR_THALWEG_BATCH_MISSING").With("batchId", batch_id.value());
}

}  // namespace

Result<QueryId> ParseQueryMetadata(std::string_view text) {
  constexpr std::string_view kPlace = "the metadata of a query";
  TW_ASSIGN_OR_RETURN(const OrderedJson object, ParseLogObject(kPlace, text));
  TW_ASSIGN_OR_RETURN(const std::string id, TextMember(kPlace, object, "id"));
  const Result<Uuid> uuid = Uuid::Parse(id);
  if (!uuid.ok()) return data::MalformedLogEntry(kPlace, "the id " + id + " is no UUID");
  return QueryId(*uuid);
}

std::string FormatQueryMetadata(const QueryId& query_id) { return "{\"id\":\"" + query_id.value().ToString() + "\"}"; }

Checkpoint::Checkpoint(data::FileSystem& file_system, std::string root, QueryId query_id, const PoisonFlag* poison)
    : file_system_(file_system),
      layout_(std::move(root)),
      query_id_(query_id),
      offsets_(file_system, layout_.OffsetsDirectory(), poison),
      commits_(file_system, layout_.CommitsDirectory(), poison) {}

Result<std::unique_ptr<Checkpoint>> Checkpoint::Open(data::FileSystem& file_system, std::string root,
                                                     QueryId id_if_new, CheckpointOptions options,
                                                     const PoisonFlag* poison) {
  const CheckpointLayout layout(root);
  std::vector<std::string> changed;
  TW_RETURN_NOT_OK(data::MakeMissingDirectories(file_system, root, &changed));
  for (const std::string& directory : changed) TW_RETURN_NOT_OK(file_system.SyncDirectory(directory));
  TW_ASSIGN_OR_RETURN(std::optional<QueryId> id, ReadQueryId(file_system, layout.MetadataFile()));
  if (!id.has_value()) {
    if (options.verify_metadata_exists) {
      TW_ASSIGN_OR_RETURN(const std::vector<int64_t> offsets,
                          data::NumberedLog(file_system, layout.OffsetsDirectory()).Ids());
      TW_ASSIGN_OR_RETURN(const std::vector<int64_t> commits,
                          data::NumberedLog(file_system, layout.CommitsDirectory()).Ids());
      if (!offsets.empty() || !commits.empty()) {
        return Error("STREAMING_CHECKPOINT_MISSING_METADATA_FILE")
            .With("checkpointLocation", data::QualifiedPathText(root));
      }
    }
    TW_ASSIGN_OR_RETURN(id, CreateQueryId(file_system, layout.MetadataFile(), id_if_new));
  }
  return std::unique_ptr<Checkpoint>(new Checkpoint(file_system, std::move(root), *id, poison));
}

Status Checkpoint::LockForRun() {
  TW_ASSIGN_OR_RETURN(lock_, file_system_.TryLock(layout_.root()));
  if (lock_ != nullptr) return Status::OK();
  return Error("CHECKPOINT_IN_USE").With("checkpointLocation", data::QualifiedPathText(layout_.root()));
}

Status Checkpoint::RequireEmpty() const {
  for (const std::string& directory :
       {layout_.OffsetsDirectory(), layout_.StateDirectory(), layout_.CommitsDirectory()}) {
    TW_RETURN_NOT_OK(RemoveTemporaryFiles(file_system_, directory));
    TW_ASSIGN_OR_RETURN(const bool used, HasEntries(file_system_, directory));
    if (used) {
      return Error("STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY")
          .With("checkpointLocation", data::QualifiedPathText(directory));
    }
  }
  return Status::OK();
}

Status Checkpoint::MakeDurable() const {
  TW_ASSIGN_OR_RETURN(const std::vector<data::FileInfo> infos, file_system_.ListTree(layout_.root()));
  std::vector<std::string> files;
  std::set<std::string> directories;
  for (const data::FileInfo& info : infos) {
    files.push_back(info.path);
    std::string directory = data::ParentPath(info.path);
    while (directory.size() >= layout_.root().size() && directories.insert(directory).second) directory = data::ParentPath(directory);
  }
  return file_system_.SyncMany(files, std::vector<std::string>(directories.begin(), directories.end()));
}

Result<RecoveryPoint> Checkpoint::Recover(bool sparse) const {
  RecoveryPoint point;
  TW_ASSIGN_OR_RETURN(point.last_commit_id, commits_.LatestId());
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, offsets_.Ids());
  if (ids.empty()) return point;
  const BatchId newest(ids.back());
  TW_ASSIGN_OR_RETURN(std::optional<OffsetLogEntry> entry, offsets_.Get(newest));
  if (!entry.has_value()) return BatchMissing(newest);
  if (!entry->metadata.has_value()) {
    return Error("CHECKPOINT_ENTRY_WITHOUT_METADATA").With("path", offsets_.PathOf(newest));
  }
  std::optional<OffsetLogEntry> before;
  if (newest > BatchId(0)) {
    const BatchId previous = sparse && ids.size() > 1 ? BatchId(ids[ids.size() - 2]) : newest.Previous();
    TW_ASSIGN_OR_RETURN(before, offsets_.Get(previous));
    if (!before.has_value() && !(sparse && ids.size() == 1)) return BatchMissing(previous);
  }
  if (point.last_commit_id.has_value()) {
    TW_ASSIGN_OR_RETURN(point.last_commit, commits_.Get(*point.last_commit_id));
    if (!point.last_commit.has_value()) return BatchMissing(*point.last_commit_id);
  }
  point.watermark_ms = entry->metadata->batch_watermark_ms;
  if (point.last_commit_id == newest) {
    point.next_batch = newest.Next();
    point.start = std::move(entry);
    point.watermark_ms = std::max(point.watermark_ms, point.last_commit->next_batch_watermark_ms);
    return point;
  }
  if (point.last_commit_id.has_value() && *point.last_commit_id != newest.Previous()) {
    TW_LOG(kWarn, "the newest commit does not precede the newest offsets", {"checkpoint", layout_.root()},
           {"commit", *point.last_commit_id}, {"offsets", newest});
  }
  point.next_batch = newest;
  point.rerun = true;
  point.start = std::move(before);
  point.planned = std::move(entry);
  return point;
}

Status Checkpoint::PurgeLogs(BatchId newest, int64_t batches_to_retain) {
  // A restart needs the two newest offset files whatever the setting says.
  const BatchId first_kept(std::min(newest.value() - batches_to_retain, newest.value() - 1));
  if (first_kept.value() <= 0) return Status::OK();
  TW_RETURN_NOT_OK(offsets_.PurgeBefore(first_kept));
  return commits_.PurgeBefore(first_kept);
}

}  // namespace thalweg::engine
