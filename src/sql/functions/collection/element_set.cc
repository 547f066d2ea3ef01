#include "sql/functions/collection/element_set.h"

#include <algorithm>
#include <cmath>

#include "data/rowformat/column_hash.h"

namespace thalweg::sql {
namespace {

constexpr size_t kFew = 16;

template <typename T>
ColumnPtr WithOneZeroOf(const ColumnPtr& flat) {
  const auto values = flat->values<T>();
  const auto is_negative_zero = [](T value) { return value == 0 && std::signbit(value); };
  if (std::none_of(values.begin(), values.end(), is_negative_zero)) return flat;
  auto buffer = data::Buffer::Allocate(static_cast<int64_t>(values.size() * sizeof(T)));
  const auto out = buffer->template as_mutable<T>();
  for (size_t i = 0; i < values.size(); ++i) out[i] = is_negative_zero(values[i]) ? T{0} : values[i];
  Column::Parts parts = flat->parts();
  parts.values = std::move(buffer);
  return Column::Make(std::move(parts));
}

}  // namespace

ColumnPtr WithOneZero(const ColumnPtr& flat) {
  switch (flat->type().physical()) {
    case PhysicalType::kFloat: return WithOneZeroOf<float>(flat);
    case PhysicalType::kDouble: return WithOneZeroOf<double>(flat);
    default: return flat;
  }
}

void ElementSet::Clear() {
  members_.clear();
  slots_.clear();
}

bool ElementSet::Alike(int32_t a, int32_t b) const {
  const bool a_null = column_->IsNull(a);
  const bool b_null = column_->IsNull(b);
  if (a_null || b_null) return a_null && b_null;
  return CompareRows(*column_, a, *column_, b) == 0;
}

const int32_t* ElementSet::FindHashed(int32_t element) const {
  const size_t mask = slots_.size() - 1;
  for (size_t at = static_cast<uint32_t>(hashes_[static_cast<size_t>(element)]) & mask;; at = (at + 1) & mask) {
    if (slots_[at] < 0) return nullptr;
    if (hashes_[static_cast<size_t>(slots_[at])] == hashes_[static_cast<size_t>(element)] && Alike(slots_[at], element)) return &slots_[at];
  }
}

const int32_t* ElementSet::Find(int32_t element) const {
  if (!slots_.empty()) return FindHashed(element);
  for (const int32_t& member : members_) {
    if (Alike(member, element)) return &member;
  }
  return nullptr;
}

void ElementSet::Place(int32_t element) {
  const size_t mask = slots_.size() - 1;
  size_t at = static_cast<uint32_t>(hashes_[static_cast<size_t>(element)]) & mask;
  while (slots_[at] >= 0) at = (at + 1) & mask;
  slots_[at] = element;
}

void ElementSet::Rehash(size_t slots) {
  if (hashes_.empty()) {
    const DataType types[] = {column_->type()};
    const ColumnPtr columns[] = {column_};
    hashable_ = data::CheckHashable(types).ok();
    if (!hashable_) return;
    hashes_.resize(static_cast<size_t>(column_->length()));
    data::HashColumns(columns, nullptr, hashes_);
  }
  slots_.assign(slots, -1);
  for (const int32_t member : members_) Place(member);
}

bool ElementSet::Insert(int32_t element) {
  if (Contains(element)) return false;
  members_.push_back(element);
  if (!hashable_ || members_.size() <= kFew) return true;
  if (members_.size() * 2 > slots_.size()) {
    Rehash(slots_.empty() ? 8 * kFew : 2 * slots_.size());
  } else {
    Place(element);
  }
  return true;
}

}  // namespace thalweg::sql
