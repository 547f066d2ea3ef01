#pragma once

#include <memory>

#include "connectors/kafka/kafka_options.h"
#include "connectors/kafka/kafka_properties.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// A batch read: from the starting to the ending offsets, resolved when splits are planned. Spark's
/// KafkaBatch.
std::unique_ptr<sql::Scan> MakeKafkaScan(std::shared_ptr<const KafkaReadOptions> options,
                                         KafkaClientSettings settings,
                                         const sql::ScanRequest& request);

}  // namespace thalweg::connectors
