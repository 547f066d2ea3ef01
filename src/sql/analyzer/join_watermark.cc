#include "sql/analyzer/join_watermark.h"

#include <algorithm>
#include <cmath>

namespace thalweg::sql {
namespace {

constexpr int64_t kMicrosOfSecond = 1'000'000;

/// sum of coefficient * attribute + constant, in microseconds.
struct Linear {
  std::vector<std::pair<AttributePtr, int>> terms;
  int64_t constant_us = 0;
  int64_t slack_us = 0;  ///< by how much less than its terms the sum may be: times cut to whole seconds
};

/// Intervals without months, timestamps; numbers are seconds, as in casts of timestamps.
std::optional<int64_t> LiteralMicros(const Literal& literal) {
  if (const auto* interval = literal.value().get_if<data::CalendarInterval>()) {
    if (interval->months != 0) return std::nullopt;
    int64_t micros = 0;
    if (__builtin_mul_overflow(interval->days, int64_t{86400} * kMicrosOfSecond, &micros) ||
        __builtin_add_overflow(micros, interval->microseconds, &micros)) {
      return std::nullopt;
    }
    return micros;
  }
  const DataType& type = literal.type();
  if (type.Is(data::TypeKind::kDayTimeInterval) || type.Is(data::TypeKind::kTimestamp)) {
    const auto* micros = literal.value().get_if<int64_t>();
    return micros == nullptr ? std::nullopt : std::optional(*micros);
  }
  if (type.IsIntegral() && !literal.value().is_null()) {
    int64_t micros = 0;
    return __builtin_mul_overflow(literal.value().AsInt64(), kMicrosOfSecond, &micros) ? std::nullopt : std::optional(micros);
  }
  if (const auto* real = literal.value().get_if<double>(); real != nullptr && std::abs(*real) < 1e12) {
    return static_cast<int64_t>(*real * kMicrosOfSecond);
  }
  return std::nullopt;
}

// Adds sign * micros; false where the sum leaves the range.
bool AddConstant(int sign, int64_t micros, Linear* out) {
  return !__builtin_mul_overflow(micros, sign, &micros) && !__builtin_add_overflow(out->constant_us, micros, &out->constant_us);
}

bool Walk(const ExprPtr& expr, int sign, Linear* out) {
  if (expr->kind() == ExprKind::kAttribute) {
    out->terms.emplace_back(std::static_pointer_cast<const Attribute>(expr), sign);
    return true;
  }
  if (const auto* literal = expr->As<Literal>()) {
    const std::optional<int64_t> micros = LiteralMicros(*literal);
    if (!micros) return false;
    return AddConstant(sign, *micros, out);
  }
  if (const auto* cast = expr->As<Cast>()) {
    const DataType& to = cast->type();
    const bool number = to.Is(data::TypeKind::kLong) || to.Is(data::TypeKind::kDouble) || to.Is(data::TypeKind::kDecimal);
    if (!number && !to.Is(data::TypeKind::kTimestamp) && !to.Is(data::TypeKind::kDayTimeInterval)) return false;
    if (to.Is(data::TypeKind::kLong) && !References(cast->child()).empty()) out->slack_us += kMicrosOfSecond;
    return Walk(cast->child(), sign, out);
  }
  const auto* call = expr->As<Call>();
  if (call == nullptr) return false;
  const std::string& name = call->function_name();
  if (name == "negative" && call->children().size() == 1) return Walk(call->child(), -sign, out);
  if (call->children().size() != 2 || (name != "+" && name != "-")) return false;
  return Walk(call->child(0), sign, out) && Walk(call->child(1), name == "+" ? sign : -sign, out);
}

bool Holds(const PlanPtr& plan, ExprId id, AttributePtr* found) {
  for (const AttributePtr& attribute : plan->output()) {
    if (attribute->id() == id) {
      *found = attribute;
      return true;
    }
  }
  return false;
}

bool AllFrom(const ExprPtr& expr, const PlanPtr& plan) {
  AttributePtr ignored;
  const std::vector<ExprId> ids = References(expr);
  return !ids.empty() && std::all_of(ids.begin(), ids.end(), [&](ExprId id) { return Holds(plan, id, &ignored); });
}

bool Watermarked(const ExprPtr& expr) {
  const auto* attribute = expr->As<Attribute>();
  return attribute != nullptr && WatermarkDelayMs(attribute->metadata_json()).has_value();
}

}  // namespace

namespace {

/// larger > smaller, or >=.
struct Comparison {
  ExprPtr larger, smaller;
  bool inclusive;
};

std::vector<Comparison> Comparisons(const ExprPtr& conjunct) {
  const auto* call = conjunct->As<Call>();
  if (call == nullptr) return {};
  const std::string& op = call->function_name();
  if (op == "between" && call->children().size() == 3) {
    return {{call->child(0), call->child(1), true}, {call->child(2), call->child(0), true}};
  }
  if (call->children().size() != 2) return {};
  if (op == "<" || op == "<=") return {{call->child(1), call->child(0), op == "<="}};
  if (op == ">" || op == ">=") return {{call->child(0), call->child(1), op == ">="}};
  return {};
}

std::optional<EventTimeBound> BoundOf(const Comparison& comparison, const PlanPtr& side, const PlanPtr& other) {
  Linear difference;  // is positive
  if (!Walk(comparison.larger, 1, &difference) || !Walk(comparison.smaller, -1, &difference)) return std::nullopt;
  if (difference.terms.size() != 2) return std::nullopt;
  EventTimeBound bound;
  for (const auto& [attribute, coefficient] : difference.terms) {
    AttributePtr found;
    if (coefficient == 1 && attribute->type().Is(data::TypeKind::kTimestamp) && Holds(side, attribute->id(), &found)) {
      bound.attribute = found;
    } else if (coefficient == -1 && Holds(other, attribute->id(), &found) && Watermarked(found)) {
      bound.other = found;
    } else {
      return std::nullopt;
    }
  }
  if (bound.attribute == nullptr || bound.other == nullptr) return std::nullopt;
  if (__builtin_sub_overflow(-difference.slack_us, difference.constant_us, &bound.offset_us)) return std::nullopt;
  bound.inclusive = comparison.inclusive;
  return bound;
}

}  // namespace

std::vector<EventTimeBound> FindEventTimeBounds(const Join& join, const PlanPtr& side, const PlanPtr& other) {
  std::vector<EventTimeBound> bounds;
  if (join.condition == nullptr) return bounds;
  for (const ExprPtr& conjunct : SplitConjunction(join.condition)) {
    for (const Comparison& comparison : Comparisons(conjunct)) {
      if (std::optional<EventTimeBound> bound = BoundOf(comparison, side, other)) bounds.push_back(*std::move(bound));
    }
  }
  return bounds;
}

std::optional<EventTimeBound> FindEventTimeBound(const Join& join, const PlanPtr& side, const PlanPtr& other) {
  std::vector<EventTimeBound> bounds = FindEventTimeBounds(join, side, other);
  if (bounds.empty()) return std::nullopt;
  return std::move(bounds.front());
}

std::vector<std::pair<ExprPtr, ExprPtr>> EquiKeys(const Join& join) {
  std::vector<std::pair<ExprPtr, ExprPtr>> keys;
  if (join.condition == nullptr) return keys;
  const PlanPtr& left = join.child(0);
  const PlanPtr& right = join.child(1);
  for (const ExprPtr& conjunct : SplitConjunction(join.condition)) {
    const auto* call = conjunct->As<Call>();
    if (call == nullptr || call->children().size() != 2) continue;
    const std::string& name = call->function_name();
    if (name != "==" && name != "=" && name != "<=>") continue;
    if (AllFrom(call->child(0), left) && AllFrom(call->child(1), right)) {
      keys.emplace_back(call->child(0), call->child(1));
    } else if (AllFrom(call->child(0), right) && AllFrom(call->child(1), left)) {
      keys.emplace_back(call->child(1), call->child(0));
    }
  }
  return keys;
}

bool HasWatermarkedJoinKey(const Join& join) {
  const auto marked = [](const PlanPtr& plan, const ExprPtr& key) {
    const auto* attribute = key->As<Attribute>();
    AttributePtr found;
    return attribute != nullptr && Holds(plan, attribute->id(), &found) && Watermarked(found);
  };
  for (const auto& [left, right] : EquiKeys(join)) {
    if (marked(join.child(0), left) || marked(join.child(1), right)) return true;
  }
  return false;
}

}  // namespace thalweg::sql
