#include "engine/state/state_table.h"

#include <algorithm>

#include "data/rowformat/unsafe_row_format.h"
#include "data/rowformat/unsafe_row_reader.h"
#include "engine/state/event_time_index.h"
#include "engine/state/hash_index.h"
#include "engine/state/row_hash.h"
#include "engine/state/slot_pages.h"
#include "engine/state/strand_commit.h"
#include "engine/state/table_keys.h"

namespace thalweg::engine {
namespace {

constexpr size_t kBatch = 4096;
constexpr size_t kProbeBlock = 32;  // finds whose memory traffic overlaps

// Bits of a slot's state; the rest counts how often the slot was given away.
constexpr uint32_t kLive = 1;
constexpr uint32_t kChanged = 2;
constexpr uint32_t kCommitted = 4;  // the key is in the version that the table was loaded or committed with
constexpr uint32_t kNullKey = 8;    // word keys
constexpr uint32_t kGeneration = 16;

}  // namespace

// A block of a slot: the key (a word, or the address of its bytes), then the payload.
struct StateTable::Impl {
  Impl(StateTableOptions table_options, std::unique_ptr<StatePayload> table_payload,
       std::unique_ptr<QueryState::Member> member, MemoryAccount* memory)
      : options(std::move(table_options)),
        payload(std::move(table_payload)),
        word_keys(AreWordKeys(options.key_types)),
        key_writer(options.key_types, {.normalize_zero = true}),
        key_reader(options.key_types),
        blocks(8 + static_cast<size_t>(payload->size())),
        strand(std::move(member)) {
    if (memory != nullptr) reservation = MemoryReservation(*memory);
  }
  ~Impl() { DestroyPayloads(); }

  uint64_t KeyWord(Slot slot) const { return data::LoadAs<uint64_t>(blocks[slot]); }
  const uint8_t* KeyAddress(Slot slot) const { return reinterpret_cast<const uint8_t*>(KeyWord(slot)); }
  std::string_view KeyBytes(Slot slot) const {
    const uint8_t* at = KeyAddress(slot);
    return {reinterpret_cast<const char*>(at) + sizeof(KeyPages::Header), KeyPages::HeaderAt(at).size};
  }
  uint8_t* Payload(Slot slot) const { return blocks[slot] + 8; }
  bool live(Slot slot) const { return (meta[slot] & kLive) != 0; }
  uint32_t generation(Slot slot) const { return meta[slot] / kGeneration; }
  bool indexed() const { return options.event_time.has_value() || payload_times; }

  // The key row of a slot; `scratch` holds 16 bytes for word keys.
  std::string_view KeyRow(Slot slot, uint8_t* scratch) const {
    if (!word_keys) return KeyBytes(slot);
    WordKeyRow(KeyWord(slot), (meta[slot] & kNullKey) != 0, scratch);
    return {reinterpret_cast<const char*>(scratch), 16};
  }
  uint64_t HashOf(Slot slot) const {
    if (!word_keys) return HashRow(KeyBytes(slot));
    return (meta[slot] & kNullKey) != 0 ? kNullKeyHash : HashWord(KeyWord(slot));
  }
  Slot FindKey(const KeyBatch& keys, size_t i) const;
  /// Starts the memory traffic of looking keys [begin, end) up: the index, then what it names first.
  void Prefetch(const KeyBatch& keys, size_t begin, size_t end) const;
  Slot NewSlot();
  Slot NewEntry(uint64_t word, bool null, std::string_view row);
  Slot InsertKey(const KeyBatch& keys, size_t i);
  Status MakeKeys(std::span<const data::ColumnPtr> columns, int64_t num_rows, const std::vector<int32_t>* rows);
  Status InitNew(std::span<const Slot> slots);
  int64_t EventTimeOf(Slot slot) const;
  void AddToIndex(std::span<const Slot> slots);
  void FreeSlot(Slot slot);
  void DestroyPayloads();
  void Clear();
  Status LoadEntries(std::span<const StateChange> entries);
  Status WriteChanges(StateChangeWriter& writer);
  int64_t memory_bytes() const;
  Status Charge();
  template <typename Each>
  void ForEachLive(Each each) const {
    for (Slot slot = 0; slot < meta.size(); ++slot) {
      if (live(slot)) each(slot);
    }
  }

