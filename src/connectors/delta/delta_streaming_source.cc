#include "connectors/delta/delta_streaming_source.h"

#include <algorithm>
#include <functional>
#include <map>

#include "connectors/delta/delta_protocol.h"
#include "connectors/delta/delta_scan.h"
#include "connectors/delta/delta_stream_offset.h"
#include "connectors/delta/delta_stream_options.h"
#include "data/io/path.h"

// Invariants: a position never goes back; what lies between two positions is the same whenever it is asked for, so that a
// micro-batch that was planned before a crash has the same rows after it.

namespace thalweg::connectors {

namespace {

using Position = DeltaStreamPosition;

constexpr size_t kMaxKeptCommits = 64;

/// One place of the stream: a file, or the beginning or end of a version, which have none.
struct StreamEntry {
  Position at;
  AddFilePtr add;
};
/// False: enough.
using Visitor = std::function<bool(const StreamEntry&)>;

/// What a micro-batch may take. A file fits while something of every budget is left; places without a file are free.
class Admission {
 public:
  explicit Admission(const std::vector<sql::ReadLimit>& limits) {
    for (const sql::ReadLimit& limit : limits) {
      if (const auto* files = std::get_if<sql::ReadMaxFiles>(&limit)) files_ = files->files;
      if (const auto* bytes = std::get_if<sql::ReadMaxBytes>(&limit)) bytes_ = bytes->bytes;
    }
  }
  bool Admit(const StreamEntry& entry) {
    if (entry.add == nullptr) return true;
    if (files_ <= 0 || bytes_ <= 0) return false;
    --files_;
    bytes_ -= entry.add->size;
    return true;
  }

 private:
  int64_t files_ = INT64_MAX;
  int64_t bytes_ = INT64_MAX;
};

class DeltaStream final : public sql::MicroBatchStream {
 public:
  DeltaStream(std::shared_ptr<DeltaLog> log, DeltaSnapshotPtr read, DeltaSnapshotPtr newest, DeltaStreamOptions options,
              std::shared_ptr<const sql::EvalConfig> config)
      : log_(std::move(log)), read_(std::move(read)), first_(std::move(newest)), options_(std::move(options)), config_(std::move(config)) {}

  Result<sql::Offset> InitialOffset() override { return sql::Offset{}; }

  std::vector<sql::ReadLimit> DefaultReadLimits() const override {
    std::vector<sql::ReadLimit> limits;
    if (options_.max_files) limits.push_back(sql::ReadMaxFiles{*options_.max_files});
    if (options_.max_bytes) limits.push_back(sql::ReadMaxBytes{*options_.max_bytes});
    return limits;
  }

  Result<std::optional<sql::Offset>> LatestOffset(const sql::Offset& start, const std::vector<sql::ReadLimit>& limits) override;

  Status PrepareForTriggerAvailableNow() override {
    TW_ASSIGN_OR_RETURN(const DeltaSnapshotPtr newest, log_->Update());
    if (newest == nullptr) return Gone();
    last_version_ = std::max(newest->version(), first_->version());
    return Status::OK();
  }

  Result<sql::Offset> DeserializeOffset(std::string_view json) override {
    TW_ASSIGN_OR_RETURN(const Position position, Parse(json));
    return Text(position);
  }

  Result<std::vector<sql::InputSplitPtr>> PlanSplits(const sql::Offset& start, const sql::Offset& end, const sql::ScanRequest& scan) override;

  Status Commit(const sql::Offset& end) override {
    TW_ASSIGN_OR_RETURN(const Position done, Parse(end.json));
    commits_.erase(commits_.begin(), commits_.lower_bound(done.version));
    if (!done.starting) snapshot_files_.clear();
    return Status::OK();
  }

  std::string Description() const override { return "DeltaSource[" + data::QualifiedPathText(log_->table_path()) + "]"; }
  void Stop() override {}

