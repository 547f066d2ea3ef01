#pragma once

#include "base/status.h"
#include "data/types/data_type.h"

namespace thalweg::connectors {

/// Adds the fields of one file's schema to those of the files before it (`mergeSchema`): structs, elements and values field by field, decimals of
/// one scale to the wider; everything else must be equal. Errors: CANNOT_MERGE_SCHEMAS.
Status MergeSchema(const data::Schema& schema, bool case_sensitive, data::Schema* merged);

}  // namespace thalweg::connectors
