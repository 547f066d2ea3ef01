#pragma once

// Open addressing over 8-bit tags: hash to slot. Who owns the slots compares keys and can tell the hash of a slot again.

#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"

namespace thalweg::engine {

/// Slots by hash. Tags are probed eight at a time in one word. Small tables are one shard; from kSplitEntries on there are
/// 256, picked by the top byte of the hash, so that growing costs one shard at a time. About 8.5 bytes an entry.
/// Thread: confined to its owner.
class HashIndex {
 public:
  static constexpr uint32_t kNone = UINT32_MAX;

  HashIndex() : shards_(1) {}

  /// The slot with that hash for which `equal(slot)` holds, or kNone.
  template <typename Equal>
  uint32_t Find(uint64_t hash, Equal&& equal) const {
    const Shard& shard = ShardOf(hash);
    if (shard.groups == 0) return kNone;
    for (uint32_t group = shard.FirstGroup(hash);; group = shard.Next(group)) {
      const uint64_t tags = shard.Tags(group);
      for (uint64_t match = Match(tags, TagOf(hash)); match != 0; match &= match - 1) {
        const uint32_t at = group * 8 + static_cast<uint32_t>(std::countr_zero(match)) / 8;
        // The word trick may name a neighbour of a real match as well.
        if (shard.tags[at] == TagOf(hash) && equal(shard.slots[at])) return shard.slots[at];
      }
      if (Match(tags, kEmpty) != 0) return kNone;
    }
  }

  /// Adds a slot that is not there. `hash_of(slot)` answers for slots that are; where it has TouchFirst and TouchSecond, growing
  /// calls them well before, in this order, to start its memory traffic.
  template <typename HashOf>
  void Insert(uint64_t hash, uint32_t slot, HashOf&& hash_of) {
    if (size_ == kSplitEntries && shards_.size() == 1) Split(hash_of);
    Shard& shard = ShardOf(hash);
    if ((shard.used + 1) * 5 > uint64_t{shard.groups} * 8 * 4) Grow(shard, hash_of);
    Place(shard, hash, slot);
    ++size_;
  }

  /// Replaces everything by slots 0, 1, ... with these hashes: what a load knows at its end, without growing step by step.
  void BuildFrom(std::span<const uint64_t> hashes) {
    Clear();
    const bool split = static_cast<int64_t>(hashes.size()) > kSplitEntries;
    std::vector<uint32_t> counts(split ? 256 : 1);
    for (const uint64_t hash : hashes) ++counts[split ? hash >> 56 : 0];
    shards_.clear();
    for (const uint32_t count : counts) {
      shards_.push_back(MakeShard(std::bit_ceil(static_cast<uint32_t>(uint64_t{count} * 5 / 32 + 1))));
    }
    if (split) {
      PlaceByShard(hashes, counts);
    } else {
      for (size_t i = 0; i < hashes.size(); ++i) Place(shards_[0], hashes[i], static_cast<uint32_t>(i));
    }
    size_ = static_cast<int64_t>(hashes.size());
  }

  void Erase(uint64_t hash, uint32_t slot) {
    Shard& shard = ShardOf(hash);
    const uint32_t at = Position(shard, hash, slot);
    const bool may_be_empty = Match(shard.Tags(at / 8), kEmpty) != 0;
    shard.tags[at] = may_be_empty ? kEmpty : kErased;
    if (may_be_empty) --shard.used;
    --shard.live;
    --size_;
  }

  /// The entry of `from` now means `to` (an entry with an equal hash).
  void Replace(uint64_t hash, uint32_t from, uint32_t to) {
    Shard& shard = ShardOf(hash);
    shard.slots[Position(shard, hash, from)] = to;
  }

  /// Starts the memory traffic of a Find.
  void Prefetch(uint64_t hash) const {
    const Shard& shard = ShardOf(hash);
    if (shard.groups == 0) return;
    const uint32_t group = shard.FirstGroup(hash);
    __builtin_prefetch(shard.tags.get() + group * 8);
    __builtin_prefetch(shard.slots.get() + group * 8);
  }

  /// The slot that Find would look at first, or kNone: to fetch what it compares with. Call Prefetch well before.
  uint32_t Candidate(uint64_t hash) const {
    const Shard& shard = ShardOf(hash);
    if (shard.groups == 0) return kNone;
    const uint32_t group = shard.FirstGroup(hash);
    const uint64_t match = Match(shard.Tags(group), TagOf(hash));
    return match == 0 ? kNone : shard.slots[group * 8 + static_cast<uint32_t>(std::countr_zero(match)) / 8];
  }

  void Clear() {
    shards_.clear();
    shards_.resize(1);
    size_ = 0;
  }
  int64_t size() const { return size_; }
  int64_t memory_bytes() const {
    auto bytes = static_cast<int64_t>(shards_.size() * sizeof(Shard));
    for (const Shard& shard : shards_) bytes += int64_t{shard.groups} * 8 * 5;
    return bytes;
  }

 private:
  static constexpr uint8_t kEmpty = 0;
  static constexpr uint8_t kErased = 1;
  static constexpr int64_t kSplitEntries = 32'768;
  static constexpr uint64_t kTouchAhead = 16;

