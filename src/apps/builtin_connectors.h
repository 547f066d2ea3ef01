#pragma once

#include "base/status.h"
#include "sql/datasource/data_source.h"

namespace thalweg::apps {

/// Every source and sink of this build. `services` outlives the registry.
Status RegisterBuiltinConnectors(const sql::ConnectorServices& services, sql::DataSourceRegistry* registry);

}  // namespace thalweg::apps
