#pragma once

// The stored form of catalogue entries: one JSON object each. Keys are never renamed.

#include <string>

#include "sql/catalog/catalog.h"

namespace thalweg::sql {

std::string TableToJson(const TableInfo& table);
/// Errors: INTERNAL_ERROR for a damaged entry.
Result<TableInfo> TableFromJson(const std::string& json);
std::string DatabaseToJson(const DatabaseInfo& database);
Result<DatabaseInfo> DatabaseFromJson(const std::string& json);

}  // namespace thalweg::sql
