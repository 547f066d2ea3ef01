#include "front/commands/run_command.h"

#include "data/columnar/builder.h"
#include "front/commands/handlers.h"

namespace thalweg::front {

Status CommandRun::Answer(data::Schema schema, const std::vector<data::ValueList>& rows) {
  answered = true;
  if (consumer.on_schema) TW_RETURN_NOT_OK(consumer.on_schema(schema));
  if (rows.empty() || !consumer.on_chunk) return Status::OK();
  std::vector<data::DataType> types;
  for (const data::StructField& field : schema) types.push_back(field.type);
  return consumer.on_chunk(data::ChunkFromRows(types, rows)).status();
}

Status RunCommand(Session& session, const sql::PlanPtr& plan, const ResultConsumer& consumer, std::stop_token stop) {
  const auto* command = plan->As<sql::Command>();
  if (command == nullptr) return InternalError("a plan that is no command: " + plan->NodeText());
  CommandRun run{session, consumer, std::move(stop)};
  TW_RETURN_NOT_OK(std::visit([&](const auto& body) { return Run(run, body); }, command->body));
  if (!run.answered) return run.Answer({}, {});
  return Status::OK();
}

}  // namespace thalweg::front
