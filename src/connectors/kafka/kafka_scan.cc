#include "connectors/kafka/kafka_scan.h"

#include "connectors/kafka/kafka_metadata.h"
#include "connectors/kafka/kafka_reader.h"
#include "connectors/kafka/kafka_rows.h"

namespace thalweg::connectors {
namespace {

class KafkaScan final : public sql::Scan {
 public:
  KafkaScan(std::shared_ptr<const KafkaReadOptions> options, KafkaClientSettings settings,
            const sql::ScanRequest& request)
      : options_(std::move(options)), settings_(std::move(settings)), columns_(request.columns) {}

  data::Schema schema() const override {
    const data::Schema all = KafkaSchema(options_->include_headers);
    data::Schema own;
    for (const std::string& column : columns_) {
      for (const data::StructField& field : all) {
        if (field.name == column) own.push_back(field);
      }
    }
    return own;
  }
  std::string Describe() const override {
    return "Kafka " + DescribeSubscription(options_->subscription);
  }

  Result<std::vector<sql::InputSplitPtr>> PlanSplits() override {
    TW_ASSIGN_OR_RETURN(const std::unique_ptr<KafkaMetadata> metadata,
                        KafkaMetadata::Make(*options_, settings_, {}));
    TW_ASSIGN_OR_RETURN(const PartitionOffsets start,
                        metadata->Resolve(options_->starting, /*starting=*/true));
    TW_ASSIGN_OR_RETURN(const PartitionOffsets end,
                        metadata->Resolve(options_->ending, /*starting=*/false));
    TW_ASSIGN_OR_RETURN(const std::vector<OffsetRange> ranges, Ranges(start, end));
    PartitionFetcher::Options fetch;
    fetch.settings = settings_;
    // Everything to read is there; only a fetch that waits at the end would hold up the next split.
    if (!settings_.fetch_wait_given) fetch.settings.Set("fetch.wait.max.ms", "5");
    fetch.partitions = ranges.size();
    fetch.poll_timeout = options_->poll_timeout;
    fetch.on_data = [] {};
    TW_ASSIGN_OR_RETURN(const std::shared_ptr<PartitionFetcher> fetcher,
                        PartitionFetcher::Make(std::move(fetch)));
    std::vector<sql::InputSplitPtr> splits;
    for (OffsetRange& range : DivideRanges(ranges, *options_))
      splits.push_back(MakeKafkaSplit(fetcher, std::move(range), columns_,
                                      options_->fail_on_data_loss, /*park_at_end=*/true));
    return splits;
  }

 private:
  static Result<std::vector<OffsetRange>> Ranges(const PartitionOffsets& start,
                                                 const PartitionOffsets& end) {
    if (KeysOf(start) != KeysOf(end)) {
      return Error("MISMATCHED_TOPIC_PARTITIONS_BETWEEN_START_OFFSET_AND_END_OFFSET")
          .With("tpsForStartOffset", DescribeSet(KeysOf(start)))
          .With("tpsForEndOffset", DescribeSet(KeysOf(end)));
    }
    std::vector<OffsetRange> ranges;
    for (const auto& [partition, from] : start) {
      const int64_t until = end.at(partition);
      if (from > until) {
        return Error("RESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET")
            .With("startOffset", static_cast<long long>(from))
            .With("endOffset", static_cast<long long>(until))
            .With("topic", partition.topic)
            .With("partition", partition.partition);
      }
      ranges.push_back({partition, from, until});
    }
    return ranges;
  }

  const std::shared_ptr<const KafkaReadOptions> options_;
  const KafkaClientSettings settings_;
  const std::vector<std::string> columns_;
};

}  // namespace

std::unique_ptr<sql::Scan> MakeKafkaScan(std::shared_ptr<const KafkaReadOptions> options,
                                         KafkaClientSettings settings,
                                         const sql::ScanRequest& request) {
  return std::make_unique<KafkaScan>(std::move(options), std::move(settings), request);
}

}  // namespace thalweg::connectors
