// The order in which Scala 2.13's hash maps hand out their keys. Spark prints field metadata in it, and schemas are
// compared as text (state schemas, Delta's schemaString), so it is part of the format.

#include <algorithm>
#include <cstdint>

#include "data/types/type_node.h"

namespace thalweg::data::internal {
namespace {

// java.lang.String.hashCode: over UTF-16 units.
uint32_t JavaHash(std::string_view text) {
  uint32_t hash = 0;
  size_t i = 0;
  while (i < text.size()) {
    const auto lead = static_cast<unsigned char>(text[i]);
    const size_t bytes = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    uint32_t code_point = bytes == 1 ? lead : lead & (0xFFu >> (bytes + 1));
    for (size_t k = 1; k < bytes && i + k < text.size(); ++k) {
      code_point = code_point << 6 | (static_cast<unsigned char>(text[i + k]) & 0x3Fu);
    }
    if (code_point >= 0x10000) {
      hash = hash * 31 + (0xD800 + ((code_point - 0x10000) >> 10));
      hash = hash * 31 + (0xDC00 + ((code_point - 0x10000) & 0x3FF));
    } else {
      hash = hash * 31 + code_point;
    }
    i += bytes;
  }
  return hash;
}

uint32_t TrieHash(std::string_view key) {
  uint32_t h = JavaHash(key);
  h += ~(h << 9);
  h ^= h >> 14;
  h += h << 4;
  return h ^ (h >> 10);
}

struct Hashed {
  uint32_t hash;
  std::string key;
};

// Immutable maps of more than four keys are tries of 32 branches: a node hands out the keys that are alone in their
// branch, by branch, and then its sub-nodes.
void WalkTrie(std::vector<Hashed> keys, int shift, std::vector<std::string>* out) {
  if (shift >= 32) {
    for (Hashed& k : keys) out->push_back(std::move(k.key));
    return;
  }
  std::vector<Hashed> branches[32];
  for (Hashed& k : keys) branches[(k.hash >> shift) & 31].push_back(std::move(k));
  for (auto& branch : branches) {
    if (branch.size() == 1) out->push_back(std::move(branch[0].key));
  }
  for (auto& branch : branches) {
    if (branch.size() > 1) WalkTrie(std::move(branch), shift + 5, out);
  }
}

}  // namespace

void SortAsScalaMutableMap(std::vector<std::string>* keys) {
  size_t table = 16;
  while (keys->size() >= table / 4 * 3) table *= 2;
  const auto improved = [](const std::string& key) {
    const uint32_t h = JavaHash(key);
    return h ^ (h >> 16);
  };
  std::stable_sort(keys->begin(), keys->end(), [&](const std::string& a, const std::string& b) {
    const uint32_t ha = improved(a);
    const uint32_t hb = improved(b);
    const size_t bucket_a = ha & (table - 1);
    const size_t bucket_b = hb & (table - 1);
    if (bucket_a != bucket_b) return bucket_a < bucket_b;
    return static_cast<int32_t>(ha) < static_cast<int32_t>(hb);
  });
}

void SortAsScalaMap(std::vector<std::string>* keys) {
  SortAsScalaMutableMap(keys);
  if (keys->size() <= 4) return;
  std::vector<Hashed> hashed;
  for (std::string& key : *keys) hashed.push_back({TrieHash(key), std::move(key)});
  keys->clear();
  WalkTrie(std::move(hashed), 0, keys);
}

}  // namespace thalweg::data::internal
