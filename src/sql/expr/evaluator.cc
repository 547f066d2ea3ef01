// Expressions to programs.

#include "sql/expr/evaluator.h"

#include <algorithm>
#include <functional>
#include <unordered_map>

#include "base/invariant.h"
#include "data/columnar/builder.h"
#include "sql/expr/cast.h"
#include "sql/expr/program.h"

namespace thalweg::sql {
namespace {

/// Registers known in a block and in those around it.
struct Scope {
  Scope* outer = nullptr;
  Block* block = nullptr;
  std::unordered_map<std::string, int> known;
  struct Guarded {
    ExprPtr expr;
    std::vector<int> arguments;
    int out = 0;
  };
  std::vector<Guarded> guarded;
};

bool ReadsBatchTime(const ExprPtr& expr) {
  bool found = false;
  Visit(expr, [&](const ExprPtr& node) {
    if (const auto* call = node->As<Call>()) found = found || call->bound().function->batch_time;
    return !found;
  });
  return found;
}

/// Whether computing it on rows that nobody asked for is harmless and cheap.
bool IsTotal(const ExprPtr& expr) {
  switch (expr->kind()) {
    case ExprKind::kLiteral:
    case ExprKind::kAttribute: return true;
    case ExprKind::kAlias: return IsTotal(expr->child());
    case ExprKind::kCast:
      if (!CastIsTotal(expr->child()->type(), expr->type())) return false;
      break;
    case ExprKind::kCall: {
      const BoundScalar& bound = expr->As<Call>()->bound();
      if (bound.function->may_raise || bound.expand != nullptr) return false;
      break;
    }
    default: return false;
  }
  for (const auto& child : expr->children()) {
    if (!IsTotal(child)) return false;
  }
  return true;
}

/// Whether a null argument is the end of it. Spark's concat looks at all of them.
bool StopsAtNull(const BoundScalar& bound) {
  return bound.function->nulls == NullPolicy::kPropagate && bound.function->laziness == Laziness::kEager &&
         bound.expand == nullptr && bound.function->name != "concat";
}

/// Division looks at the divisor first.
bool DivisorFirst(std::string_view name) {
  return name == "/" || name == "%" || name == "div" || name == "pmod" || name == "mod";
}

/// Null whatever the rows are.
bool IsNullLiteral(const ExprPtr& expr) {
  if (expr->kind() == ExprKind::kAlias || expr->kind() == ExprKind::kCast) return IsNullLiteral(expr->child());
  if (const auto* call = expr->As<Call>()) {
    return StopsAtNull(call->bound()) && std::any_of(call->children().begin(), call->children().end(), IsNullLiteral);
  }
  const auto* literal = expr->As<Literal>();
  return literal != nullptr && literal->value().is_null();
}

class Compiler {
 public:
  Compiler(Program::Impl* program, const AttributeList& input, bool fold) : program_(program), fold_(fold) {
    for (size_t i = 0; i < input.size(); ++i) ordinals_.emplace(input[i]->id(), static_cast<int>(i));
    main_.block = &program->main;
  }

  Result<int> CompileMain(const ExprPtr& expr) { return Compile(expr, &main_); }

 private:
  int NewRegister() { return program_->registers++; }

  Result<int> Compile(const ExprPtr& expr, Scope* scope) {
    switch (expr->kind()) {
      case ExprKind::kAlias: return Compile(expr->child(), scope);
      case ExprKind::kAttribute: return Input(*expr->As<Attribute>());
      case ExprKind::kLiteral:
        return Constant(data::Column::Constant(expr->type(), expr->As<Literal>()->value(), 1),
                        expr->As<Literal>()->value());
      case ExprKind::kCast:
      case ExprKind::kCall: break;
      // Everywhere else a rule has moved them out.
      case ExprKind::kPythonUdf: return Unsupported("Python functions in this place (" + expr->Sql() + ")");
      default: return InternalError("an expression that cannot be evaluated: " + expr->PlanText());
    }
    if (fold_ && expr->foldable() && !ReadsBatchTime(expr)) {
      auto value = EvaluateConstant(expr, *program_->config);
      // An error is raised only if a row asks for the value: then it is computed at run time.
      if (value.ok()) return Constant(data::Column::Constant(expr->type(), *value, 1), *value);
    }
    return expr->kind() == ExprKind::kCast ? CompileCast(*expr->As<Cast>(), scope) : CompileCall(expr, scope);
  }

