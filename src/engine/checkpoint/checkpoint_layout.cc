#include "engine/checkpoint/checkpoint_layout.h"

#include "data/io/path.h"

namespace thalweg::engine {

using data::JoinPath;

std::string CheckpointLayout::MetadataFile() const { return JoinPath(root_, "metadata"); }
std::string CheckpointLayout::OffsetsDirectory() const { return JoinPath(root_, "offsets"); }
std::string CheckpointLayout::CommitsDirectory() const { return JoinPath(root_, "commits"); }
std::string CheckpointLayout::StateDirectory() const { return JoinPath(root_, "state"); }
std::string CheckpointLayout::SourcesDirectory() const { return JoinPath(root_, "sources"); }

std::string CheckpointLayout::SourceDirectory(std::string_view source) const {
  return JoinPath(SourcesDirectory(), source);
}

std::string CheckpointLayout::OperatorDirectory(OperatorId operator_id) const {
  return JoinPath(StateDirectory(), std::to_string(operator_id.value()));
}

std::string CheckpointLayout::StoreDirectory(OperatorId operator_id, PartitionId partition,
                                             std::string_view store) const {
  std::string directory = JoinPath(OperatorDirectory(operator_id), std::to_string(partition.value()));
  return store == "default" ? directory : JoinPath(directory, store);
}

std::string CheckpointLayout::OperatorMetadataFile(OperatorId operator_id) const {
  return JoinPath(OperatorDirectory(operator_id), "_metadata/metadata");
}

std::string CheckpointLayout::OperatorMetadataV2Directory(OperatorId operator_id) const {
  return JoinPath(OperatorDirectory(operator_id), "_metadata/v2");
}

std::string CheckpointLayout::StateSchemaFile(OperatorId operator_id, std::string_view store) const {
  return JoinPath(StoreDirectory(operator_id, PartitionId(0), store), "_metadata/schema");
}

std::string CheckpointLayout::StateSchemaV3Directory(OperatorId operator_id, std::string_view store) const {
  return JoinPath(JoinPath(OperatorDirectory(operator_id), "_stateSchema"), store);
}

}  // namespace thalweg::engine
