#include "engine/state/stored_state.h"

#include <algorithm>
#include <charconv>

#include "data/io/path.h"
#include "engine/checkpoint/commit_log.h"
#include "engine/checkpoint/offset_log.h"
#include "engine/checkpoint/pinned_settings.h"

namespace thalweg::engine {

Result<std::optional<BatchId>> NewestCommit(data::FileSystem& file_system, const CheckpointLayout& layout) {
  return CommitLog(file_system, layout.CommitsDirectory()).LatestId();
}

Result<StateOptions> StoredStateOptions(data::FileSystem& file_system, const CheckpointLayout& layout, BatchId batch_id,
                                        const SettingsMap& session) {
  const OffsetLog offsets(file_system, layout.OffsetsDirectory());
  TW_ASSIGN_OR_RETURN(const std::optional<OffsetLogEntry> entry, offsets.Get(batch_id));
  if (!entry || !entry->metadata) {
    return Error(!entry ? "STDS_OFFSET_LOG_UNAVAILABLE" : "STDS_OFFSET_METADATA_LOG_UNAVAILABLE")
        .With("batchId", static_cast<long long>(batch_id.value()))
        .With("checkpointLocation", data::QualifiedPathText(layout.root()));
  }
  return StateOptions::FromSettings(ApplyPinnedConf(session, *entry->metadata));
}

Result<std::vector<PartitionId>> StoredPartitions(data::FileSystem& file_system, const CheckpointLayout& layout,
                                                  OperatorId operator_id) {
  std::vector<PartitionId> partitions;
  const std::string directory = data::JoinPath(layout.StateDirectory(), std::to_string(operator_id.value()));
  auto listed = file_system.List(directory);
  if (!listed.ok()) {
    if (data::IsNotFound(listed.status())) return partitions;
    return listed.status();
  }
  for (const data::FileInfo& file : *listed) {
    const std::string_view name = file.name();
    int number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (!file.is_directory || error != std::errc{} || end != name.data() + name.size() || number < 0) continue;
    partitions.emplace_back(number);
  }
  std::sort(partitions.begin(), partitions.end());
  return partitions;
}

Result<std::unique_ptr<StatePersister>> OpenStoredState(data::FileSystem& file_system, const StateStoreId& id,
                                                        const StateOptions& options, StateRowTypes types) {
  TW_ASSIGN_OR_RETURN(const StateStoreProvider* provider, FindStateStoreProvider(options.provider_class));
  return provider->Open(file_system, id, options, std::move(types));
}

}  // namespace thalweg::engine
