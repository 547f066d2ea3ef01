#pragma once

// Keys of grouping and joining as fixed-width words: what hash tables compare.

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "data/columnar/column.h"

namespace thalweg::engine {

/// How key values lie in words. Structs are taken apart; each leaf and struct has a null bit. All bits in one word where they
/// fit; a single 64-bit column too (its nulls are told apart outside of the word). Texts of up to 12 bytes lie in the key,
/// longer ones by pointer; arrays are texts of their own encoding. Floats are normalised: -0.0 is 0.0, all NaN are one.
class KeyLayout {
 public:
  /// Errors: UNSUPPORTED_FEATURE.THALWEG for maps, variants and collated strings.
  static Result<KeyLayout> Make(std::vector<data::DataType> types);

  struct Leaf {
    int column = 0;                 ///< key column it stands under
    std::vector<int> path;          ///< struct fields from there
    data::DataType type;
    data::PhysicalType physical = data::PhysicalType::kNull;
    int word = 0;                   ///< first word
    int shift = 0;                  ///< bits, when packed with others
    int bits = 64;                  ///< 8 to 128
    int null_bit = 0;               ///< from bit 0 of word 0
  };
  const std::vector<data::DataType>& types() const { return types_; }
  const std::vector<Leaf>& leaves() const { return leaves_; }
  int words() const { return words_; }
  bool has_text() const { return has_text_; }
  /// One 64-bit column: word 0 is the value, and a null row has no word.
  bool null_outside() const { return null_outside_; }

 private:
  void AddLeaves(int column, std::vector<int> path, const data::DataType& type, int* null_bits);
  std::vector<data::DataType> types_;
  std::vector<Leaf> leaves_;
  int words_ = 1;
  bool has_text_ = false;
  bool null_outside_ = false;
};

/// Encodes the keys of one chunk after the other. Views point into the chunk's text.
/// Thread: confined to its user. Owner: borrows the layout.
class KeyEncoder {
 public:
  explicit KeyEncoder(const KeyLayout& layout) : layout_(layout) {}
  /// `columns`: one per key type, `rows` rows, any encoding, no selection.
  void Encode(std::span<const data::ColumnPtr> columns, int64_t rows);

  static constexpr int64_t kBlock = 64;
  struct Block {
    const uint64_t* words = nullptr;   ///< rows x layout.words()
    const uint64_t* hashes = nullptr;
  };
  int64_t rows() const { return rows_; }
  /// Keys of rows [first, first + count), at most kBlock of them; valid until the next call.
  Block At(int64_t first, int64_t count);
  /// Per row: 1 when any top-level key column is null; empty when none is.
  const std::vector<uint8_t>& null_rows() const { return null_rows_; }

 private:
  bool IsPlain(std::span<const data::ColumnPtr> columns) const;
  template <typename T>
  Block EncodePlain(int64_t first, int64_t count);
  void EncodeLeaf(const KeyLayout::Leaf& leaf, const data::Column& column, const std::vector<uint8_t>* hidden);
  void Hash();

  const KeyLayout& layout_;
  int64_t rows_ = 0;
  std::vector<uint64_t> words_;
  std::vector<uint64_t> hashes_;
  std::vector<uint8_t> null_rows_;
  std::vector<std::string> encoded_;  // arrays of this chunk
  // One column without nulls that is all of the word: its keys are made block by block, where they stay in the cache.
  data::ColumnPtr plain_;
  std::array<uint64_t, kBlock> block_words_;
  std::array<uint64_t, kBlock> block_hashes_;
};

/// Key columns of encoded rows; row i starts at rows[i]. `null_row`, when not null, is the row that stands for a null key of
/// a layout with null_outside. Texts are copied.
std::vector<data::ColumnPtr> DecodeKeys(const KeyLayout& layout, std::span<uint8_t* const> rows, const uint8_t* null_row);

/// Mixes 64 bits into a hash whose high and low bits are both good.
inline uint64_t MixHash(uint64_t hash, uint64_t word) {
  const unsigned __int128 product = static_cast<unsigned __int128>(hash ^ word) * 0x9e3779b97f4a7c15ULL;
  return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
}

}  // namespace thalweg::engine
