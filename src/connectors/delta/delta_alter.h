#pragma once

// Changes of a Delta table's definition. Source: Delta's documentation, "Table utility commands".

#include <memory>
#include <span>
#include <string>

#include "connectors/delta/delta_commit.h"
#include "sql/datasource/alter_table.h"

namespace thalweg::connectors {

/// All changes in one commit, named after the first.
/// Errors: UNSUPPORTED_FEATURE.THALWEG for what needs column mapping or another protocol, DELTA_ADD_CONSTRAINTS,
/// DELTA_UNKNOWN_CONFIGURATION, FIELD_ALREADY_EXISTS; those of CommitDelta.
Status AlterDelta(const std::shared_ptr<DeltaLog>& log, std::span<const sql::TableChange> changes, const sql::TableChangeContext& context);

/// A definition on its way from the snapshot's to the one that is committed.
struct DeltaAlteration {
  DeltaSnapshotPtr snapshot;
  std::string table_name;
  DeltaProtocol protocol;
  DeltaMetadata metadata;
  std::string operation, parameters_json;   ///< of the change that was made last
  data::Schema schema() const;              ///< of `metadata`, which schemas that were read once are
};

Status Apply(const sql::SetTableProperties& change, DeltaAlteration* table);
Status Apply(const sql::UnsetTableProperties& change, DeltaAlteration* table);
Status Apply(const sql::SetTableComment& change, DeltaAlteration* table);
Status Apply(const sql::AddTableColumns& change, DeltaAlteration* table);
Status Apply(const sql::DropTableColumns& change, DeltaAlteration* table);
Status Apply(const sql::RenameTableColumn& change, DeltaAlteration* table);
Status Apply(const sql::ChangeTableColumn& change, DeltaAlteration* table);

}  // namespace thalweg::connectors
