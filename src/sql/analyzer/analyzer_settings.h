#pragma once

#include <cstdint>

#include "base/settings.h"

namespace thalweg::sql {

inline const Setting<int64_t> kPivotMaxValues{
    .key = "spark.sql.pivotMaxValues",
    .default_value = 10'000,
    .min = INT32_MIN,
    .max = INT32_MAX,
    .doc = "How many values of its column a pivot that names none may find."};

inline const Setting<int64_t> kTransposeMaxValues{
    .key = "spark.sql.transposeMaxValues",
    .default_value = 500,
    .min = INT32_MIN,
    .max = INT32_MAX,
    .doc = "How many rows may be transposed."};

}  // namespace thalweg::sql
