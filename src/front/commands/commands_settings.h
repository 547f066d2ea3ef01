#pragma once

#include "base/settings.h"

namespace thalweg::front {

inline const Setting<bool> kSchemaAutoMerge{
    .key = "spark.databricks.delta.schema.autoMerge.enabled",
    .default_value = false,
    .doc = "Writes into Delta tables and MERGE add the columns that the table does not have."};

}  // namespace thalweg::front
