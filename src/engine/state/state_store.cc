#include "engine/state/state_store.h"

#include <algorithm>

#include "data/rowformat/row_batch.h"
#include "data/rowformat/unsafe_row_reader.h"
#include "engine/state/row_hash.h"
#include "engine/state/row_map.h"
#include "engine/state/strand_commit.h"

namespace thalweg::engine {
namespace {

using Slot = RowMap::Slot;
constexpr size_t kWriteBatch = 4096;
constexpr size_t kGetBlock = 32;
constexpr uint8_t kPutMark = 1;
constexpr uint8_t kStoredMark = 2;

}  // namespace

// Slots with one prefix as a list; the index knows its head.
class PrefixIndex {
 public:
  PrefixIndex(const RowMap& map, const StateStoreSchema& schema) : map_(map), schema_(schema) {}

  void Add(Slot slot) {
    if (next_.size() <= slot) {
      next_.resize(slot + 1, RowMap::kNoSlot);
      previous_.resize(slot + 1, RowMap::kNoSlot);
    }
    const std::string prefix = PrefixOf(slot);
    const uint64_t hash = HashRow(prefix);
    const Slot head = FindHead(hash, prefix);
    previous_[slot] = RowMap::kNoSlot;
    next_[slot] = head;
    if (head == RowMap::kNoSlot) {
      heads_.Insert(hash, slot, [this](Slot other) { return HashRow(PrefixOf(other)); });
    } else {
      previous_[head] = slot;
      heads_.Replace(hash, head, slot);
    }
  }
  void Remove(Slot slot) {
    const Slot next = next_[slot];
    const Slot previous = previous_[slot];
    if (next != RowMap::kNoSlot) previous_[next] = previous;
    if (previous != RowMap::kNoSlot) {
      next_[previous] = next;
      return;
    }
    const uint64_t hash = HashRow(PrefixOf(slot));
    if (next != RowMap::kNoSlot) {
      heads_.Replace(hash, slot, next);
    } else {
      heads_.Erase(hash, slot);
    }
  }
  Slot First(std::string_view prefix) const { return FindHead(HashRow(prefix), prefix); }
  Slot Next(Slot slot) const { return next_[slot]; }
  void Clear() {
    heads_.Clear();
    next_.clear();
    previous_.clear();
  }
  int64_t memory_bytes() const {
    return heads_.memory_bytes() + static_cast<int64_t>((next_.capacity() + previous_.capacity()) * sizeof(Slot));
  }

 private:
  std::string PrefixOf(Slot slot) const {
    std::string prefix;
    // Keys were checked when they came in.
    data::RowPrefix(schema_.key_types, schema_.prefix_columns, map_.key(slot), &prefix);
    return prefix;
  }
  Slot FindHead(uint64_t hash, std::string_view prefix) const {
    return heads_.Find(hash, [&](Slot slot) { return PrefixOf(slot) == prefix; });
  }

  const RowMap& map_;
  const StateStoreSchema& schema_;
  HashIndex heads_;
  std::vector<Slot> next_;
  std::vector<Slot> previous_;
};

struct StateStore::Impl {
  Impl(StateStoreSchema store_schema, std::unique_ptr<QueryState::Member> member, MemoryAccount* memory)
      : schema(std::move(store_schema)), prefixes(map, schema), strand(std::move(member)) {
    if (memory != nullptr) reservation = MemoryReservation(*memory);
  }

  bool prefixed() const { return schema.prefix_columns > 0; }
  uint8_t& Flags(Slot slot) {
    if (flags.size() <= slot) flags.resize(slot + 1, 0);
    return flags[slot];
  }
  void Clear() {
    map.Clear();
    prefixes.Clear();
    flags.clear();
    changed.clear();
    removed_keys = {};
  }
  bool clean() const { return changed.empty() && removed_keys.num_rows() == 0; }
  Status LoadEntries(std::span<const StateChange> entries);
  Status WriteChanges(StateChangeWriter& writer);
  int64_t memory_bytes() const {
    return map.memory_bytes() + prefixes.memory_bytes() +
           static_cast<int64_t>(flags.capacity() + changed.capacity() * sizeof(Slot) + removed_keys.bytes.capacity());
  }

