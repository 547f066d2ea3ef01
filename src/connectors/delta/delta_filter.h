#pragma once

#include <vector>

#include "data/formats/parquet/column_predicate.h"
#include "sql/expr/expression.h"

namespace thalweg::connectors {

/// The simple conjuncts among `filters` (column against literal, IN, IS [NOT] NULL), by the columns' names. The rest is left
/// out: who filters again loses nothing.
std::vector<data::ColumnPredicate> SimplePredicates(const sql::ExprList& filters);

}  // namespace thalweg::connectors
