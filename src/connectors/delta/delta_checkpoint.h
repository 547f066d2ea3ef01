#pragma once

// The columns of a checkpoint that we read and write. Private to the checkpoint files.

#include "data/types/data_type.h"

namespace thalweg::connectors {

/// One nullable struct per kind of action; `sidecars`: only in top files of V2 checkpoints.
data::Schema DeltaCheckpointSchema(bool sidecars);

}  // namespace thalweg::connectors
