#pragma once

// A version of a Delta table: protocol, metadata, transactions and live files. Source: the Delta protocol, "Action Reconciliation".

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "connectors/delta/delta_actions.h"
#include "data/types/data_type.h"

namespace thalweg::connectors {

/// What identifies a file in the log: its decoded path and its deletion vector.
std::string DeltaFileKey(const std::string& path, const std::optional<DeletionVector>& vector);

/// Live files and tombstones after replaying commits. Thread: confined until shared, then immutable.
class DeltaFiles {
 public:
  /// Newest wins: actions replace what earlier ones said of the same file.
  void Apply(const DeltaCommit& commit);
  /// In the order in which they were added.
  std::vector<AddFilePtr> live() const;
  int64_t num_live() const { return num_live_; }
  int64_t live_bytes() const { return live_bytes_; }
  const std::unordered_map<std::string, RemoveFile>& tombstones() const { return tombstones_; }

 private:
  void Drop(const std::string& key);

  std::vector<AddFilePtr> slots_;                   // null: removed since
  std::unordered_map<std::string, size_t> index_;   // key to slot
  std::unordered_map<std::string, RemoveFile> tombstones_;
  int64_t num_live_ = 0;
  int64_t live_bytes_ = 0;
};

/// One version. Thread: immutable to callers; file lists are put together when first asked for.
class DeltaSnapshot {
 public:
  /// What a commit leaves of a snapshot; `previous` is null for the first version or a checkpoint. Errors:
  /// INVALID_JSON_DATA_TYPE for an unreadable schema.
  static Result<std::shared_ptr<const DeltaSnapshot>> After(const std::shared_ptr<const DeltaSnapshot>& previous,
                                                            DeltaCommitPtr commit, int64_t version);

  int64_t version() const { return version_; }
  const DeltaProtocol& protocol() const { return protocol_; }
  const DeltaMetadata& metadata() const { return metadata_; }
  /// The logical schema, with the metadata of its fields.
  const data::Schema& schema() const { return *schema_; }
  const std::map<std::string, SetTransaction>& transactions() const { return transactions_; }
  /// Without tombstones.
  const std::map<std::string, DomainMetadata>& domains() const { return domains_; }
  /// In-commit timestamp of this version in ms, when it has one.
  std::optional<int64_t> in_commit_timestamp() const { return in_commit_timestamp_; }
  std::shared_ptr<const DeltaFiles> files() const TW_EXCLUDES(mutex_);

  /// Whether protocol and metadata, which every table needs, have been seen.
  bool complete() const { return has_protocol_ && has_metadata_; }

 private:
  int64_t version_ = -1;
  bool has_protocol_ = false;
  bool has_metadata_ = false;
  DeltaProtocol protocol_;
  DeltaMetadata metadata_;
  std::shared_ptr<const data::Schema> schema_;
  std::map<std::string, SetTransaction> transactions_;
  std::map<std::string, DomainMetadata> domains_;
  std::optional<int64_t> in_commit_timestamp_;
  mutable Mutex mutex_;
  mutable std::shared_ptr<const DeltaFiles> base_ TW_GUARDED_BY(mutex_);
  mutable std::vector<DeltaCommitPtr> pending_ TW_GUARDED_BY(mutex_);  // not yet applied to base_
};
using DeltaSnapshotPtr = std::shared_ptr<const DeltaSnapshot>;

}  // namespace thalweg::connectors
