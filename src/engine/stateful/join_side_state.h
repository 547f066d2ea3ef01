#pragma once

// The working set of one side of a stream-stream join: rows by join key, in memory once, on disk as Spark's two stores.

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "data/rowformat/row_batch.h"
#include "engine/state/state_services.h"
#include "engine/state/state_table.h"

namespace thalweg::engine {

/// Keys of a chunk's rows: UnsafeRows, normalised, and their hashes.
struct JoinKeys {
  data::RowBatch rows;
  std::vector<uint64_t> hashes;
  int64_t size() const { return rows.num_rows(); }
};

struct JoinSideOptions {
  std::string side;                        ///< "left" or "right"
  std::vector<data::DataType> key_types;
  std::vector<data::DataType> row_types;   ///< of the side's columns, without `matched`
  bool expires_by_key = false;             ///< `expiry` names a column of the key, not of the row
  std::optional<KeyEventTime> expiry;      ///< what tells when a row is given up; absent: never
};

/// Rows of a key are numbered 0 .. n - 1 (their indices); the last one takes the place of one that goes.
/// Work per micro-batch is rows added, found, marked and given up, never rows held.
/// Thread: confined to the strand of its partition; MayExpire from any while no task runs. Slots stay valid until Free.
class JoinSideState {
 public:
  using Slot = uint32_t;
  using Group = uint32_t;
  static constexpr uint32_t kNone = UINT32_MAX;

  /// Opens the side's two stores; loads nothing yet. `memory` may be null.
  static Result<std::unique_ptr<JoinSideState>> Open(const std::shared_ptr<QueryState>& query, OperatorId operator_id,
                                                     PartitionId partition, JoinSideOptions options, MemoryAccount* memory);
  ~JoinSideState();

  /// As StateTable's. Errors: those of StatePersister::Load, OUT_OF_MEMORY, MALFORMED_STATE_ROW when the two stores disagree.
  Status BeginVersion(StateVersion version);

  /// The group of each key, kNone where there is none.
  void Find(const JoinKeys& keys, std::vector<Group>* groups) const;
  /// Its rows by index; valid until the side changes.
  std::span<const Slot> Rows(Group group) const;
  /// Starts the memory traffic of reading these rows.
  void Prefetch(std::span<const Slot> slots) const;
  /// The row as it is stored: the side's columns, then `matched`. Valid until Free.
  std::string_view row(Slot slot) const;
  bool matched(Slot slot) const;
  void MarkMatched(Slot slot);

  /// Adds rows[i] under keys[i] for every i of `which`. The rows say whether they are matched.
  /// Errors: OUT_OF_MEMORY, INTERNAL_ERROR beyond 2^32 rows.
  Status Append(const JoinKeys& keys, const data::RowBatch& rows, std::span<const int32_t> which);

  /// Whether some row may have an event time of at most `bound_us`.
  bool MayExpire(int64_t bound_us) const;
  /// Starts giving up all rows with an event time of at most `bound_us`; answers how many.
  int64_t CollectExpired(int64_t bound_us);
  /// Takes up to `limit` of them out of their groups; empty: none are left. Read them, then Free.
  void DetachExpired(size_t limit, std::vector<Slot>* slots);
  /// Takes one row out of its group; Free follows.
  void Detach(Slot slot);
  void Free(std::span<const Slot> slots);

  /// Stages both stores' changes; then call Finish until it answers true, waiting for commit_signal(). After errors: Abort.
  Status Stage(StateVersion version);
  Result<bool> Finish();
  bool staged() const;
  std::shared_ptr<Signal> commit_signal() const;
  void Abort();

  int64_t num_rows() const;
  int64_t memory_bytes() const;
  /// num_rows_total counts rows, num_rows_updated appended rows, num_rows_removed is not counted here.
  const StateMetrics& metrics() const;
  /// For reports of what only the format knows. Spark reports the store of rows for both.
  StatePersister& rows_persister();
  StatePersister& counts_persister();

 private:
  struct Impl;
  explicit JoinSideState(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace thalweg::engine
