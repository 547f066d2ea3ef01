#include "front/commands/handlers.h"

namespace thalweg::front {

Status Run(CommandRun&, const sql::MergeIntoTable&) { return Unsupported("MERGE INTO"); }
Status Run(CommandRun&, const sql::UpdateTable&) { return Unsupported("UPDATE"); }
Status Run(CommandRun&, const sql::DeleteFromTable&) { return Unsupported("DELETE FROM"); }

}  // namespace thalweg::front
