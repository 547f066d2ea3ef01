// explode, posexplode, inline and stack: from calls in a select list or a LATERAL VIEW to Generate nodes below it.

#include <algorithm>

#include "sql/analyzer/resolver.h"
#include "sql/expr/evaluator.h"

namespace thalweg::sql {
namespace {

struct GeneratorName {
  const char* name;
  bool position;
  bool outer;
  bool inline_fields;
  bool stack = false;
};

constexpr GeneratorName kGenerators[] = {
    {"explode", false, false, false},   {"explode_outer", false, true, false}, {"posexplode", true, false, false},
    {"posexplode_outer", true, true, false}, {"inline", false, false, true},   {"inline_outer", false, true, true},
    {"stack", false, false, true, true}};

struct GeneratorData final : BoundData {
  const GeneratorName* generator = nullptr;
  int32_t rows = 0;  ///< of stack
};

const GeneratorData& DataOf(const Call& call) { return static_cast<const GeneratorData&>(*call.bound().data); }

/// Stands for a generator until its select list is resolved.
const ScalarFunction kPlaceholder{.name = "explode"};

/// Spark wraps explode to get explode_outer.
std::string_view BaseName(const GeneratorName& generator) {
  std::string_view name = generator.name;
  if (generator.outer) name.remove_suffix(std::string_view("_outer").size());
  return name;
}

std::string GeneratorSql(const Call& call, bool plan_text) {
  const GeneratorName& generator = *DataOf(call).generator;
  std::string text = std::string(BaseName(generator)) + "(";
  for (const ExprPtr& child : call.children()) {
    if (text.back() != '(') text += ", ";
    text += plan_text ? child->PlanText() : child->Sql();
  }
  return (generator.outer ? "generatorouter(" + text + ")" : text) + ")";
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

/// Replaces usual names by those of an alias; none keeps them.
Status Rename(const ExprPtr& item, const std::vector<std::string>& names, AttributeList* columns) {
  if (names.empty()) return Status::OK();
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

std::vector<std::string> NamesOf(const ExprPtr& item) {
  const auto* alias = item->As<Alias>();
  if (alias == nullptr) return {};
  return alias->names().empty() ? std::vector<std::string>{alias->name()} : alias->names();
}

bool HoldsGenerator(const ExprPtr& expr) {
  bool found = false;
  Visit(expr, [&](const ExprPtr& node) {
    found = found || AsGenerator(node) != nullptr;
    return !found;
  });
  return found;
}

const ExprPtr& Unnamed(const ExprPtr& item) { return item->kind() == ExprKind::kAlias ? item->child() : item; }

/// Generators that are no whole item of a list.
Status RefuseNested(const ExprList& list) {
  for (const ExprPtr& item : list) {
    const ExprPtr& bare = Unnamed(item);
    const bool nested = AsGenerator(bare) == nullptr
                            ? HoldsGenerator(bare)
                            : std::any_of(bare->children().begin(), bare->children().end(), HoldsGenerator);
    if (nested) {
      return At(Error("UNSUPPORTED_GENERATOR.NESTED_IN_EXPRESSIONS").With("expression", QuoteExpression(bare)), item);
    }
  }
  return Status::OK();
}

/// How many columns stack(rows, ...) of so many arguments makes.
size_t StackWidth(int32_t rows, size_t arguments) {
  return (arguments - 1 + static_cast<size_t>(rows) - 1) / static_cast<size_t>(rows);
}

/// The checked first argument of stack. Source: Spark's Stack.checkInputDataTypes.
Result<int32_t> StackRows(const ExprList& arguments, const std::string& text, const EvalConfig& config) {
  const auto wrong = [&](std::string_view condition) { return Error(condition).With("sqlExpr", text); };
  const ExprPtr& count = arguments[0];
  if (!count->type().Is(data::TypeKind::kInteger)) {
    return wrong("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
        .With("paramIndex", "first")
        .With("requiredType", "\"INT\"")
        .With("inputSql", QuoteExpression(count))
        .With("inputType", QuoteType(count->type()));
  }
  if (!count->foldable()) {
    return wrong("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT")
        .With("inputName", "`n`")
        .With("inputType", "\"INT\"")
        .With("inputExpr", QuoteExpression(count));
  }
  TW_ASSIGN_OR_RETURN(const Value value, EvaluateConstant(count, config));
  const auto* rows = value.get_if<int32_t>();
  if (rows == nullptr || *rows < 1) {
    return wrong("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE")
        .With("exprName", "`n`")
        .With("valueRange", "(0, 2147483647]")
        .With("currentValue", rows == nullptr ? "null" : std::to_string(*rows));
  }
  // Each column has the type of its first value.
  const size_t width = StackWidth(*rows, arguments.size());
  for (size_t i = 1; i < arguments.size(); ++i) {
    const size_t column = (i - 1) % width;
    size_t first = column + 1;
    while (first < i && arguments[first]->type().Is(data::TypeKind::kNull)) first += width;
    const DataType& type = arguments[i]->type();
    if (type.Is(data::TypeKind::kNull) || type.SameType(arguments[first]->type())) continue;
    return wrong("DATATYPE_MISMATCH.STACK_COLUMN_DIFF_TYPES")
        .With("columnIndex", static_cast<int64_t>(column))
        .With("leftParamIndex", static_cast<int64_t>(first))
        .With("leftType", QuoteType(arguments[first]->type()))
        .With("rightParamIndex", static_cast<int64_t>(i))
        .With("rightType", QuoteType(type));
  }
  return *rows;
}

/// stack(n, values...) is inline(array(struct(values of row 1), ...)), the last row filled up with nulls.
Result<ExprPtr> StackInput(Resolver& resolver, const Call& call) {
  const int32_t rows = DataOf(call).rows;
  const ExprList& given = call.children();
  const size_t width = StackWidth(rows, given.size());
  std::vector<DataType> types(width);
  for (size_t i = given.size(); i-- > 1;) {
    if (!given[i]->type().Is(data::TypeKind::kNull)) types[(i - 1) % width] = given[i]->type();
  }
  ExprList structs;
  for (size_t row = 0; row < static_cast<size_t>(rows); ++row) {
    ExprList fields;
    for (size_t column = 0; column < width; ++column) {
      const size_t i = 1 + row * width + column;
      fields.push_back(Literal::String("col" + std::to_string(column)));
      fields.push_back(i < given.size() && !given[i]->type().Is(data::TypeKind::kNull) ? given[i] : Literal::Null(types[column]));
    }
    TW_ASSIGN_OR_RETURN(ExprPtr fields_struct, resolver.Call("named_struct", std::move(fields)));
    structs.push_back(std::move(fields_struct));
  }
  return resolver.Call("array", std::move(structs));
}

Result<std::shared_ptr<Generate>> MakeGenerate(Resolver& resolver, const Call& call, const ExprPtr& item, bool outer,
                                               const std::vector<std::string>& names, const PlanPtr& child) {
  const GeneratorName& name = *DataOf(call).generator;
  ExprPtr given = call.child();
  if (name.stack) {
    TW_ASSIGN_OR_RETURN(given, StackInput(resolver, call));
  }
  TW_ASSIGN_OR_RETURN(const ExprPtr input, TrimAliases(given, false));
  GeneratorName shape = name;
  shape.outer = outer || name.outer;
  AttributeList columns = ColumnsOf(shape, input->type());
  if (name.stack) {  // a row that is not full ends in nulls; Spark says so of all
    for (AttributePtr& column : columns) column = Attribute::Make(column->name(), column->type(), true, column->id());
  }
  TW_RETURN_NOT_OK(Rename(item, names, &columns));
  // Items to the right of an alias may have meant it.
  if (const auto* alias = item->As<Alias>(); alias != nullptr && alias->names().empty()) {
    columns[0] = columns[0]->WithId(alias->id());
  }
  auto generate = std::make_shared<Generate>(input, shape.position, shape.outer, std::move(columns), child);
  generate->inline_fields = shape.inline_fields;
  return generate;
}

}  // namespace

bool IsGenerator(const ExprPtr& expr) { return AsGenerator(expr) != nullptr; }

Status RefuseGenerators(const LogicalPlan& node) {
  for (const ExprPtr& expr : node.expressions()) {
    if (HoldsGenerator(expr)) return Error("UNSUPPORTED_GENERATOR.OUTSIDE_SELECT").With("plan", node.NodeText());
  }
  return Status::OK();
}

Result<ExprPtr> MakeGenerator(const std::string& name, const ExprList& arguments, const EvalConfig& config) {
  const auto* generator = std::find_if(std::begin(kGenerators), std::end(kGenerators),
                                       [&](const GeneratorName& g) { return name == g.name; });
  if (generator == std::end(kGenerators)) return ExprPtr();
  if (arguments.empty() && !generator->stack) {
    return Error("REQUIRED_PARAMETER_NOT_FOUND")
        .With("routineName", data::QuoteIdentifier(name))
        .With("parameterName", generator->inline_fields ? "`input`" : "`collection`")
        .With("index", "0");
  }
  if (generator->stack ? arguments.size() < 2 : arguments.size() != 1) {
    return Error("WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
        .With("functionName", data::QuoteIdentifier(name))
        .With("expectedNum", generator->stack ? "> 1" : "1")
        .With("actualNum", static_cast<int64_t>(arguments.size()))
        .With("docroot", "https://spark.apache.org/docs/latest");
  }
  auto data = std::make_shared<GeneratorData>();
  data->generator = generator;
  auto bound = std::make_shared<BoundScalar>();
  bound->function = &Placeholder();
  if (generator->stack) {
    std::string text = name;
    for (const ExprPtr& argument : arguments) text += (text == name ? "(" : ", ") + AutoName(argument);
    TW_ASSIGN_OR_RETURN(data->rows, StackRows(arguments, "\"" + text + ")\"", config));
    bound->type = arguments[1]->type();
    bound->data = std::move(data);
    return Call::Make(std::move(bound), arguments);
  }
  const DataType& type = arguments[0]->type();
  const bool array = type.Is(data::TypeKind::kArray);
  const bool fits = generator->inline_fields ? array && type.element().Is(data::TypeKind::kStruct)
                                             : array || type.Is(data::TypeKind::kMap);
  if (!fits) {
    return Error("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
        .With("sqlExpr", "\"" + std::string(BaseName(*generator)) + "(" + AutoName(arguments[0]) + ")\"")
        .With("paramIndex", "first")
        .With("requiredType", generator->inline_fields ? "\"ARRAY<STRUCT>\"" : "(\"ARRAY\" or \"MAP\")")
        .With("inputSql", QuoteExpression(arguments[0]))
        .With("inputType", QuoteType(type));
  }
  // Whoever computes with it is refused below; the type only has to let other checks pass.
  bound->type = array ? type.element() : type.value();
  bound->nullable = generator->outer || type.contains_null();
  bound->data = std::move(data);
  return Call::Make(std::move(bound), arguments);
}

Status ExtractGenerators(Resolver& resolver, ExprList* list, PlanPtr* child) {
  TW_RETURN_NOT_OK(RefuseNested(*list));
  ExprList out;
  for (const ExprPtr& item : *list) {
    const Call* call = AsGenerator(Unnamed(item));
    if (call == nullptr) {
      out.push_back(item);
      continue;
    }
    TW_ASSIGN_OR_RETURN(auto generate, MakeGenerate(resolver, *call, item, false, NamesOf(item), *child));
    out.insert(out.end(), generate->generated.begin(), generate->generated.end());
    *child = std::move(generate);
  }
  *list = std::move(out);
  return Status::OK();
}

Result<bool> SplitGenerators(ExprList* list, ExprList* above) {
  TW_RETURN_NOT_OK(RefuseNested(*list));
  ExprList generators;
  for (const ExprPtr& item : *list) {
    if (IsGenerator(Unnamed(item))) generators.push_back(Unnamed(item));
  }
  if (generators.empty()) return false;
  if (generators.size() > 1) {
    std::string text;
    for (const ExprPtr& generator : generators) text += (text.empty() ? "" : ", ") + QuoteExpression(generator);
    return Error("UNSUPPORTED_GENERATOR.MULTI_GENERATOR")
        .With("num", static_cast<int64_t>(generators.size()))
        .With("generators", text);
  }
  ExprList below;
  for (const ExprPtr& item : *list) {
    const Call* call = AsGenerator(Unnamed(item));
    if (call == nullptr) {
      below.push_back(item);
      above->push_back(ToAttribute(item));
      continue;
    }
    ExprList inputs;
    for (const ExprPtr& input : call->children()) {
      if (input->foldable()) {
        inputs.push_back(input);
        continue;
      }
      below.push_back(Alias::Make(input, "_gen_input_" + std::to_string(inputs.size())));
      inputs.push_back(ToAttribute(below.back()));
    }
    ExprPtr moved = call->WithChildren(std::move(inputs));
    above->push_back(item->kind() == ExprKind::kAlias ? item->WithChildren({std::move(moved)}) : std::move(moved));
  }
  *list = std::move(below);
  return true;
}

/// As the parser leaves it: `input` is the call, `generated` the names of the columns (none: one without a name), qualified by
/// the name of the view.
Result<PlanPtr> Resolver::ResolveLateralView(const PlanPtr& plan) {
  const auto& given = static_cast<const Generate&>(*plan);
  if (given.input->resolved()) return plan;
  TW_ASSIGN_OR_RETURN(const ExprPtr resolved, ResolveExpression(given.input, ScopeOf(plan->child())));
  const ExprPtr& bare = Unnamed(resolved);
  const sql::Call* call = AsGenerator(bare);
  if (call == nullptr) {
    const auto* function = given.input->As<UnresolvedFunction>();
    return At(Error("UNSUPPORTED_GENERATOR.NOT_GENERATOR")
                  .With("functionName", QuoteParts(function->name_parts()))
                  .With("classCanonicalName", AutoName(bare)),
              given.input);
  }
  TW_RETURN_NOT_OK(RefuseNested({bare}));
  std::vector<std::string> names;
  for (const AttributePtr& column : given.generated) {
    if (!column->name().empty()) names.push_back(column->name());
  }
  TW_ASSIGN_OR_RETURN(auto generate, MakeGenerate(*this, *call, given.input, given.outer, names, plan->child()));
  for (AttributePtr& column : generate->generated) {
    column = Attribute::Make(column->name(), column->type(), column->nullable(), column->id(), given.generated[0]->qualifier(),
                             column->metadata_json());
  }
  return PlanPtr(std::move(generate));
}

}  // namespace thalweg::sql