  struct Shard {
    std::unique_ptr<uint8_t[]> tags;
    std::unique_ptr<uint32_t[]> slots;
    uint32_t groups = 0;  // a power of two
    uint32_t used = 0;    // not empty: live and erased
    uint32_t live = 0;

    uint32_t FirstGroup(uint64_t hash) const { return static_cast<uint32_t>(hash >> 7) & (groups - 1); }
    uint32_t Next(uint32_t group) const { return (group + 1) & (groups - 1); }
    uint64_t Tags(uint32_t group) const {
      uint64_t word;
      std::memcpy(&word, tags.get() + group * 8, 8);
      return word;
    }
  };

  static uint8_t TagOf(uint64_t hash) { return static_cast<uint8_t>(hash) | 0x80; }
  // The high bit of every byte that equals `tag`; the lowest one named is always real.
  static uint64_t Match(uint64_t tags, uint8_t tag) {
    const uint64_t x = tags ^ (0x0101010101010101ULL * tag);
    return (x - 0x0101010101010101ULL) & ~x & 0x8080808080808080ULL;
  }

  Shard& ShardOf(uint64_t hash) { return shards_[shards_.size() == 1 ? 0 : hash >> 56]; }
  const Shard& ShardOf(uint64_t hash) const { return shards_[shards_.size() == 1 ? 0 : hash >> 56]; }

  static uint32_t Position(const Shard& shard, uint64_t hash, uint32_t slot) {
    for (uint32_t group = shard.FirstGroup(hash);; group = shard.Next(group)) {
      for (uint32_t at = group * 8; at < group * 8 + 8; ++at) {
        if (shard.tags[at] == TagOf(hash) && shard.slots[at] == slot) return at;
      }
      TW_DCHECK(Match(shard.Tags(group), kEmpty) == 0);
    }
  }

  static void Place(Shard& shard, uint64_t hash, uint32_t slot) {
    for (uint32_t group = shard.FirstGroup(hash);; group = shard.Next(group)) {
      const uint64_t empty = Match(shard.Tags(group), kEmpty);
      if (empty == 0) continue;
      const uint32_t at = group * 8 + static_cast<uint32_t>(std::countr_zero(empty)) / 8;
      shard.tags[at] = TagOf(hash);
      shard.slots[at] = slot;
      ++shard.used;
      ++shard.live;
      return;
    }
  }

  // Sorts the entries by shard first: then one shard after the other is filled within the processor's cache.
  void PlaceByShard(std::span<const uint64_t> hashes, std::span<const uint32_t> counts) {
    struct Entry {
      uint64_t hash;
      uint32_t slot;
    };
    const auto entries = std::make_unique_for_overwrite<Entry[]>(hashes.size());
    std::vector<size_t> ends(counts.size());
    size_t begin = 0;
    for (size_t shard = 0; shard < counts.size(); ++shard) {
      ends[shard] = begin;
      begin += counts[shard];
    }
    for (size_t i = 0; i < hashes.size(); ++i) entries[ends[hashes[i] >> 56]++] = {hashes[i], static_cast<uint32_t>(i)};
    for (size_t i = 0; i < hashes.size(); ++i) Place(shards_[entries[i].hash >> 56], entries[i].hash, entries[i].slot);
  }

  static Shard MakeShard(uint32_t groups) {
    Shard shard;
    shard.groups = groups;
    shard.tags = std::make_unique<uint8_t[]>(uint64_t{groups} * 8);
    shard.slots = std::make_unique_for_overwrite<uint32_t[]>(uint64_t{groups} * 8);
    return shard;
  }

  // Doubles, or only sweeps out what was erased when that is a good part.
  template <typename HashOf>
  static void Grow(Shard& shard, HashOf&& hash_of) {
    const uint32_t groups = shard.groups == 0 ? 1 : (shard.live * 2 < shard.used ? shard.groups : shard.groups * 2);
    Shard larger = MakeShard(groups);
    const uint64_t end = uint64_t{shard.groups} * 8;
    for (uint64_t at = 0; at < end; ++at) {
      if constexpr (requires { hash_of.TouchSecond(uint32_t{}); }) {
        if (at + 2 * kTouchAhead < end && shard.tags[at + 2 * kTouchAhead] > kErased) hash_of.TouchFirst(shard.slots[at + 2 * kTouchAhead]);
        if (at + kTouchAhead < end && shard.tags[at + kTouchAhead] > kErased) hash_of.TouchSecond(shard.slots[at + kTouchAhead]);
      }
      if (shard.tags[at] > kErased) Place(larger, hash_of(shard.slots[at]), shard.slots[at]);
    }
    shard = std::move(larger);
  }

  template <typename HashOf>
  void Split(HashOf&& hash_of) {
    Shard all = std::move(shards_[0]);
    shards_.clear();
    for (int i = 0; i < 256; ++i) shards_.push_back(MakeShard(32));
    for (uint64_t at = 0; at < uint64_t{all.groups} * 8; ++at) {
      if (all.tags[at] <= kErased) continue;
      const uint64_t hash = hash_of(all.slots[at]);
      Shard& shard = ShardOf(hash);
      if ((shard.used + 1) * 5 > uint64_t{shard.groups} * 8 * 4) Grow(shard, hash_of);
      Place(shard, hash, all.slots[at]);
    }
  }

  std::vector<Shard> shards_;
  int64_t size_ = 0;
};

}  // namespace thalweg::engine
