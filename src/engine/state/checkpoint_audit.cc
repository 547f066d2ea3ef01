#include "engine/state/checkpoint_audit.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <set>

#include "base/clock.h"
#include "data/io/path.h"
#include "data/logs/file_logs.h"
#include "data/rowformat/column_hash.h"
#include "data/rowformat/unsafe_row_reader.h"
#include "engine/checkpoint/checkpoint.h"
#include "engine/checkpoint/require_checkpoint.h"
#include "engine/state/stored_state.h"

namespace thalweg::engine {
namespace {

constexpr int64_t kMostQueryIdBytes = 1 << 20;

std::vector<data::DataType> TypesOf(const data::Schema& schema) {
  std::vector<data::DataType> types;
  for (const data::StructField& field : schema) types.push_back(field.type);
  return types;
}

Status SummarizeStore(data::FileSystem& file_system, const CheckpointLayout& layout, OperatorId id, StoreSummary* store) {
  TW_ASSIGN_OR_RETURN(store->schema, ReadStoreSchema(file_system, layout, id, store->metadata.store_name));
  TW_ASSIGN_OR_RETURN(store->partitions, StoredPartitions(file_system, layout, id));
  bool first = true;
  for (const PartitionId partition : store->partitions) {
    auto listed = file_system.List(layout.StoreDirectory(id, partition, store->metadata.store_name));
    if (!listed.ok() && !data::IsNotFound(listed.status())) return listed.status();
    int64_t newest = 0;
    if (listed.ok()) {
      for (const data::FileInfo& file : *listed) {
        if (file.is_directory || file.name().starts_with(".") || file.name().ends_with(".crc")) continue;
        ++store->files;
        store->bytes += file.size_bytes;
        int64_t version = 0;  // "12.delta", "12_<id>.zip"
        std::from_chars(file.name().data(), file.name().data() + file.name().size(), version);
        newest = std::max(newest, version);
      }
    }
    store->newest_version = first ? newest : std::min(store->newest_version, newest);
    first = false;
  }
  return Status::OK();
}

/// The audit of one checkpoint; each step adds to the findings.
class Auditor {
 public:
  Auditor(data::FileSystem& file_system, const std::string& root, const SettingsMap& session, int64_t versions_back)
      : file_system_(file_system), layout_(root), session_(session), versions_back_(versions_back) {}

  Result<CheckpointAudit> Run() {
    CheckQueryId();
    TW_RETURN_NOT_OK(CheckLogs());
    if (newest_offset_) {
      TW_RETURN_NOT_OK(CheckSources());
      TW_RETURN_NOT_OK(CheckStateIsThere());
      TW_RETURN_NOT_OK(CheckState());
    }
    return std::move(audit_);
  }

 private:
  void Find(bool fatal, std::string where, std::string what) { audit_.findings.push_back({fatal, std::move(where), std::move(what)}); }

  void CheckQueryId() {
    auto text = file_system_.ReadWhole(layout_.MetadataFile(), kMostQueryIdBytes);
    if (!text.ok()) return Find(true, "metadata", text.status().message());
    if (const auto id = ParseQueryMetadata(*text); !id.ok()) Find(true, "metadata", id.status().message());
  }

  template <typename Entry>
  Status CheckLog(const EntryLog<Entry>& log, const std::string& name, std::vector<int64_t>* ids) {
    TW_ASSIGN_OR_RETURN(*ids, log.Ids());
    for (size_t i = 0; i < ids->size(); ++i) {
      ++audit_.log_entries;
      const auto entry = log.Get(BatchId((*ids)[i]));
      const bool needed = i + 2 >= ids->size();  // a restart reads the newest two
      if (!entry.ok()) Find(needed, name + "/" + std::to_string((*ids)[i]), entry.status().message());
      if (i > 0 && (*ids)[i] != (*ids)[i - 1] + 1) {
        Find(needed && i + 1 == ids->size(), name, "entries between " + std::to_string((*ids)[i - 1]) + " and " + std::to_string((*ids)[i]) + " are missing");
      }
    }
    return Status::OK();
  }

