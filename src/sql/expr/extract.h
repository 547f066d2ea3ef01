#pragma once

// child[extraction] and child.field over a resolved child: struct fields, array elements, map values.

#include "sql/expr/expression.h"
#include "sql/expr/function.h"

namespace thalweg::sql {

/// The call that `child[extraction]` means by the child's type. The functions are internal ones of this file
/// (getstructfield, getarraystructfields, getarrayitem, getmapvalue), not of the registry.
/// Errors: FIELD_NOT_FOUND, AMBIGUOUS_REFERENCE_TO_FIELDS, INVALID_EXTRACT_FIELD_TYPE, INVALID_EXTRACT_BASE_FIELD_TYPE,
/// DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE for an index that is not a number.
/// Source: Spark's ExtractValue.
Result<ExprPtr> MakeExtract(const ExprPtr& child, const ExprPtr& extraction, const BindContext& context);

/// getstructfield of that ordinal.
ExprPtr MakeStructField(const ExprPtr& child, size_t ordinal);

/// Whether the call is one of the four.
bool IsExtract(const Expr& expr);
/// The ordinal of a getstructfield, -1 for everything else.
int StructFieldOrdinal(const Expr& expr);

}  // namespace thalweg::sql
