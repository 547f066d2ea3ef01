// Functions: those of the engine, and those of the catalogue, which are names of classes that run in Spark alone.

#include <algorithm>

#include "front/commands/handlers.h"
#include "sql/functions/spark_names.h"

namespace thalweg::front {

namespace {

using data::DataType;
using Rows = std::vector<data::ValueList>;

bool IsBuiltin(const CommandRun& run, const sql::NameParts& name) {
  if (name.size() != 1) return false;
  const sql::FunctionRegistry& functions = *run.session.server().functions;
  return functions.FindScalar(name[0]) != nullptr || functions.FindAggregate(name[0]) != nullptr || sql::IsSparkFunction(sql::LowerName(name[0]));
}

Status NoSuchFunction(const CommandRun& run, const sql::NameParts& name) {
  return Error("UNRESOLVED_ROUTINE")
      .With("routineName", sql::QuoteName(name))
      .With("searchPath", "[`system`.`builtin`, `system`.`session`, " +
                              sql::QuoteName({std::string(sql::kSessionCatalog), run.session.current_database()}) + "]");
}

Status RoutineNotFound(const std::pair<std::string, std::string>& name) {
  return Error("ROUTINE_NOT_FOUND").With("routineName", sql::QuoteName({std::string(sql::kSessionCatalog), name.first, name.second}));
}

Status Forbidden(const char* statement, const sql::NameParts& name) {
  return Error("FORBIDDEN_OPERATION").With("statement", statement).With("objectType", "built-in function").With("objectName", sql::QuoteName(name));
}

std::vector<std::string> BuiltinFunctionNames(Session& session) {
  std::vector<std::string> names = session.server().functions->Names();
  std::erase_if(names, [](const std::string& name) { return !sql::IsSparkFunction(name); });
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace

Status Run(CommandRun& run, const sql::ShowFunctions& command) {
  std::string database = run.session.current_database();
  if (!command.database.empty()) database = sql::LowerName(command.database.back());
  std::vector<std::string> names;
  const auto matches = [&](const std::string& name) { return !command.pattern || sql::MatchesPattern(name, *command.pattern); };
  if (command.scope != "USER") {
    for (std::string& name : BuiltinFunctionNames(run.session)) {
      if (matches(name)) names.push_back(std::move(name));
    }
  }
  if (command.scope != "SYSTEM") {
    for (const std::string& name : run.session.RegisteredFunctions()) {
      if (matches(name)) names.push_back(name);
    }
    TW_ASSIGN_OR_RETURN(const std::vector<sql::FunctionInfo> functions, run.catalog().ListFunctions(database));
    for (const sql::FunctionInfo& function : functions) {
      if (matches(function.name)) names.push_back(std::string(sql::kSessionCatalog) + "." + function.database + "." + function.name);
    }
  }
  std::sort(names.begin(), names.end());
  Rows rows;
  for (std::string& name : names) rows.push_back({TextValue(std::move(name))});
  return run.Answer({{"function", DataType::String(), false}}, rows);
}

Status Run(CommandRun& run, const sql::DescribeFunction& command) {
  const data::Schema schema{{"function_desc", DataType::String(), false}};
  const std::string name = sql::LowerName(command.name.back());
  const sql::FunctionRegistry& functions = *run.session.server().functions;
  const sql::ScalarFunction* scalar = command.name.size() == 1 ? functions.FindScalar(name) : nullptr;
  const sql::AggregateFunction* aggregate = command.name.size() == 1 ? functions.FindAggregate(name) : nullptr;
  if (scalar == nullptr && aggregate == nullptr) {
    TW_ASSIGN_OR_RETURN(const auto qualified, run.session.TableName(command.name));
    TW_ASSIGN_OR_RETURN(const std::optional<sql::FunctionInfo> found, run.catalog().FindFunction(qualified.first, qualified.second));
    if (!found) return NoSuchFunction(run, command.name);
    const std::string full = std::string(sql::kSessionCatalog) + "." + found->database + "." + found->name;
    return run.Answer(schema, {{TextValue("Function: " + full)}, {TextValue("Class: " + found->class_name)}, {TextValue("Usage: N/A.")}});
  }
  const std::string doc(scalar != nullptr ? scalar->doc : aggregate->doc);
  const std::string signature(scalar != nullptr ? scalar->signature : aggregate->signature);
  const sql::FunctionExample example = scalar != nullptr ? scalar->example : aggregate->example;
  Rows rows{{TextValue("Function: " + name)}, {TextValue("Usage: " + name + signature + " - " + doc)}};
  if (command.extended) {
    std::string text = "Extended Usage:\n";
    if (!example.sql.empty()) text += "    Examples:\n      > " + std::string(example.sql) + ";\n       " + std::string(example.result) + "\n  \n";
    text += "    Since: " + std::string(scalar != nullptr ? scalar->since : aggregate->since) + "\n";
    rows.push_back({TextValue(std::move(text))});
  }
  return run.Answer(schema, rows);
}

Status Run(CommandRun& run, const sql::CreateFunction& command) {
  if (command.temporary) {
    return Error("CANNOT_LOAD_FUNCTION_CLASS").With("className", command.class_name).With("functionName", sql::QuoteName(command.name));
  }
  TW_ASSIGN_OR_RETURN(const auto name, run.session.TableName(command.name));
  using IfExists = sql::Catalog::IfExists;
  const IfExists if_exists = command.replace ? IfExists::kReplace : command.if_not_exists ? IfExists::kKeep : IfExists::kFail;
  return run.catalog().CreateFunction({name.first, name.second, command.class_name}, if_exists).status();
}

Status Run(CommandRun& run, const sql::DropFunction& command) {
  if (IsBuiltin(run, command.name)) return Forbidden("DROP", command.name);
  TW_ASSIGN_OR_RETURN(const auto name, run.session.TableName(command.name));
  bool dropped = false;
  if (!command.temporary) {
    TW_ASSIGN_OR_RETURN(dropped, run.catalog().DropFunction(name.first, name.second));
  }
  return dropped || command.if_exists ? Status::OK() : RoutineNotFound(name);
}

Status Run(CommandRun& run, const sql::RefreshFunction& command) {
  if (IsBuiltin(run, command.name)) return Error("_LEGACY_ERROR_TEMP_1256").With("functionName", command.name.back());
  TW_ASSIGN_OR_RETURN(const auto name, run.session.TableName(command.name));
  TW_ASSIGN_OR_RETURN(const std::optional<sql::FunctionInfo> found, run.catalog().FindFunction(name.first, name.second));
  return found ? Status::OK() : RoutineNotFound(name);
}

}  // namespace thalweg::front
