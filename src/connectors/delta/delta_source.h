#pragma once

#include <memory>

#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// Format "delta": tables by path, batch reads with time travel, batch writes, the streaming sink, CREATE TABLE.
/// `services` must outlive it.
std::shared_ptr<const sql::DataSource> MakeDeltaDataSource(const sql::ConnectorServices& services);

}  // namespace thalweg::connectors
