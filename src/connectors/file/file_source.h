#pragma once

#include <memory>
#include <vector>

#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// The formats of files: json, text, csv, parquet, orc; avro, xml, binaryFile answer UNSUPPORTED_FEATURE.THALWEG. Borrow the services for as
/// long as tables live.
std::vector<std::shared_ptr<const sql::DataSource>> MakeFileDataSources(const sql::ConnectorServices& services);

}  // namespace thalweg::connectors