  const StateTableOptions options;
  const std::unique_ptr<StatePayload> payload;
  const bool word_keys;
  const data::UnsafeRowWriter key_writer;
  const data::UnsafeRowReader key_reader;
  HashIndex index;
  SlotPages blocks;
  KeyPages key_pages;
  std::vector<uint32_t> meta;
  std::vector<Slot> free_slots;
  std::vector<Slot> freed;          // since BeginVersion: not given away before the commit, so `changed` stays clear
  EventTimeIndex event_times;
  bool payload_times = false;

  std::vector<Slot> changed;        // in order of first mark; those without their mark were removed
  data::RowBatch removed_keys;      // of entries that the version before has, or Spark would have put in this one
  KeyBatch scratch_keys;
  std::vector<uint64_t> loaded_hashes;  // by slot, while loading
  int64_t entries = 0;
  StateMetrics metrics;
  StrandCommit strand;
  MemoryReservation reservation;
};

StateTable::Slot StateTable::Impl::FindKey(const KeyBatch& keys, size_t i) const {
  if (word_keys) {
    const uint64_t word = keys.words[i];
    const uint32_t null = keys.nulls[i] != 0 ? kNullKey : 0;
    return index.Find(keys.hashes[i],
                      [&](Slot slot) { return KeyWord(slot) == word && (meta[slot] & kNullKey) == null; });
  }
  const std::string_view row = keys.rows.row(static_cast<int64_t>(i));
  return index.Find(keys.hashes[i], [&](Slot slot) { return KeyBytes(slot) == row; });
}

void StateTable::Impl::Prefetch(const KeyBatch& keys, size_t begin, size_t end) const {
  for (size_t i = begin; i < end; ++i) index.Prefetch(keys.hashes[i]);
  for (size_t i = begin; i < end; ++i) {
    const uint32_t slot = index.Candidate(keys.hashes[i]);
    if (slot == HashIndex::kNone) continue;
    __builtin_prefetch(blocks[slot]);
    __builtin_prefetch(meta.data() + slot, 1);
  }
}

StateTable::Slot StateTable::Impl::NewSlot() {
  Slot slot;
  if (free_slots.empty()) {
    slot = static_cast<Slot>(meta.size());
    meta.push_back(0);
    blocks.Ensure(slot);
  } else {
    slot = free_slots.back();
    free_slots.pop_back();
  }
  return slot;
}

// All of a new entry but its place in the index.
StateTable::Slot StateTable::Impl::NewEntry(uint64_t word, bool null, std::string_view row) {
  const Slot slot = NewSlot();
  meta[slot] |= kLive | (null ? kNullKey : 0);
  if (!word_keys) word = reinterpret_cast<uint64_t>(key_pages.Add(row.data(), row.size()));
  data::StoreAs(blocks[slot], word);
  std::memset(Payload(slot), 0, static_cast<size_t>(payload->size()));
  ++entries;
  return slot;
}

StateTable::Slot StateTable::Impl::InsertKey(const KeyBatch& keys, size_t i) {
  const Slot slot = word_keys ? NewEntry(keys.words[i], keys.nulls[i] != 0, {})
                              : NewEntry(0, false, keys.rows.row(static_cast<int64_t>(i)));
  index.Insert(keys.hashes[i], slot, [this](Slot other) { return HashOf(other); });
  return slot;
}

Status StateTable::Impl::MakeKeys(std::span<const data::ColumnPtr> columns, int64_t num_rows,
                                  const std::vector<int32_t>* rows) {
  if (word_keys) return MakeWordKeys(columns[0], num_rows, rows, &scratch_keys);
  return MakeRowKeys(key_writer, columns, num_rows, rows, &scratch_keys);
}

Status StateTable::Impl::InitNew(std::span<const Slot> slots) {
  std::vector<uint8_t*> payloads;
  payloads.reserve(slots.size());
  for (const Slot slot : slots) payloads.push_back(Payload(slot));
  payload->Init(payloads);
  if (options.event_time) AddToIndex(slots);
  return Charge();
}

int64_t StateTable::Impl::EventTimeOf(Slot slot) const {
  if (!options.event_time) {
    int64_t time = 0;
    uint8_t* at = Payload(slot);
    payload->EventTimes({&at, 1}, {&time, 1});
    return time;
  }
  uint8_t scratch[16];
  return KeyRowEventTime(KeyRow(slot, scratch), static_cast<int>(options.key_types.size()), *options.event_time);
}

void StateTable::Impl::AddToIndex(std::span<const Slot> slots) {
  for (const Slot slot : slots) {
    const int64_t time_us = EventTimeOf(slot);
    if (time_us != kNeverExpires) event_times.Add({time_us, slot, generation(slot)});
  }
}

void StateTable::Impl::FreeSlot(Slot slot) {
  index.Erase(HashOf(slot), slot);
  if (!word_keys) key_pages.Remove(KeyAddress(slot));
  meta[slot] = (meta[slot] / kGeneration + 1) * kGeneration;
  freed.push_back(slot);
  --entries;
}

void StateTable::Impl::DestroyPayloads() {
  std::vector<uint8_t*> payloads;
  ForEachLive([&](Slot slot) {
    payloads.push_back(Payload(slot));
    if (payloads.size() == kBatch) {
      payload->Destroy(payloads);
      payloads.clear();
    }
  });
  payload->Destroy(payloads);
}

void StateTable::Impl::Clear() {
  DestroyPayloads();
  index.Clear();
  blocks.Clear();
  key_pages.Clear();
  meta.clear();
  free_slots.clear();
  freed.clear();
  event_times.Clear();
  changed.clear();
  removed_keys = {};
  loaded_hashes.clear();
  entries = 0;
}

// Each key comes once: nothing is looked up, and the index is built when all are there. Slots count from 0.
Status StateTable::Impl::LoadEntries(std::span<const StateChange> loaded) {
  std::vector<Slot> slots(loaded.size());
  std::vector<uint8_t*> payloads(loaded.size());
  std::vector<std::string_view> values(loaded.size());
  const auto least = static_cast<size_t>(data::RowFixedBytes(static_cast<int64_t>(options.key_types.size())));
  for (size_t i = 0; i < loaded.size(); ++i) {
    const std::string_view key = loaded[i].key;
    if (key.size() < least) return Error("MALFORMED_STATE_ROW").With("reason", "a key is shorter than its fixed part");
    if (word_keys) {
      const auto* row = reinterpret_cast<const uint8_t*>(key.data());
      const bool null = data::NullBit(row, 0);
      const uint64_t word = null ? 0 : data::LoadAs<uint64_t>(row + 8);
      slots[i] = NewEntry(word, null, {});
      loaded_hashes.push_back(null ? kNullKeyHash : HashWord(word));
    } else {
      slots[i] = NewEntry(0, false, key);
      loaded_hashes.push_back(HashRow(key));
    }
    meta[slots[i]] |= kCommitted;
    payloads[i] = Payload(slots[i]);
    values[i] = loaded[i].value;
  }
  payload->Init(payloads);
  TW_RETURN_NOT_OK(payload->Decode(values, payloads));
  if (indexed()) {
    for (const Slot slot : slots) {
      const int64_t time_us = EventTimeOf(slot);
      if (time_us != kNeverExpires) event_times.AddUnordered({time_us, slot, generation(slot)});
    }
  }
  return Charge();
}

Status StateTable::Impl::WriteChanges(StateChangeWriter& writer) {
  std::erase_if(changed, [this](Slot slot) { return (meta[slot] & kChanged) == 0; });
  std::vector<StateChange> batch;
  for (int64_t i = 0; i < removed_keys.num_rows(); ++i) batch.push_back({removed_keys.row(i), {}, true});
  TW_RETURN_NOT_OK(writer.Append(batch));
  std::vector<uint8_t> key_scratch(word_keys ? 16 * kBatch : 0);
  std::vector<uint8_t*> payloads;
  std::vector<std::string_view> keys;
  data::RowBatch values;
  for (size_t begin = 0; begin < changed.size(); begin += kBatch) {
    payloads.clear();
    keys.clear();
    batch.clear();
    for (size_t i = begin; i < std::min(begin + kBatch, changed.size()); ++i) {
      if (i + kProbeBlock / 2 < changed.size()) __builtin_prefetch(blocks[changed[i + kProbeBlock / 2]]);
      payloads.push_back(Payload(changed[i]));
      keys.push_back(KeyRow(changed[i], key_scratch.data() + (word_keys ? 16 * (i - begin) : 0)));
    }
    TW_RETURN_NOT_OK(payload->Encode(payloads, &values));
    TW_DCHECK(values.num_rows() == static_cast<int64_t>(keys.size()));
    for (size_t i = 0; i < keys.size(); ++i) batch.push_back({keys[i], values.row(static_cast<int64_t>(i)), false});
    TW_RETURN_NOT_OK(writer.Append(batch));
  }
  return Status::OK();
}

int64_t StateTable::Impl::memory_bytes() const {
  return index.memory_bytes() + blocks.memory_bytes() + key_pages.memory_bytes() + event_times.memory_bytes() +
         static_cast<int64_t>((meta.capacity() + free_slots.capacity() + freed.capacity() + changed.capacity()) * 4 +
                              removed_keys.bytes.capacity()) +
         payload->owned_bytes();
}

Status StateTable::Impl::Charge() {
  constexpr int64_t kStep = 64 * 1024;
  const int64_t bytes = memory_bytes();
  return std::abs(bytes - reservation.bytes()) < kStep ? Status::OK() : reservation.Resize(bytes);
}

StateTable::StateTable(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
StateTable::~StateTable() = default;

Result<std::unique_ptr<StateTable>> StateTable::Open(std::shared_ptr<QueryState> query, OperatorId operator_id,
                                                     PartitionId partition, StateTableOptions options,
                                                     std::unique_ptr<StatePayload> payload, MemoryAccount* memory,
                                                     std::string store_name) {
  TW_DCHECK(payload->size() % 8 == 0);
  StateRowTypes types{options.key_types, options.value_types, options.check_value};
  TW_ASSIGN_OR_RETURN(auto member, query->Open(operator_id, partition, std::move(store_name), std::move(types), memory));
  auto impl = std::make_unique<Impl>(std::move(options), std::move(payload), std::move(member), memory);
  impl->payload_times = !impl->options.event_time && impl->payload->EventTimes({}, {});
  return std::unique_ptr<StateTable>(new StateTable(std::move(impl)));
}

Status StateTable::BeginVersion(StateVersion version) {
  Impl& t = *impl_;
  t.metrics = {};
  t.metrics.num_rows_total = t.entries;
  if (t.strand.Holds(version) && t.changed.empty() && t.removed_keys.num_rows() == 0) return Status::OK();
  t.strand.Unload();
  t.Clear();
  ++t.metrics.loads;
  TW_RETURN_NOT_OK(t.strand.persister().Load(version, [&t](std::span<const StateChange> entries) {
    if (!entries.empty()) return t.LoadEntries(entries);
    t.Clear();
    return Status::OK();
  }));
  t.index.BuildFrom(t.loaded_hashes);
  t.loaded_hashes = {};
  t.event_times.Order();
  t.strand.Loaded(version);
  t.metrics.num_rows_total = t.entries;
  t.metrics.memory_used_bytes = t.memory_bytes();
  return Status::OK();
}

Status StateTable::FindOrInsert(std::span<const data::ColumnPtr> keys, int64_t num_rows,
                                const std::vector<int32_t>* rows, std::vector<Slot>* slots,
                                std::vector<uint8_t>* inserted) {
  Impl& t = *impl_;
  TW_RETURN_NOT_OK(t.MakeKeys(keys, num_rows, rows));
  const KeyBatch& batch = t.scratch_keys;
  slots->resize(batch.size());
  if (inserted != nullptr) inserted->assign(batch.size(), 0);
  std::vector<Slot> fresh;
  for (size_t begin = 0; begin < batch.size(); begin += kProbeBlock) {
    const size_t end = std::min(begin + kProbeBlock, batch.size());
    t.Prefetch(batch, begin, end);
    for (size_t i = begin; i < end; ++i) {
      Slot slot = t.FindKey(batch, i);
      if (slot == kNoSlot) {
        slot = t.InsertKey(batch, i);
        fresh.push_back(slot);
        if (inserted != nullptr) (*inserted)[i] = 1;
      }
      (*slots)[i] = slot;
    }
  }
  return fresh.empty() ? Status::OK() : t.InitNew(fresh);
}

Status StateTable::Find(std::span<const data::ColumnPtr> keys, int64_t num_rows, const std::vector<int32_t>* rows,
                        std::vector<Slot>* slots) {
  Impl& t = *impl_;
  TW_RETURN_NOT_OK(t.MakeKeys(keys, num_rows, rows));
  const KeyBatch& batch = t.scratch_keys;
  slots->resize(batch.size());
  for (size_t begin = 0; begin < batch.size(); begin += kProbeBlock) {
    const size_t end = std::min(begin + kProbeBlock, batch.size());
    t.Prefetch(batch, begin, end);
    for (size_t i = begin; i < end; ++i) (*slots)[i] = t.FindKey(batch, i);
  }
  return Status::OK();
}

uint8_t* StateTable::payload(Slot slot) const { return impl_->Payload(slot); }

void StateTable::Payloads(std::span<const Slot> slots, std::vector<uint8_t*>* payloads) const {
  payloads->resize(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) (*payloads)[i] = impl_->Payload(slots[i]);
}

Result<std::vector<data::ColumnPtr>> StateTable::Keys(std::span<const Slot> slots) const {
  const Impl& t = *impl_;
  std::vector<uint8_t> scratch(t.word_keys ? 16 * slots.size() : 0);
  std::vector<std::string_view> rows;
  rows.reserve(slots.size());
  for (size_t i = 0; i < slots.size(); ++i) {
    rows.push_back(t.KeyRow(slots[i], scratch.data() + (t.word_keys ? 16 * i : 0)));
  }
  return t.key_reader.Read(rows);
}

void StateTable::MarkChanged(std::span<const Slot> slots) {
  Impl& t = *impl_;
  for (const Slot slot : slots) {
    if ((t.meta[slot] & kChanged) != 0) continue;
    t.meta[slot] |= kChanged;
    t.changed.push_back(slot);
    ++t.metrics.num_rows_updated;
  }
}

std::vector<StateTable::Slot> StateTable::ChangedSlots() const {
  std::vector<Slot> slots;
  for (const Slot slot : impl_->changed) {
    if ((impl_->meta[slot] & kChanged) != 0) slots.push_back(slot);
  }
  return slots;
}

void StateTable::Remove(std::span<const Slot> slots) {
  Impl& t = *impl_;
  std::vector<uint8_t*> payloads;
  for (const Slot slot : slots) {
    TW_DCHECK(t.live(slot));
    payloads.push_back(t.Payload(slot));
  }
  t.payload->Destroy(payloads);
  uint8_t scratch[16];
  for (const Slot slot : slots) {
    if ((t.meta[slot] & (kCommitted | kChanged)) != 0) {
      const std::string_view row = t.KeyRow(slot, scratch);
      t.removed_keys.bytes.insert(t.removed_keys.bytes.end(), row.begin(), row.end());
      t.removed_keys.offsets.push_back(static_cast<int64_t>(t.removed_keys.bytes.size()));
    }
    t.FreeSlot(slot);
  }
  t.metrics.num_rows_removed += static_cast<int64_t>(slots.size());
}

void StateTable::TakeExpired(int64_t bound_us, size_t limit, std::vector<Slot>* slots) {
  Impl& t = *impl_;
  slots->clear();
  while (slots->size() < limit && !t.event_times.empty() && t.event_times.earliest().time_us <= bound_us) {
    const auto& earliest = t.event_times.earliest();
    if (t.live(earliest.slot) && t.generation(earliest.slot) == earliest.generation) slots->push_back(earliest.slot);
    t.event_times.Pop();
  }
}

void StateTable::Schedule(std::span<const Slot> slots, std::span<const int64_t> times_us) {
  Impl& t = *impl_;
  for (size_t i = 0; i < slots.size(); ++i) {
    t.meta[slots[i]] += kGeneration;
    t.event_times.Add({times_us[i], slots[i], t.generation(slots[i])});
  }
  // Rescheduling leaves entries that no longer count.
  if (t.event_times.size() > 1024 && t.event_times.size() > 2 * static_cast<size_t>(t.entries)) {
    t.event_times.Prune([&t](const EventTimeIndex::Entry& entry) {
      return t.live(entry.slot) && t.generation(entry.slot) == entry.generation;
    });
  }
}

int64_t StateTable::EventTime(Slot slot) const { return impl_->EventTimeOf(slot); }

void StateTable::Scan(uint64_t* cursor, size_t limit, std::vector<Slot>* slots) const {
  slots->clear();
  for (; *cursor < impl_->meta.size() && slots->size() < limit; ++*cursor) {
    const auto slot = static_cast<Slot>(*cursor);
    if (impl_->live(slot)) slots->push_back(slot);
  }
}

Result<bool> StateTable::Commit(StateVersion version) {
  Impl& t = *impl_;
  if (!t.strand.committing()) {
    const auto begin = t.strand.clock().NowMonotonic();
    TW_RETURN_NOT_OK(t.reservation.Resize(t.memory_bytes()));
    TW_RETURN_NOT_OK(
        t.strand.Stage(version, t.entries, [&t](StateChangeWriter& writer) { return t.WriteChanges(writer); }));
    const auto spent = t.strand.clock().NowMonotonic() - begin;
    t.metrics.commit_time_ms = std::chrono::duration_cast<std::chrono::milliseconds>(spent).count();
    t.metrics.num_rows_total = t.entries;
    t.metrics.memory_used_bytes = t.memory_bytes();
  }
  TW_ASSIGN_OR_RETURN(const bool durable, t.strand.Finish());
  if (!durable) return false;
  for (const Slot slot : t.changed) t.meta[slot] = (t.meta[slot] & ~kChanged) | kCommitted;
  t.changed.clear();
  t.free_slots.insert(t.free_slots.end(), t.freed.begin(), t.freed.end());
  t.freed.clear();
  t.removed_keys.bytes.clear();
  t.removed_keys.offsets.assign(1, 0);
  return true;
}

std::shared_ptr<Signal> StateTable::commit_signal() const { return impl_->strand.signal(); }
void StateTable::Abort() { impl_->strand.Abort(); }
int64_t StateTable::num_entries() const { return impl_->entries; }
int64_t StateTable::memory_bytes() const { return impl_->memory_bytes(); }
const StateMetrics& StateTable::metrics() const { return impl_->metrics; }
StatePersister& StateTable::persister() { return impl_->strand.persister(); }

}  // namespace thalweg::engine
