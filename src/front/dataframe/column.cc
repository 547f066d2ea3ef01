#include "thalweg/column.h"

#include "front/dataframe/nodes.h"
#include "thalweg/functions.h"

namespace thalweg {

using internal::CallFunction;
using internal::ColumnAccess;
namespace proto = ::spark::connect;

namespace {

template <typename F>
std::shared_ptr<const internal::ColumnNode> Literal(F&& fill) {
  auto node = std::make_shared<internal::ColumnNode>();
  fill(node->expression.mutable_literal());
  return node;
}

Column CastTo(const Column& column, std::string_view type, proto::Expression::Cast::EvalMode mode) {
  proto::Expression expression;
  *expression.mutable_cast()->mutable_expr() = ColumnAccess::Message(column);
  expression.mutable_cast()->set_type_str(std::string(type));
  expression.mutable_cast()->set_eval_mode(mode);
  return ColumnAccess::Make(std::move(expression));
}

using Order = proto::Expression::SortOrder;

Column Ordered(const Column& column, bool ascending, Order::NullOrdering nulls) {
  proto::Expression expression;
  Order* order = expression.mutable_sort_order();
  *order->mutable_child() = ColumnAccess::Message(column);
  order->set_direction(ascending ? Order::SORT_DIRECTION_ASCENDING : Order::SORT_DIRECTION_DESCENDING);
  order->set_null_ordering(nulls);
  return ColumnAccess::Make(std::move(expression));
}

Column Extract(const Column& column, const Column& what) {
  proto::Expression expression;
  *expression.mutable_unresolved_extract_value()->mutable_child() = ColumnAccess::Message(column);
  *expression.mutable_unresolved_extract_value()->mutable_extraction() = ColumnAccess::Message(what);
  return ColumnAccess::Make(std::move(expression));
}

// Without a value the field is dropped.
Column UpdatedField(const Column& column, std::string_view name, const proto::Expression* value) {
  proto::Expression expression;
  *expression.mutable_update_fields()->mutable_struct_expression() = ColumnAccess::Message(column);
  expression.mutable_update_fields()->set_field_name(std::string(name));
  if (value != nullptr) *expression.mutable_update_fields()->mutable_value_expression() = *value;
  return ColumnAccess::Make(std::move(expression));
}

}  // namespace

Column::Column(std::nullptr_t) : node_(Literal([](auto* literal) { literal->mutable_null()->mutable_null(); })) {}
Column::Column(const DecimalText& value) : node_(Literal([&](auto* literal) { literal->mutable_decimal()->set_value(value.text); })) {}
Column::Column(TimestampMicros value) : node_(Literal([&](auto* literal) { literal->set_timestamp(value.micros); })) {}
Column::Column(DateDays value) : node_(Literal([&](auto* literal) { literal->set_date(value.days); })) {}
Column::Column(bool value) : node_(Literal([&](auto* literal) { literal->set_boolean(value); })) {}
Column::Column(int value) : node_(Literal([&](auto* literal) { literal->set_integer(value); })) {}
Column::Column(int64_t value) : node_(Literal([&](auto* literal) { literal->set_long_(value); })) {}
Column::Column(double value) : node_(Literal([&](auto* literal) { literal->set_double_(value); })) {}
Column::Column(const char* value) : Column(std::string_view(value)) {}
Column::Column(const std::string& value) : Column(std::string_view(value)) {}
Column::Column(std::string_view value) : node_(Literal([&](auto* literal) { literal->set_string(std::string(value)); })) {}

Column Column::Alias(std::string_view name) const {
  proto::Expression expression;
  *expression.mutable_alias()->mutable_expr() = ColumnAccess::Message(*this);
  expression.mutable_alias()->add_name(std::string(name));
  return ColumnAccess::Make(std::move(expression));
}

Column Column::Cast(std::string_view type) const { return CastTo(*this, type, proto::Expression::Cast::EVAL_MODE_UNSPECIFIED); }
Column Column::TryCast(std::string_view type) const { return CastTo(*this, type, proto::Expression::Cast::EVAL_MODE_TRY); }
Column Column::GetField(std::string_view name) const { return Extract(*this, Column(name)); }
Column Column::GetItem(const Column& key) const { return Extract(*this, key); }
Column Column::IsNull() const { return CallFunction("isNull", {*this}); }
Column Column::IsNotNull() const { return CallFunction("isNotNull", {*this}); }
Column Column::Like(std::string_view pattern) const { return CallFunction("like", {*this, Column(pattern)}); }
Column Column::StartsWith(const Column& prefix) const { return CallFunction("startswith", {*this, prefix}); }
Column Column::Contains(const Column& part) const { return CallFunction("contains", {*this, part}); }
Column Column::Between(const Column& low, const Column& high) const { return *this >= low && *this <= high; }
Column Column::EndsWith(const Column& suffix) const { return CallFunction("endswith", {*this, suffix}); }
Column Column::ILike(std::string_view pattern) const { return CallFunction("ilike", {*this, Column(pattern)}); }
Column Column::RLike(std::string_view pattern) const { return CallFunction("rlike", {*this, Column(pattern)}); }
Column Column::Substr(const Column& start, const Column& length) const { return CallFunction("substr", {*this, start, length}); }
Column Column::IsNaN() const { return CallFunction("isNaN", {*this}); }
Column Column::EqNullSafe(const Column& other) const { return CallFunction("<=>", {*this, other}); }
Column Column::BitwiseAnd(const Column& other) const { return CallFunction("&", {*this, other}); }
Column Column::BitwiseOr(const Column& other) const { return CallFunction("|", {*this, other}); }
Column Column::BitwiseXor(const Column& other) const { return CallFunction("^", {*this, other}); }
Column Column::WithField(std::string_view name, const Column& value) const {
  return UpdatedField(*this, name, &ColumnAccess::Message(value));
}
Column Column::DropField(std::string_view name) const { return UpdatedField(*this, name, nullptr); }

Column Column::Asc() const { return AscNullsFirst(); }
Column Column::AscNullsFirst() const { return Ordered(*this, true, Order::SORT_NULLS_FIRST); }
Column Column::AscNullsLast() const { return Ordered(*this, true, Order::SORT_NULLS_LAST); }
Column Column::Desc() const { return DescNullsLast(); }
Column Column::DescNullsFirst() const { return Ordered(*this, false, Order::SORT_NULLS_FIRST); }
Column Column::DescNullsLast() const { return Ordered(*this, false, Order::SORT_NULLS_LAST); }

Column Column::IsIn(const std::vector<Column>& values) const {
  std::vector<Column> arguments{*this};
  arguments.insert(arguments.end(), values.begin(), values.end());
  return CallFunction("in", arguments);
}

Column operator+(const Column& a, const Column& b) { return CallFunction("+", {a, b}); }
Column operator-(const Column& a, const Column& b) { return CallFunction("-", {a, b}); }
Column operator*(const Column& a, const Column& b) { return CallFunction("*", {a, b}); }
Column operator/(const Column& a, const Column& b) { return CallFunction("/", {a, b}); }
Column operator%(const Column& a, const Column& b) { return CallFunction("%", {a, b}); }
Column operator==(const Column& a, const Column& b) { return CallFunction("==", {a, b}); }
Column operator!=(const Column& a, const Column& b) { return !(a == b); }
Column operator<(const Column& a, const Column& b) { return CallFunction("<", {a, b}); }
Column operator<=(const Column& a, const Column& b) { return CallFunction("<=", {a, b}); }
Column operator>(const Column& a, const Column& b) { return CallFunction(">", {a, b}); }
Column operator>=(const Column& a, const Column& b) { return CallFunction(">=", {a, b}); }
Column operator&&(const Column& a, const Column& b) { return CallFunction("and", {a, b}); }
Column operator||(const Column& a, const Column& b) { return CallFunction("or", {a, b}); }
Column operator!(const Column& a) { return CallFunction("not", {a}); }
Column operator-(const Column& a) { return CallFunction("negative", {a}); }
Column operator~(const Column& a) { return CallFunction("~", {a}); }

}  // namespace thalweg
