#pragma once

// The actions of Delta's log as values, and their JSON lines. Source: the Delta transaction-log protocol, "Actions".

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace thalweg::connectors {

using StringPairs = std::vector<std::pair<std::string, std::string>>;
/// Physical column name to value as text; nullopt is null. In the log's order.
using PartitionValues = std::vector<std::pair<std::string, std::optional<std::string>>>;

struct DeltaProtocol {
  int min_reader_version = 1;
  int min_writer_version = 2;
  std::optional<std::vector<std::string>> reader_features;  ///< exactly with reader version 3
  std::optional<std::vector<std::string>> writer_features;  ///< exactly with writer version 7
  bool operator==(const DeltaProtocol&) const = default;
};

struct DeltaMetadata {
  std::string id;
  std::optional<std::string> name;
  std::optional<std::string> description;
  std::string provider = "parquet";
  StringPairs options;
  std::string schema_string;                  ///< JSON of the schema
  std::vector<std::string> partition_columns; ///< logical names
  StringPairs configuration;
  std::optional<int64_t> created_time;        ///< ms
  /// The value of a table property, exact key.
  std::optional<std::string> Property(std::string_view key) const;
  bool operator==(const DeltaMetadata&) const = default;
};

struct DeletionVector {
  std::string storage_type;  ///< "u", "p", "i"
  std::string path_or_inline;
  std::optional<int32_t> offset;
  int32_t size_in_bytes = 0;
  int64_t cardinality = 0;
  /// What tells two vectors of one file apart.
  std::string UniqueId() const;
  bool operator==(const DeletionVector&) const = default;
};

struct AddFile {
  std::string path;  ///< as in the log: percent-encoded URI, relative or absolute
  PartitionValues partition_values;
  int64_t size = 0;
  int64_t modification_time = 0;  ///< ms
  bool data_change = true;
  std::optional<std::string> stats;  ///< JSON
  StringPairs tags;
  std::optional<DeletionVector> deletion_vector;
  std::optional<int64_t> base_row_id;
  std::optional<int64_t> default_row_commit_version;
  std::optional<std::string> clustering_provider;
};
using AddFilePtr = std::shared_ptr<const AddFile>;

struct RemoveFile {
  std::string path;
  std::optional<int64_t> deletion_timestamp;  ///< ms
  bool data_change = true;
  bool extended_file_metadata = false;
  PartitionValues partition_values;
  std::optional<int64_t> size;
  StringPairs tags;
  std::optional<DeletionVector> deletion_vector;
  std::optional<int64_t> base_row_id;
  std::optional<int64_t> default_row_commit_version;
};

struct SetTransaction {
  std::string app_id;
  int64_t version = 0;
  std::optional<int64_t> last_updated;  ///< ms
};

struct DomainMetadata {
  std::string domain;
  std::string configuration;
  bool removed = false;
};

/// What of a commitInfo matters to readers and to conflict checks.
struct CommitSummary {
  std::optional<int64_t> in_commit_timestamp;
  std::string operation;
  std::string txn_id;
};

/// Everything one commit (or compaction, or the top file of a JSON checkpoint) says.
struct DeltaCommit {
  std::optional<CommitSummary> info;
  std::optional<DeltaProtocol> protocol;
  std::optional<DeltaMetadata> metadata;
  std::vector<AddFilePtr> adds;
  std::vector<RemoveFile> removes;
  std::vector<SetTransaction> transactions;
  std::vector<DomainMetadata> domains;
  std::vector<std::string> sidecars;  ///< paths, in V2 checkpoints
};
using DeltaCommitPtr = std::shared_ptr<const DeltaCommit>;

/// Reads newline-delimited actions. Unknown actions and fields are skipped. `name` is for errors.
/// Errors: INTERNAL_ERROR naming file and line, for damaged JSON or a missing required field.
Result<DeltaCommit> ParseDeltaCommit(std::string_view text, std::string_view name);

/// Data files are not larger (64 TiB): a log that says so would be planned into pieces without an end.
inline constexpr int64_t kMaxDeltaFileBytes = int64_t{1} << 46;

/// Milliseconds of a log; nothing for those whose microseconds are no number.
std::optional<int64_t> UsableMillis(std::optional<int64_t> millis);

/// `_last_checkpoint`: the version it names. Errors: for anything unusable; callers then list the log.
Result<int64_t> ParseLastCheckpoint(std::string_view text);

// One line each, without the line feed; keys in the order that Delta's writer has.
std::string ActionLine(const DeltaProtocol& protocol);
std::string ActionLine(const DeltaMetadata& metadata);
std::string ActionLine(const AddFile& add);
std::string ActionLine(const RemoveFile& remove);
std::string ActionLine(const SetTransaction& transaction);
std::string ActionLine(const DomainMetadata& domain);

/// Appends `text` as a JSON string in quotes: control characters escaped, text outside ASCII as it is.
void AppendJsonText(std::string_view text, std::string* out);
/// {"k":"v",...}
void AppendJsonObject(const StringPairs& pairs, std::string* out);
/// ["a","b"]
std::string JsonStringArray(const std::vector<std::string>& values);

}  // namespace thalweg::connectors
