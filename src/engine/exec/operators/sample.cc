#include "engine/exec/operators/sample.h"

#include <array>
#include <bit>
#include <cmath>
#include <utility>

namespace thalweg::engine {
namespace {

// Murmur3 of eight bytes, as Scala's MurmurHash3.bytesHash.
uint32_t HashBytes(uint64_t big_endian_value, uint32_t seed) {
  uint32_t hash = seed;
  for (int word = 0; word < 2; ++word) {
    uint32_t key = 0;
    for (int i = 0; i < 4; ++i) {
      const auto byte = static_cast<uint32_t>(big_endian_value >> (56 - 8 * (word * 4 + i)) & 0xff);
      key |= byte << (8 * i);
    }
    key = std::rotl(key * 0xcc9e2d51U, 15) * 0x1b873593U;
    hash = std::rotl(hash ^ key, 13) * 5 + 0xe6546b64U;
  }
  hash ^= 8;
  hash = (hash ^ (hash >> 16)) * 0x85ebca6bU;
  hash = (hash ^ (hash >> 13)) * 0xc2b2ae35U;
  return hash ^ (hash >> 16);
}

int64_t HashSeed(int64_t seed) {
  constexpr uint32_t kArraySeed = 0x3c074a61U;
  const uint32_t low = HashBytes(static_cast<uint64_t>(seed), kArraySeed);
  const uint32_t high = HashBytes(static_cast<uint64_t>(seed), low);
  return static_cast<int64_t>(uint64_t{high} << 32 | low);
}

}  // namespace

Status Sample::Open(const TaskContext& context) {
  partition_ = context.partition.value();
  return Status::OK();
}

Status Sample::BeginEpoch(const sql::EpochContext&) {
  state_ = HashSeed(seed_ + partition_);
  return Status::OK();
}

int32_t Sample::NextBits(int bits) {
  auto next = static_cast<uint64_t>(state_);
  next ^= next << 21;
  next ^= next >> 35;
  next ^= next << 4;
  state_ = static_cast<int64_t>(next);
  return static_cast<int32_t>(next & ((uint64_t{1} << bits) - 1));
}

double Sample::NextDouble() {
  const int64_t high = NextBits(26);
  const int64_t low = NextBits(27);
  return static_cast<double>((high << 27) + low) * 0x1.0p-53;
}

// Poisson by multiplying uniforms: how often a row is drawn with replacement.
int Sample::Copies() {
  const double limit = std::exp(-(upper_ - lower_));
  double product = NextDouble();
  int copies = 0;
  while (product > limit) {
    ++copies;
    product *= NextDouble();
  }
  return copies;
}

Result<data::Chunk> Sample::Process(data::Chunk chunk) {
  auto taken = std::make_shared<std::vector<int32_t>>();
  const auto& selection = chunk.selection();
  for (int64_t i = 0; i < chunk.num_rows(); ++i) {
    const int32_t row = selection ? (*selection)[i] : static_cast<int32_t>(i);
    if (with_replacement_) {
      taken->insert(taken->end(), Copies(), row);
      continue;
    }
    if (upper_ - lower_ <= 0) continue;
    const double x = NextDouble();
    if (lower_ <= x && x < upper_) taken->push_back(row);
  }
  chunk.set_selection(std::move(taken));
  return chunk;
}

}  // namespace thalweg::engine
