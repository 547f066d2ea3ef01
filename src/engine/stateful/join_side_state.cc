// Invariants:
// - a group's `count` rows have the indices 0 .. count - 1 in `rows`; a lone row stands in the group itself;
// - `stored` is the count that the version on disk has;
// - what is written of a version is what Spark writes: a count for every key whose rows came or went, and a removal for every
//   position beyond the count that had a row, be it for moments within the version (`emptied_to`);
// - a group is in the index as long as it has rows, something of it is on disk (stored > 0) or the next version tells of it (touched).

#include "engine/stateful/join_side_state.h"

#include <algorithm>

#include "data/rowformat/unsafe_row_format.h"
#include "engine/state/hash_index.h"
#include "engine/state/row_hash.h"
#include "engine/state/slot_pages.h"
#include "engine/state/strand_commit.h"
#include "engine/state/table_keys.h"
#include "engine/stateful/expiry_buckets.h"
#include "engine/stateful/join_state_format.h"

namespace thalweg::engine {
namespace {

using Slot = JoinSideState::Slot;
using Group = JoinSideState::Group;
constexpr uint32_t kNone = JoinSideState::kNone;
constexpr size_t kBlock = 32;        // finds whose memory traffic overlaps
constexpr size_t kWriteBatch = 1024;

constexpr uint8_t kLive = 1;      // in a group
constexpr uint8_t kChanged = 2;   // to be written, and in the list of changed rows
constexpr uint8_t kExpired = 4;   // collected to be given up

std::string_view BytesAt(const uint8_t* at) {
  return {reinterpret_cast<const char*>(at) + sizeof(KeyPages::Header), KeyPages::HeaderAt(at).size};
}

Status Malformed(std::string_view reason) { return Error("MALFORMED_STATE_ROW").With("reason", reason); }

}  // namespace

struct JoinSideState::Impl {
  struct GroupEntry {
    uint8_t* key = nullptr;  // of KeyPages; null: free
    uint32_t count = 0;
    uint32_t stored = 0;
    uint32_t rows = kNone;   // the one row's slot, or the number of a list when count > 1
    uint32_t touched = 0;    // the place in the list of touched groups, from 1 on
  };
  struct TouchedGroup {
    Group group = kNone;
    uint32_t emptied_to = 0;  // positions below it have lost a row since the last version
  };

  struct RowEntry {
    uint8_t* value = nullptr;
    Group group = kNone;
    uint32_t index = 0;
    uint32_t generation = 0;
    uint8_t flags = 0;
  };

  Impl(JoinSideOptions side_options, std::unique_ptr<QueryState::Member> counts_member,
       std::unique_ptr<QueryState::Member> rows_member, MemoryAccount* memory)
      : options(std::move(side_options)),
        key_format(options.key_types),
        key_columns(static_cast<int>(options.key_types.size())),
        row_columns(static_cast<int>(options.row_types.size()) + 1),
        matched_at(data::RowFixedBytes(row_columns) - 8),
        counts(std::move(counts_member)),
        rows(std::move(rows_member)) {
    if (memory != nullptr) reservation = MemoryReservation(*memory);
  }

  std::string_view Key(Group group) const { return BytesAt(groups[group].key); }
  std::string_view Value(Slot slot) const { return BytesAt(entries[slot].value); }
  Group FindGroup(std::string_view key, uint64_t hash) const {
    return index.Find(hash, [&](Group group) { return Key(group) == key; });
  }
  Group FindOrAddGroup(std::string_view key, uint64_t hash);
  void Prefetch(const JoinKeys& keys, size_t begin, size_t end) const;
  Slot NewRow(std::string_view value);
  void AddToGroup(Group group, Slot slot);
  std::span<const Slot> RowsOf(const GroupEntry& group) const {
    if (group.count == 0) return {};
    if (group.count == 1) return {&group.rows, 1};
    return lists[group.rows];
  }
  void Touch(Group group) {
    if (groups[group].touched != 0) return;
    touched.push_back({group, 0});
    groups[group].touched = static_cast<uint32_t>(touched.size());
  }
  void MarkChanged(Slot slot) {
    if ((entries[slot].flags & kChanged) != 0) return;
    entries[slot].flags |= kChanged;
    changed.push_back(slot);
  }
  void Schedule(Slot slot);
  void TakeOut(Slot slot);
  void DropEmptyGroup(Group group);
  void Clear();
  Status LoadRows(std::span<const StateChange> changes);
  Status OrderLoaded();
  Status LoadCounts(std::span<const StateChange> changes);
  Status Load(StateVersion version);
  Status WriteCounts(StateChangeWriter& writer);
  Status WriteRows(StateChangeWriter& writer);
  Status Charge(int64_t step);
  int64_t memory_bytes() const;

