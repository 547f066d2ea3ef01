#pragma once

#include <cstdint>
#include <vector>

#include "sql/expr/kernels.h"

namespace thalweg::sql {

/// Elements of one flat column, each value once: as CompareRows has them alike, NULL being like NULL. A few are compared one by one,
/// many are found by Spark's hash; types that cannot be hashed are compared one by one always. Thread: confined to its owner.
class ElementSet {
 public:
  explicit ElementSet(ColumnPtr column) : column_(std::move(column)) {}

  void Clear();
  /// False: one like it is there.
  bool Insert(int32_t element);
  bool Contains(int32_t element) const { return Find(element) != nullptr; }

 private:
  const int32_t* Find(int32_t element) const;
  const int32_t* FindHashed(int32_t element) const;
  bool Alike(int32_t a, int32_t b) const;
  void Rehash(size_t slots);
  void Place(int32_t element);

  const ColumnPtr column_;
  std::vector<int32_t> members_;
  std::vector<int32_t> slots_;  // members by hash, -1: free; empty while there are few
  std::vector<int32_t> hashes_;  // of the whole column, once they are needed
  bool hashable_ = true;
};

/// Floating numbers with 0.0 for -0.0, as Spark's set functions answer them; other columns as they are.
ColumnPtr WithOneZero(const ColumnPtr& flat);

}  // namespace thalweg::sql