  const StateStoreSchema schema;
  RowMap map;
  PrefixIndex prefixes;
  std::vector<uint8_t> flags;   // by slot
  std::vector<Slot> changed;    // a slot without its mark was removed; a slot may stand twice
  data::RowBatch removed_keys;  // of entries that the version before has, or that were put in this one: as Spark writes them
  StateMetrics metrics;
  StrandCommit strand;
  MemoryReservation reservation;
};

Status StateStore::Impl::LoadEntries(std::span<const StateChange> entries) {
  std::string prefix;
  for (const StateChange& entry : entries) {
    if (prefixed() && !data::RowPrefix(schema.key_types, schema.prefix_columns, entry.key, &prefix)) {
      return Error("MALFORMED_STATE_ROW").With("reason", "a key is shorter than its columns");
    }
    const Slot slot = map.Put(entry.key, entry.value);
    Flags(slot) = kStoredMark;
    if (prefixed()) prefixes.Add(slot);
  }
  return reservation.Resize(memory_bytes());
}

Status StateStore::Impl::WriteChanges(StateChangeWriter& writer) {
  std::vector<StateChange> batch;
  for (int64_t i = 0; i < removed_keys.num_rows(); ++i) batch.push_back({removed_keys.row(i), {}, true});
  TW_RETURN_NOT_OK(writer.Append(batch));
  batch.clear();
  for (const Slot slot : changed) {
    if ((flags[slot] & kPutMark) == 0) continue;
    flags[slot] = kStoredMark;
    batch.push_back({map.key(slot), map.value(slot), false});
    if (batch.size() < kWriteBatch) continue;
    TW_RETURN_NOT_OK(writer.Append(batch));
    batch.clear();
  }
  return writer.Append(batch);
}

StateStore::StateStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StateStore::~StateStore() = default;

Result<std::unique_ptr<StateStore>> StateStore::Open(std::shared_ptr<QueryState> query, OperatorId operator_id,
                                                     PartitionId partition, std::string store_name,
                                                     StateStoreSchema schema, MemoryAccount* memory) {
  StateRowTypes types{schema.key_types, schema.value_types, schema.check_value, schema.prefix_columns};
  TW_ASSIGN_OR_RETURN(auto member, query->Open(operator_id, partition, std::move(store_name), std::move(types), memory));
  return std::unique_ptr<StateStore>(
      new StateStore(std::make_unique<Impl>(std::move(schema), std::move(member), memory)));
}

Status StateStore::BeginVersion(StateVersion version) {
  Impl& s = *impl_;
  s.metrics = {};
  s.metrics.num_rows_total = s.map.size();
  if (s.strand.Holds(version) && s.clean()) return Status::OK();
  s.strand.Unload();
  s.Clear();
  ++s.metrics.loads;
  TW_RETURN_NOT_OK(s.strand.persister().Load(version, [&s](std::span<const StateChange> entries) {
    if (!entries.empty()) return s.LoadEntries(entries);
    s.Clear();
    return Status::OK();
  }));
  s.strand.Loaded(version);
  s.metrics.num_rows_total = s.map.size();
  s.metrics.memory_used_bytes = s.memory_bytes();
  return Status::OK();
}

std::optional<std::string_view> StateStore::Get(std::string_view key) const {
  const Slot slot = impl_->map.Find(key);
  if (slot == RowMap::kNoSlot) return std::nullopt;
  return impl_->map.value(slot);
}

void StateStore::GetMany(std::span<const std::string_view> keys,
                         std::vector<std::optional<std::string_view>>* values) const {
  values->resize(keys.size());
  for (size_t begin = 0; begin < keys.size(); begin += kGetBlock) {
    const size_t end = std::min(begin + kGetBlock, keys.size());
    for (size_t i = begin; i < end; ++i) impl_->map.Prefetch(HashRow(keys[i]));
    for (size_t i = begin; i < end; ++i) (*values)[i] = Get(keys[i]);
  }
}

void StateStore::Put(std::string_view key, std::string_view value) {
  Impl& s = *impl_;
  bool inserted = false;
  const Slot slot = s.map.Put(key, value, &inserted);
  uint8_t& flags = s.Flags(slot);
  if (inserted) {
    flags = 0;
    if (s.prefixed()) s.prefixes.Add(slot);
  }
  if ((flags & kPutMark) == 0) {
    s.changed.push_back(slot);
    ++s.metrics.num_rows_updated;
  }
  flags |= kPutMark;
}

bool StateStore::Remove(std::string_view key) {
  Impl& s = *impl_;
  const Slot slot = s.map.Find(key);
  if (slot == RowMap::kNoSlot) return false;
  if (s.flags[slot] != 0) {
    s.removed_keys.bytes.insert(s.removed_keys.bytes.end(), key.begin(), key.end());
    s.removed_keys.offsets.push_back(static_cast<int64_t>(s.removed_keys.bytes.size()));
  }
  s.flags[slot] = 0;
  ++s.metrics.num_rows_removed;
  if (s.prefixed()) s.prefixes.Remove(slot);
  s.map.Remove(slot);
  return true;
}

void StateStore::Scan(const EntryVisitor& visitor) const {
  const RowMap& map = impl_->map;
  for (Slot slot = 0; slot < map.slot_end(); ++slot) {
    if (map.live(slot) && !visitor(map.key(slot), map.value(slot))) return;
  }
}

void StateStore::PrefixScan(std::string_view prefix, const EntryVisitor& visitor) const {
  TW_DCHECK(impl_->prefixed());
  const RowMap& map = impl_->map;
  for (Slot slot = impl_->prefixes.First(prefix); slot != RowMap::kNoSlot; slot = impl_->prefixes.Next(slot)) {
    if (!visitor(map.key(slot), map.value(slot))) return;
  }
}

Result<bool> StateStore::Commit(StateVersion version) {
  Impl& s = *impl_;
  if (!s.strand.committing()) {
    const auto begin = s.strand.clock().NowMonotonic();
    TW_RETURN_NOT_OK(s.reservation.Resize(s.memory_bytes()));
    TW_RETURN_NOT_OK(
        s.strand.Stage(version, s.map.size(), [&s](StateChangeWriter& writer) { return s.WriteChanges(writer); }));
    const auto spent = s.strand.clock().NowMonotonic() - begin;
    s.metrics.commit_time_ms = std::chrono::duration_cast<std::chrono::milliseconds>(spent).count();
    s.metrics.num_rows_total = s.map.size();
    s.metrics.memory_used_bytes = s.memory_bytes();
  }
  TW_ASSIGN_OR_RETURN(const bool durable, s.strand.Finish());
  if (!durable) return false;
  s.changed.clear();
  s.removed_keys.bytes.clear();
  s.removed_keys.offsets.assign(1, 0);
  return true;
}

std::shared_ptr<Signal> StateStore::commit_signal() const { return impl_->strand.signal(); }
void StateStore::Abort() { impl_->strand.Abort(); }
int64_t StateStore::num_entries() const { return impl_->map.size(); }
int64_t StateStore::memory_bytes() const { return impl_->memory_bytes(); }
const StateMetrics& StateStore::metrics() const { return impl_->metrics; }
StatePersister& StateStore::persister() { return impl_->strand.persister(); }

}  // namespace thalweg::engine
