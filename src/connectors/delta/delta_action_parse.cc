// JSON lines to actions, by simdjson. The only file of this room that knows that library.

#include <simdjson.h>

#include "connectors/delta/delta_actions.h"
#include "connectors/delta/delta_damaged.h"

namespace thalweg::connectors {

namespace {

using simdjson::dom::element;
using simdjson::dom::object;

constexpr int64_t kMaxVersion = 99999999999999999;

std::optional<std::string> OptionalText(const object& from, const char* key) {
  std::string_view text;
  if (from.at_key(key).get(text) != simdjson::SUCCESS) return {};
  return std::string(text);
}

std::optional<int64_t> OptionalNumber(const object& from, const char* key) {
  int64_t number = 0;
  if (from.at_key(key).get(number) != simdjson::SUCCESS) return {};
  return number;
}

std::optional<int64_t> OptionalMillis(const object& from, const char* key) { return UsableMillis(OptionalNumber(from, key)); }

std::optional<bool> OptionalFlag(const object& from, const char* key) {
  bool flag = false;
  if (from.at_key(key).get(flag) != simdjson::SUCCESS) return {};
  return flag;
}

std::optional<std::vector<std::string>> OptionalStrings(const object& from, const char* key) {
  simdjson::dom::array array;
  if (from.at_key(key).get(array) != simdjson::SUCCESS) return {};
  std::vector<std::string> out;
  for (const element item : array) {
    std::string_view text;
    if (item.get(text) == simdjson::SUCCESS) out.emplace_back(text);
  }
  return out;
}

StringPairs Pairs(const object& from, const char* key) {
  StringPairs out;
  object map;
  if (from.at_key(key).get(map) != simdjson::SUCCESS) return out;
  for (const auto& [name, value] : map) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) out.emplace_back(name, text);
  }
  return out;
}

PartitionValues Partitions(const object& from) {
  PartitionValues out;
  object map;
  if (from.at_key("partitionValues").get(map) != simdjson::SUCCESS) return out;
  for (const auto& [name, value] : map) {
    std::string_view text;
    if (value.get(text) == simdjson::SUCCESS) {
      out.emplace_back(std::string(name), std::string(text));
    } else {
      out.emplace_back(std::string(name), std::nullopt);
    }
  }
  return out;
}

Status Missing(const char* action, const char* field) {
  return InternalError(std::string("action ") + action + " without a usable " + field);
}

Result<std::optional<DeletionVector>> Vector(const object& from) {
  object vector;
  if (from.at_key("deletionVector").get(vector) != simdjson::SUCCESS) return std::optional<DeletionVector>{};
  DeletionVector out;
  const auto type = OptionalText(vector, "storageType");
  const auto path = OptionalText(vector, "pathOrInlineDv");
  const auto size = OptionalNumber(vector, "sizeInBytes");
  const auto cardinality = OptionalNumber(vector, "cardinality");
  if (!type || !path || !size || *size < 0 || *size > INT32_MAX || !cardinality) return Missing("deletionVector", "field");
  out.storage_type = *type;
  out.path_or_inline = *path;
  if (const auto offset = OptionalNumber(vector, "offset")) {
    if (*offset < 0 || *offset > INT32_MAX) return Missing("deletionVector", "offset");
    out.offset = static_cast<int32_t>(*offset);
  }
  out.size_in_bytes = static_cast<int32_t>(*size);
  out.cardinality = *cardinality;
  return std::optional<DeletionVector>(std::move(out));
}

Status ReadAdd(const object& from, DeltaCommit* commit) {
  auto add = std::make_shared<AddFile>();
  auto path = OptionalText(from, "path");
  const auto size = OptionalNumber(from, "size");
  if (!path || path->empty()) return Missing("add", "path");
  if (!size || *size < 0 || *size > kMaxDeltaFileBytes) return Missing("add", "size");
  add->path = std::move(*path);
  add->partition_values = Partitions(from);
  add->size = *size;
  add->modification_time = OptionalNumber(from, "modificationTime").value_or(0);
  add->data_change = OptionalFlag(from, "dataChange").value_or(true);
  add->stats = OptionalText(from, "stats");
  add->tags = Pairs(from, "tags");
  TW_ASSIGN_OR_RETURN(add->deletion_vector, Vector(from));
  add->base_row_id = OptionalNumber(from, "baseRowId");
  add->default_row_commit_version = OptionalNumber(from, "defaultRowCommitVersion");
  add->clustering_provider = OptionalText(from, "clusteringProvider");
  commit->adds.push_back(std::move(add));
  return Status::OK();
}

Status ReadRemove(const object& from, DeltaCommit* commit) {
  RemoveFile remove;
  auto path = OptionalText(from, "path");
  if (!path || path->empty()) return Missing("remove", "path");
  remove.path = std::move(*path);
  remove.deletion_timestamp = OptionalNumber(from, "deletionTimestamp");
  remove.data_change = OptionalFlag(from, "dataChange").value_or(true);
  remove.extended_file_metadata = OptionalFlag(from, "extendedFileMetadata").value_or(false);
  remove.partition_values = Partitions(from);
  remove.size = OptionalNumber(from, "size");
  remove.tags = Pairs(from, "tags");
  TW_ASSIGN_OR_RETURN(remove.deletion_vector, Vector(from));
  remove.base_row_id = OptionalNumber(from, "baseRowId");
  remove.default_row_commit_version = OptionalNumber(from, "defaultRowCommitVersion");
  commit->removes.push_back(std::move(remove));
  return Status::OK();
}

