#pragma once

#include <vector>

#include "data/formats/parquet/column_predicate.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// Those conjuncts of a scan's filters that compare one of `columns` with literals, for readers that can skip by
/// statistics. What has another form is left out: the plan filters again.
std::vector<data::ColumnPredicate> PredicatesOf(const sql::ScanRequest& scan, const data::Schema& columns);

}  // namespace thalweg::connectors
