#pragma once

#include <memory>

#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// The format "console".
std::shared_ptr<const sql::DataSource> MakeConsoleDataSource(const sql::ConnectorServices& services);

}  // namespace thalweg::connectors
