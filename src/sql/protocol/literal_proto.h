#pragma once

// Spark Connect's Literal message to our literals and back. Source: spark/connect/expressions.proto.

#include "base/status.h"
#include "data/types/data_type.h"
#include "data/types/value.h"
#include "sql/expr/expression.h"

namespace spark::connect {
class Expression_Literal;
}

namespace thalweg::sql {

struct TypedValue {
  data::Value value;
  data::DataType type;
};

/// Reads a literal. Errors: CONNECT_INVALID_PLAN.* for literals without value or type.
Result<TypedValue> ValueFromProto(const ::spark::connect::Expression_Literal& message);
Result<ExprPtr> LiteralFromProto(const ::spark::connect::Expression_Literal& message);

/// Fills `out`, which must be empty. Nested values carry their type as 4.1 clients and later read it.
/// Errors: UNSUPPORTED_FEATURE.THALWEG for variants.
Status LiteralToProto(const data::Value& value, const data::DataType& type, ::spark::connect::Expression_Literal* out);

}  // namespace thalweg::sql
