#pragma once

// The Kafka source as a stream. Spark's KafkaMicroBatchStream.

#include <memory>

#include "connectors/kafka/kafka_options.h"
#include "connectors/kafka/kafka_properties.h"
#include "connectors/kafka/kafka_reader.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// Opens a stream. Does not talk to a broker yet.
Result<std::unique_ptr<sql::MicroBatchStream>> MakeKafkaStream(
    std::shared_ptr<const KafkaReadOptions> options, KafkaClientSettings settings,
    const sql::ConnectorServices& services, const sql::StreamContext& context);

/// The end of a range that takes about `limit` offsets from `start` on, shared out by what each
/// partition has. `start` holds a position for every partition that has one.
PartitionOffsets LimitOffsets(int64_t limit, const PartitionOffsets& start,
                              const PartitionOffsets& latest);

/// The file sources/<n>/0: a zero byte, `v1`, a line end, the offsets.
std::string FormatInitialOffsets(const PartitionOffsets& offsets);
/// Errors: MALFORMED_LOG_FILE, INVALID_LOG_VERSION.*, ILLEGAL_ARGUMENT.
Result<PartitionOffsets> ParseInitialOffsets(std::string_view bytes);

/// Minimum, maximum and mean of what lies between `consumed` and `latest`, as Spark's progress
/// tells it.
std::map<std::string, std::string> BehindLatest(const PartitionOffsets& consumed,
                                                const PartitionOffsets& latest);

}  // namespace thalweg::connectors