  const JoinSideOptions options;
  const IndexedKeyFormat key_format;
  const int key_columns;
  const int row_columns;      // with `matched`
  const int64_t matched_at;   // its slot in a row
  HashIndex index;            // keys to groups
  std::vector<GroupEntry> groups;
  std::vector<uint32_t> free_groups;
  std::vector<RowEntry> entries;
  std::vector<uint32_t> free_rows;
  std::vector<std::vector<Slot>> lists;  // rows of groups with more than one
  std::vector<uint32_t> free_lists;
  int64_t list_slots = 0;
  KeyPages keys;
  KeyPages values;
  ExpiryBuckets times;
  std::vector<Slot> changed;    // since the last version
  std::vector<TouchedGroup> touched;  // whose rows came or went since the last version
  std::vector<Slot> expired;    // collected, not yet detached
  size_t next_expired = 0;
  int64_t live_rows = 0;
  int64_t live_groups = 0;
  bool staged = false;
  StateMetrics metrics;
  StrandCommit counts;
  StrandCommit rows;
  MemoryReservation reservation;
};

Group JoinSideState::Impl::FindOrAddGroup(std::string_view key, uint64_t hash) {
  Group group = FindGroup(key, hash);
  if (group != kNone) return group;
  if (free_groups.empty()) {
    group = static_cast<Group>(groups.size());
    groups.emplace_back();
  } else {
    group = free_groups.back();
    free_groups.pop_back();
    groups[group] = {};
  }
  groups[group].key = keys.Add(key.data(), key.size());
  index.Insert(hash, group, [this](Group other) { return HashRow(Key(other)); });
  return group;
}

void JoinSideState::Impl::Prefetch(const JoinKeys& probed, size_t begin, size_t end) const {
  for (size_t i = begin; i < end; ++i) index.Prefetch(probed.hashes[i]);
  Group candidates[kBlock];
  for (size_t i = begin; i < end; ++i) {
    const Group group = candidates[i - begin] = index.Candidate(probed.hashes[i]);
    if (group != kNone) __builtin_prefetch(&groups[group]);
  }
  for (size_t i = begin; i < end; ++i) {
    const Group group = candidates[i - begin];
    if (group == kNone) continue;
    __builtin_prefetch(groups[group].key);
    if (groups[group].count == 1) __builtin_prefetch(&entries[groups[group].rows]);
  }
}

Slot JoinSideState::Impl::NewRow(std::string_view value) {
  Slot slot;
  if (free_rows.empty()) {
    slot = static_cast<Slot>(entries.size());
    entries.emplace_back();
  } else {
    slot = free_rows.back();
    free_rows.pop_back();
  }
  entries[slot].value = values.Add(value.data(), value.size());
  return slot;
}

void JoinSideState::Impl::AddToGroup(Group number, Slot slot) {
  GroupEntry& group = groups[number];
  RowEntry& entry = entries[slot];
  entry.group = number;
  entry.index = group.count;
  entry.flags = kLive;
  if (group.count == 0) {
    group.rows = slot;
    ++live_groups;
  } else {
    if (group.count == 1) {
      uint32_t list;
      if (free_lists.empty()) {
        list = static_cast<uint32_t>(lists.size());
        lists.emplace_back();
      } else {
        list = free_lists.back();
        free_lists.pop_back();
      }
      lists[list].assign(1, group.rows);
      group.rows = list;
      ++list_slots;
    }
    lists[group.rows].push_back(slot);
    ++list_slots;
  }
  ++group.count;
  ++live_rows;
}

void JoinSideState::Impl::Schedule(Slot slot) {
  if (!options.expiry) return;
  const RowEntry& entry = entries[slot];
  const int64_t time_us = options.expires_by_key ? KeyRowEventTime(Key(entry.group), key_columns, *options.expiry)
                                                 : KeyRowEventTime(Value(slot), row_columns, *options.expiry);
  if (time_us != kNeverExpires) times.Add({time_us, slot, entry.generation});
}

// The last row of the group takes the place of the one that goes.
void JoinSideState::Impl::TakeOut(Slot slot) {
  RowEntry& entry = entries[slot];
  const Group number = entry.group;
  GroupEntry& group = groups[number];
  if (group.count > 1) {
    std::vector<Slot>& list = lists[group.rows];
    const Slot last = list.back();
    if (last != slot) {
      list[entry.index] = last;
      entries[last].index = entry.index;
      MarkChanged(last);
    }
    list.pop_back();
    --list_slots;
    if (group.count == 2) {
      const Slot lone = list[0];
      list = {};
      free_lists.push_back(group.rows);
      group.rows = lone;
      --list_slots;
    }
  } else {
    group.rows = kNone;
    --live_groups;
  }
  Touch(number);
  uint32_t& emptied_to = touched[group.touched - 1].emptied_to;
  emptied_to = std::max(emptied_to, group.count);
  --group.count;
  --live_rows;
  entry.flags = 0;
}

void JoinSideState::Impl::DropEmptyGroup(Group number) {
  GroupEntry& group = groups[number];
  if (group.count > 0 || group.stored > 0 || group.key == nullptr) return;
  index.Erase(HashRow(Key(number)), number);
  keys.Remove(group.key);
  group.key = nullptr;
  free_groups.push_back(number);
}

void JoinSideState::Impl::Clear() {
  index.Clear();
  groups.clear();
  free_groups.clear();
  entries.clear();
  free_rows.clear();
  lists.clear();
  free_lists.clear();
  list_slots = 0;
  keys.Clear();
  values.Clear();
  times.Clear();
  changed.clear();
  touched.clear();
  expired.clear();
  next_expired = 0;
  live_rows = live_groups = 0;
  staged = false;
}

// Rows come in no order: each goes to the end of its group and keeps its own index, for OrderLoaded.
Status JoinSideState::Impl::LoadRows(std::span<const StateChange> changes) {
  const auto least = static_cast<size_t>(data::RowFixedBytes(row_columns));
  std::string key;
  for (const StateChange& change : changes) {
    int64_t position = 0;
    if (!key_format.Split(change.key, &key, &position)) return Malformed("a key is shorter than its columns");
    if (change.value.size() < least) return Malformed("a row is shorter than its fixed part");
    if (position < 0 || position >= kNone) return Malformed("the index of a row is out of range");
    const Group group = FindOrAddGroup(key, HashRow(key));
    const Slot slot = NewRow(change.value);
    AddToGroup(group, slot);
    entries[slot].index = static_cast<uint32_t>(position);
    Schedule(slot);
  }
  return Charge(1 << 20);
}

Status JoinSideState::Impl::OrderLoaded() {
  for (GroupEntry& group : groups) {
    const std::span<const Slot> found = RowsOf(group);
    std::vector<Slot> ordered(found.size(), kNone);
    for (const Slot slot : found) {
      const uint32_t position = entries[slot].index;
      if (position >= ordered.size() || ordered[position] != kNone) return Malformed("the rows of a key are not numbered 0, 1, ...");
      ordered[position] = slot;
    }
    if (found.size() > 1) lists[group.rows] = std::move(ordered);
  }
  return Status::OK();
}

Status JoinSideState::Impl::LoadCounts(std::span<const StateChange> changes) {
  for (const StateChange& change : changes) {
    const Group group = FindGroup(change.key, HashRow(change.key));
    if (group == kNone || ReadCountRow(change.value) != groups[group].count) {
      return Malformed("the number of rows of a key is not that of its rows");
    }
    groups[group].stored = groups[group].count;
  }
  return Status::OK();
}

Status JoinSideState::Impl::Load(StateVersion version) {
  TW_RETURN_NOT_OK(rows.persister().Load(version, [this](std::span<const StateChange> changes) {
    if (!changes.empty()) return LoadRows(changes);
    Clear();
    return Status::OK();
  }));
  TW_RETURN_NOT_OK(OrderLoaded());
  TW_RETURN_NOT_OK(counts.persister().Load(version, [this](std::span<const StateChange> changes) {
    if (!changes.empty()) return LoadCounts(changes);
    for (GroupEntry& group : groups) group.stored = 0;
    return Status::OK();
  }));
  const bool all = std::all_of(groups.begin(), groups.end(), [](const GroupEntry& group) { return group.stored == group.count; });
  return all ? Status::OK() : Malformed("the rows of a key are not counted");
}

Status JoinSideState::Impl::WriteCounts(StateChangeWriter& writer) {
  std::vector<StateChange> batch;
  std::vector<uint8_t> count_rows(16 * kWriteBatch);
  for (size_t begin = 0; begin < touched.size(); begin += kWriteBatch) {
    batch.clear();
    const size_t end = std::min(begin + kWriteBatch, touched.size());
    for (size_t i = begin; i < end; ++i) {
      if (i + kBlock < touched.size()) __builtin_prefetch(&groups[touched[i + kBlock].group]);
      if (i + kBlock / 2 < touched.size()) __builtin_prefetch(groups[touched[i + kBlock / 2].group].key);
      const GroupEntry& group = groups[touched[i].group];
      uint8_t* row = count_rows.data() + 16 * (i - begin);
      WriteCountRow(group.count, row);
      batch.push_back({BytesAt(group.key), {reinterpret_cast<const char*>(row), 16}, group.count == 0});
    }
    TW_RETURN_NOT_OK(writer.Append(batch));
  }
  return Status::OK();
}

// First what goes, then what is new or has changed. Keys are made into one block, which must not move meanwhile.
Status JoinSideState::Impl::WriteRows(StateChangeWriter& writer) {
  std::vector<StateChange> batch;
  std::vector<uint8_t> made;
  std::vector<size_t> begins;
  const auto flush = [&] {
    begins.push_back(made.size());
    for (size_t i = 0; i < batch.size(); ++i) {
      batch[i].key = {reinterpret_cast<const char*>(made.data()) + begins[i], begins[i + 1] - begins[i]};
    }
    Status status = writer.Append(batch);
    batch.clear();
    made.clear();
    begins.clear();
    return status;
  };
  for (const TouchedGroup& one : touched) {
    const GroupEntry& group = groups[one.group];
    for (uint32_t i = group.count; i < one.emptied_to; ++i) {
      begins.push_back(made.size());
      key_format.Append(BytesAt(group.key), i, &made);
      batch.push_back({{}, {}, true});
      if (batch.size() == kWriteBatch) TW_RETURN_NOT_OK(flush());
    }
  }
  for (size_t i = 0; i < changed.size(); ++i) {
    if (i + kBlock < changed.size()) __builtin_prefetch(&entries[changed[i + kBlock]]);
    if (i + kBlock / 2 < changed.size()) {
      const RowEntry& ahead = entries[changed[i + kBlock / 2]];
      __builtin_prefetch(ahead.value);
      if (ahead.group != kNone) __builtin_prefetch(&groups[ahead.group]);
    }
    RowEntry& entry = entries[changed[i]];
    if ((entry.flags & kChanged) == 0) continue;  // gone, or written already: a slot may stand in the list twice
    entry.flags &= static_cast<uint8_t>(~kChanged);
    begins.push_back(made.size());
    key_format.Append(Key(entry.group), entry.index, &made);
    batch.push_back({{}, Value(changed[i]), false});
    if (batch.size() == kWriteBatch) TW_RETURN_NOT_OK(flush());
  }
  return flush();
}

int64_t JoinSideState::Impl::memory_bytes() const {
  return index.memory_bytes() + keys.memory_bytes() + values.memory_bytes() + times.memory_bytes() +
         static_cast<int64_t>(groups.capacity() * sizeof(GroupEntry) + entries.capacity() * sizeof(RowEntry) +
                              lists.capacity() * sizeof(lists[0])) +
         (list_slots + static_cast<int64_t>(changed.capacity() + 2 * touched.capacity() + free_rows.capacity())) * 4;
}

Status JoinSideState::Impl::Charge(int64_t step) {
  const int64_t bytes = memory_bytes();
  return std::abs(bytes - reservation.bytes()) < step ? Status::OK() : reservation.Resize(bytes);
}

JoinSideState::JoinSideState(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
JoinSideState::~JoinSideState() = default;

Result<std::unique_ptr<JoinSideState>> JoinSideState::Open(const std::shared_ptr<QueryState>& query, OperatorId operator_id,
                                                           PartitionId partition, JoinSideOptions options,
                                                           MemoryAccount* memory) {
  const IndexedKeyFormat format(options.key_types);
  std::vector<data::DataType> values = options.row_types;
  values.push_back(data::DataType::Boolean());
  TW_ASSIGN_OR_RETURN(auto counts, query->Open(operator_id, partition, options.side + kKeyToNumValues,
                                               {options.key_types, {data::DataType::Long()}, true}, memory));
  TW_ASSIGN_OR_RETURN(auto rows, query->Open(operator_id, partition, options.side + kKeyWithIndexToValue,
                                             {format.types(), std::move(values), true}, memory));
  return std::unique_ptr<JoinSideState>(
      new JoinSideState(std::make_unique<Impl>(std::move(options), std::move(counts), std::move(rows), memory)));
}

Status JoinSideState::BeginVersion(StateVersion version) {
  Impl& s = *impl_;
  s.metrics = {};
  s.metrics.num_rows_total = s.live_rows;
  const bool clean = s.changed.empty() && s.touched.empty() && !s.staged;
  if (s.counts.Holds(version) && s.rows.Holds(version) && clean) return Status::OK();
  s.counts.Unload();
  s.rows.Unload();
  s.Clear();
  ++s.metrics.loads;
  TW_RETURN_NOT_OK(s.Load(version));
  s.counts.Loaded(version);
  s.rows.Loaded(version);
  s.metrics.num_rows_total = s.live_rows;
  return s.Charge(0);
}

void JoinSideState::Find(const JoinKeys& keys, std::vector<Group>* groups) const {
  const auto count = static_cast<size_t>(keys.size());
  groups->resize(count);
  for (size_t begin = 0; begin < count; begin += kBlock) {
    const size_t end = std::min(begin + kBlock, count);
    impl_->Prefetch(keys, begin, end);
    for (size_t i = begin; i < end; ++i) {
      (*groups)[i] = impl_->FindGroup(keys.rows.row(static_cast<int64_t>(i)), keys.hashes[i]);
    }
  }
}

std::span<const Slot> JoinSideState::Rows(Group group) const { return impl_->RowsOf(impl_->groups[group]); }

void JoinSideState::Prefetch(std::span<const Slot> slots) const {
  for (const Slot slot : slots) __builtin_prefetch(&impl_->entries[slot]);
  for (const Slot slot : slots) __builtin_prefetch(impl_->entries[slot].value);
}

std::string_view JoinSideState::row(Slot slot) const { return impl_->Value(slot); }

bool JoinSideState::matched(Slot slot) const { return impl_->Value(slot)[static_cast<size_t>(impl_->matched_at)] != 0; }

void JoinSideState::MarkMatched(Slot slot) {
  uint8_t* at = impl_->entries[slot].value + sizeof(KeyPages::Header) + impl_->matched_at;
  if (*at != 0) return;
  *at = 1;
  impl_->MarkChanged(slot);
}

Status JoinSideState::Append(const JoinKeys& keys, const data::RowBatch& rows, std::span<const int32_t> which) {
  Impl& s = *impl_;
  if (s.entries.size() + which.size() >= kNone) return InternalError("a join side of more than 2^32 rows in a partition");
  for (size_t begin = 0; begin < which.size(); begin += kBlock) {
    const size_t end = std::min(begin + kBlock, which.size());
    for (size_t i = begin; i < end; ++i) s.index.Prefetch(keys.hashes[static_cast<size_t>(which[i])]);
    for (size_t i = begin; i < end; ++i) {
      const Group candidate = s.index.Candidate(keys.hashes[static_cast<size_t>(which[i])]);
      if (candidate != kNone) __builtin_prefetch(&s.groups[candidate]);
    }
    for (size_t i = begin; i < end; ++i) {
      const int32_t row = which[i];
      const Group group = s.FindOrAddGroup(keys.rows.row(row), keys.hashes[static_cast<size_t>(row)]);
      const Slot slot = s.NewRow(rows.row(row));
      s.AddToGroup(group, slot);
      s.Touch(group);
      s.MarkChanged(slot);
      s.Schedule(slot);
    }
  }
  s.metrics.num_rows_updated += static_cast<int64_t>(which.size());
  return s.Charge(64 * 1024);
}

bool JoinSideState::MayExpire(int64_t bound_us) const { return impl_->times.MayHave(bound_us); }

int64_t JoinSideState::CollectExpired(int64_t bound_us) {
  Impl& s = *impl_;
  s.expired.clear();
  s.next_expired = 0;
  s.times.Take(bound_us, [&s](const ExpiryBuckets::Entry& entry) {
    Impl::RowEntry& row = s.entries[entry.slot];
    if (row.generation != entry.generation || (row.flags & kLive) == 0) return;
    row.flags |= kExpired;
    s.expired.push_back(entry.slot);
  });
  // Within a key by index, so that the last row moves up as it does in Spark.
  const auto shared = std::partition(s.expired.begin(), s.expired.end(),
                                     [&s](Slot slot) { return s.groups[s.entries[slot].group].count == 1; });
  std::sort(shared, s.expired.end(), [&s](Slot a, Slot b) {
    const Impl::RowEntry& left = s.entries[a];
    const Impl::RowEntry& right = s.entries[b];
    return left.group != right.group ? left.group < right.group : left.index < right.index;
  });
  return static_cast<int64_t>(s.expired.size());
}

void JoinSideState::DetachExpired(size_t limit, std::vector<Slot>* slots) {
  Impl& s = *impl_;
  slots->clear();
  for (; s.next_expired < s.expired.size() && slots->size() < limit; ++s.next_expired) {
    if (s.next_expired + kBlock < s.expired.size()) __builtin_prefetch(&s.entries[s.expired[s.next_expired + kBlock]], 1);
    if (s.next_expired + kBlock / 2 < s.expired.size()) {
      const Impl::RowEntry& ahead = s.entries[s.expired[s.next_expired + kBlock / 2]];
      if (ahead.group != kNone) __builtin_prefetch(&s.groups[ahead.group], 1);
    }
    Slot slot = s.expired[s.next_expired];
    // What moves up into the place of an expired row may have expired as well.
    while ((s.entries[slot].flags & kExpired) != 0) {
      const Group group = s.entries[slot].group;
      const uint32_t position = s.entries[slot].index;
      s.TakeOut(slot);
      slots->push_back(slot);
      const std::span<const Slot> left = s.RowsOf(s.groups[group]);
      if (position >= left.size()) break;
      slot = left[position];
    }
  }
  if (slots->empty()) {
    s.expired.clear();
    s.next_expired = 0;
  }
}

void JoinSideState::Detach(Slot slot) { impl_->TakeOut(slot); }

void JoinSideState::Free(std::span<const Slot> slots) {
  Impl& s = *impl_;
  for (const Slot slot : slots) {
    Impl::RowEntry& entry = s.entries[slot];
    s.values.Remove(entry.value);
    entry.value = nullptr;
    ++entry.generation;
    s.free_rows.push_back(slot);
    entry.group = kNone;
  }
}

Status JoinSideState::Stage(StateVersion version) {
  Impl& s = *impl_;
  if (s.staged) return Status::OK();
  const auto begin = s.counts.clock().NowMonotonic();
  TW_RETURN_NOT_OK(s.Charge(0));
  TW_RETURN_NOT_OK(
      s.counts.Stage(version, s.live_groups, [&s](StateChangeWriter& writer) { return s.WriteCounts(writer); }));
  TW_RETURN_NOT_OK(s.rows.Stage(version, s.live_rows, [&s](StateChangeWriter& writer) { return s.WriteRows(writer); }));
  s.staged = true;
  const auto spent = s.counts.clock().NowMonotonic() - begin;
  s.metrics.commit_time_ms = std::chrono::duration_cast<std::chrono::milliseconds>(spent).count();
  s.metrics.num_rows_total = s.live_rows;
  s.metrics.memory_used_bytes = s.memory_bytes();
  return Status::OK();
}

Result<bool> JoinSideState::Finish() {
  Impl& s = *impl_;
  for (StrandCommit* commit : {&s.counts, &s.rows}) {
    if (!commit->committing()) continue;
    TW_ASSIGN_OR_RETURN(const bool durable, commit->Finish());
    if (!durable) return false;
  }
  for (const Impl::TouchedGroup& one : s.touched) {
    Impl::GroupEntry& group = s.groups[one.group];
    group.touched = 0;
    group.stored = group.count;
    s.DropEmptyGroup(one.group);
  }
  s.changed.clear();
  s.touched.clear();
  s.staged = false;
  return true;
}

bool JoinSideState::staged() const { return impl_->staged; }

std::shared_ptr<Signal> JoinSideState::commit_signal() const {
  return impl_->counts.committing() ? impl_->counts.signal() : impl_->rows.signal();
}

void JoinSideState::Abort() {
  impl_->counts.Abort();
  impl_->rows.Abort();
}

int64_t JoinSideState::num_rows() const { return impl_->live_rows; }
int64_t JoinSideState::memory_bytes() const { return impl_->memory_bytes(); }
const StateMetrics& JoinSideState::metrics() const { return impl_->metrics; }
StatePersister& JoinSideState::rows_persister() { return impl_->rows.persister(); }
StatePersister& JoinSideState::counts_persister() { return impl_->counts.persister(); }

}  // namespace thalweg::engine
