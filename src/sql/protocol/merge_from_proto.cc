// DataFrame.mergeInto(...).when...merge().

#include <spark/connect/commands.pb.h>

#include "sql/plan/commands.h"
#include "sql/protocol/command_proto.h"

namespace thalweg::sql {

namespace pb = ::spark::connect;

namespace {

Result<MergeAction::Kind> ReadKind(const pb::MergeAction& message) {
  switch (message.action_type()) {
    case pb::MergeAction::ACTION_TYPE_DELETE: return MergeAction::Kind::kDelete;
    case pb::MergeAction::ACTION_TYPE_INSERT: return MergeAction::Kind::kInsert;
    case pb::MergeAction::ACTION_TYPE_INSERT_STAR: return MergeAction::Kind::kInsertAll;
    case pb::MergeAction::ACTION_TYPE_UPDATE: return MergeAction::Kind::kUpdate;
    case pb::MergeAction::ACTION_TYPE_UPDATE_STAR: return MergeAction::Kind::kUpdateAll;
    default: return InternalError("an action of MERGE that is none of ours");
  }
}

Result<MergeAction> ReadAction(const pb::Expression& expression, PlanReader& reader) {
  if (!expression.has_merge_action()) return InternalError("a clause of MERGE that is no action");
  const pb::MergeAction& message = expression.merge_action();
  MergeAction action;
  TW_ASSIGN_OR_RETURN(action.kind, ReadKind(message));
  if (message.has_condition()) {
    TW_ASSIGN_OR_RETURN(action.condition, reader.ReadExpression(message.condition()));
  }
  for (const pb::MergeAction::Assignment& assignment : message.assignments()) {
    Assignment read;
    TW_ASSIGN_OR_RETURN(read.column, reader.ReadExpression(assignment.key()));
    TW_ASSIGN_OR_RETURN(read.value, reader.ReadExpression(assignment.value()));
    action.assignments.push_back(std::move(read));
  }
  return action;
}

template <typename Repeated>
Result<std::vector<MergeAction>> ReadActions(const Repeated& expressions, PlanReader& reader) {
  std::vector<MergeAction> actions;
  for (const pb::Expression& expression : expressions) {
    TW_ASSIGN_OR_RETURN(MergeAction action, ReadAction(expression, reader));
    actions.push_back(std::move(action));
  }
  return actions;
}

}  // namespace

Result<PlanPtr> MergeFromProto(const pb::MergeIntoTableCommand& message, PlanReader& reader) {
  MergeIntoTable merge;
  TW_ASSIGN_OR_RETURN(NameParts name, reader.environment().ParseName(message.target_table_name()));
  merge.target = std::make_shared<UnresolvedRelation>(std::move(name), OptionMap(), false);
  TW_ASSIGN_OR_RETURN(merge.source, reader.ReadRelation(message.source_table_plan()));
  TW_ASSIGN_OR_RETURN(merge.condition, reader.ReadExpression(message.merge_condition()));
  TW_ASSIGN_OR_RETURN(merge.matched, ReadActions(message.match_actions(), reader));
  TW_ASSIGN_OR_RETURN(merge.not_matched, ReadActions(message.not_matched_actions(), reader));
  TW_ASSIGN_OR_RETURN(merge.not_matched_by_source, ReadActions(message.not_matched_by_source_actions(), reader));
  merge.with_schema_evolution = message.with_schema_evolution();
  return std::make_shared<Command>(CommandBody(std::move(merge)));
}

}  // namespace thalweg::sql
