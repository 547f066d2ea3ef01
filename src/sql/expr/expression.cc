#include "sql/expr/expression.h"

#include <atomic>

#include "base/invariant.h"
#include "data/text/literal.h"
#include "sql/expr/function.h"
#include "sql/expr/literal_zone.h"

namespace thalweg::sql {
namespace {

thread_local data::TimeZone literal_zone;  // for Literal::Sql

bool IsUnresolvedKind(ExprKind kind) {
  switch (kind) {
    case ExprKind::kUnresolvedAttribute:
    case ExprKind::kUnresolvedStar:
    case ExprKind::kUnresolvedRegex:
    case ExprKind::kUnresolvedFunction:
    case ExprKind::kUnresolvedExtract:
    case ExprKind::kUnresolvedOrdinal:
    case ExprKind::kLambda:
    case ExprKind::kLambdaVariable:
    case ExprKind::kUpdateFields:
      return true;
    default:
      return false;
  }
}

}  // namespace

ScopedLiteralZone::ScopedLiteralZone(const std::string& id) : before_(literal_zone) {
  if (const std::optional<data::TimeZone> zone = data::TimeZone::Find(id)) literal_zone = *zone;
}
ScopedLiteralZone::~ScopedLiteralZone() { literal_zone = before_; }

ExprId NewExprId() {
  static std::atomic<int64_t> next{0};
  return ExprId(next.fetch_add(1, std::memory_order_relaxed));
}

// --- Expr ---

Expr::Expr(ExprKind kind, ExprList children) : kind_(kind), children_(std::move(children)) {
  resolved_ = !IsUnresolvedKind(kind_);
  for (const ExprPtr& child : children_) resolved_ = resolved_ && child->resolved();
}

const DataType& Expr::type() const {
  static const DataType* const kVoid = new DataType();
  TW_DCHECK(!IsUnresolvedKind(kind_));
  return *kVoid;
}

bool Expr::deterministic() const {
  for (const ExprPtr& child : children_) {
    if (!child->deterministic()) return false;
  }
  return true;
}

bool Expr::foldable() const {
  switch (kind_) {
    case ExprKind::kLiteral:
      return true;
    case ExprKind::kCall:
      // A call without arguments that still depends on the epoch or on chance is no constant.
      if (static_cast<const Call*>(this)->bound().function->batch_time ||
          !static_cast<const Call*>(this)->bound().function->deterministic) {
        return false;
      }
      break;
    case ExprKind::kCast:
    case ExprKind::kAlias:
      break;
    default:
      return false;
  }
  for (const ExprPtr& child : children_) {
    if (!child->foldable()) return false;
  }
  return true;
}

ExprPtr Expr::WithOrigin(Origin origin) const {
  std::shared_ptr<Expr> copy = Clone();
  copy->origin_ = std::move(origin);
  return copy;
}

// --- Literal ---

Literal::Literal(Value value, DataType type) : Expr(kKind, {}), value_(std::move(value)), type_(std::move(type)) {}

ExprPtr Literal::Make(Value value, DataType type) {
  return ExprPtr(new Literal(std::move(value), std::move(type)));
}
ExprPtr Literal::Boolean(bool value) { return Make(Value(value), DataType::Boolean()); }
ExprPtr Literal::Integer(int32_t value) { return Make(Value(value), DataType::Integer()); }
ExprPtr Literal::Long(int64_t value) { return Make(Value(value), DataType::Long()); }
ExprPtr Literal::String(std::string value) { return Make(Value(std::move(value)), DataType::String()); }
ExprPtr Literal::Null(DataType type) { return Make(Value(), std::move(type)); }

std::shared_ptr<Expr> Literal::Clone() const { return std::shared_ptr<Expr>(new Literal(*this)); }
ExprPtr Literal::WithChildren(ExprList children) const {
  TW_DCHECK(children.empty());
  return shared_from_this();
}
std::string Literal::Sql() const { return data::LiteralSql(value_, type_, literal_zone); }
std::string Literal::PlanText() const { return data::LiteralPlanText(value_, type_); }
bool Literal::Equals(const Expr& other) const {
  const auto* literal = other.As<Literal>();
  return literal != nullptr && type_ == literal->type_ && value_ == literal->value_;
}

// --- Attribute ---

Attribute::Attribute(std::string name, DataType type, bool nullable, ExprId id, std::vector<std::string> qualifier,
                     std::string metadata_json)
    : Expr(kKind, {}),
      name_(std::move(name)),
      type_(std::move(type)),
      nullable_(nullable),
      id_(id),
      qualifier_(std::move(qualifier)),
      metadata_json_(std::move(metadata_json)) {}

AttributePtr Attribute::Make(std::string name, DataType type, bool nullable, ExprId id,
                             std::vector<std::string> qualifier, std::string metadata_json) {
  return AttributePtr(new Attribute(std::move(name), std::move(type), nullable, id, std::move(qualifier),
                                    std::move(metadata_json)));
}

std::shared_ptr<Expr> Attribute::Clone() const { return std::shared_ptr<Expr>(new Attribute(*this)); }

AttributePtr Attribute::WithQualifier(std::vector<std::string> qualifier) const {
  std::shared_ptr<Attribute> copy(new Attribute(*this));
  copy->qualifier_ = std::move(qualifier);
  return copy;
}
AttributePtr Attribute::WithNullable(bool nullable) const {
  std::shared_ptr<Attribute> copy(new Attribute(*this));
  copy->nullable_ = nullable;
  return copy;
}
AttributePtr Attribute::WithMetadata(std::string metadata_json) const {
  std::shared_ptr<Attribute> copy(new Attribute(*this));
  copy->metadata_json_ = std::move(metadata_json);
  return copy;
}
AttributePtr Attribute::WithId(ExprId id) const {
  std::shared_ptr<Attribute> copy(new Attribute(*this));
  copy->id_ = id;
  return copy;
}
ExprPtr Attribute::WithChildren(ExprList children) const {
  TW_DCHECK(children.empty());
  return shared_from_this();
}
std::string Attribute::Sql() const {
  std::string text;
  for (const std::string& part : qualifier_) text += data::QuoteIfNeeded(part) + ".";
  return text + data::QuoteIfNeeded(name_);
}
std::string Attribute::PlanText() const { return AttributeText(name_, id_, type_, metadata_json_); }
bool Attribute::Equals(const Expr& other) const {
  const auto* attribute = other.As<Attribute>();
  return attribute != nullptr && id_ == attribute->id_;
}

// --- Alias ---

Alias::Alias(ExprPtr child, std::string name, ExprId id, std::optional<std::string> metadata_json, bool automatic)
    : Expr(kKind, {std::move(child)}),
      name_(std::move(name)),
      id_(id),
      metadata_json_(std::move(metadata_json)),
      automatic_(automatic) {}

std::shared_ptr<const Alias> Alias::Make(ExprPtr child, std::string name, ExprId id,
                                         std::optional<std::string> metadata_json, bool automatic) {
  return std::shared_ptr<const Alias>(
      new Alias(std::move(child), std::move(name), id, std::move(metadata_json), automatic));
}

ExprPtr Alias::MakeMulti(ExprPtr child, std::vector<std::string> names) {
  std::shared_ptr<Alias> alias(
      new Alias(std::move(child), names.empty() ? "" : names.front(), NewExprId(), std::nullopt, false));
  alias->names_ = std::move(names);
  return alias;
}

std::shared_ptr<Expr> Alias::Clone() const { return std::shared_ptr<Expr>(new Alias(*this)); }

std::string Alias::metadata_json() const {
  if (metadata_json_) return *metadata_json_;
  if (const auto* attribute = child()->As<Attribute>()) return attribute->metadata_json();
  if (const auto* alias = child()->As<Alias>()) return alias->metadata_json();
  // A struct field keeps the metadata of its declaration, as Spark's GetStructField does.
  if (const auto* call = child()->As<Call>(); call != nullptr && call->function_name() == "getstructfield") {
    const auto* name = call->child(1)->As<Literal>();
    if (name != nullptr && name->value().get_if<std::string>() && call->child()->type().Is(data::TypeKind::kStruct)) {
      for (const data::StructField& field : call->child()->type().fields()) {
        if (field.name == name->value().get<std::string>()) return field.metadata_json;
      }
    }
  }
  return "{}";
}

AttributePtr Alias::ToAttribute() const {
  return Attribute::Make(name_, type(), nullable(), id_, {}, metadata_json());
}

ExprPtr Alias::WithChildren(ExprList children) const {
  TW_DCHECK(children.size() == 1);
  std::shared_ptr<Alias> copy(new Alias(std::move(children[0]), name_, id_, metadata_json_, automatic_));
  copy->names_ = names_;
  copy->origin_ = origin_;
  return copy;
}

std::string Alias::Sql() const { return child()->Sql() + " AS " + data::QuoteIfNeeded(name_); }

std::string Alias::PlanText() const {
  if (!names_.empty()) {
    std::string names;
    for (const std::string& name : names_) names += (names.empty() ? "" : ", ") + name;
    return child()->PlanText() + " AS (" + names + ")";
  }
  if (!resolved()) return child()->PlanText() + " AS " + name_ + "#" + std::to_string(id_.value());
  return child()->PlanText() + " AS " + AttributeText(name_, id_, type(), metadata_json());
}

bool Alias::Equals(const Expr& other) const {
  const auto* alias = other.As<Alias>();
  return alias != nullptr && id_ == alias->id_ && name_ == alias->name_ && names_ == alias->names_ &&
         child()->Equals(*alias->child());
}

// --- SortOrder ---

SortOrder::SortOrder(ExprPtr child, bool ascending, bool nulls_first)
    : Expr(kKind, {std::move(child)}), ascending_(ascending), nulls_first_(nulls_first) {}

ExprPtr SortOrder::Make(ExprPtr child, bool ascending, bool nulls_first) {
  return ExprPtr(new SortOrder(std::move(child), ascending, nulls_first));
}
std::shared_ptr<Expr> SortOrder::Clone() const { return std::shared_ptr<Expr>(new SortOrder(*this)); }
ExprPtr SortOrder::WithChildren(ExprList children) const {
  TW_DCHECK(children.size() == 1);
  std::shared_ptr<SortOrder> copy(new SortOrder(std::move(children[0]), ascending_, nulls_first_));
  copy->origin_ = origin_;
  return copy;
}

namespace {
const char* OrderSuffix(bool ascending, bool nulls_first) {
  if (ascending) return nulls_first ? " ASC NULLS FIRST" : " ASC NULLS LAST";
  return nulls_first ? " DESC NULLS FIRST" : " DESC NULLS LAST";
}
}  // namespace

std::string SortOrder::Sql() const { return child()->Sql() + OrderSuffix(ascending_, nulls_first_); }
std::string SortOrder::PlanText() const { return child()->PlanText() + OrderSuffix(ascending_, nulls_first_); }
bool SortOrder::Equals(const Expr& other) const {
  const auto* order = other.As<SortOrder>();
  return order != nullptr && ascending_ == order->ascending_ && nulls_first_ == order->nulls_first_ &&
         child()->Equals(*order->child());
}

}  // namespace thalweg::sql
