#include "engine/state/state_store_id.h"

#include "data/io/path.h"

namespace thalweg::engine {

std::string StateStoreId::Directory() const {
  std::string directory = data::JoinPath(checkpoint_root, "state");
  directory = data::JoinPath(directory, std::to_string(operator_id.value()));
  directory = data::JoinPath(directory, std::to_string(partition.value()));
  return store_name == kDefaultStoreName ? directory : data::JoinPath(directory, store_name);
}

std::string StateStoreId::ToString() const {
  return "StateStoreId[ operatorId=" + std::to_string(operator_id.value()) +
         ", partitionId=" + std::to_string(partition.value()) + ", storeName=" + store_name + " ]";
}

}  // namespace thalweg::engine
