#pragma once

#include <memory>

#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// The format "noop", for batch and streaming writes.
std::shared_ptr<const sql::DataSource> MakeNoopDataSource();

}  // namespace thalweg::connectors
