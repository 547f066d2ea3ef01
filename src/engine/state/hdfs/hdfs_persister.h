#pragma once

#include "engine/state/file_persister.h"
#include "engine/state/hdfs/state_file_format.h"

namespace thalweg::engine {

/// Spark's HDFSBackedStateStoreProvider: `<version>.delta` and `<version>.snapshot` in the store's directory.
class HdfsPersister final : public FilePersister {
 public:
  HdfsPersister(data::FileSystem& file_system, StateStoreId id, const StateOptions& options, StateRowTypes types,
                StateCodecKind codec)
      : FilePersister(file_system, std::move(id), options, std::move(types), {".delta", ".snapshot"}), codec_(codec) {}

  Result<std::unique_ptr<StateChangeWriter>> BeginChanges(StateVersion version) override;
  void Report(const StateMetrics& store, StateFormatMetrics* custom) override;

 private:
  class Writer;

  Status ReadChangesFile(int64_t version, const StateVisitor& visitor) override { return ReadFile(version, false, visitor); }
  Status ReadSnapshot(int64_t version, const StateVisitor& visitor) override { return ReadFile(version, true, visitor); }
  Status WriteSnapshot(int64_t base, int64_t version) override;
  Status ReadFile(int64_t version, bool snapshot, const StateVisitor& visitor) const;

  const StateCodecKind codec_;
};

}  // namespace thalweg::engine
