#pragma once

// Reading ranges of offsets. Spark's KafkaBatchPartitionReader and KafkaDataConsumer.

#include <memory>
#include <string>
#include <vector>

#include "connectors/kafka/kafka_fetcher.h"
#include "connectors/kafka/kafka_options.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// Offsets [from, until) of one partition.
struct OffsetRange {
  TopicPartition partition;
  int64_t from = 0;
  int64_t until = 0;
  int64_t size() const { return until - from; }
};

/// Ranges as tasks: empty ones dropped, larger ones split by maxRecordsPerPartition, then by
/// minPartitions. Order: as given.
std::vector<OffsetRange> DivideRanges(const std::vector<OffsetRange>& ranges,
                                      const KafkaReadOptions& options);

/// One range as work. Readers of one partition take turns at its cursor.
/// Reading ends at `until`, also when the last offsets are gaps. Records that are gone:
/// KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE, or the rest that is there (failOnDataLoss=false).
sql::InputSplitPtr MakeKafkaSplit(std::shared_ptr<PartitionFetcher> fetcher, OffsetRange range,
                                  std::vector<std::string> columns, bool fail_on_data_loss,
                                  bool park_at_end);

}  // namespace thalweg::connectors
