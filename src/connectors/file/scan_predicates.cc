#include "connectors/file/scan_predicates.h"

#include <algorithm>
#include <optional>

namespace thalweg::connectors {
namespace {

using Op = data::ColumnPredicate::Op;

std::optional<Op> OpOf(std::string_view function) {
  if (function == "=" || function == "==") return Op::kEqual;
  if (function == "<") return Op::kLess;
  if (function == "<=") return Op::kLessOrEqual;
  if (function == ">") return Op::kGreater;
  if (function == ">=") return Op::kGreaterOrEqual;
  if (function == "in") return Op::kIn;
  if (function == "isnull") return Op::kIsNull;
  if (function == "isnotnull") return Op::kIsNotNull;
  return std::nullopt;
}

/// The operator with its sides exchanged.
Op Mirrored(Op op) {
  switch (op) {
    case Op::kLess:
      return Op::kGreater;
    case Op::kLessOrEqual:
      return Op::kGreaterOrEqual;
    case Op::kGreater:
      return Op::kLess;
    case Op::kGreaterOrEqual:
      return Op::kLessOrEqual;
    default:
      return op;
  }
}

std::optional<data::ColumnPredicate> PredicateOf(const sql::Expr& filter, const data::Schema& columns) {
  const auto* call = filter.As<sql::Call>();
  if (call == nullptr || call->children().empty()) return std::nullopt;
  std::optional<Op> op = OpOf(call->function_name());
  if (!op) return std::nullopt;
  sql::ExprList sides = call->children();
  if (sides.size() == 2 && *op != Op::kIn && sides[0]->As<sql::Literal>() != nullptr) {
    std::swap(sides[0], sides[1]);
    op = Mirrored(*op);
  }
  const auto* attribute = sides[0]->As<sql::Attribute>();
  if (attribute == nullptr) return std::nullopt;
  const bool known = std::any_of(columns.begin(), columns.end(), [&](const data::StructField& column) {
    return column.name == attribute->name() && column.type.SameType(attribute->type());
  });
  if (!known) return std::nullopt;
  data::ColumnPredicate predicate{attribute->name(), *op, attribute->type(), {}};
  for (size_t i = 1; i < sides.size(); ++i) {
    const auto* literal = sides[i]->As<sql::Literal>();
    if (literal == nullptr || literal->value().is_null() || !literal->type().SameType(attribute->type()))
      return std::nullopt;
    predicate.values.push_back(literal->value());
  }
  return predicate;
}

}  // namespace

std::vector<data::ColumnPredicate> PredicatesOf(const sql::ScanRequest& scan, const data::Schema& columns) {
  std::vector<data::ColumnPredicate> predicates;
  for (const sql::ExprPtr& filter : scan.filters) {
    if (std::optional<data::ColumnPredicate> predicate = PredicateOf(*filter, columns))
      predicates.push_back(std::move(*predicate));
  }
  return predicates;
}

}  // namespace thalweg::connectors