Status ReadMetadata(const object& from, DeltaCommit* commit) {
  DeltaMetadata metadata;
  const auto id = OptionalText(from, "id");
  const auto schema = OptionalText(from, "schemaString");
  if (!id) return Missing("metaData", "id");
  metadata.id = *id;
  metadata.name = OptionalText(from, "name");
  metadata.description = OptionalText(from, "description");
  object format;
  if (from.at_key("format").get(format) == simdjson::SUCCESS) {
    metadata.provider = OptionalText(format, "provider").value_or("parquet");
    metadata.options = Pairs(format, "options");
  }
  metadata.schema_string = schema.value_or("");
  metadata.partition_columns = OptionalStrings(from, "partitionColumns").value_or(std::vector<std::string>{});
  metadata.configuration = Pairs(from, "configuration");
  metadata.created_time = OptionalMillis(from, "createdTime");
  commit->metadata = std::move(metadata);
  return Status::OK();
}

Status ReadProtocol(const object& from, DeltaCommit* commit) {
  DeltaProtocol protocol;
  const auto reader = OptionalNumber(from, "minReaderVersion");
  const auto writer = OptionalNumber(from, "minWriterVersion");
  if (!reader || !writer || *reader < 0 || *reader > 1000000 || *writer < 0 || *writer > 1000000) {
    return Missing("protocol", "version");
  }
  protocol.min_reader_version = static_cast<int>(*reader);
  protocol.min_writer_version = static_cast<int>(*writer);
  protocol.reader_features = OptionalStrings(from, "readerFeatures");
  protocol.writer_features = OptionalStrings(from, "writerFeatures");
  commit->protocol = std::move(protocol);
  return Status::OK();
}

Status ReadTransaction(const object& from, DeltaCommit* commit) {
  const auto app_id = OptionalText(from, "appId");
  const auto version = OptionalNumber(from, "version");
  if (!app_id || !version) return Missing("txn", "field");
  commit->transactions.push_back({.app_id = *app_id, .version = *version, .last_updated = OptionalNumber(from, "lastUpdated")});
  return Status::OK();
}

Status ReadDomain(const object& from, DeltaCommit* commit) {
  const auto domain = OptionalText(from, "domain");
  if (!domain) return Missing("domainMetadata", "domain");
  commit->domains.push_back({.domain = *domain,
                             .configuration = OptionalText(from, "configuration").value_or(""),
                             .removed = OptionalFlag(from, "removed").value_or(false)});
  return Status::OK();
}

void ReadInfo(const object& from, DeltaCommit* commit) {
  CommitSummary info;
  info.in_commit_timestamp = OptionalMillis(from, "inCommitTimestamp");
  info.operation = OptionalText(from, "operation").value_or("");
  info.txn_id = OptionalText(from, "txnId").value_or("");
  commit->info = std::move(info);
}

Status ReadAction(std::string_view action, const object& from, DeltaCommit* commit) {
  if (action == "add") return ReadAdd(from, commit);
  if (action == "remove") return ReadRemove(from, commit);
  if (action == "metaData") return ReadMetadata(from, commit);
  if (action == "protocol") return ReadProtocol(from, commit);
  if (action == "txn") return ReadTransaction(from, commit);
  if (action == "domainMetadata") return ReadDomain(from, commit);
  if (action == "commitInfo") ReadInfo(from, commit);
  if (action == "sidecar") {
    const auto path = OptionalText(from, "path");
    if (!path) return Missing("sidecar", "path");
    commit->sidecars.push_back(*path);
  }
  return Status::OK();
}

std::string Place(std::string_view name, int64_t line) { return std::string(name) + " line " + std::to_string(line); }

}  // namespace

std::optional<int64_t> UsableMillis(std::optional<int64_t> millis) {
  constexpr int64_t kMost = INT64_MAX / 1000 - 1;
  return millis && *millis >= -kMost && *millis <= kMost ? millis : std::nullopt;
}

Result<DeltaCommit> ParseDeltaCommit(std::string_view text, std::string_view name) {
  DeltaCommit commit;
  simdjson::dom::parser parser;
  simdjson::padded_string padded(text);
  const std::string_view all(padded.data(), padded.size());
  int64_t line_number = 0;
  for (size_t at = 0; at < all.size();) {
    const size_t end = std::min(all.find('\n', at), all.size());
    const std::string_view line = all.substr(at, end - at);
    ++line_number;
    at = end + 1;
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
    element document;
    object actions;
    // What stands behind the line is readable: the next line, or simdjson's padding.
    if (parser.parse(line.data(), line.size(), false).get(document) != simdjson::SUCCESS ||
        document.get(actions) != simdjson::SUCCESS) {
      return DeltaDamaged("no JSON in " + Place(name, line_number));
    }
    for (const auto& [action, value] : actions) {
      object fields;
      if (value.get(fields) != simdjson::SUCCESS) continue;  // null, or something newer
      const Status status = ReadAction(action, fields, &commit);
      if (!status.ok()) return DeltaDamaged(status.message_text() + " in " + Place(name, line_number));
    }
  }
  return commit;
}

Status DeltaDamaged(const std::string& what) {
  return Error("DELTA_LOG_DAMAGED").With("what", what);
}

Result<int64_t> ParseLastCheckpoint(std::string_view text) {
  simdjson::dom::parser parser;
  object hint;
  int64_t version = -1;
  const simdjson::padded_string padded(text);
  if (parser.parse(padded).get(hint) != simdjson::SUCCESS || hint.at_key("version").get(version) != simdjson::SUCCESS ||
      version < 0 || version > kMaxVersion) {
    return DeltaDamaged("unusable _last_checkpoint");
  }
  return version;
}

}  // namespace thalweg::connectors
