#pragma once

#include <memory>

#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// The formats "statestore" and "state-metadata". Borrow the services for as long as tables live.
/// Source: Spark's StateDataSource, StateMetadataSource.
std::shared_ptr<const sql::DataSource> MakeStateStoreDataSource(const sql::ConnectorServices& services);
std::shared_ptr<const sql::DataSource> MakeStateMetadataDataSource(const sql::ConnectorServices& services);

}  // namespace thalweg::connectors
