// Column.withField and Column.dropFields as a struct made anew. Source: Spark's UpdateFields.

#include "sql/analyzer/resolver.h"
#include "sql/expr/attribute_name.h"
#include "sql/expr/extract.h"

namespace thalweg::sql {
namespace {

/// The fields of a struct that `name` means, and what follows them all; null for a field that goes.
class FieldUpdate {
 public:
  FieldUpdate(Resolver& resolver, ExprPtr value) : resolver_(resolver), value_(std::move(value)) {}

  Result<ExprPtr> Apply(const ExprPtr& base, const std::vector<std::string>& path, size_t at) {
    if (!base->type().Is(data::TypeKind::kStruct)) {
      return Error("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
          .With("sqlExpr", "\"update_fields(" + base->Sql() + ")\"")
          .With("paramIndex", "first")
          .With("inputSql", QuoteExpression(base))
          .With("inputType", QuoteType(base->type()))
          .With("requiredType", "\"STRUCT\"");
    }
    const auto& fields = base->type().fields();
    const bool last = at + 1 == path.size();
    ExprList parts;
    bool found = false;
    const auto add = [&](const std::string& name, ExprPtr part) {
      parts.push_back(Literal::String(name));
      parts.push_back(std::move(part));
    };
    for (size_t i = 0; i < fields.size(); ++i) {
      ExprPtr old = MakeStructField(base, i);
      if (!SameName(fields[i].name, path[at], resolver_.config().case_sensitive)) {
        add(fields[i].name, std::move(old));
        continue;
      }
      found = true;
      if (!last) {
        TW_ASSIGN_OR_RETURN(ExprPtr inner, Apply(old, path, at + 1));
        add(fields[i].name, std::move(inner));
      } else if (value_ != nullptr) {
        add(path[at], value_);
      }
    }
    if (!found && !last) {
      std::string names;
      for (const data::StructField& field : fields) names += (names.empty() ? "" : ", ") + data::QuoteIdentifier(field.name);
      return Error("FIELD_NOT_FOUND").With("fieldName", data::QuoteIdentifier(path[at])).With("fields", names);
    }
    if (!found && value_ != nullptr) add(path[at], value_);
    if (parts.empty()) {
      return Error("DATATYPE_MISMATCH.CANNOT_DROP_ALL_FIELDS").With("sqlExpr", "\"update_fields(" + base->Sql() + ", dropfield())\"");
    }
    TW_ASSIGN_OR_RETURN(ExprPtr made, resolver_.Call("named_struct", std::move(parts)));
    if (!base->nullable()) return made;
    TW_ASSIGN_OR_RETURN(ExprPtr missing, resolver_.Call("isnull", {base}));
    return resolver_.Call("if", {std::move(missing), Literal::Null(made->type()), made});
  }

 private:
  Resolver& resolver_;
  ExprPtr value_;  // null: the field goes
};

}  // namespace

std::string UpdatedStructName(const ExprList& arguments) {
  const std::string change = arguments.size() == 3 ? "WithField(" + AutoName(arguments[2]) + ")" : "dropfield()";
  return "update_fields(" + AutoName(arguments[0]) + ", " + change + ")";
}

Result<ExprPtr> MakeUpdatedStruct(Resolver& resolver, const std::string& name, const ExprList& arguments) {
  const bool with = name == "with_field" && arguments.size() == 3;
  if (!with && !(name == "drop_field" && arguments.size() == 2)) return ExprPtr();
  const auto* text = arguments[1]->As<Literal>();
  if (text == nullptr || !text->type().Is(data::TypeKind::kString)) return ExprPtr();
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> path, ParseAttributeName(text->value().get<std::string>()));
  return FieldUpdate(resolver, with ? arguments[2] : nullptr).Apply(arguments[0], path, 0);
}

}  // namespace thalweg::sql
