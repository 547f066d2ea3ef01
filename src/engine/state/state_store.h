#pragma once

// State as bytes: keys and values are UnsafeRows. For stream joins, session windows, limits, arbitrary state, readers, tools.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/memory.h"
#include "engine/state/state_metrics.h"
#include "engine/state/state_services.h"

namespace thalweg::engine {

struct StateStoreSchema {
  std::vector<data::DataType> key_types;
  std::vector<data::DataType> value_types;
  bool check_value = true;
  int prefix_columns = 0;  ///< leading key columns that PrefixScan may fix; 0: no prefix scans
};

/// One store in memory over its files. Thread: confined to the strand of its partition.
/// Views that are handed out live until the next Put, Remove, Commit, Abort or BeginVersion.
class StateStore {
 public:
  /// Answers false to stop.
  using EntryVisitor = std::function<bool(std::string_view key, std::string_view value)>;

  static Result<std::unique_ptr<StateStore>> Open(std::shared_ptr<QueryState> query, OperatorId operator_id,
                                                  PartitionId partition, std::string store_name,
                                                  StateStoreSchema schema, MemoryAccount* memory = nullptr);
  ~StateStore();

  /// Makes the store hold `version`; cheap when it already does. Errors: those of StatePersister::Load, OUT_OF_MEMORY.
  Status BeginVersion(StateVersion version);

  std::optional<std::string_view> Get(std::string_view key) const;
  /// For many keys: nullopt where there is none.
  void GetMany(std::span<const std::string_view> keys, std::vector<std::optional<std::string_view>>* values) const;
  void Put(std::string_view key, std::string_view value);
  /// Answers whether it was there.
  bool Remove(std::string_view key);
  /// Every entry, in no order. Do not change the store meanwhile.
  void Scan(const EntryVisitor& visitor) const;
  /// Entries whose first prefix_columns key columns, as a row of their own, are `prefix`.
  void PrefixScan(std::string_view prefix, const EntryVisitor& visitor) const;

  /// As StateTable's.
  Result<bool> Commit(StateVersion version);
  std::shared_ptr<Signal> commit_signal() const;
  void Abort();

  int64_t num_entries() const;
  int64_t memory_bytes() const;
  const StateMetrics& metrics() const;
  /// For reports of what only the format knows.
  StatePersister& persister();

 private:
  struct Impl;
  explicit StateStore(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace thalweg::engine
