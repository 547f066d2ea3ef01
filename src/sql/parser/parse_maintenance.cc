// Maintenance of a table: OPTIMIZE, VACUUM, RESTORE, DESCRIBE HISTORY and DETAIL. Source: Delta's documentation, "Optimizations".

#include "sql/parser/parser_state.h"

namespace thalweg::sql {

/// A table's name, or a path in quotes.
Result<PlanPtr> ParserState::MaintainedTable() {
  if (Peek().kind == TokenKind::kString) {
    auto source = std::make_shared<UnresolvedDataSource>();
    source->format = "delta";
    TW_ASSIGN_OR_RETURN(std::string path, StringText());
    source->paths.push_back(std::move(path));
    return PlanPtr(std::move(source));
  }
  const int begin = static_cast<int>(at_);
  TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
  auto relation = std::make_shared<UnresolvedRelation>(std::move(name), OptionMap(), false);
  relation->origin = OriginFrom(begin);
  return PlanPtr(std::move(relation));
}

Result<PlanPtr> ParserState::DescribeTableLog() {
  MaintainTable command;
  command.name = "DESCRIBE " + Advance().upper;
  if (command.name == "DESCRIBE DETAIL") TakeWord("TABLE");
  TW_ASSIGN_OR_RETURN(command.target, MaintainedTable());
  if (command.name == "DESCRIBE HISTORY" && TakeWord("LIMIT")) {
    TW_ASSIGN_OR_RETURN(const int64_t limit, IntegerValue());
    command.arguments.Set("limit", std::to_string(limit));
  }
  return MakeCommand(std::move(command));
}

Result<PlanPtr> ParserState::MaintainStatement() {
  const std::string verb = Advance().upper;
  if (verb == "OPTIMIZE") return OptimizeStatement();
  if (verb == "VACUUM") return VacuumStatement();
  MaintainTable command;
  command.name = "RESTORE";
  if (!IsSymbol(".", 1)) TakeWord("TABLE");
  TW_ASSIGN_OR_RETURN(command.target, MaintainedTable());
  TakeWord("TO");
  const bool by_version = TakeWords({"VERSION", "AS", "OF"});
  if (!by_version && !TakeWords({"TIMESTAMP", "AS", "OF"})) return Unexpected();
  if (Peek().kind == TokenKind::kString) {
    TW_ASSIGN_OR_RETURN(std::string text, StringText());
    command.arguments.Set(by_version ? "version" : "timestamp", std::move(text));
  } else if (by_version) {
    TW_ASSIGN_OR_RETURN(const int64_t version, IntegerValue());
    command.arguments.Set("version", std::to_string(version));
  } else {
    return Unexpected();
  }
  return MakeCommand(std::move(command));
}

Result<PlanPtr> ParserState::OptimizeStatement() {
  MaintainTable command;
  command.name = "OPTIMIZE";
  TW_ASSIGN_OR_RETURN(command.target, MaintainedTable());
  if (TakeWord("FULL")) command.arguments.Set("full", "true");
  if (TakeWord("WHERE")) {
    const int begin = static_cast<int>(at_);
    TW_ASSIGN_OR_RETURN(command.condition, Expression());
    command.arguments.Set("predicate", TextFrom(begin));
  }
  if (TakeWords({"ZORDER", "BY"})) {
    const bool parenthesis = TakeSymbol("(");
    do {
      TW_ASSIGN_OR_RETURN(const NameParts parts, MultipartName());
      std::string name;
      for (const std::string& part : parts) name += (name.empty() ? "" : ".") + part;
      command.columns.push_back(std::move(name));
    } while (TakeSymbol(","));
    if (parenthesis) TW_RETURN_NOT_OK(ExpectSymbol(")"));
  }
  return MakeCommand(std::move(command));
}

Result<PlanPtr> ParserState::VacuumStatement() {
  MaintainTable command;
  command.name = "VACUUM";
  TW_ASSIGN_OR_RETURN(command.target, MaintainedTable());
  while (true) {
    if (TakeWord("FULL")) {
      command.arguments.Set("full", "true");
    } else if (TakeWord("LITE")) {
      command.arguments.Set("lite", "true");
    } else if (TakeWord("RETAIN")) {
      const bool negative = TakeSymbol("-");
      if (Peek().kind != TokenKind::kInteger && Peek().kind != TokenKind::kDecimal) return Unexpected();
      command.arguments.Set("retainHours", (negative ? "-" : "") + Advance().text);
      TW_RETURN_NOT_OK(ExpectWord("HOURS"));
    } else if (TakeWords({"DRY", "RUN"})) {
      command.arguments.Set("dryRun", "true");
    } else if (TakeWords({"USING", "INVENTORY"})) {
      return Unsupported("VACUUM USING INVENTORY");
    } else {
      return MakeCommand(std::move(command));
    }
  }
}

}  // namespace thalweg::sql