  Status CheckLogs() {
    const OffsetLog offsets(file_system_, layout_.OffsetsDirectory());
    const CommitLog commits(file_system_, layout_.CommitsDirectory());
    std::vector<int64_t> offset_ids, commit_ids;
    TW_RETURN_NOT_OK(CheckLog(offsets, "offsets", &offset_ids));
    TW_RETURN_NOT_OK(CheckLog(commits, "commits", &commit_ids));
    if (offset_ids.empty()) {
      if (!commit_ids.empty()) Find(true, "commits", "there are commits but no offsets");
      return Status::OK();
    }
    newest_offset_ = offset_ids.back();
    if (!commit_ids.empty() && commit_ids.back() > offset_ids.back()) {
      Find(true, "commits", "batch " + std::to_string(commit_ids.back()) + " is committed but was never planned");
    }
    if (offset_ids.size() == 1 && offset_ids[0] > 0) Find(true, "offsets", "batch " + std::to_string(offset_ids[0] - 1) + " doesn't exist");
    const int64_t committed = commit_ids.empty() ? -1 : commit_ids.back();
    if (committed < offset_ids.back() - 1) {
      Find(false, "commits", "the newest commit is " + std::to_string(committed) + ", the newest planned batch " + std::to_string(offset_ids.back()));
    }
    next_batch_ = committed >= offset_ids.back() ? offset_ids.back() + 1 : offset_ids.back();
    if (!commit_ids.empty()) newest_commit_ = commit_ids.back();
    return Status::OK();
  }

  /// What the sources keep below sources/: a file source's log must reach as far as its offset; the first entry of others is read.
  Status CheckSources() {
    const auto entry = OffsetLog(file_system_, layout_.OffsetsDirectory()).Get(BatchId(*newest_offset_));
    if (!entry.ok() || !*entry) return Status::OK();  // told with the log
    for (const SourceOffset& offset : (**entry).offsets) {
      const std::optional<int64_t> file_log_id = FileLogId(offset.json.value_or(""));
      if (file_log_id) {
        CheckFileLog(offset.source_id, *file_log_id);
      } else {
        TW_RETURN_NOT_OK(CheckFirstEntries(offset.source_id));
      }
    }
    return Status::OK();
  }

  /// The entry of its log that an offset of a file source means.
  static std::optional<int64_t> FileLogId(const std::string& json) {
    const nlohmann::json value = nlohmann::json::parse(json, nullptr, false);
    if (!value.is_object() || !value.contains("logOffset") || !value["logOffset"].is_number_integer()) return std::nullopt;
    return value["logOffset"].get<int64_t>();
  }

  void CheckFileLog(const std::string& source_id, int64_t last_id) {
    if (last_id < 0) return;  // nothing was there yet
    const std::string where = "sources/" + source_id;
    const auto log = data::FileSourceLog::Open(file_system_, layout_.SourceDirectory(source_id), {}, SystemClock::Get());
    if (!log.ok()) return Find(true, where, log.status().message());
    const auto latest = log->LatestId();
    if (!latest.ok()) return Find(true, where, latest.status().message());
    if (!*latest || **latest < last_id) return Find(true, where + "/" + std::to_string(last_id), "the entry that the newest offset means is missing");
    if (const auto files = log->AllFiles(); !files.ok()) Find(true, where, files.status().message());
  }

  /// Of a Kafka or a rate source, or of a file source that has no offset yet: a version and JSON. Sources that keep nothing have no folder.
  Status CheckFirstEntries(const std::string& source_id) {
    const data::NumberedLog log(file_system_, layout_.SourceDirectory(source_id));
    TW_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, log.Ids());
    for (const int64_t id : ids) {
      TW_ASSIGN_OR_RETURN(const std::optional<std::string> bytes, log.Get(id));
      std::string_view text = bytes ? std::string_view(*bytes) : std::string_view();
      if (text.starts_with('\0')) text.remove_prefix(1);  // Kafka's begin with one
      if (!IsVersionAndJson(text)) {
        Find(true, "sources/" + source_id + "/" + std::to_string(id), text.empty() ? "the entry is empty" : "the entry is malformed");
      }
    }
    return Status::OK();
  }

  /// "v1" and lines of JSON.
  static bool IsVersionAndJson(std::string_view text) {
    size_t end = text.find('\n');
    if (!text.starts_with('v') || end == std::string_view::npos) return false;
    while (end != std::string_view::npos) {
      text.remove_prefix(end + 1);
      end = text.find('\n');
      if (!text.empty() && !nlohmann::json::accept(text.substr(0, end))) return false;
    }
    return true;
  }

  /// Descriptions of operators are gone with the folder; commits of format 2 name them all the same.
  Status CheckStateIsThere() {
    if (!newest_commit_) return Status::OK();
    TW_ASSIGN_OR_RETURN(const std::vector<OperatorId> operators, ListOperators(file_system_, layout_));
    const auto commit = CommitLog(file_system_, layout_.CommitsDirectory()).Get(BatchId(*newest_commit_));
    std::set<OperatorId> missing;
    if (commit.ok() && *commit) {
      for (const OperatorStateIds& one : (**commit).state_ids) missing.insert(one.operator_id);
    }
    for (const OperatorId id : operators) missing.erase(id);
    for (const OperatorId id : missing) {
      Find(true, "state/" + std::to_string(id.value()), "the state that batch " + std::to_string(*newest_commit_) + " committed is missing");
    }
    if (missing.empty() && operators.empty()) {
      Find(false, "state", "no operator has state: right for a query without stateful operators, one that has them would not start");
    }
    return Status::OK();
  }

