#pragma once

#include "base/settings.h"

namespace thalweg::engine {

inline const Setting<std::string> kPythonProgram{
    .key = "spark.pyspark.python",
    .default_value = "",
    .doc = "Interpreter of Python workers; empty: PYSPARK_PYTHON, PYSPARK_DRIVER_PYTHON, python3."};
inline const Setting<int64_t> kPythonMemoryBytes{
    .key = "spark.executor.pyspark.memory",
    .default_value = 0,
    .min = 0,
    .unit = SettingUnit::kBytes,
    .doc = "Address space of one Python worker; 0: no limit. A bare number is bytes, unlike in Spark (MiB)."};
inline const Setting<bool> kReuseWorkers{
    .key = "spark.python.worker.reuse",
    .default_value = true,
    .doc = "Use a Python worker for more than one task."};
inline const Setting<int64_t> kIdleWorkers{
    .key = "spark.python.factory.idleWorkerMaxPoolSize",
    .default_value = 8,
    .min = 0,
    .doc = "Idle Python workers that are kept per interpreter and path."};
inline const Setting<int64_t> kWorkerSilenceSeconds{
    .key = "spark.python.worker.idleTimeoutSeconds",
    .default_value = 0,
    .min = 0,
    .max = INT32_MAX,
    .unit = SettingUnit::kSeconds,
    .doc = "A Python worker that answers nothing for longer is taken for hung and killed; 0: never."};
inline const Setting<int64_t> kPickledRows{
    .key = "spark.sql.execution.python.udf.maxRecordsPerBatch",
    .default_value = 100,
    .min = 1,
    .doc = "Rows that go to a Python function without Arrow at a time."};
inline const Setting<int64_t> kArrowRows{
    .key = "spark.sql.execution.arrow.maxRecordsPerBatch",
    .default_value = 10'000,
    .doc = "Rows of one Arrow batch, of a result or for a Python function; 0 or less: as many as fit."};
inline const Setting<int64_t> kWorkerStartMs{
    .key = "thalweg.python.startTimeout",
    .default_value = 60000,
    .min = 1,
    .max = INT32_MAX,
    .unit = SettingUnit::kMillis,
    .doc = "How long a Python worker may take to start and to answer for the first time."};
inline const Setting<int64_t> kFunctionInitMs{
    .key = "thalweg.python.initTimeout",
    .default_value = 300000,
    .min = 1,
    .max = INT32_MAX,
    .unit = SettingUnit::kMillis,
    .doc = "How long unpickling the function of foreachBatch may take."};

inline const Setting<int64_t> kStopGraceMs{
    .key = "thalweg.python.stopGrace",
    .default_value = 1000,
    .min = 0,
    .max = INT32_MAX,
    .unit = SettingUnit::kMillis,
    .doc = "How long stop() lets a running foreachBatch function go on, so that its batch is committed and does not come again."};

}  // namespace thalweg::engine
