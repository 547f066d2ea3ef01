#pragma once

// Strong identifiers: integers and UUIDs that cannot be mixed up.

#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>
#include <type_traits>
#include <utility>

#include "base/uuid.h"

namespace thalweg {

/// An id of one kind: explicit to make, ordered, hashable, no arithmetic but Next() and Previous() of integers.
/// A default one holds Rep{}. Thread: a value.
template <typename Tag, typename Rep>
class StrongId {
 public:
  using rep = Rep;

  constexpr StrongId() = default;
  constexpr explicit StrongId(Rep value) : value_(std::move(value)) {}

  constexpr const Rep& value() const { return value_; }

  constexpr StrongId Next() const
    requires std::is_integral_v<Rep>
  {
    return StrongId(static_cast<Rep>(value_ + 1));
  }
  constexpr StrongId Previous() const
    requires std::is_integral_v<Rep>
  {
    return StrongId(static_cast<Rep>(value_ - 1));
  }

  friend constexpr bool operator==(const StrongId&, const StrongId&) = default;
  friend constexpr auto operator<=>(const StrongId&, const StrongId&) = default;
  friend std::ostream& operator<<(std::ostream& out, const StrongId& id) { return out << id.value_; }

 private:
  Rep value_{};
};

/// One turn of a query's loop, from 0; -1 before the first.
using BatchId = StrongId<struct BatchIdTag, int64_t>;
/// One slice of an exchange and of its state.
using PartitionId = StrongId<struct PartitionIdTag, int32_t>;
/// State after a micro-batch: batch id + 1; 0 is the empty state.
using StateVersion = StrongId<struct StateVersionTag, int64_t>;
/// An attribute of a plan.
using ExprId = StrongId<struct ExprIdTag, int64_t>;
/// A stateful operator, numbered in pre-order from the sink.
using OperatorId = StrongId<struct OperatorIdTag, int64_t>;
/// What a sink sees for one commit; the batch id in micro-batch mode.
using EpochId = StrongId<struct EpochIdTag, int64_t>;
/// A streaming query; lives in its checkpoint.
using QueryId = StrongId<struct QueryIdTag, Uuid>;
/// One start of a streaming query.
using RunId = StrongId<struct RunIdTag, Uuid>;
/// A client's session.
using SessionId = StrongId<struct SessionIdTag, Uuid>;

/// The state version that a micro-batch makes.
constexpr StateVersion StateVersionAfter(BatchId batch_id) { return StateVersion(batch_id.value() + 1); }

}  // namespace thalweg

template <typename Tag, typename Rep>
struct std::hash<thalweg::StrongId<Tag, Rep>> {
  size_t operator()(const thalweg::StrongId<Tag, Rep>& id) const { return std::hash<Rep>{}(id.value()); }
};
