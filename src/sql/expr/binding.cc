#include "sql/expr/binding.h"

#include <array>
#include <map>

#include "sql/expr/evaluator.h"

namespace thalweg::sql {

std::string QuoteSql(const std::string& text) { return "\"" + text + "\""; }
std::string QuoteFunctionName(std::string_view name) { return data::QuoteIdentifier(name); }

std::string CallSql(std::string_view name, const ExprList& arguments) {
  std::string text = std::string(name) + "(";
  for (size_t i = 0; i < arguments.size(); ++i) text += (i > 0 ? ", " : "") + AutoName(arguments[i]);
  return text + ")";
}

std::string_view Ordinal(size_t index) {
  static constexpr std::array<std::string_view, 10> kNames = {"first", "second",  "third",  "fourth", "fifth",
                                                              "sixth", "seventh", "eighth", "ninth",  "tenth"};
  return index < kNames.size() ? kNames[index] : "next";
}

std::string InfixSql(const Call& call, std::string_view symbol, bool plan_text) {
  return "(" + TextOf(call.child(0), plan_text) + " " + std::string(symbol) + " " + TextOf(call.child(1), plan_text) + ")";
}

ScalarFunction Renamed(const ScalarFunction& function, std::string_view name) {
  ScalarFunction copy = function;
  copy.name = name;
  copy.aliases.clear();
  return copy;
}

AggregateFunction Renamed(const AggregateFunction& function, std::string_view name) {
  AggregateFunction copy = function;
  copy.name = name;
  copy.aliases.clear();
  return copy;
}

bool AnyNullable(const ExprList& arguments) {
  for (const auto& argument : arguments) {
    if (argument->nullable()) return true;
  }
  return false;
}

EvalMode ModeOf(const ScalarFunction& function, const BindContext& context) {
  if (function.name.starts_with("try_")) return EvalMode::kTry;
  return context.config.ansi ? EvalMode::kAnsi : EvalMode::kLegacy;
}

BoundCall MakeBoundExact(const ScalarFunction& function, ExprList arguments, DataType type, bool nullable,
                         ScalarKernel kernel, EvalMode mode, std::shared_ptr<const BoundData> data) {
  auto bound = std::make_shared<BoundScalar>();
  bound->function = &function;
  bound->type = std::move(type);
  bound->nullable = nullable;
  bound->mode = mode;
  bound->kernel = kernel;
  bound->data = std::move(data);
  BoundCall call;
  call.bound = std::move(bound);
  call.arguments = std::move(arguments);
  return call;
}

BoundCall MakeBound(const ScalarFunction& function, ExprList arguments, DataType type, bool may_be_null,
                    ScalarKernel kernel, const BindContext& context, std::shared_ptr<const BoundData> data) {
  const bool nullable = may_be_null || AnyNullable(arguments);
  return MakeBoundExact(function, std::move(arguments), std::move(type), nullable, kernel, ModeOf(function, context),
                        std::move(data));
}

BoundCall ReplaceWith(ExprPtr replacement) {
  BoundCall call;
  call.replacement = std::move(replacement);
  return call;
}

Status CheckArity(std::string_view name, size_t count, int least, int most) {
  const int actual = static_cast<int>(count);
  if (actual >= least && (most < 0 || actual <= most)) return {};
  std::string expected;
  if (most < 0) {
    expected = "> " + std::to_string(least - 1);
  } else if (most == least) {
    expected = std::to_string(least);
  } else if (most == least + 1) {
    expected = "[" + std::to_string(least) + ", " + std::to_string(most) + "]";
  } else {
    expected = "[";
    for (int i = least; i <= most; ++i) expected += (i > least ? ", " : "") + std::to_string(i);
    expected += "]";
  }
  return Error("WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
      .With("functionName", QuoteFunctionName(name))
      .With("expectedNum", expected)
      .With("actualNum", static_cast<long long>(actual))
      .With("docroot", "https://spark.apache.org/docs/latest");
}

Status UnexpectedInputType(std::string_view name, const ExprList& arguments, size_t index, const std::string& required) {
  return Error("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
      .With("sqlExpr", QuoteSql(CallSql(name, arguments)))
      .With("paramIndex", Ordinal(index))
      .With("requiredType", required)
      .With("inputSql", QuoteSql(AutoName(arguments[index])))
      .With("inputType", QuoteSql(arguments[index]->type().Sql()));
}

Status CoerceArgument(std::string_view name, ExprList* arguments, size_t index, const DataType& target,
                      const BindContext& context) {
  const auto type = ImplicitCastType((*arguments)[index]->type(), target, context.config.ansi);
  if (!type) return UnexpectedInputType(name, *arguments, index, QuoteSql(target.Sql()));
  (*arguments)[index] = Coerce((*arguments)[index], *type, context.config);
  return {};
}

Result<Value> FoldArgument(std::string_view name, const ExprList& arguments, size_t index, std::string_view input_name,
                           const BindContext& context) {
  if (!arguments[index]->foldable()) {
    return Error("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT")
        .With("sqlExpr", QuoteSql(CallSql(name, arguments)))
        .With("inputName", QuoteFunctionName(input_name))
        .With("inputType", QuoteSql(arguments[index]->type().Sql()))
        .With("inputExpr", QuoteSql(AutoName(arguments[index])));
  }
  return EvaluateConstant(arguments[index], context.config);
}

namespace {

/// One parameter or result of a signature.
struct TypePattern {
  enum class Form { kConcrete, kAny, kNumeric, kIntegral, kVariable, kArray, kMap, kSame };
  Form form = Form::kAny;
  DataType type;
  char variable = 'T';
  std::vector<TypePattern> parts;  // array, map
};

struct Parameter {
  std::vector<TypePattern> either;
  bool optional = false;
  bool repeated = false;
};

struct Signature {
  std::vector<Parameter> parameters;
  TypePattern result;
  bool may_be_null = false;
};

class SignatureReader {
 public:
  explicit SignatureReader(std::string_view text) : text_(text) {}

  Signature Read() {
    Signature signature;
    Expect('(');
    bool optional = false;
    while (!Take(')')) {
      if (Take('[')) optional = true;
      if (Take(']') || Take(',')) continue;
      if (TakeWord("...")) {
        signature.parameters.back().repeated = true;
        continue;
      }
      Word();  // the parameter's name
      Parameter parameter;
      parameter.optional = optional;
      do {
        parameter.either.push_back(Pattern());
      } while (Take('|'));
      signature.parameters.push_back(std::move(parameter));
    }
    TW_CHECK(TakeWord("->"));
    signature.result = Pattern();
    signature.may_be_null = Take('?');
    return signature;
  }

 private:
  void Space() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  bool Take(char c) {
    Space();
    if (at_ < text_.size() && text_[at_] == c) {
      ++at_;
      return true;
    }
    return false;
  }
  void Expect(char c) { TW_CHECK(Take(c)); }
  bool TakeWord(std::string_view word) {
    Space();
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }
  std::string_view Word() {
    Space();
    const size_t begin = at_;
    while (at_ < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[at_])) || text_[at_] == '_')) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  TypePattern Pattern() {
    using Form = TypePattern::Form;
    const std::string_view word = Word();
    TypePattern pattern;
    if (word == "ANY") {
      pattern.form = Form::kAny;
    } else if (word == "NUMERIC") {
      pattern.form = Form::kNumeric;
    } else if (word == "INTEGRAL") {
      pattern.form = Form::kIntegral;
    } else if (word == "SAME") {
      pattern.form = Form::kSame;
    } else if (word.size() == 1) {
      pattern.form = Form::kVariable;
      pattern.variable = word[0];
    } else if (word == "ARRAY" || word == "MAP") {
      pattern.form = word == "ARRAY" ? Form::kArray : Form::kMap;
      Expect('<');
      pattern.parts.push_back(Pattern());
      if (Take(',')) pattern.parts.push_back(Pattern());
      Expect('>');
    } else {
      std::string ddl(word);
      if (Take('(')) {
        const size_t end = text_.find(')', at_);
        ddl += "(" + std::string(text_.substr(at_, end - at_)) + ")";
        at_ = end + 1;
      }
      pattern.form = Form::kConcrete;
      auto type = data::ParseTypeDdl(ddl);
      TW_CHECK(type.ok());
      pattern.type = *type;
    }
    return pattern;
  }

  std::string_view text_;
  size_t at_ = 0;
};

using Variables = std::map<char, DataType>;

/// What an argument of `from` becomes for the pattern; nullopt when it does not fit. Variables must be set before.
std::optional<DataType> Fit(const TypePattern& pattern, const DataType& from, Variables& variables, bool ansi) {
  using Form = TypePattern::Form;
  switch (pattern.form) {
    case Form::kAny:
    case Form::kSame: return from;
    case Form::kNumeric:
      if (from.IsNumeric()) return from;
      if (from.Is(TypeKind::kString) || from.Is(TypeKind::kNull)) return DataType::Double();
      return {};
    case Form::kIntegral:
      if (from.IsIntegral()) return from;
      if (from.Is(TypeKind::kNull)) return DataType::Integer();
      if (from.Is(TypeKind::kString)) return DataType::Long();
      return {};
    case Form::kConcrete: return ImplicitCastType(from, pattern.type, ansi);
    case Form::kVariable: {
      const auto it = variables.find(pattern.variable);
      if (it == variables.end()) {
        variables[pattern.variable] = from;
        return from;
      }
      return ImplicitCastType(from, it->second, ansi);
    }
    case Form::kArray: {
      if (from.Is(TypeKind::kNull)) return DataType::Array(DataType::Null());
      if (!from.Is(TypeKind::kArray)) return {};
      auto element = Fit(pattern.parts[0], from.element(), variables, ansi);
      if (!element) return {};
      return DataType::Array(*element, from.contains_null());
    }
    case Form::kMap: {
      if (!from.Is(TypeKind::kMap)) return {};
      auto key = Fit(pattern.parts[0], from.key(), variables, ansi);
      auto value = Fit(pattern.parts[1], from.value(), variables, ansi);
      if (!key || !value) return {};
      return DataType::Map(*key, *value, from.contains_null());
    }
  }
  return {};
}

std::string PatternSql(const TypePattern& pattern) {
  using Form = TypePattern::Form;
  switch (pattern.form) {
    case Form::kConcrete: return pattern.type.Sql();
    case Form::kNumeric: return "NUMERIC";
    case Form::kIntegral: return "INTEGRAL";
    case Form::kArray: return "ARRAY";
    case Form::kMap: return "MAP";
    default: return "ANY";
  }
}

std::string RequiredSql(const Parameter& parameter) {
  if (parameter.either.size() == 1) return QuoteSql(PatternSql(parameter.either[0]));
  std::string text = "(";
  for (size_t i = 0; i < parameter.either.size(); ++i) {
    text += (i > 0 ? " or " : "") + QuoteSql(PatternSql(parameter.either[i]));
  }
  return text + ")";
}

DataType ResultType(const TypePattern& pattern, const Variables& variables, const ExprList& arguments) {
  using Form = TypePattern::Form;
  switch (pattern.form) {
    case Form::kConcrete: return pattern.type;
    case Form::kSame: return arguments[0]->type();
    case Form::kVariable: {
      const auto it = variables.find(pattern.variable);
      return it == variables.end() ? DataType::Null() : it->second;
    }
    case Form::kArray: return DataType::Array(ResultType(pattern.parts[0], variables, arguments), true);
    case Form::kMap:
      return DataType::Map(ResultType(pattern.parts[0], variables, arguments),
                           ResultType(pattern.parts[1], variables, arguments), true);
    default: return DataType::Null();
  }
}

const Parameter& ParameterAt(const Signature& signature, size_t index) {
  return signature.parameters[std::min(index, signature.parameters.size() - 1)];
}

Status CoerceOne(const ScalarFunction& function, const Parameter& parameter, ExprList* arguments, size_t index,
                 Variables& variables, const BindContext& context) {
  const DataType from = WithoutLength((*arguments)[index]->type());
  // A type that fits as it is goes before one that needs a cast.
  for (const TypePattern& pattern : parameter.either) {
    if (pattern.form == TypePattern::Form::kConcrete && pattern.type.SameType(from)) return {};
  }
  for (const TypePattern& pattern : parameter.either) {
    if (auto type = Fit(pattern, from, variables, context.config.ansi)) {
      (*arguments)[index] = Coerce((*arguments)[index], *type, context.config);
      return {};
    }
  }
  return UnexpectedInputType(function.name, *arguments, index, RequiredSql(parameter));
}

/// One common type for the arguments that say the same variable.
Status UnifyVariables(const ScalarFunction& function, const Signature& signature, const ExprList& arguments,
                      Variables* variables, const BindContext& context) {
  std::map<char, std::vector<DataType>> seen;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto& either = ParameterAt(signature, i).either;
    if (either.size() == 1 && either[0].form == TypePattern::Form::kVariable) {
      seen[either[0].variable].push_back(arguments[i]->type());
    }
  }
  for (const auto& [variable, types] : seen) {
    auto wider = WiderTypeOf(types, context.config.ansi);
    if (!wider) {
      std::string listed;
      for (const auto& type : types) listed += (listed.empty() ? "" : ", ") + QuoteSql(type.Sql());
      return Error("DATATYPE_MISMATCH.DATA_DIFF_TYPES")
          .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
          .With("functionName", QuoteFunctionName(function.name))
          .With("dataType", "(" + listed + ")");
    }
    (*variables)[variable] = *wider;
  }
  return {};
}

}  // namespace

Result<BoundCall> BindBySignature(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  const Signature signature = SignatureReader(function.signature).Read();
  int least = 0;
  bool unbounded = false;
  for (const auto& parameter : signature.parameters) {
    if (parameter.repeated) {
      unbounded = true;
    } else if (!parameter.optional) {
      ++least;
    }
  }
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), least,
                              unbounded ? -1 : static_cast<int>(signature.parameters.size())));
  Variables variables;
  TW_RETURN_NOT_OK(UnifyVariables(function, signature, arguments, &variables, context));
  for (size_t i = 0; i < arguments.size(); ++i) {
    TW_RETURN_NOT_OK(CoerceOne(function, ParameterAt(signature, i), &arguments, i, variables, context));
  }
  const DataType type = ResultType(signature.result, variables, arguments);
  if (function.nulls == NullPolicy::kCustom) {
    return MakeBoundExact(function, std::move(arguments), type, signature.may_be_null, function.evaluate,
                          ModeOf(function, context));
  }
  return MakeBound(function, std::move(arguments), type, signature.may_be_null, function.evaluate, context);
}

}  // namespace thalweg::sql
