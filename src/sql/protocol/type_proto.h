#pragma once

// Spark Connect's DataType message to our types and back. Source: spark/connect/types.proto.

#include "base/status.h"
#include "data/types/data_type.h"

namespace spark::connect {
class DataType;
}

namespace thalweg::sql {

/// Reads a type message; DDL and JSON texts (`unparsed`) are parsed. Depth is bounded by the message's own (kMaxPlanDepth).
/// Errors: CONNECT_INVALID_PLAN.* for a message without a kind, UNSUPPORTED_FEATURE.THALWEG for kinds that are not there,
/// the type parser's errors.
Result<data::DataType> TypeFromProto(const ::spark::connect::DataType& message);

/// Fills `out`, which must be empty.
void TypeToProto(const data::DataType& type, ::spark::connect::DataType* out);
/// A table schema as the struct message that clients expect.
void SchemaToProto(const data::Schema& schema, ::spark::connect::DataType* out);

}  // namespace thalweg::sql
