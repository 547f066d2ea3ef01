#include "engine/state/state_store_id.h"

#include "engine/checkpoint/checkpoint_layout.h"

namespace thalweg::engine {

std::string StateStoreId::Directory() const {
  return CheckpointLayout(checkpoint_root).StoreDirectory(operator_id, partition, store_name);
}

std::string StateStoreId::ToString() const {
  return "StateStoreId[ operatorId=" + std::to_string(operator_id.value()) +
         ", partitionId=" + std::to_string(partition.value()) + ", storeName=" + store_name + " ]";
}

}  // namespace thalweg::engine
