#pragma once

#include <vector>

#include "base/status.h"
#include "data/columnar/arrow_bridge.h"
#include "thalweg/value.h"

namespace thalweg::internal {

/// Result batches as rows of public values.
std::vector<Row> RowsOf(const data::IpcStream& batch);

}  // namespace thalweg::internal
