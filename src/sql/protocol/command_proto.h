#pragma once

// Spark Connect's Command messages that are plans of ours: writes and views. Streaming, checkpoint and registration commands
// need a session's objects and are handled by front/connect. Source: spark/connect/commands.proto.

#include "base/status.h"
#include "sql/protocol/plan_proto.h"

namespace spark::connect {
class CreateDataFrameViewCommand;
class MergeIntoTableCommand;
class WriteOperation;
class WriteOperationV2;
}  // namespace spark::connect

namespace thalweg::sql {

Result<PlanPtr> WriteFromProto(const ::spark::connect::WriteOperation& message, PlanReader& reader);
Result<PlanPtr> WriteV2FromProto(const ::spark::connect::WriteOperationV2& message, PlanReader& reader);
Result<PlanPtr> MergeFromProto(const ::spark::connect::MergeIntoTableCommand& message, PlanReader& reader);
Result<PlanPtr> ViewFromProto(const ::spark::connect::CreateDataFrameViewCommand& message, PlanReader& reader);

}  // namespace thalweg::sql