  Status CheckState() {
    TW_ASSIGN_OR_RETURN(const std::vector<OperatorId> operators, ListOperators(file_system_, layout_));
    if (operators.empty() || next_batch_ == 0) return Status::OK();
    auto options = StoredStateOptions(file_system_, layout_, BatchId(*newest_offset_), session_);
    if (!options.ok()) {
      Find(true, "offsets/" + std::to_string(*newest_offset_), options.status().message());
      return Status::OK();
    }
    if (const auto provider = FindStateStoreProvider(options->provider_class); !provider.ok()) {
      Find(false, "state", "not read: " + provider.status().message());
      return Status::OK();
    }
    for (const OperatorId id : operators) TW_RETURN_NOT_OK(CheckOperator(id, *options));
    return Status::OK();
  }

  Status CheckOperator(OperatorId id, const StateOptions& options) {
    const std::string where = "state/" + std::to_string(id.value());
    const auto metadata = ReadOperatorMetadata(file_system_, layout_, id, BatchId(next_batch_ - 1));
    if (!metadata.ok() || !*metadata) {
      Find(false, where + "/_metadata", metadata.ok() ? "the operator metadata is missing; state is not read" : metadata.status().message());
      return Status::OK();
    }
    TW_ASSIGN_OR_RETURN(const std::vector<PartitionId> partitions, StoredPartitions(file_system_, layout_, id));
    const bool single = (*metadata)->operator_name == "globalLimit";
    for (const StoreMetadata& store : (*metadata)->stores) {
      const auto schema = ReadStoreSchema(file_system_, layout_, id, store.store_name);
      if (!schema.ok() || !*schema) {
        Find(!schema.ok(), where, "store " + store.store_name + ": " + (schema.ok() ? "the schema is missing; rows are not checked" : schema.status().message()));
        if (!schema.ok()) continue;
      }
      const bool keyless = single || (*schema && (**schema).key.empty());
      const int64_t expected = keyless ? 1 : store.partitions;
      for (int64_t partition = 0; partition < expected; ++partition) {
        if (!std::binary_search(partitions.begin(), partitions.end(), PartitionId(static_cast<int32_t>(partition)))) {
          Find(true, where + "/" + std::to_string(partition), "the partition is missing");
          continue;
        }
        CheckStore({layout_.root(), id, PartitionId(static_cast<int32_t>(partition)), store.store_name}, options, *schema, store,
                   keyless ? 1 : expected, (*metadata)->operator_name);
      }
    }
    return Status::OK();
  }

  /// Leading columns of a stored key that its partition depends on.
  static size_t PartitionColumns(const StoreMetadata& store, const StoreSchema& schema) {
    if (store.prefix_key_columns > 0) return std::min(static_cast<size_t>(store.prefix_key_columns), schema.key.size());
    return schema.key.size() - (store.store_name.ends_with("keyWithIndexToValue") ? 1 : 0);
  }

  void CheckStore(const StateStoreId& id, const StateOptions& options, const std::optional<StoreSchema>& schema, const StoreMetadata& store,
                  int64_t partitions, const std::string& operator_name) {
    ++audit_.stores;
    StateRowTypes types;
    if (schema) types = {TypesOf(schema->key), TypesOf(schema->value), operator_name != "dedupe", static_cast<int>(store.prefix_key_columns)};
    const std::string where = id.Directory().substr(std::min(id.Directory().size(), layout_.root().size() + 1));
    auto persister = OpenStoredState(file_system_, id, options, types);
    if (!persister.ok()) return Find(true, where, persister.status().message());
    const int64_t first = std::max<int64_t>(1, next_batch_ - versions_back_);
    for (int64_t version = next_batch_; version >= first; --version) {
      RowCheck check{types, schema ? PartitionColumns(store, *schema) : 0, static_cast<int32_t>(partitions), id.partition.value()};
      const Status loaded = (*persister)->Load(StateVersion(version), [&](std::span<const StateChange> entries) {
        if (version == next_batch_) audit_.entries += static_cast<int64_t>(entries.size());
        return schema ? check.Rows(entries) : Status::OK();
      });
      if (!loaded.ok()) return Find(version == next_batch_, where, "version " + std::to_string(version) + ": " + loaded.message());
      if (check.misplaced > 0) {
        return Find(true, where, "version " + std::to_string(version) + ": " + std::to_string(check.misplaced) + " keys belong to other partitions");
      }
    }
  }

