#pragma once

#include "base/settings.h"

namespace thalweg::connectors {

// Of statements that change rows.
inline const Setting<std::string> kTxnAppId{
    .key = "spark.databricks.delta.write.txnAppId",
    .doc = "The application whose numbered writes happen once; with write.txnVersion."};
inline const Setting<std::string> kTxnVersion{
    .key = "spark.databricks.delta.write.txnVersion",
    .doc = "The number of the application's next write; a smaller or equal one was done before."};
inline const Setting<std::string> kUserMetadata{
    .key = "spark.databricks.delta.commitInfo.userMetadata",
    .doc = "A text that commits keep for the table's history."};

// Of OPTIMIZE.
inline const Setting<int64_t> kOptimizeMinFileSize{
    .key = "spark.databricks.delta.optimize.minFileSize",
    .default_value = 1073741824, .min = 0, .unit = SettingUnit::kBytes,
    .doc = "OPTIMIZE looks at files that are smaller."};
inline const Setting<int64_t> kOptimizeMaxFileSize{
    .key = "spark.databricks.delta.optimize.maxFileSize",
    .default_value = 1073741824, .min = 1, .unit = SettingUnit::kBytes,
    .doc = "Size up to which OPTIMIZE puts files together."};
inline const Setting<double> kOptimizeMaxDeletedRatio{
    .key = "spark.databricks.delta.optimize.maxDeletedRowsRatio",
    .default_value = 0.05, .min = 0.0, .max = 1.0,
    .doc = "OPTIMIZE rewrites files with a larger part of deleted rows."};

// Of VACUUM.
inline const Setting<bool> kVacuumCheckRetention{
    .key = "spark.databricks.delta.retentionDurationCheck.enabled",
    .default_value = true,
    .doc = "VACUUM refuses a shorter retention than the table's."};
inline const Setting<bool> kVacuumIgnoreWindow{
    .key = "spark.databricks.delta.vacuum.retentionWindowIgnore.enabled",
    .default_value = true,
    .doc = "VACUUM keeps to the table's retention whatever RETAIN says, 0 apart."};
inline const Setting<bool> kVacuumLogging{
    .key = "spark.databricks.delta.vacuum.logging.enabled",
    .default_value = true,
    .doc = "VACUUM writes its start and its end into the table's log, for which a full disk has no room: without, it only deletes."};

}  // namespace thalweg::connectors
