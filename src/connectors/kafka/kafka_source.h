#pragma once

#include <memory>

#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// The format "kafka": source and sink, streaming and batch. Borrows the services for as long as
/// tables live.
std::shared_ptr<const sql::DataSource> MakeKafkaDataSource(const sql::ConnectorServices& services);

}  // namespace thalweg::connectors
