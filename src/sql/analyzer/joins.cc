// Joins and set operations.

#include <algorithm>
#include <set>

#include "sql/analyzer/resolver.h"
#include "sql/expr/type_coercion.h"

namespace thalweg::sql {
namespace {

const AttributePtr* FindByName(const AttributeList& attributes, const std::string& name, bool cased) {
  for (const AttributePtr& attribute : attributes) {
    if (SameName(attribute->name(), name, cased)) return &attribute;
  }
  return nullptr;
}

bool SharesIds(const PlanPtr& left, const PlanPtr& right) {
  std::set<ExprId> ids;
  for (const AttributePtr& attribute : left->output()) ids.insert(attribute->id());
  const AttributeList output = right->output();
  return std::any_of(output.begin(), output.end(), [&](const AttributePtr& a) { return ids.count(a->id()) != 0; });
}

std::string Ordinal(size_t index) {
  static const char* const kWords[] = {"first",   "second", "third",   "fourth",   "fifth",      "sixth",
                                       "seventh", "eighth", "ninth",   "tenth",    "eleventh",   "twelfth",
                                       "thirteenth", "fourteenth", "fifteenth", "sixteenth"};
  if (index < std::size(kWords)) return kWords[index];
  return std::to_string(index + 1) + "th";
}

std::string NamesOf(const AttributeList& attributes) {
  std::vector<std::string> names;
  for (const AttributePtr& attribute : attributes) names.push_back(attribute->name());
  std::sort(names.begin(), names.end());
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + data::QuoteIdentifier(name);
  return text;
}

/// The child with columns cast to `types`, by a Project where one differs.
PlanPtr WithTypes(const PlanPtr& child, const std::vector<DataType>& types, const EvalConfig& config) {
  const AttributeList input = child->output();
  ExprList list;
  bool changed = false;
  for (size_t i = 0; i < input.size(); ++i) {
    if (input[i]->type().SameType(types[i])) {
      list.push_back(input[i]);
      continue;
    }
    list.push_back(Alias::Make(Coerce(input[i], types[i], config), input[i]->name()));
    changed = true;
  }
  return changed ? std::make_shared<Project>(std::move(list), child) : child;
}

std::string_view OperatorName(const Union& node) {
  switch (node.op) {
    case SetOp::kExcept: return node.all ? "EXCEPT ALL" : "EXCEPT";
    case SetOp::kIntersect: return node.all ? "INTERSECT ALL" : "INTERSECT";
    default: return "UNION";
  }
}

}  // namespace

Result<PlanPtr> Resolver::ResolveJoin(const PlanPtr& plan) {
  const auto& join = static_cast<const Join&>(*plan);
  const PlanPtr left = join.child(0);
  PlanPtr right = join.child(1);
  if (SharesIds(left, right)) {
    TW_ASSIGN_OR_RETURN(right, WithFreshIds(right));
  }
  const AttributeList left_output = left->output();
  const AttributeList right_output = right->output();
  if (!join.natural && join.using_columns.empty()) {
    auto node = std::make_shared<Join>(left, right, join.type, nullptr);
    if (join.condition == nullptr) return PlanPtr(std::move(node));
    TW_ASSIGN_OR_RETURN(ExprPtr condition, ResolveExpression(join.condition, ScopeOf(PlanList{left, right})));
    TW_ASSIGN_OR_RETURN(condition, TrimAliases(condition, false));
    TW_RETURN_NOT_OK(RefuseGenerators(Join(left, right, join.type, condition)));
    if (!condition->type().Is(data::TypeKind::kBoolean)) {
      return At(Error("JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE")
                    .With("joinCondition", QuoteExpression(condition))
                    .With("conditionType", QuoteType(condition->type())),
                join.condition);
    }
    if (HasAggregate(condition)) {
      return At(Error("INVALID_WHERE_CONDITION")
                    .With("condition", QuoteExpression(condition))
                    .With("expressionList", AutoName(condition)),
                join.condition);
    }
    // A cross join that is restricted after all is an inner join.
    if (node->type == JoinType::kCross) node->type = JoinType::kInner;
    node->condition = std::move(condition);
    return PlanPtr(std::move(node));
  }
  const bool cased = config_->case_sensitive;
  std::vector<std::string> names = join.using_columns;
  if (join.natural) {
    for (const AttributePtr& attribute : left_output) {
      if (FindByName(right_output, attribute->name(), cased) != nullptr) names.push_back(attribute->name());
    }
  }
  ExprPtr condition;
  AttributeList left_keys;
  AttributeList right_keys;
  for (const std::string& name : names) {
    for (const bool is_left : {true, false}) {
      const AttributeList& output = is_left ? left_output : right_output;
      TW_ASSIGN_OR_RETURN(const ExprPtr found, FindColumn({name}, output, bind_));
      if (found == nullptr || found->kind() != ExprKind::kAttribute) {
        return Error("UNRESOLVED_USING_COLUMN_FOR_JOIN")
            .With("colName", data::QuoteIdentifier(name))
            .With("side", is_left ? "left" : "right")
            .With("suggestion", NamesOf(output));
      }
      (is_left ? left_keys : right_keys).push_back(*FindByName(output, name, cased));
    }
    TW_ASSIGN_OR_RETURN(ExprPtr equal, Call("==", {left_keys.back(), right_keys.back()}));
    if (condition == nullptr) {
      condition = std::move(equal);
    } else {
      TW_ASSIGN_OR_RETURN(condition, Call("and", {condition, equal}));
    }
  }
  const JoinType type = join.type == JoinType::kCross && condition != nullptr ? JoinType::kInner : join.type;
  const auto node = std::make_shared<Join>(left, right, type, condition);
  const bool left_only = join.type == JoinType::kLeftSemi || join.type == JoinType::kLeftAnti;
  const AttributeList joined = node->output();  // nullability after the join
  const auto is_key = [](const AttributeList& keys, const AttributePtr& attribute) {
    return std::any_of(keys.begin(), keys.end(), [&](const AttributePtr& k) { return k->id() == attribute->id(); });
  };
  const auto after = [&](const AttributePtr& attribute) {
    for (const AttributePtr& out : joined) {
      if (out->id() == attribute->id()) return out;
    }
    return attribute;
  };
  ExprList list;
  for (size_t i = 0; i < names.size(); ++i) {
    if (join.type == JoinType::kFullOuter) {
      TW_ASSIGN_OR_RETURN(ExprPtr either, Call("coalesce", {after(left_keys[i]), after(right_keys[i])}));
      list.push_back(Alias::Make(std::move(either), left_keys[i]->name()));
    } else {
      list.push_back(join.type == JoinType::kRightOuter ? right_keys[i] : left_keys[i]);
    }
  }
  for (const AttributePtr& attribute : joined) {
    const bool from_right = is_key(right_output, attribute);
    if (is_key(left_keys, attribute) || (from_right && is_key(right_keys, attribute))) continue;
    if (left_only && from_right) continue;
    list.push_back(attribute);
  }
  auto project = std::make_shared<Project>(std::move(list), node);
  for (const AttributePtr& attribute : joined) {
    const bool shown = std::any_of(project->list.begin(), project->list.end(), [&](const ExprPtr& e) {
      const auto* named = e->As<Attribute>();
      return named != nullptr && named->id() == attribute->id();
    });
    if (!shown) project->hidden.push_back(attribute);
  }
  return PlanPtr(std::move(project));
}

/// unionByName: the columns of every child in the order of the first one's.
Result<PlanPtr> Resolver::ByName(const Union& node, PlanList children) {
  const bool cased = config_->case_sensitive;
  for (const PlanPtr& child : children) {
    const AttributeList output = child->output();
    for (size_t i = 0; i < output.size(); ++i) {
      for (size_t j = 0; j < i; ++j) {
        if (!SameName(output[i]->name(), output[j]->name(), cased)) continue;
        return Error("COLUMN_ALREADY_EXISTS").With("columnName", data::QuoteIdentifier(LowerCase(output[i]->name())));
      }
    }
  }
  PlanPtr left = children[0];
  for (size_t i = 1; i < children.size(); ++i) {
    const PlanPtr& right = children[i];
    const AttributeList left_output = left->output();
    const AttributeList right_output = right->output();
    ExprList right_list;
    for (const AttributePtr& wanted : left_output) {
      if (const AttributePtr* found = FindByName(right_output, wanted->name(), cased)) {
        right_list.push_back(*found);
      } else if (node.allow_missing) {
        right_list.push_back(Alias::Make(Literal::Null(wanted->type()), wanted->name()));
      } else {
        std::string names;
        for (const AttributePtr& attribute : right_output) names += (names.empty() ? "" : ", ") + attribute->name();
        return Error("UNRESOLVED_COLUMN_AMONG_FIELD_NAMES").With("colName", wanted->name()).With("fieldNames", names);
      }
    }
    ExprList left_list(left_output.begin(), left_output.end());
    for (const AttributePtr& extra : right_output) {
      if (FindByName(left_output, extra->name(), cased) != nullptr) continue;
      if (!node.allow_missing) {
        return Error("NUM_COLUMNS_MISMATCH")
            .With("operator", "UNION")
            .With("firstNumColumns", static_cast<int64_t>(left_output.size()))
            .With("invalidOrdinalNum", Ordinal(i))
            .With("invalidNumColumns", static_cast<int64_t>(right_output.size()));
      }
      right_list.push_back(extra);
      left_list.push_back(Alias::Make(Literal::Null(extra->type()), extra->name()));
    }
    PlanPtr first = left_list.size() == left_output.size() ? left : std::make_shared<Project>(std::move(left_list), left);
    PlanPtr second = std::make_shared<Project>(std::move(right_list), right);
    TW_ASSIGN_OR_RETURN(left, ResolveUnion(std::make_shared<Union>(PlanList{first, second})));
  }
  return left;
}

Result<PlanPtr> Resolver::ResolveUnion(const PlanPtr& plan) {
  const auto& node = static_cast<const Union&>(*plan);
  if (node.by_name) return ByName(node, node.children());
  const AttributeList first = node.child(0)->output();
  std::vector<DataType> types;
  for (const AttributePtr& attribute : first) types.push_back(attribute->type());
  for (size_t i = 1; i < node.children().size(); ++i) {
    const AttributeList other = node.child(i)->output();
    if (other.size() != first.size()) {
      return Error("NUM_COLUMNS_MISMATCH")
          .With("operator", OperatorName(node))
          .With("firstNumColumns", static_cast<int64_t>(first.size()))
          .With("invalidOrdinalNum", Ordinal(i))
          .With("invalidNumColumns", static_cast<int64_t>(other.size()));
    }
    for (size_t column = 0; column < first.size(); ++column) {
      std::optional<DataType> wider = types[column].SameType(other[column]->type())
                                          ? std::optional<DataType>(types[column])
                                          : WiderType(types[column], other[column]->type(), config_->ansi);
      // Fields of structs have the names of the first side.
      if (!wider && types[column].IsNested()) wider = ComparisonType(types[column], other[column]->type(), config_->ansi);
      if (!wider) {
        return Error("INCOMPATIBLE_COLUMN_TYPE")
            .With("operator", OperatorName(node))
            .With("columnOrdinalNumber", Ordinal(column))
            .With("tableOrdinalNumber", Ordinal(i))
            .With("dataType1", QuoteType(other[column]->type()))
            .With("dataType2", QuoteType(first[column]->type()))
            .With("hint", "");
      }
      types[column] = *wider;
    }
  }
  PlanList children;
  for (const PlanPtr& child : node.children()) children.push_back(WithTypes(child, types, *config_));
  auto resolved = std::make_shared<Union>(children);
  resolved->op = node.op;
  resolved->all = node.all;
  for (size_t column = 0; column < first.size(); ++column) {
    AttributePtr out = children[0]->output()[column];
    DataType type = out->type();
    bool nullable = out->nullable();
    for (size_t i = 1; i < children.size(); ++i) {
      const AttributePtr other = children[i]->output()[column];
      // What rows of the other side may hold, ours may hold too; what is only on the left stays as it is there.
      if (node.op == SetOp::kUnion) nullable = nullable || other->nullable();
      if (type != other->type()) type = type.AsNullable();
    }
    resolved->attributes.push_back(
        Attribute::Make(out->name(), type, nullable, out->id(), out->qualifier(), out->metadata_json()));
  }
  for (const DataType& type : types) {
    if (node.op != SetOp::kUnion && type.Is(data::TypeKind::kMap)) {
      return Error("UNSUPPORTED_FEATURE.SET_OPERATION_ON_MAP_TYPE")
          .With("colName", data::QuoteIdentifier(first[0]->name()))
          .With("dataType", QuoteType(type));
    }
  }
  return PlanPtr(std::move(resolved));
}

}  // namespace thalweg::sql
