#include "front/commands/handlers.h"

namespace thalweg::front {

Status Run(CommandRun& run, const sql::ExplainCommand& command) {
  using Mode = sql::ExplainCommand::Mode;
  const char* mode = "simple";
  switch (command.mode) {
    case Mode::kSimple: break;
    case Mode::kExtended: mode = "extended"; break;
    case Mode::kCodegen: mode = "codegen"; break;
    case Mode::kCost: mode = "cost"; break;
    case Mode::kFormatted: mode = "formatted"; break;
  }
  TW_ASSIGN_OR_RETURN(std::string text, run.session.Explain(command.query, mode, run.stop));
  return run.Answer({{"plan", data::DataType::String(), true}}, {{TextValue(std::move(text))}});
}

}  // namespace thalweg::front
