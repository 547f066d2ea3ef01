#include "connectors/file/file_stream.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "base/log.h"
#include "base/string_case.h"
#include "connectors/file/directory_watcher.h"
#include "connectors/file/file_settings.h"
#include "connectors/file/file_stream_options.h"
#include "connectors/file/glob.h"
#include "connectors/file/seen_files.h"
#include "connectors/file/source_cleaner.h"
#include "data/io/local_file_system.h"
#include "data/io/path.h"
#include "data/logs/file_logs.h"
#include "data/logs/log_settings.h"
#include "data/text/numbers.h"

namespace thalweg::connectors {
namespace {

/// Between two looks when the kernel tells of changes: for those it cannot tell of.
constexpr std::chrono::milliseconds kFallbackPoll{10'000};
/// Between two looks when it does not.
constexpr std::chrono::milliseconds kPlainPoll{10};

std::string OffsetText(int64_t log_id) { return "{\"logOffset\":" + std::to_string(log_id) + "}"; }

/// The log id of an offset: JSON, or a bare number as early versions wrote; "" is before everything.
Result<int64_t> LogId(std::string_view text) {
  if (text.empty()) return int64_t{-1};
  int64_t id = 0;
  if (data::ParseJavaLong(text, &id)) return id;
  const nlohmann::json parsed = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (parsed.is_object() && parsed.contains("logOffset") && parsed["logOffset"].is_number_integer())
    return parsed["logOffset"].get<int64_t>();
  return Error("MALFORMED_LOG_ENTRY").With("place", "offset of a file source").With("reason", text);
}

class FileStream final : public sql::MicroBatchStream {
 public:
  FileStream(FileRelationPtr relation, FileStreamOptions options, data::FileSourceLog log,
             std::unique_ptr<SourceCleaner> cleaner)
      : relation_(std::move(relation)),
        options_(std::move(options)),
        log_(std::move(log)),
        cleaner_(std::move(cleaner)),
        seen_(MaxAge(options_), options_.file_name_only) {}

  /// Takes up where the log ends.
  Status Restore() {
    TW_ASSIGN_OR_RETURN(const std::vector<data::FileSourceEntry> logged, log_.AllFiles());
    for (const data::FileSourceEntry& entry : logged) {
      TW_ASSIGN_OR_RETURN(const std::string path, data::PathFromUri(entry.uri));
      seen_.Add(path, entry.timestamp_ms);
    }
    seen_.Purge();
    TW_ASSIGN_OR_RETURN(const std::optional<int64_t> latest, log_.LatestId());
    log_id_ = latest.value_or(-1);
    return Status::OK();
  }

  void StartWatching(const std::function<void()>& on_more_data) {
    if (relation_->context.file_system == &data::LocalFileSystem::Get())
      watcher_ = DirectoryWatcher::Start(on_more_data);
  }

  Result<sql::Offset> InitialOffset() override { return sql::Offset{}; }

  std::vector<sql::ReadLimit> DefaultReadLimits() const override {
    if (options_.max_files_per_trigger) return {sql::ReadMaxFiles{*options_.max_files_per_trigger}};
    if (options_.max_bytes_per_trigger) return {sql::ReadMaxBytes{*options_.max_bytes_per_trigger}};
    return {sql::ReadAllAvailable{}};
  }

  Result<std::optional<sql::Offset>> LatestOffset(const sql::Offset&,
                                                  const std::vector<sql::ReadLimit>& limits) override {
    TW_ASSIGN_OR_RETURN(std::vector<FileEntry> taken, TakeNewFiles(limits));
    if (!taken.empty()) TW_RETURN_NOT_OK(LogFiles(std::move(taken)));
    if (log_id_ < 0) return std::optional<sql::Offset>();
    return std::optional(sql::Offset{OffsetText(log_id_)});
  }

  Status PrepareForTriggerAvailableNow() override {
    TW_ASSIGN_OR_RETURN(frozen_, ListNew());
    return Status::OK();
  }

  Result<sql::Offset> DeserializeOffset(std::string_view json) override {
    TW_ASSIGN_OR_RETURN(const int64_t id, LogId(json));
    TW_RETURN_NOT_OK(CheckLogged(id));
    return sql::Offset{OffsetText(id)};
  }

  Result<std::vector<sql::InputSplitPtr>> PlanSplits(const sql::Offset& start, const sql::Offset& end,
                                                     const sql::ScanRequest& scan) override {
    TW_ASSIGN_OR_RETURN(const int64_t after, LogId(start.json));
    TW_ASSIGN_OR_RETURN(const int64_t up_to, LogId(end.json));
    TW_ASSIGN_OR_RETURN(const std::vector<FileEntry> files, FilesOf(after, up_to));
    if (plan_ == nullptr || plan_columns_ != scan.columns) {
      TW_ASSIGN_OR_RETURN(plan_, FileReadPlan::Make(relation_, scan));
      plan_columns_ = scan.columns;
    }
    return plan_->PlanSplits(files, PartitionRoots());
  }

  Status Commit(const sql::Offset& end) override {
    TW_ASSIGN_OR_RETURN(const int64_t done, LogId(end.json));
    recent_.erase(recent_.begin(), recent_.upper_bound(done));
    if (cleaner_ == nullptr || done <= cleaned_) return Status::OK();
    TW_ASSIGN_OR_RETURN(const auto entries, log_.Get(done));
    for (const data::FileSourceEntry& entry : entries.value_or(std::vector<data::FileSourceEntry>())) {
      TW_ASSIGN_OR_RETURN(std::string path, data::PathFromUri(entry.uri));
      cleaner_->Clean(std::move(path));
    }
    cleaned_ = done;
    return Status::OK();
  }

  std::chrono::milliseconds poll_interval() const override {
    return watcher_ != nullptr && watching_all_ ? kFallbackPoll : kPlainPoll;
  }
  std::string Description() const override {
    return "FileStreamSource[" + data::QualifiedPathText(relation_->paths[0]) + "]";
  }
  void Stop() override { watcher_.reset(); }

 private:
  static int64_t MaxAge(const FileStreamOptions& options) {
    const bool limited = options.max_files_per_trigger || options.max_bytes_per_trigger;
    return options.latest_first && limited ? INT64_MAX : options.max_file_age_ms;
  }

  std::vector<std::string> PartitionRoots() const {
    if (!relation_->partition_roots.empty()) return relation_->partition_roots;
    return IsGlob(relation_->paths[0]) ? roots_ : relation_->paths;
  }

  /// Everything that lies there and is new, in the order in which it is to be read. Blocks: on the disk.
  Result<std::vector<FileEntry>> ListNew() {
    FileListing listing;
    for (int round = 0; round < 3; ++round) {
      TW_ASSIGN_OR_RETURN(listing, relation_->List(/*missing_ok=*/true));
      watching_all_ = true;
      // What was not watched while it was listed may have changed since.
      if (watcher_ == nullptr || !watcher_->Watch(listing.directories, &watching_all_)) break;
    }
    roots_ = listing.roots;
    if (listing.from_sink_log && options_.clean_source != CleanSource::kOff)
      return Error("_LEGACY_ERROR_TEMP_2261");
    KeepOwnFiles(relation_->partition_schema, relation_->listing_options.recursive, &listing);
    std::vector<FileEntry> files = std::move(listing.files);
    std::erase_if(files, [&](const FileEntry& file) { return !seen_.IsNew(file.path, file.modification_time_ms); });
    std::stable_sort(files.begin(), files.end(), [&](const FileEntry& a, const FileEntry& b) {
      return options_.latest_first ? a.modification_time_ms > b.modification_time_ms
                                   : a.modification_time_ms < b.modification_time_ms;
    });
    return files;
  }

  /// The next files within the limit; what a listing found beyond it is kept for the next time, as the options say.
  Result<std::vector<FileEntry>> TakeNewFiles(const std::vector<sql::ReadLimit>& limits) {
    std::vector<FileEntry> found;
    const bool from_frozen = frozen_.has_value();
    if (from_frozen) {
      found = std::move(*frozen_);
      std::erase_if(found, [&](const FileEntry& file) { return !seen_.IsNew(file.path, file.modification_time_ms); });
    } else if (!unread_.empty()) {
      found = std::move(unread_);
    } else {
      TW_ASSIGN_OR_RETURN(found, ListNew());
    }
    unread_.clear();
    bool keep_rest = true;
    const size_t count = Select(found, limits, &keep_rest);
    std::vector<FileEntry> rest(std::make_move_iterator(found.begin() + static_cast<std::ptrdiff_t>(count)),
                                std::make_move_iterator(found.end()));
    found.resize(count);
    if (from_frozen) {
      frozen_ = std::move(rest);
    } else if (!options_.latest_first && keep_rest) {
      if (rest.size() > static_cast<size_t>(options_.max_cached_files))
        rest.resize(static_cast<size_t>(options_.max_cached_files));
      unread_ = std::move(rest);
    }
    for (const FileEntry& file : found) seen_.Add(file.path, file.modification_time_ms);
    seen_.Purge();
    return found;
  }

  /// How many of `files` the limits let through; `*keep_rest` is false when too little is left to be worth keeping.
  size_t Select(const std::vector<FileEntry>& files, const std::vector<sql::ReadLimit>& limits,
                bool* keep_rest) const {
    for (const sql::ReadLimit& limit : limits) {
      if (const auto* most_files = std::get_if<sql::ReadMaxFiles>(&limit)) {
        const size_t count = std::min(files.size(), static_cast<size_t>(most_files->files));
        *keep_rest = static_cast<double>(files.size() - count) >=
                     static_cast<double>(most_files->files) * options_.discard_cached_input_ratio;
        return count;
      }
      if (const auto* most_bytes = std::get_if<sql::ReadMaxBytes>(&limit)) {
        size_t count = 0;
        int64_t bytes = 0, rest_bytes = 0;
        while (count < files.size() && (count == 0 || files[count].size_bytes <= most_bytes->bytes - bytes))
          bytes += files[count++].size_bytes;
        for (size_t i = count; i < files.size(); ++i) rest_bytes += files[i].size_bytes;
        *keep_rest = static_cast<double>(rest_bytes) >=
                     static_cast<double>(most_bytes->bytes) * options_.discard_cached_input_ratio;
        return count;
      }
    }
    return files.size();
  }

  /// The files become the next entry of the log.
  Status LogFiles(std::vector<FileEntry> files) {
    const int64_t id = log_id_ + 1;
    std::vector<data::FileSourceEntry> entries;
    entries.reserve(files.size());
    for (const FileEntry& file : files)
      entries.push_back({data::UriFromPath(file.path), file.modification_time_ms, id});
    TW_ASSIGN_OR_RETURN(const bool added, log_.Add(id, std::move(entries)));
    if (!added) {
      return Error("CONCURRENT_STREAM_LOG_UPDATE").With("batchId", id);
    }
    TW_LOG(kDebug, "file source took files", {"log id", id}, {"files", static_cast<int64_t>(files.size())});
    log_id_ = id;
    recent_[id] = std::move(files);
    return Status::OK();
  }

  /// A log that lost what the checkpoint counts on, or that is of another folder, would hand out files that were read before.
  Status CheckLogged(int64_t id) const {
    if (id < 0) return Status::OK();
    TW_ASSIGN_OR_RETURN(const auto entries, log_.Get(id));
    if (!entries) return Error("_LEGACY_ERROR_THALWEG_BATCH_MISSING").With("batchId", id);
    const std::string& base = relation_->paths[0];
    if (entries->empty() || relation_->paths.size() > 1 || IsGlob(base)) return Status::OK();
    TW_ASSIGN_OR_RETURN(const std::string path, data::PathFromUri(entries->front().uri));
    if (path == base || path.starts_with(base.ends_with('/') ? base : base + "/")) return Status::OK();
    return Error("_LEGACY_ERROR_THALWEG_WRONG_BASE_PATH").With("basePath", base).With("path", data::QualifiedPathText(path));
  }

  /// The files of log entries (after, up_to], with sizes; those that are gone are left out, as Spark does.
  Result<std::vector<FileEntry>> FilesOf(int64_t after, int64_t up_to) {
    std::vector<FileEntry> files;
    for (int64_t id = after + 1; id <= up_to; ++id) {
      const auto recent = recent_.find(id);
      if (recent != recent_.end()) {
        files.insert(files.end(), recent->second.begin(), recent->second.end());
        continue;
      }
      TW_ASSIGN_OR_RETURN(const std::vector<data::FileSourceEntry> entries, log_.Range(id - 1, id));
      for (const data::FileSourceEntry& entry : entries) {
        TW_ASSIGN_OR_RETURN(std::string path, data::PathFromUri(entry.uri));
        const Result<data::FileInfo> info = relation_->context.file_system->Stat(path);
        if (info.ok()) {
          files.push_back({std::move(path), info->size_bytes, entry.timestamp_ms});
        } else if (data::IsNotFound(info.status())) {
          TW_LOG(kWarn, "a logged source file is gone", {"path", path});
        } else {
          return info.status();
        }
      }
    }
    return files;
  }

  FileRelationPtr relation_;
  FileStreamOptions options_;
  data::FileSourceLog log_;
  std::unique_ptr<SourceCleaner> cleaner_;
  SeenFiles seen_;
  int64_t log_id_ = -1;
  int64_t cleaned_ = -1;
  std::vector<std::string> roots_;                 // what a pattern matched last
  std::vector<FileEntry> unread_;                  // found, not taken yet
  std::optional<std::vector<FileEntry>> frozen_;   // Trigger.AvailableNow: all there is
  std::map<int64_t, std::vector<FileEntry>> recent_;  // log entries of this run that are not committed
  std::shared_ptr<const FileReadPlan> plan_;
  std::vector<std::string> plan_columns_;
  bool watching_all_ = false;
  std::unique_ptr<DirectoryWatcher> watcher_;
};

}  // namespace

Result<std::unique_ptr<sql::MicroBatchStream>> MakeFileStream(FileRelationPtr relation,
                                                              const sql::StreamContext& context) {
  TW_ASSIGN_OR_RETURN(FileStreamOptions options, FileStreamOptions::Make(relation->options));
  TW_ASSIGN_OR_RETURN(std::unique_ptr<SourceCleaner> cleaner,
                      SourceCleaner::Make(*relation->context.file_system, options, relation->paths[0],
                                          relation->settings.Get(kSourceCleanerThreads)));
  data::CompactibleLogOptions log_options;
  log_options.compact_interval = relation->settings.Get(kSourceLogCompactInterval);
  log_options.min_batches_to_retain = relation->settings.Get(data::kMinBatchesToRetain);
  log_options.cleanup_delay_ms = relation->settings.Get(kSourceLogCleanupDelayMs);
  log_options.deletion = relation->settings.Get(kSourceLogDeletion);
  TW_ASSIGN_OR_RETURN(data::FileSourceLog log,
                      data::FileSourceLog::Open(*relation->context.file_system, context.metadata_path,
                                                std::move(log_options), *relation->clock));
  auto stream = std::make_unique<FileStream>(std::move(relation), std::move(options), std::move(log),
                                             std::move(cleaner));
  TW_RETURN_NOT_OK(stream->Restore());
  stream->StartWatching(context.on_more_data);
  return std::unique_ptr<sql::MicroBatchStream>(std::move(stream));
}

}  // namespace thalweg::connectors
