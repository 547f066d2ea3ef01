#include "engine/checkpoint/require_checkpoint.h"

#include "data/io/path.h"

namespace thalweg::engine {

Status RequireCheckpoint(data::FileSystem& file_system, const CheckpointLayout& layout) {
  const auto missing = [&](const char* reason) -> Status {
    return Error("CHECKPOINT_NOT_FOUND").With("path", data::QualifiedPathText(layout.root())).With("reason", reason);
  };
  const Result<data::FileInfo> root = file_system.Stat(layout.root());
  if (!root.ok()) return data::IsNotFound(root.status()) ? missing("there is no such directory") : root.status();
  if (!root->is_directory) return missing("it is a file, not a directory");
  for (const std::string& part : {layout.MetadataFile(), layout.OffsetsDirectory(), layout.CommitsDirectory(), layout.StateDirectory()}) {
    TW_ASSIGN_OR_RETURN(const bool exists, file_system.Exists(part));
    if (exists) return Status::OK();
  }
  return missing("the directory has no metadata, offsets, commits or state");
}

}  // namespace thalweg::engine