  Result<int> Input(const Attribute& attribute) {
    const auto it = ordinals_.find(attribute.id());
    if (it == ordinals_.end()) {
      return InternalError("attribute " + attribute.PlanText() + " is not in the input of the expression");
    }
    for (const auto& [column, reg] : program_->inputs) {
      if (column == it->second) return reg;
    }
    const int reg = NewRegister();
    program_->inputs.emplace_back(it->second, reg);
    return reg;
  }

  Result<int> Constant(ColumnPtr column, const Value& value) {
    // Long lists (IN) hold each constant once: comparing all with all would take longer than running them.
    constexpr size_t kMostCompared = 64;
    for (size_t i = 0; i < std::min(constants_.size(), kMostCompared); ++i) {
      if (constants_[i] == value && program_->constants[i].first->type() == column->type()) {
        return program_->constants[i].second;
      }
    }
    const int reg = NewRegister();
    constants_.push_back(value);
    program_->constants.emplace_back(std::move(column), reg);
    return reg;
  }

  Result<int> CompileCast(const Cast& cast, Scope* scope) {
    TW_ASSIGN_OR_RETURN(const int child, Compile(cast.child(), scope));
    Instruction instruction;
    instruction.op = Op::kCast;
    instruction.arguments = {child};
    instruction.type = cast.type();
    instruction.mode = cast.mode();
    instruction.origin = cast.origin();
    return Emit(std::move(instruction),
                "cast " + cast.type().Json() + std::to_string(static_cast<int>(cast.mode())), scope);
  }

  Result<int> CompileCall(const ExprPtr& expr, Scope* scope) {
    const Call& call = *expr->As<Call>();
    const BoundScalar& bound = call.bound();
    if (bound.expand != nullptr) {
      TW_ASSIGN_OR_RETURN(const ExprPtr expanded, bound.expand(bound, call.children(), BindContext{*program_->config}));
      return Compile(expanded->origin() == nullptr && call.origin() != nullptr ? expanded->WithOrigin(call.origin())
                                                                               : expanded,
                     scope);
    }
    if (bound.function->laziness == Laziness::kLazy) return CompileLazy(call, scope);
    if (StopsAtNull(bound) && std::any_of(call.children().begin(), call.children().end(), IsNullLiteral)) {
      return Constant(data::Column::Constant(call.type(), Value(), 1), Value());
    }
    Instruction instruction;
    TW_ASSIGN_OR_RETURN(instruction.arguments, CompileArguments(call, scope));
    instruction.bound = call.bound_ptr();
    instruction.type = call.type();
    instruction.origin = call.origin();
    if (bound.kernel == nullptr) {
      return InternalError("function without a kernel: " + std::string(bound.function->name));
    }
    if (!bound.function->deterministic) return Append(std::move(instruction), scope);
    return Emit(std::move(instruction), Key(bound), scope);
  }

  /// `expr` where none of the registers in `before` is null.
  Result<int> CompileGuarded(const ExprPtr& expr, const std::vector<int>& before, Scope* scope) {
    for (const Scope* s = scope; s != nullptr; s = s->outer) {
      for (const Scope::Guarded& guarded : s->guarded) {
        if (guarded.arguments == before && guarded.expr->Equals(*expr)) return guarded.out;
      }
    }
    Instruction guard;
    guard.op = Op::kGuarded;
    guard.type = expr->type();
    guard.arguments = before;
    guard.blocks.resize(1);
    Scope inner{scope, &guard.blocks[0], {}, {}};
    TW_ASSIGN_OR_RETURN(guard.blocks[0].result, Compile(expr, &inner));
    if (guard.blocks[0].instructions.empty()) return guard.blocks[0].result;  // known already
    TW_ASSIGN_OR_RETURN(const int out, Append(std::move(guard), scope));
    scope->guarded.push_back({expr, before, out});
    return out;
  }

  /// Arguments after one that is null are not evaluated: an error of theirs is none.
  Result<std::vector<int>> CompileArguments(const Call& call, Scope* scope) {
    const ExprList& children = call.children();
    std::vector<int> registers(children.size());
    std::vector<int> nullable;  // registers of arguments before, in the order of evaluation
    const bool divisor_first = children.size() == 2 && DivisorFirst(call.bound().function->name);
    for (size_t i = 0; i < children.size(); ++i) {
      const size_t index = divisor_first ? 1 - i : i;
      const ExprPtr& child = children[index];
      const bool guarded = StopsAtNull(call.bound()) && !nullable.empty() && child->deterministic() && !IsTotal(child);
      TW_ASSIGN_OR_RETURN(registers[index], guarded ? CompileGuarded(child, nullable, scope) : Compile(child, scope));
      if (child->nullable()) nullable.push_back(registers[index]);
    }
    return registers;
  }

