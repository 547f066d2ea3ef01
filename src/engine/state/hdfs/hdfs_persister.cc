#include "engine/state/hdfs/hdfs_persister.h"

#include "base/fault_point.h"
#include "data/io/path.h"

namespace thalweg::engine {

// Encodes on the strand, stages the bytes at the end.
class HdfsPersister::Writer final : public StateChangeWriter {
 public:
  Writer(HdfsPersister& persister, int64_t version)
      : persister_(persister), version_(version), encoder_(persister.codec_, persister.options_.row_checksum) {}
  Status Append(std::span<const StateChange> changes) override { return encoder_.Append(changes); }
  Status Finish(data::DurableGroup& group) override {
    TW_RETURN_NOT_OK(encoder_.Finish());
    TW_FAULT_POINT("state: delta encoded");
    TW_RETURN_NOT_OK(group.Stage(persister_.ChangesPath(version_), encoder_.bytes()));
    persister_.NoteStaged(version_, static_cast<int64_t>(encoder_.bytes().size()), false);
    return Status::OK();
  }

 private:
  HdfsPersister& persister_;
  const int64_t version_;
  StateFileEncoder encoder_;
};

Status HdfsPersister::ReadFile(int64_t version, bool snapshot, const StateVisitor& visitor) const {
  const std::string path = snapshot ? SnapshotPath(version) : ChangesPath(version);
  const StateFileSource source{.path = data::QualifiedPathText(path),
                               .store = "HDFSStateStoreProvider[stateStoreProviderId=StateStoreProviderId[ storeId=" + id_.ToString() + " ]]",
                               .snapshot = snapshot,
                               .row_checksum = options_.row_checksum,
                               .codec = codec_};
  auto file = file_system_.ReadWhole(path, INT64_MAX);
  if (!file.ok()) {
    if (!data::IsNotFound(file.status())) return file.status();
    return Error(snapshot ? "CANNOT_LOAD_STATE_STORE.CANNOT_READ_MISSING_SNAPSHOT_FILE"
                          : "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS")
        .With("fileToRead", source.path)
        .With("clazz", source.store)
        .Kind(ErrorKind::kEnvironment);
  }
  return DecodeStateFile(source, *file, visitor);
}

Result<std::unique_ptr<StateChangeWriter>> HdfsPersister::BeginChanges(StateVersion version) {
  return std::unique_ptr<StateChangeWriter>(std::make_unique<Writer>(*this, version.value()));
}

void HdfsPersister::Report(const StateMetrics& store, StateFormatMetrics* custom) {
  (*custom)["forceSnapshotCount"] += 0;  // Spark's answer to a state that lags behind; here maintenance is woken
  // A version is read from disk, or found in memory.
  (*custom)["loadedMapCacheHitCount"] += store.loads == 0 ? 1 : 0;
  (*custom)["loadedMapCacheMissCount"] += store.loads;
  (*custom)["numSnapshotsAutoRepaired"] += TakeRepairs();
  (*custom)["stateOnCurrentVersionSizeBytes"] += store.memory_used_bytes;
}

// From files alone, beside the strand: the changes since the last snapshot in memory, the snapshot streamed through.
Status HdfsPersister::WriteSnapshot(int64_t base, int64_t version) {
  data::DurableGroup group(file_system_);
  TW_ASSIGN_OR_RETURN(const auto file, group.Create(SnapshotPath(version)));
  StateFileEncoder encoder(codec_, options_.row_checksum);
  TW_RETURN_NOT_OK(LoadFrom(base, version, [&](std::span<const StateChange> entries) {
    TW_RETURN_NOT_OK(encoder.Append(entries));
    TW_RETURN_NOT_OK(file->Append(encoder.bytes()));
    encoder.bytes().clear();
    return Status::OK();
  }));
  TW_RETURN_NOT_OK(encoder.Finish());
  TW_RETURN_NOT_OK(file->Append(encoder.bytes()));
  TW_RETURN_NOT_OK(file->Close());
  TW_FAULT_POINT("state: snapshot written");
  return group.Publish(options_.durable);
}

}  // namespace thalweg::engine
