// explode, posexplode and inline: from calls in a select list to Generate nodes below it.

#include <algorithm>

#include "sql/analyzer/resolver.h"

namespace thalweg::sql {
namespace {

struct GeneratorName {
  const char* name;
  bool position;
  bool outer;
  bool inline_fields;
};

constexpr GeneratorName kGenerators[] = {
    {"explode", false, false, false},   {"explode_outer", false, true, false}, {"posexplode", true, false, false},
    {"posexplode_outer", true, true, false}, {"inline", false, false, true},   {"inline_outer", false, true, true}};

struct GeneratorData final : BoundData {
  const GeneratorName* generator = nullptr;
};

/// Stands for a generator until its select list is resolved.
const ScalarFunction kPlaceholder{.name = "explode"};

std::string GeneratorSql(const Call& call, bool plan_text) {
  const auto& data = static_cast<const GeneratorData&>(*call.bound().data);
  return std::string(data.generator->name) + "(" + (plan_text ? call.child()->PlanText() : call.child()->Sql()) + ")";
}

const ScalarFunction& Placeholder() {
  static const ScalarFunction kFunction = [] {
    ScalarFunction function = kPlaceholder;
    function.sql = &GeneratorSql;
    return function;
  }();
  return kFunction;
}

const Call* AsGenerator(const ExprPtr& expr) {
  const auto* call = expr->As<Call>();
  return call != nullptr && call->bound().function == &Placeholder() ? call : nullptr;
}

/// The columns a generator makes, with their usual names.
AttributeList ColumnsOf(const GeneratorName& generator, const DataType& type) {
  AttributeList columns;
  const bool outer = generator.outer;
  if (generator.position) columns.push_back(Attribute::Make("pos", DataType::Integer(), outer));
  if (generator.inline_fields) {
    const bool absent = outer || type.contains_null();
    for (const data::StructField& field : type.element().fields()) {
      columns.push_back(Attribute::Make(field.name, field.type, absent || field.nullable));
    }
  } else if (type.Is(data::TypeKind::kMap)) {
    columns.push_back(Attribute::Make("key", type.key(), outer));
    columns.push_back(Attribute::Make("value", type.value(), outer || type.contains_null()));
  } else {
    columns.push_back(Attribute::Make("col", type.element(), outer || type.contains_null()));
  }
  return columns;
}

/// Replaces usual names by those of an alias.
Status Rename(const ExprPtr& item, AttributeList* columns) {
  const auto* alias = item->As<Alias>();
  if (alias == nullptr) return Status::OK();
  const std::vector<std::string> names = alias->names().empty() ? std::vector<std::string>{alias->name()} : alias->names();
  if (names.size() != columns->size()) {
    std::string text;
    for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
    return At(Error("UDTF_ALIAS_NUMBER_MISMATCH")
                  .With("aliasesSize", static_cast<int64_t>(columns->size()))
                  .With("aliasesNames", text),
              item);
  }
  for (size_t i = 0; i < names.size(); ++i) {
    const AttributePtr& column = (*columns)[i];
    (*columns)[i] = Attribute::Make(names[i], column->type(), column->nullable(), column->id());
  }
  return Status::OK();
}

}  // namespace

Status RefuseGenerators(const ExprList& expressions, const char* where) {
  for (const ExprPtr& expr : expressions) {
    bool found = false;
    Visit(expr, [&](const ExprPtr& node) {
      found = found || AsGenerator(node) != nullptr;
      return !found;
    });
    if (found) return At(Error("UNSUPPORTED_GENERATOR.OUTSIDE_SELECT").With("plan", where), expr);
  }
  return Status::OK();
}

Result<ExprPtr> MakeGenerator(const std::string& name, const ExprList& arguments) {
  const auto* generator = std::find_if(std::begin(kGenerators), std::end(kGenerators),
                                       [&](const GeneratorName& g) { return name == g.name; });
  if (generator == std::end(kGenerators)) return ExprPtr();
  if (arguments.size() != 1) {
    return Error("WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
        .With("functionName", data::QuoteIdentifier(name))
        .With("expectedNum", "1")
        .With("actualNum", static_cast<int64_t>(arguments.size()))
        .With("docroot", "https://spark.apache.org/docs/latest");
  }
  const DataType& type = arguments[0]->type();
  const bool array = type.Is(data::TypeKind::kArray);
  const bool fits = generator->inline_fields ? array && type.element().Is(data::TypeKind::kStruct)
                                             : array || type.Is(data::TypeKind::kMap);
  if (!fits) {
    return Error("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
        .With("sqlExpr", "\"" + name + "(" + AutoName(arguments[0]) + ")\"")
        .With("paramIndex", "first")
        .With("requiredType", generator->inline_fields ? "\"ARRAY<STRUCT>\"" : "(\"ARRAY\" or \"MAP\")")
        .With("inputSql", QuoteExpression(arguments[0]))
        .With("inputType", QuoteType(type));
  }
  auto data = std::make_shared<GeneratorData>();
  data->generator = generator;
  auto bound = std::make_shared<BoundScalar>();
  bound->function = &Placeholder();
  // Whoever computes with it is refused below; the type only has to let other checks pass.
  bound->type = array ? type.element() : type.value();
  bound->data = std::move(data);
  return Call::Make(std::move(bound), arguments);
}

Status ExtractGenerators(ExprList* list, PlanPtr* child) {
  ExprList out;
  for (const ExprPtr& item : *list) {
    const ExprPtr& bare = item->kind() == ExprKind::kAlias ? item->child() : item;
    const Call* generator = AsGenerator(bare);
    if (generator == nullptr) {
      bool nested = false;
      Visit(bare, [&](const ExprPtr& node) {
        nested = nested || AsGenerator(node) != nullptr;
        return !nested;
      });
      if (nested) {
        return At(Error("UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS").With("expression", QuoteExpression(bare)), item);
      }
      out.push_back(item);
      continue;
    }
    const GeneratorName& name = *static_cast<const GeneratorData&>(*generator->bound().data).generator;
    TW_ASSIGN_OR_RETURN(const ExprPtr input, TrimAliases(generator->child(), false));
    if (HasAggregate(input)) return At(Unsupported("generators over aggregate functions"), item);
    AttributeList columns = ColumnsOf(name, input->type());
    TW_RETURN_NOT_OK(Rename(item, &columns));
    auto generate = std::make_shared<Generate>(input, name.position, name.outer, columns, *child);
    generate->inline_fields = name.inline_fields;
    *child = std::move(generate);
    out.insert(out.end(), columns.begin(), columns.end());
  }
  *list = std::move(out);
  return Status::OK();
}

}  // namespace thalweg::sql