 private:
  Result<Position> Parse(std::string_view json) const { return ParseDeltaStreamOffset(json, read_->metadata().id); }
  sql::Offset Text(const Position& position) const { return sql::Offset{DeltaStreamOffsetText(read_->metadata().id, position)}; }
  Error Gone() const { return Error("DELTA_TABLE_NOT_FOUND").With("tableName", "delta.`" + log_->table_path() + "`"); }
  /// Where a stream without a checkpoint begins.
  Result<Position> FirstPosition();
  Result<int64_t> FirstVersionSince(int64_t micros) const;
  /// Every place behind `from` in order, as far as the log goes, or to `last` at most. With `last` all of it has to be there.
  Status ForEach(const Position& from, std::optional<Position> last, const Visitor& visit);
  Status ForEachOfSnapshot(const Position& from, const Visitor& visit, bool* more);
  Status ForEachOfCommit(int64_t version, const DeltaCommit& commit, const Position& from, const Visitor& visit, bool* more) const;
  /// The commit of a version, or of the next one that is there when data may be missing; null: none yet.
  Result<DeltaCommitPtr> CommitOf(int64_t* version, std::optional<Position> last);
  Status CheckCommit(int64_t version, const DeltaCommit& commit) const;

  const std::shared_ptr<DeltaLog> log_;
  const DeltaSnapshotPtr read_;   // its schema is that of the rows
  const DeltaSnapshotPtr first_;  // the newest when the stream was opened
  const DeltaStreamOptions options_;
  const std::shared_ptr<const sql::EvalConfig> config_;
  std::optional<Position> first_position_;
  std::optional<int64_t> last_version_;          // Trigger.AvailableNow: none beyond
  int64_t snapshot_version_ = -1;
  std::vector<AddFilePtr> snapshot_files_;       // of the initial snapshot, in order, while it is being read
  std::map<int64_t, DeltaCommitPtr> commits_;    // looked at, perhaps needed again for the rows
};

Result<int64_t> DeltaStream::FirstVersionSince(int64_t micros) const {
  TW_ASSIGN_OR_RETURN(const std::vector<DeltaCommitTime> times, log_->CommitTimes());
  const int64_t wanted_ms = micros / 1000 + (micros % 1000 > 0 ? 1 : 0);
  for (const DeltaCommitTime& commit : times) {
    if (commit.timestamp_ms >= wanted_ms) return commit.version;
  }
  if (times.empty()) return InternalError("a Delta log without commits has no timestamps");
  return DeltaTimestampAfterLastCommit(micros / 1000, times.back().timestamp_ms);
}

Result<Position> DeltaStream::FirstPosition() {
  if (first_position_) return *first_position_;
  Position position{.version = first_->version(), .starting = true};
  if (options_.HasStart()) {
    position.starting = false;
    if (options_.starts_at_latest) {
      position.version = first_->version() + 1;
    } else if (options_.starting_micros) {
      TW_ASSIGN_OR_RETURN(position.version, FirstVersionSince(*options_.starting_micros));
    } else {
      position.version = *options_.starting_version;
      const auto commit = log_->ReadCommit(position.version);
      if (!commit.ok()) TW_RETURN_NOT_OK(log_->At(position.version).status());
    }
  }
  first_position_ = position;
  return position;
}

Status DeltaStream::CheckCommit(int64_t version, const DeltaCommit& commit) const {
  if (commit.protocol) TW_RETURN_NOT_OK(CheckDeltaReadable(*commit.protocol, "delta.`" + log_->table_path() + "`"));
  if (commit.metadata) TW_RETURN_NOT_OK(CheckDeltaStreamSchema(*read_, *commit.metadata, version));
  const auto removed = std::find_if(commit.removes.begin(), commit.removes.end(), [](const RemoveFile& remove) { return remove.data_change; });
  if (removed == commit.removes.end() || options_.ignore_changes || options_.ignore_file_deletion || options_.skip_change_commits) {
    return Status::OK();
  }
  const bool adds = std::any_of(commit.adds.begin(), commit.adds.end(), [](const AddFilePtr& add) { return add->data_change; });
  if (adds) {
    return Error("DELTA_SOURCE_TABLE_IGNORE_CHANGES").With("changeInfo", removed->path).With("version", version)
        .With("dataPath", data::QualifiedPathText(log_->table_path()));
  }
  if (options_.ignore_deletes) return Status::OK();
  return Error("DELTA_SOURCE_IGNORE_DELETE").With("removedFile", removed->path).With("version", version)
      .With("dataPath", data::QualifiedPathText(log_->table_path()));
}

Status DeltaStream::ForEachOfSnapshot(const Position& from, const Visitor& visit, bool* more) {
  if (snapshot_version_ != from.version || snapshot_files_.empty()) {
    Result<DeltaSnapshotPtr> snapshot = first_->version() == from.version ? Result<DeltaSnapshotPtr>(first_) : log_->At(from.version);
    if (!snapshot.ok()) {
      const std::string& condition = snapshot.status().condition();
      if (condition.starts_with("DELTA_VERSION") || condition.starts_with("DELTA_TRUNCATED")) {
        return Error("DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE");
      }
      return snapshot.status();
    }
    TW_RETURN_NOT_OK(CheckDeltaReadable((*snapshot)->protocol(), "delta.`" + log_->table_path() + "`"));
    TW_RETURN_NOT_OK(CheckDeltaStreamSchema(*read_, (*snapshot)->metadata(), from.version));
    snapshot_files_ = (*snapshot)->files()->live();
    snapshot_version_ = from.version;
    std::sort(snapshot_files_.begin(), snapshot_files_.end(), [](const AddFilePtr& a, const AddFilePtr& b) {
      return a->modification_time != b->modification_time ? a->modification_time < b->modification_time : a->path < b->path;
    });
  }
  Position at{.version = from.version, .index = std::max<int64_t>(from.index + 1, 0), .starting = true};
  for (; *more && at.index < static_cast<int64_t>(snapshot_files_.size()); ++at.index) {
    *more = visit({.at = at, .add = snapshot_files_[static_cast<size_t>(at.index)]});
  }
  if (*more) *more = visit({.at = {.version = from.version, .index = Position::kEnd, .starting = true}, .add = nullptr});
  return Status::OK();
}

Status DeltaStream::ForEachOfCommit(int64_t version, const DeltaCommit& commit, const Position& from, const Visitor& visit, bool* more) const {
  TW_RETURN_NOT_OK(CheckCommit(version, commit));
  const bool changes = std::any_of(commit.removes.begin(), commit.removes.end(), [](const RemoveFile& remove) { return remove.data_change; });
  const bool skipped = options_.skip_change_commits && changes;
  Position at{.version = version};
  const auto offer = [&](const AddFilePtr& add) {
    if (*more && ComesBefore(from, at)) *more = visit({.at = at, .add = add});
  };
  offer(nullptr);
  at.index = -1;
  for (const AddFilePtr& add : commit.adds) {
    if (skipped || !add->data_change) continue;
    ++at.index;
    offer(add);
  }
  at.index = Position::kEnd;
  offer(nullptr);
  return Status::OK();
}

Result<DeltaCommitPtr> DeltaStream::CommitOf(int64_t* version, std::optional<Position> last) {
  const auto kept = commits_.find(*version);
  if (kept != commits_.end()) return kept->second;
  Result<DeltaCommitPtr> commit = log_->ReadCommit(*version);
  if (!commit.ok() && data::IsNotFound(commit.status())) {
    TW_ASSIGN_OR_RETURN(const DeltaSnapshotPtr newest, log_->Update());
    if (newest == nullptr) return Gone();
    if (newest->version() < *version) {
      if (!last || !options_.fail_on_data_loss) return DeltaCommitPtr();
      return Error("DELTA_STREAMING_TRAILING_COMMIT_MISSING").With("expectedVersion", last->version).With("seenVersion", *version - 1);
    }
    TW_ASSIGN_OR_RETURN(const DeltaLogListing listing, log_->List());
    const auto next = listing.commits.lower_bound(*version);
    if (next == listing.commits.end()) return DeltaCommitPtr();
    if (next->first != *version && options_.fail_on_data_loss) {
      return Error("DELTA_MISSING_FILES_UNEXPECTED_VERSION").With("startVersion", *version).With("earliestVersion", next->first)
          .With("option", "failOnDataLoss");
    }
    *version = next->first;
    commit = log_->ReadCommit(*version);
  }
  if (!commit.ok()) return commit.status();
  if (commits_.size() < kMaxKeptCommits) commits_.emplace(*version, *commit);
  return *commit;
}

Status DeltaStream::ForEach(const Position& from, std::optional<Position> last, const Visitor& visit) {
  bool more = true;
  int64_t version = from.version;
  if (from.starting) {
    TW_RETURN_NOT_OK(ForEachOfSnapshot(from, visit, &more));
    ++version;
  }
  for (; more; ++version) {
    if (last_version_ && version > *last_version_) break;
    if (last && (version > last->version || (version == last->version && last->index == Position::kBeginning))) break;
    TW_ASSIGN_OR_RETURN(const DeltaCommitPtr commit, CommitOf(&version, last));
    if (commit == nullptr) break;
    TW_RETURN_NOT_OK(ForEachOfCommit(version, *commit, from, visit, &more));
  }
  return Status::OK();
}

Result<std::optional<sql::Offset>> DeltaStream::LatestOffset(const sql::Offset& start, const std::vector<sql::ReadLimit>& limits) {
  Position from;
  if (start.json.empty()) {
    TW_ASSIGN_OR_RETURN(from, FirstPosition());
    if (options_.starts_at_latest) return std::optional(Text(from));
  } else {
    TW_ASSIGN_OR_RETURN(from, Parse(start.json));
  }
  Admission admission(limits);
  std::optional<Position> reached;
  TW_RETURN_NOT_OK(ForEach(from, {}, [&](const StreamEntry& entry) {
    if (!admission.Admit(entry)) return false;
    reached = entry.at;
    return true;
  }));
  if (!reached) return start.json.empty() ? std::optional<sql::Offset>() : std::optional(start);
  if (reached->index == Position::kEnd) *reached = {.version = reached->version + 1};
  return std::optional(Text(*reached));
}

Result<std::vector<sql::InputSplitPtr>> DeltaStream::PlanSplits(const sql::Offset& start, const sql::Offset& end,
                                                                const sql::ScanRequest& scan) {
  TW_ASSIGN_OR_RETURN(const Position to, Parse(end.json));
  Position from;
  if (!start.json.empty()) {
    TW_ASSIGN_OR_RETURN(from, Parse(start.json));
  } else if (options_.starts_at_latest) {
    from = to;
  } else if (options_.HasStart()) {
    TW_ASSIGN_OR_RETURN(from, FirstPosition());
  } else {
    // The snapshot that `to` counts in or lies behind, whatever is newest by now.
    from = {.version = to.starting ? to.version : to.version - 1, .starting = true};
    if (from.version < 0) return Error("DELTA_INVALID_SOURCE_OFFSET_FORMAT");
  }
  std::vector<AddFilePtr> files;
  if (ComesBefore(from, to) || from.starting != to.starting) {
    TW_RETURN_NOT_OK(ForEach(from, to, [&](const StreamEntry& entry) {
      if (ComesBefore(to, entry.at)) return false;
      if (entry.add != nullptr && !options_.Excludes(entry.add->path)) files.push_back(entry.add);
      return true;
    }));
  }
  return PlanDeltaFiles(log_, read_, scan, config_, files);
}

}  // namespace

Result<std::unique_ptr<sql::MicroBatchStream>> NewDeltaStream(std::shared_ptr<DeltaLog> log, DeltaSnapshotPtr snapshot,
                                                              const sql::OptionMap& options, const sql::StreamContext& context) {
  TW_ASSIGN_OR_RETURN(DeltaStreamOptions made, DeltaStreamOptions::Make(options, context.config.get(), log->clock().NowMicros()));
  TW_ASSIGN_OR_RETURN(DeltaSnapshotPtr newest, log->Update());
  if (newest == nullptr) return Error("DELTA_TABLE_NOT_FOUND").With("tableName", "delta.`" + log->table_path() + "`");
  TW_RETURN_NOT_OK(CheckDeltaStreamSchema(*snapshot, newest->metadata(), newest->version()));
  return std::unique_ptr<sql::MicroBatchStream>(
      std::make_unique<DeltaStream>(std::move(log), std::move(snapshot), std::move(newest), std::move(made), context.config));
}

}  // namespace thalweg::connectors
