#pragma once

#include <memory>

#include "connectors/delta/delta_log.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// A Delta table at a path. `snapshot` is null for a target that is not there yet; `pinned`: a version was asked for;
/// `options` are those of a streaming read.
sql::TablePtr MakeDeltaTable(std::shared_ptr<DeltaLog> log, DeltaSnapshotPtr snapshot, bool pinned, sql::OptionMap options = {});

}  // namespace thalweg::connectors
