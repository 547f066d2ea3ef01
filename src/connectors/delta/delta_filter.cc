#include "connectors/delta/delta_filter.h"

#include <algorithm>
#include <optional>

namespace thalweg::connectors {

using data::ColumnPredicate;
using sql::Attribute;
using sql::Call;
using sql::ExprPtr;
using sql::Literal;

namespace {

std::optional<ColumnPredicate::Op> Comparison(const std::string& name, bool flipped) {
  using Op = ColumnPredicate::Op;
  if (name == "==" || name == "=" || name == "<=>") return Op::kEqual;
  if (name == "<") return flipped ? Op::kGreater : Op::kLess;
  if (name == "<=") return flipped ? Op::kGreaterOrEqual : Op::kLessOrEqual;
  if (name == ">") return flipped ? Op::kLess : Op::kGreater;
  if (name == ">=") return flipped ? Op::kLessOrEqual : Op::kGreaterOrEqual;
  return {};
}

const Literal* UsableLiteral(const ExprPtr& expr, const data::DataType& type) {
  const Literal* literal = expr->As<Literal>();
  if (literal == nullptr || literal->value().is_null() || !literal->type().SameType(type)) return nullptr;
  return literal;
}

std::optional<ColumnPredicate> FromIn(const Call& call) {
  const Attribute* column = call.child(0)->As<Attribute>();
  if (column == nullptr) return {};
  ColumnPredicate out{.column = column->name(), .op = ColumnPredicate::Op::kIn, .type = column->type(), .values = {}};
  for (size_t i = 1; i < call.children().size(); ++i) {
    const Literal* literal = UsableLiteral(call.child(i), column->type());
    if (literal == nullptr) return {};
    out.values.push_back(literal->value());
  }
  return out;
}

std::optional<ColumnPredicate> FromCall(const Call& call) {
  const std::string& name = call.function_name();
  if (name == "in" && call.children().size() > 1) return FromIn(call);
  if ((name == "isnull" || name == "isnotnull") && call.children().size() == 1) {
    const Attribute* column = call.child(0)->As<Attribute>();
    if (column == nullptr) return {};
    const auto op = name == "isnull" ? ColumnPredicate::Op::kIsNull : ColumnPredicate::Op::kIsNotNull;
    return ColumnPredicate{.column = column->name(), .op = op, .type = column->type(), .values = {}};
  }
  if (call.children().size() != 2) return {};
  const bool flipped = call.child(0)->As<Attribute>() == nullptr;
  const Attribute* column = call.child(flipped ? 1 : 0)->As<Attribute>();
  if (column == nullptr) return {};
  const auto op = Comparison(name, flipped);
  const Literal* literal = UsableLiteral(call.child(flipped ? 0 : 1), column->type());
  if (!op || literal == nullptr) return {};
  return ColumnPredicate{.column = column->name(), .op = *op, .type = column->type(), .values = {literal->value()}};
}

}  // namespace

std::vector<ColumnPredicate> SimplePredicates(const sql::ExprList& filters) {
  std::vector<ColumnPredicate> out;
  for (const ExprPtr& filter : filters) {
    for (const ExprPtr& conjunct : sql::SplitConjunction(filter)) {
      const Call* call = conjunct->As<Call>();
      if (call == nullptr) continue;
      if (auto predicate = FromCall(*call)) out.push_back(std::move(*predicate));
    }
  }
  return out;
}

}  // namespace thalweg::connectors
