#pragma once

// The client's Python functions. Source: spark/connect/expressions.proto.

#include "sql/expr/python_udf.h"
#include "sql/protocol/plan_proto.h"

namespace spark::connect {
class CommonInlineUserDefinedFunction;
}

namespace thalweg::sql {

/// The function of a message; its arguments are not looked at. Errors: UNSUPPORTED_FEATURE.THALWEG for functions of other languages and
/// for other eval types, those of types.
Result<PythonFunctionPtr> PythonFunctionFromProto(const ::spark::connect::CommonInlineUserDefinedFunction& message, PlanReader& reader);
/// The call of an inline function.
Result<ExprPtr> PythonUdfFromProto(const ::spark::connect::CommonInlineUserDefinedFunction& message, PlanReader& reader);

}  // namespace thalweg::sql