  static std::string Key(const BoundScalar& bound) {
    return std::string(bound.function->name) + " " + std::to_string(static_cast<int>(bound.mode)) + bound.type.Json();
  }

  Result<int> CompileLazy(const Call& call, Scope* scope) {
    const std::string_view name = call.bound().function->name;
    if (name == "and" || name == "or") return CompileLogic(call, name == "and", scope);
    if (name == "coalesce") return CompileCoalesce(call, scope);
    if (name == "if" || name == "when") return CompileCase(call, scope);
    return InternalError("unknown lazy function: " + std::string(name));
  }

  Result<int> CompileLogic(const Call& call, bool is_and, Scope* scope) {
    TW_ASSIGN_OR_RETURN(const int left, Compile(call.child(0), scope));
    Instruction instruction;
    instruction.type = DataType::Boolean();
    instruction.arguments = {left};
    if (IsTotal(call.child(1))) {
      TW_ASSIGN_OR_RETURN(const int right, Compile(call.child(1), scope));
      instruction.arguments.push_back(right);
      instruction.op = is_and ? Op::kAnd : Op::kOr;
      return Emit(std::move(instruction), is_and ? "and" : "or", scope);
    }
    instruction.op = is_and ? Op::kLazyAnd : Op::kLazyOr;
    instruction.blocks.resize(1);
    Scope inner{scope, &instruction.blocks[0], {}, {}};
    TW_ASSIGN_OR_RETURN(instruction.blocks[0].result, Compile(call.child(1), &inner));
    return Append(std::move(instruction), scope);
  }

  /// Blocks: one per child after the first, each seen by the later ones (their rows are fewer).
  Result<int> CompileCoalesce(const Call& call, Scope* scope) {
    Instruction instruction;
    instruction.op = Op::kCoalesce;
    instruction.type = call.type();
    TW_ASSIGN_OR_RETURN(const int first, Compile(call.child(0), scope));
    instruction.arguments = {first};
    const size_t count = call.children().size() - 1;
    instruction.blocks.resize(count);
    std::vector<std::unique_ptr<Scope>> scopes;
    Scope* outer = scope;
    for (size_t i = 0; i < count; ++i) {
      scopes.push_back(std::make_unique<Scope>(Scope{outer, &instruction.blocks[i], {}, {}}));
      outer = scopes.back().get();
      TW_ASSIGN_OR_RETURN(instruction.blocks[i].result, Compile(call.child(i + 1), outer));
    }
    return Append(std::move(instruction), scope);
  }

  /// Blocks: value, condition, value, condition, value, ..., else; the first condition is the argument.
  Result<int> CompileCase(const Call& call, Scope* scope) {
    Instruction instruction;
    instruction.op = Op::kCase;
    instruction.type = call.type();
    TW_ASSIGN_OR_RETURN(const int first, Compile(call.child(0), scope));
    instruction.arguments = {first};
    const size_t count = call.children().size() - 1;
    const bool has_else = call.children().size() % 2 == 1;
    instruction.blocks.resize(count);
    std::vector<std::unique_ptr<Scope>> scopes;
    Scope* conditions = scope;  // conditions are seen by all that follows
    for (size_t i = 0; i < count; ++i) {
      const bool is_value = i % 2 == 0 || (has_else && i + 1 == count);
      scopes.push_back(std::make_unique<Scope>(Scope{conditions, &instruction.blocks[i], {}, {}}));
      Scope* own = scopes.back().get();
      TW_ASSIGN_OR_RETURN(instruction.blocks[i].result, Compile(call.child(i + 1), own));
      if (!is_value) conditions = own;
    }
    return Append(std::move(instruction), scope);
  }

  Result<int> Emit(Instruction instruction, std::string key, Scope* scope) {
    for (const int argument : instruction.arguments) key += " " + std::to_string(argument);
    for (const Scope* s = scope; s != nullptr; s = s->outer) {
      if (const auto it = s->known.find(key); it != s->known.end()) return it->second;
    }
    TW_ASSIGN_OR_RETURN(const int reg, Append(std::move(instruction), scope));
    scope->known.emplace(std::move(key), reg);
    return reg;
  }

  Result<int> Append(Instruction instruction, Scope* scope) {
    instruction.out = NewRegister();
    scope->block->instructions.push_back(std::move(instruction));
    return scope->block->instructions.back().out;
  }

