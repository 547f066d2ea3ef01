#pragma once

// The messages of the Python package delta-spark (delta.tables.DeltaTable over Connect), which travel as extensions.
// Source: delta/connect/*.proto.

#include "base/status.h"
#include "sql/protocol/plan_proto.h"

namespace google::protobuf {
class Any;
}

namespace thalweg::sql {

/// Whether an extension is one of Delta's relations. `*runs`: it does something, or looks something up, when it is read.
bool IsDeltaRelation(const ::google::protobuf::Any& extension, bool* runs);
/// A relation: a table as it is, or the rows of a command that has run. Errors: the command's; UNSUPPORTED_FEATURE.THALWEG.
Result<PlanPtr> DeltaRelationFromProto(const ::google::protobuf::Any& extension, PlanReader& reader);

bool IsDeltaCommand(const ::google::protobuf::Any& extension);
/// A command to run. Errors: UNSUPPORTED_FEATURE.THALWEG for clone, generate and others.
Result<PlanPtr> DeltaCommandFromProto(const ::google::protobuf::Any& extension, PlanReader& reader);

}  // namespace thalweg::sql
