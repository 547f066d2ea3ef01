#pragma once

#include <string>

#include "base/ids.h"

namespace thalweg::engine {

inline constexpr char kDefaultStoreName[] = "default";

/// One store of one partition of one stateful operator.
struct StateStoreId {
  std::string checkpoint_root;
  OperatorId operator_id{0};
  PartitionId partition{0};
  std::string store_name = kDefaultStoreName;

  /// `<root>/state/<operator>/<partition>`, with `/<store>` unless it is the default one.
  std::string Directory() const;
  /// As Spark prints it in messages: "StateStoreId[ operatorId=0, partitionId=1, storeName=default ]".
  std::string ToString() const;
};

}  // namespace thalweg::engine
