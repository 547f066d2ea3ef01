#pragma once

// The keys of a StateTable: a word where one fixed-width column is the key, UnsafeRow bytes else.

#include <span>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/columnar/column.h"
#include "data/rowformat/row_batch.h"
#include "data/rowformat/unsafe_row_writer.h"
#include "engine/state/state_table.h"

namespace thalweg::engine {

/// Key rows of a chunk in the form they are compared in. Reused from chunk to chunk.
struct KeyBatch {
  std::vector<uint64_t> words;    ///< word keys: the bits of the slot; 0 for null
  std::vector<uint8_t> nulls;     ///< word keys: 1 = null
  data::RowBatch rows;            ///< other keys
  std::vector<uint64_t> hashes;
  size_t size() const { return hashes.size(); }
};

/// The hash of a null word key.
inline constexpr uint64_t kNullKeyHash = 0x9ae16a3b2f90404fULL;

/// Whether keys of these types are words: one column of at most 8 fixed bytes.
bool AreWordKeys(std::span<const data::DataType> types);
/// Fills `batch` from columns. Floats are normalised.
Status MakeWordKeys(const data::ColumnPtr& column, int64_t num_rows, const std::vector<int32_t>* rows, KeyBatch* batch);
Status MakeRowKeys(const data::UnsafeRowWriter& writer, std::span<const data::ColumnPtr> columns, int64_t num_rows,
                   const std::vector<int32_t>* rows, KeyBatch* batch);
/// The UnsafeRow of a word key: 16 bytes.
void WordKeyRow(uint64_t word, bool null, uint8_t* row);
/// The event time (us) that a key row holds; kNeverExpires if it is null.
int64_t KeyRowEventTime(std::string_view row, int num_columns, const KeyEventTime& where);

}  // namespace thalweg::engine
