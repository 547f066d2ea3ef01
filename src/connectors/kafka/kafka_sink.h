#pragma once

// Writing to Kafka: at least once, as Spark's KafkaWriter.

#include <memory>

#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// Sends every row as a record: columns by exact name (topic, key, value, headers, partition),
/// others ignored. Writers share a producer per (brokers, settings); the end of a writer waits, by
/// signal, until the brokers have all its records. Errors: _LEGACY_ERROR_TEMP_3080 for columns that
/// do not fit, KAFKA_NULL_TOPIC_IN_DATA, KAFKA_REQUEST_FAILED.
Result<std::unique_ptr<sql::StreamingWrite>> MakeKafkaStreamingWrite(
    const sql::StreamWriteRequest& request, data::FileSystem& files);
/// The same for a batch. Errors: also save modes other than append and errorifexists.
Result<std::unique_ptr<sql::BatchWrite>> MakeKafkaBatchWrite(const sql::WriteRequest& request,
                                                             data::FileSystem& files);

}  // namespace thalweg::connectors