  Program::Impl* program_;
  bool fold_;
  std::unordered_map<ExprId, int> ordinals_;
  std::vector<Value> constants_;
  Scope main_;
};

/// The selected rows in ascending order, each once: kernels count on that. `ordered` holds them when the selection is not so.
/// A selection that names most rows is marked row by row, one that names few of many is sorted.
RowSet RowsOf(const data::Chunk& chunk, std::vector<int32_t>* ordered) {
  const int64_t rows = chunk.physical_rows();
  const std::vector<int32_t>* selection = chunk.selection().get();
  if (selection == nullptr) return {rows, nullptr};
  const bool ascending = std::adjacent_find(selection->begin(), selection->end(), std::greater_equal<>()) == selection->end();
  if (ascending) return {rows, selection};
  if (static_cast<int64_t>(selection->size()) < rows / 8) {
    *ordered = *selection;
    std::sort(ordered->begin(), ordered->end());
    ordered->erase(std::unique(ordered->begin(), ordered->end()), ordered->end());
    return {rows, ordered};
  }
  std::vector<uint8_t> chosen(rows, 0);
  for (const int32_t row : *selection) chosen[row] = 1;
  const int64_t count = std::count(chosen.begin(), chosen.end(), 1);
  if (count == rows) return {rows, nullptr};
  ordered->reserve(count);
  for (int64_t row = 0; row < rows; ++row) {
    if (chosen[row] != 0) ordered->push_back(static_cast<int32_t>(row));
  }
  return {rows, ordered};
}

}  // namespace

Program::Program(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Program::~Program() = default;
const std::vector<DataType>& Program::types() const { return impl_->types; }

Result<std::shared_ptr<const Program>> Program::Compile(const ExprList& expressions, const AttributeList& input,
                                                        std::shared_ptr<const EvalConfig> config) {
  auto impl = std::make_unique<Impl>();
  impl->config = std::move(config);
  Compiler compiler(impl.get(), input, true);
  for (const auto& expression : expressions) {
    TW_ASSIGN_OR_RETURN(const int result, compiler.CompileMain(expression));
    impl->results.push_back(result);
    impl->types.push_back(expression->type());
  }
  return std::shared_ptr<const Program>(new Program(std::move(impl)));
}

Result<data::Chunk> Program::Run(const data::Chunk& chunk, EvalContext& context) const {
  if (context.config == nullptr) context.config = impl_->config.get();
  ProgramRun run(*impl_, chunk, context);
  std::vector<int32_t> ordered;
  TW_RETURN_NOT_OK(run.RunBlock(impl_->main, RowsOf(chunk, &ordered)));
  std::vector<ColumnPtr> columns;
  columns.reserve(impl_->results.size());
  for (const int result : impl_->results) columns.push_back(run.result(result));
  data::Chunk out(std::move(columns), chunk.physical_rows());
  out.set_selection(chunk.selection());
  out.set_change_kinds(chunk.change_kinds());
  return out;
}

Result<data::Chunk> Program::Filter(const data::Chunk& chunk, EvalContext& context) const {
  TW_DCHECK(impl_->results.size() == 1);
  if (context.config == nullptr) context.config = impl_->config.get();
  ProgramRun run(*impl_, chunk, context);
  const RowSet rows{chunk.physical_rows(), chunk.selection().get()};
  std::vector<int32_t> ordered;
  TW_RETURN_NOT_OK(run.RunBlock(impl_->main, RowsOf(chunk, &ordered)));
  ColumnPtr condition = run.result(impl_->results[0]);
  if (condition->encoding() == data::Encoding::kDictionary) condition = data::Flatten(condition);
  if (condition->is_constant() && chunk.physical_rows() > 0 && condition->null_count() == 0 &&
      condition->physical() == PhysicalType::kBool && condition->values<uint8_t>()[0] != 0) {
    return chunk;
  }
  auto selected = std::make_shared<std::vector<int32_t>>();
  SplitByTruth(*condition, rows, selected.get(), nullptr);
  if (static_cast<int64_t>(selected->size()) == rows.count()) return chunk;
  data::Chunk out = chunk;
  out.set_selection(std::move(selected));
  return out;
}

Result<Value> EvaluateConstant(const ExprPtr& expression, const EvalConfig& config, const EpochContext& epoch) {
  if (const auto* literal = expression->As<Literal>()) return literal->value();
  Program::Impl impl;
  impl.config = std::shared_ptr<const EvalConfig>(std::shared_ptr<const EvalConfig>(), &config);
  Compiler compiler(&impl, {}, false);
  TW_ASSIGN_OR_RETURN(const int result, compiler.CompileMain(expression));
  EvalContext context;
  context.config = &config;
  context.epoch = &epoch;
  const data::Chunk chunk({}, 1);
  ProgramRun run(impl, chunk, context);
  TW_RETURN_NOT_OK(run.RunBlock(impl.main, RowSet{1, nullptr}));
  return run.result(result)->GetValue(0);
}

}  // namespace thalweg::sql
