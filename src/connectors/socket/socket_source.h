#pragma once

#include <memory>

#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// The format "socket". Borrows the services for as long as tables live.
std::shared_ptr<const sql::DataSource> MakeSocketDataSource(const sql::ConnectorServices& services);

}  // namespace thalweg::connectors
