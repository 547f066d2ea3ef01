#pragma once

#include <memory>

#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// The formats "rate" and "rate-micro-batch". Borrow the services for as long as tables live.
std::shared_ptr<const sql::DataSource> MakeRateDataSource(const sql::ConnectorServices& services);
std::shared_ptr<const sql::DataSource> MakeRateMicroBatchDataSource();

}  // namespace thalweg::connectors
