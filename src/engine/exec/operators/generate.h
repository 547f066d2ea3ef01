#pragma once

#include <memory>
#include <vector>

#include "engine/exec/operators/project.h"

namespace thalweg::engine {

/// One output column that a generator makes.
struct GeneratedColumn {
  enum class Kind : uint8_t {
    kPosition,  ///< of the element in its array, an int from 0
    kChild,     ///< element or key (0), value (1)
    kField,     ///< field `index` of the element, a struct; null where the element is
  };
  Kind kind = Kind::kChild;
  int index = 0;
};

struct GenerateParams {
  std::shared_ptr<const sql::Program> input;  ///< gives one column, an array or a map
  bool computes = true;                       ///< false: `input` only picks a column
  bool outer = false;                         ///< an empty or null array gives one row of nulls instead of none
  std::vector<int> carried;                   ///< columns of the input that the output begins with
  std::vector<GeneratedColumn> columns;       ///< the others
};

/// Each row once per element of an array or entry of a map, in their order (explode, posexplode, inline).
/// Shape: chunks of at most kChunkRows rows however long an array is; what `input` computes is bounded by evaluating a few rows
/// at a time while arrays turn out to be long. Elements that lie in a row are shared, not copied.
class Generate final : public EvaluatingOperator {
 public:
  explicit Generate(std::shared_ptr<const GenerateParams> params) : params_(std::move(params)) {}
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;
  Result<data::Chunk> Process(data::Chunk chunk) override;
  void Abort(const sql::EpochContext& epoch) override;

 private:
  struct Span {
    int32_t begin = 0, end = 0;
  };
  Status StartPiece();
  Span ElementsOf(int32_t row) const;
  int64_t CarriedElements(int32_t row) const;
  void FillRows();
  void AppendRows(int32_t row, int32_t first, int32_t position, int32_t count);
  data::ColumnPtr MakeColumn(const GeneratedColumn& column) const;
  data::ColumnPtr TakeElements(const data::ColumnPtr& column) const;
  data::Chunk MakeChunk() const;
  void Clear();

  const std::shared_ptr<const GenerateParams> params_;
  data::Chunk input_;
  int64_t taken_ = 0;                     ///< rows of the input in this piece and those before
  int64_t piece_limit_ = 16;              ///< rows to compute at once
  data::Chunk piece_;
  data::ColumnPtr list_;                  ///< by row of the piece
  const data::Column* flat_ = nullptr;    ///< the list itself or its dictionary: holds offsets
  std::vector<data::ColumnPtr> children_; ///< of `flat_`, flat
  int64_t row_ = 0;                       ///< next logical row of the piece
  int32_t done_ = 0;                      ///< its elements that are out
  // The rows of the next chunk; reused.
  std::vector<int32_t> rows_, elements_, positions_;
  bool contiguous_ = true;                ///< elements_ is one ascending run
};

}  // namespace thalweg::engine
