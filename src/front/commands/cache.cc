// Every read sees the data as it is: there is no cache to fill or to drop.
#include "front/commands/handlers.h"

namespace thalweg::front {

namespace {

Status CheckRelation(CommandRun& run, const sql::NameParts& name) {
  return run.session.Analyze(std::make_shared<sql::UnresolvedRelation>(name, sql::OptionMap(), false)).status();
}

}  // namespace

Status Run(CommandRun& run, const sql::CacheTable& command) {
  if (command.query == nullptr) return CheckRelation(run, command.name);
  TW_ASSIGN_OR_RETURN(sql::PlanPtr analyzed, run.session.Analyze(command.query));
  return run.session.CreateTempView(command.name.back(), std::move(analyzed), false, false);
}

Status Run(CommandRun& run, const sql::UncacheTable& command) {
  return command.if_exists ? Status::OK() : CheckRelation(run, command.name);
}

Status Run(CommandRun&, const sql::ClearCache&) { return Status::OK(); }
Status Run(CommandRun& run, const sql::RefreshTable& command) { return CheckRelation(run, command.name); }

}  // namespace thalweg::front
