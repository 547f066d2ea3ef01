#pragma once

// The typed working set of aggregation and deduplication: keys and payloads of one partition in memory, what changed in this
// micro-batch, and an index by event time. Work per micro-batch: rows read + keys changed + keys evicted.

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "base/memory.h"
#include "data/columnar/column.h"
#include "data/rowformat/row_batch.h"
#include "engine/state/state_metrics.h"
#include "engine/state/state_services.h"

namespace thalweg::engine {

/// What lies behind a key: `size` bytes at an 8-byte aligned address that never moves, zeroed when they are new.
/// Called for many entries at a time. Thread: confined to the table's.
class StatePayload {
 public:
  virtual ~StatePayload() = default;
  virtual int size() const = 0;
  /// Makes new entries of zeroed memory.
  virtual void Init(std::span<uint8_t* const> /*payloads*/) {}
  /// Values as they are stored: one UnsafeRow per payload.
  virtual Status Encode(std::span<uint8_t* const> payloads, data::RowBatch* values) = 0;
  /// The inverse, into payloads that Init made.
  virtual Status Decode(std::span<const std::string_view> values, std::span<uint8_t* const> payloads) = 0;
  /// Frees what payloads own beyond their bytes.
  virtual void Destroy(std::span<uint8_t* const> /*payloads*/) {}
  /// Bytes that all payloads own beyond their own, for the account of memory.
  virtual int64_t owned_bytes() const { return 0; }
  /// Event times (us) that payloads hold, when those decide the eviction (deduplication within the watermark); answers
  /// false when they do not. Asked after Decode; for new entries the operator calls Schedule.
  virtual bool EventTimes(std::span<uint8_t* const> /*payloads*/, std::span<int64_t> /*times_us*/) { return false; }
};

/// Which part of the key tells when an entry expires.
struct KeyEventTime {
  int column = 0;           ///< of the key
  bool window_end = false;  ///< the column is a window struct: its second field; else a timestamp
};

/// Event time of a key whose time is null: no watermark reaches it.
inline constexpr int64_t kNeverExpires = INT64_MAX;

struct StateTableOptions {
  std::vector<data::DataType> key_types;
  std::vector<data::DataType> value_types;  ///< of the stored rows, for the structural check
  bool check_value = true;
  std::optional<KeyEventTime> event_time;   ///< entries whose event time is null never expire
};

/// Thread: confined to the strand of its partition. Slots stay valid until they are removed; payload addresses too.
class StateTable {
 public:
  using Slot = uint32_t;
  static constexpr Slot kNoSlot = UINT32_MAX;

  /// Opens the store `store_name` of `query`; loads nothing yet. `memory` may be null.
  static Result<std::unique_ptr<StateTable>> Open(std::shared_ptr<QueryState> query, OperatorId operator_id,
                                                  PartitionId partition, StateTableOptions options,
                                                  std::unique_ptr<StatePayload> payload,
                                                  MemoryAccount* memory = nullptr,
                                                  std::string store_name = kDefaultStoreName);
  ~StateTable();

  /// Makes the table hold `version`; cheap when it already does. Call at the start of each micro-batch, before anything
  /// else; counters of the micro-batch begin anew. Errors: those of StatePersister::Load, OUT_OF_MEMORY.
  Status BeginVersion(StateVersion version);

  /// The slot of each key row (`rows`: physical rows, null = all `num_rows`); missing keys are inserted, their payloads
  /// initialised. Equal keys get one slot. -0.0 and 0.0 are one key, as are all NaNs; null is a key.
  /// `inserted`, if given, gets 1 where this row made the entry. Errors: OUT_OF_MEMORY.
  Status FindOrInsert(std::span<const data::ColumnPtr> keys, int64_t num_rows, const std::vector<int32_t>* rows,
                      std::vector<Slot>* slots, std::vector<uint8_t>* inserted = nullptr);
  /// The same without inserting: kNoSlot for missing keys.
  Status Find(std::span<const data::ColumnPtr> keys, int64_t num_rows, const std::vector<int32_t>* rows,
              std::vector<Slot>* slots);

  uint8_t* payload(Slot slot) const;
  void Payloads(std::span<const Slot> slots, std::vector<uint8_t*>* payloads) const;
  /// The keys of slots, as columns of key_types.
  Result<std::vector<data::ColumnPtr>> Keys(std::span<const Slot> slots) const;

  /// These entries are to be written with this version. Repeats are fine. (Inserting does not do it.)
  void MarkChanged(std::span<const Slot> slots);
  /// Entries marked in this micro-batch and not removed, in order of their first mark.
  std::vector<Slot> ChangedSlots() const;
  /// Removes entries; their slots may be given to others afterwards.
  void Remove(std::span<const Slot> slots);
  /// Entries with an event time of at most `bound_us`, earliest first, at most `limit` of them. The caller emits what it
  /// wants and then Removes them: until that they are still there but no longer in the index.
  void TakeExpired(int64_t bound_us, size_t limit, std::vector<Slot>* slots);
  /// Puts entries into the event-time index at new times (payload-held times only; older places are forgotten).
  void Schedule(std::span<const Slot> slots, std::span<const int64_t> times_us);
  /// The event time at which an entry expires, kNeverExpires if that is null; only tables with an index.
  int64_t EventTime(Slot slot) const;
  /// Up to `limit` live slots from `*cursor` on (start with 0); none left: empty. For complete mode.
  void Scan(uint64_t* cursor, size_t limit, std::vector<Slot>* slots) const;

  /// Writes what changed as `version`. Answers false while the version is not yet durable: wait for commit_signal() and
  /// call again. Then the table holds `version`. After an error: Abort.
  Result<bool> Commit(StateVersion version);
  std::shared_ptr<Signal> commit_signal() const;
  /// Forgets everything since BeginVersion; the next BeginVersion reads from disk.
  void Abort();

  int64_t num_entries() const;
  int64_t memory_bytes() const;
  const StateMetrics& metrics() const;
  /// For reports of what only the format knows.
  StatePersister& persister();

 private:
  struct Impl;
  explicit StateTable(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace thalweg::engine