  struct RowCheck {
    const StateRowTypes& types;
    size_t partition_columns;
    int32_t partitions;
    int32_t partition;
    int64_t misplaced = 0;

    Status Rows(std::span<const StateChange> entries) {
      std::vector<std::string_view> keys;
      for (const StateChange& entry : entries) {
        auto fault = data::FindRowFault(types.key, entry.key);
        if (!fault && types.check_value) fault = data::FindRowFault(types.value, entry.value);
        if (fault) return Error("MALFORMED_STATE_ROW").With("reason", *fault);
        keys.push_back(entry.key);
      }
      if (partitions <= 1 || !data::CheckHashable(types.key).ok()) return Status::OK();
      TW_ASSIGN_OR_RETURN(const std::vector<data::ColumnPtr> columns, data::UnsafeRowReader(types.key).Read(keys));
      std::vector<int32_t> hashes(keys.size());
      data::HashColumns(std::span(columns).first(partition_columns), nullptr, hashes);
      for (const int32_t hash : hashes) misplaced += data::PartitionOf(hash, partitions) != partition;
      return Status::OK();
    }
  };

  data::FileSystem& file_system_;
  const CheckpointLayout layout_;
  const SettingsMap& session_;
  const int64_t versions_back_;
  std::optional<int64_t> newest_offset_, newest_commit_;
  int64_t next_batch_ = 0;
  CheckpointAudit audit_;
};

}  // namespace

Result<CheckpointSummary> SummarizeCheckpoint(data::FileSystem& file_system, const std::string& root) {
  const CheckpointLayout layout(root);
  TW_RETURN_NOT_OK(RequireCheckpoint(file_system, layout));
  CheckpointSummary summary;
  auto text = file_system.ReadWhole(layout.MetadataFile(), kMostQueryIdBytes);
  if (!text.ok() && !data::IsNotFound(text.status())) return text.status();
  if (text.ok()) {
    TW_ASSIGN_OR_RETURN(const QueryId id, ParseQueryMetadata(*text));
    summary.query_id = id.value().ToString();
  }
  const OffsetLog offsets(file_system, layout.OffsetsDirectory());
  const CommitLog commits(file_system, layout.CommitsDirectory());
  TW_ASSIGN_OR_RETURN(summary.offset_ids, offsets.Ids());
  TW_ASSIGN_OR_RETURN(summary.commit_ids, commits.Ids());
  if (!summary.offset_ids.empty()) {
    const int64_t newest = summary.offset_ids.back();
    TW_ASSIGN_OR_RETURN(summary.newest_offsets, offsets.Get(BatchId(newest)));
    summary.runs_again = summary.commit_ids.empty() || summary.commit_ids.back() < newest;
    summary.next_batch = BatchId(summary.runs_again ? newest : newest + 1);
  }
  if (!summary.commit_ids.empty()) {
    TW_ASSIGN_OR_RETURN(const auto commit, commits.Get(BatchId(summary.commit_ids.back())));
    if (commit) summary.next_batch_watermark_ms = commit->next_batch_watermark_ms;
  }
  TW_ASSIGN_OR_RETURN(const std::vector<OperatorId> operators, ListOperators(file_system, layout));
  for (const OperatorId id : operators) {
    OperatorSummary one;
    one.id = id;
    TW_ASSIGN_OR_RETURN(const auto metadata, ReadOperatorMetadata(file_system, layout, id, BatchId(summary.next_batch.value())));
    one.name = metadata ? metadata->operator_name : "";
    std::vector<StoreMetadata> stores = metadata ? metadata->stores : std::vector<StoreMetadata>(1);
    for (StoreMetadata& store : stores) {
      one.stores.push_back({std::move(store), {}, {}, 0, 0, 0});
      TW_RETURN_NOT_OK(SummarizeStore(file_system, layout, id, &one.stores.back()));
    }
    summary.operators.push_back(std::move(one));
  }
  return summary;
}

bool CheckpointAudit::sound() const {
  return std::none_of(findings.begin(), findings.end(), [](const CheckpointFinding& finding) { return finding.fatal; });
}

Result<CheckpointAudit> AuditCheckpoint(data::FileSystem& file_system, const std::string& root, const SettingsMap& session,
                                        int64_t versions_back) {
  TW_RETURN_NOT_OK(RequireCheckpoint(file_system, CheckpointLayout(root)));
  return Auditor(file_system, root, session, versions_back).Run();
}

}  // namespace thalweg::engine
