#pragma once

#include "base/status.h"
#include "data/io/file_system.h"
#include "engine/checkpoint/checkpoint_layout.h"

namespace thalweg::engine {

/// Whether a checkpoint stands at the root: for tools and readers, which make none. Blocks: on the disk.
/// Errors: CHECKPOINT_NOT_FOUND (no such directory, a file, or a directory with nothing of a checkpoint in it), IO_ERROR.
Status RequireCheckpoint(data::FileSystem& file_system, const CheckpointLayout& layout);

}  // namespace thalweg::engine
