#pragma once

#include <string>
#include <string_view>

#include "base/ids.h"

namespace thalweg::engine {

/// Where things stand in a checkpoint: Spark's names, which must not change.
/// Source: checkpoint-format sections 1, 6.1, 7; Spark's StreamingCheckpointConstants. Thread: a value.
class CheckpointLayout {
 public:
  explicit CheckpointLayout(std::string root) : root_(std::move(root)) {}

  const std::string& root() const { return root_; }
  std::string MetadataFile() const;
  std::string OffsetsDirectory() const;
  std::string CommitsDirectory() const;
  std::string StateDirectory() const;
  std::string SourcesDirectory() const;
  /// `sources/<n>`; with source evolution `sources/<name>`.
  std::string SourceDirectory(std::string_view source) const;
  /// `state/<operator>/<partition>`, and below it the name of a store that is not `default`.
  std::string StoreDirectory(OperatorId operator_id, PartitionId partition, std::string_view store = "default") const;
  /// `state/<operator>/_metadata/metadata`, and the directory of version 2.
  std::string OperatorMetadataFile(OperatorId operator_id) const;
  std::string OperatorMetadataV2Directory(OperatorId operator_id) const;
  /// The schema file of versions 1 and 2: always in partition 0.
  std::string StateSchemaFile(OperatorId operator_id, std::string_view store = "default") const;
  /// `state/<operator>/_stateSchema/<store>`: schema files of version 3, named `<batch id>_<uuid>`.
  std::string StateSchemaV3Directory(OperatorId operator_id, std::string_view store = "default") const;

 private:
  std::string OperatorDirectory(OperatorId operator_id) const;
  std::string root_;
};

}  // namespace thalweg::engine
