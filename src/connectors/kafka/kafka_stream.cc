#include "connectors/kafka/kafka_stream.h"

#include <algorithm>
#include <atomic>
#include <cmath>

#include "base/log.h"
#include "base/mutex.h"
#include "base/probe.h"
#include "connectors/kafka/kafka_fetcher.h"
#include "connectors/kafka/kafka_metadata.h"
#include "data/logs/log_text.h"
#include "data/logs/numbered_log.h"
#include "data/types/java_double.h"

namespace thalweg::connectors {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;

/// A trigger looks for new partitions when the last look is older than this; an idle query looks by
/// itself.
constexpr milliseconds kPartitionsFresh{250};
constexpr milliseconds kIdleRefresh{5000};

/// KAFKA_DATA_LOSS.<sub>
Error DataLoss(std::string_view sub_condition) {
  return Error("KAFKA_DATA_LOSS." + std::string(sub_condition));
}

int64_t SaturatingAdd(int64_t a, int64_t b) {
  int64_t sum = 0;
  return __builtin_add_overflow(a, b, &sum) ? INT64_MAX : sum;
}

class KafkaStream final : public sql::MicroBatchStream {
 public:
  KafkaStream(std::shared_ptr<const KafkaReadOptions> options, KafkaClientSettings settings,
              const sql::ConnectorServices& services, const sql::StreamContext& context)
      : options_owner_(std::move(options)),
        options_(*options_owner_),
        settings_(std::move(settings)),
        clock_(*services.clock),
        initial_log_(*services.file_system, context.metadata_path),
        on_more_data_(context.on_more_data),
        refresh_(settings_.metadata_max_age ? std::min(*settings_.metadata_max_age, kIdleRefresh)
                                            : kIdleRefresh) {}
  ~KafkaStream() override { Stop(); }

  Status Open(const sql::StreamContext& context) {
    TW_ASSIGN_OR_RETURN(metadata_, KafkaMetadata::Make(options_, settings_, context.stop));
    return Status::OK();
  }

  Result<sql::Offset> InitialOffset() override {
    TW_ASSIGN_OR_RETURN(const PartitionOffsets offsets, Initial());
    return sql::Offset{FormatOffsets(offsets)};
  }

  std::vector<sql::ReadLimit> DefaultReadLimits() const override {
    std::vector<sql::ReadLimit> limits;
    if (options_.min_offsets_per_trigger)
      limits.emplace_back(
          sql::ReadMinRows{*options_.min_offsets_per_trigger, options_.max_trigger_delay});
    if (options_.max_offsets_per_trigger)
      limits.emplace_back(sql::ReadMaxRows{*options_.max_offsets_per_trigger});
    if (limits.empty()) limits.emplace_back(sql::ReadAllAvailable{});
    return limits;
  }

  Result<std::optional<sql::Offset>> LatestOffset(
      const sql::Offset& start, const std::vector<sql::ReadLimit>& limits) override {
    TW_ASSIGN_OR_RETURN(const PartitionOffsets from, ParseOffsets(start.json));
    if (fetcher_ != nullptr) {
      TW_RETURN_NOT_OK(fetcher_->failure());
      fetcher_->DropEvents();  // what arrives from here on is told again
    }
    if (available_now_) {
      latest_ = available_now_;
    } else {
      TW_ASSIGN_OR_RETURN(const PartitionSet partitions, Partitions(from));
      TW_RETURN_NOT_OK(Prefetch(from, partitions));
      TW_ASSIGN_OR_RETURN(latest_, metadata_->LatestAfter(partitions, from));
    }
    TW_ASSIGN_OR_RETURN(const PartitionOffsets end, Limit(from, limits));
    return std::optional<sql::Offset>(sql::Offset{FormatOffsets(end)});
  }

  Result<std::optional<sql::Offset>> ReportLatestOffset() override {
    if (!latest_) return std::optional<sql::Offset>{};
    return std::optional<sql::Offset>(sql::Offset{FormatOffsets(*latest_)});
  }

  Status PrepareForTriggerAvailableNow() override {
    TW_ASSIGN_OR_RETURN(const PartitionOffsets initial, Initial());
    TW_ASSIGN_OR_RETURN(const PartitionSet partitions, Partitions(initial));
    TW_ASSIGN_OR_RETURN(available_now_, metadata_->LatestAfter(partitions, initial));
    return Status::OK();
  }

  Result<sql::Offset> DeserializeOffset(std::string_view json) override {
    TW_ASSIGN_OR_RETURN(const PartitionOffsets offsets, ParseOffsets(json));
    return sql::Offset{FormatOffsets(offsets)};
  }

  Result<std::vector<sql::InputSplitPtr>> PlanSplits(const sql::Offset& start,
                                                     const sql::Offset& end,
                                                     const sql::ScanRequest& scan) override {
    TW_ASSIGN_OR_RETURN(const PartitionOffsets from, ParseOffsets(start.json));
    TW_ASSIGN_OR_RETURN(const PartitionOffsets until, ParseOffsets(end.json));
    if (available_now_) TW_RETURN_NOT_OK(CheckAvailableNow(until));
    TW_ASSIGN_OR_RETURN(const std::vector<OffsetRange> ranges, Ranges(from, until));
    if (fetcher_ == nullptr) TW_RETURN_NOT_OK(MakeFetcher(until.size()));
    std::vector<sql::InputSplitPtr> splits;
    for (OffsetRange& range : DivideRanges(ranges, options_)) {
      splits.push_back(MakeKafkaSplit(fetcher_, std::move(range), scan.columns,
                                      options_.fail_on_data_loss,
                                      /*park_at_end=*/false));
    }
    return splits;
  }

  Status Commit(const sql::Offset&) override { return Status::OK(); }

  std::map<std::string, std::string> Metrics(
      const std::optional<sql::Offset>& latest_consumed) override {
    if (!latest_consumed || !latest_) return {};
    const Result<PartitionOffsets> consumed = ParseOffsets(latest_consumed->json);
    if (!consumed.ok()) return {};
    return BehindLatest(*consumed, *latest_);
  }

  std::chrono::milliseconds poll_interval() const override { return milliseconds(0); }
  std::string Description() const override {
    return "KafkaV2[" + DescribeSubscription(options_.subscription) + "]";
  }

  void Stop() override {
    if (fetcher_ != nullptr) fetcher_->Stop();
    fetcher_.reset();
  }

 private:
  Result<PartitionOffsets> Initial() {
    TW_ASSIGN_OR_RETURN(const std::optional<std::string> stored, initial_log_.Get(0));
    if (stored) return ParseInitialOffsets(*stored);
    TW_ASSIGN_OR_RETURN(const PartitionOffsets offsets,
                        metadata_->Resolve(options_.starting, /*starting=*/true));
    TW_RETURN_NOT_OK(initial_log_.Add(0, FormatInitialOffsets(offsets)).status());
    TW_LOG(kInfo, "kafka initial offsets", {"source", Description()},
           {"offsets", FormatOffsets(offsets)});
    return offsets;
  }

  /// The partitions of now. A topic that is gone is an error of its own only while no offset of it
  /// is known.
  Result<PartitionSet> Partitions(const PartitionOffsets& known) {
    const nanoseconds now = clock_.NowMonotonic();
    {
      const MutexLock lock(partitions_mutex_);
      if (partitions_ && now - looked_at_ < kPartitionsFresh) return *partitions_;
    }
    TW_ASSIGN_OR_RETURN(KnownPartitions found, metadata_->Partitions());
    for (const std::string& topic : found.missing_topics) {
      const auto first = known.lower_bound({topic, 0});
      if (first == known.end() || first->first.topic != topic) return UnknownTopic(topic);
    }
    const MutexLock lock(partitions_mutex_);
    partitions_ = found.partitions;
    looked_at_ = now;
    return std::move(found.partitions);
  }

  /// Looks for new partitions while the query is idle. On the fetcher's thread.
  void Tick() {
    bool look = false;
    const nanoseconds now = clock_.NowMonotonic();
    {
      const MutexLock lock(partitions_mutex_);
      look = partitions_.has_value() && now - looked_at_ >= refresh_;
    }
    if (delayed_.load())
      on_more_data_();  // minOffsetsPerTrigger: enough by now, or waited long enough?
    if (!look) return;
    const Result<KnownPartitions> found = metadata_->Partitions();
    bool changed = false;
    {
      const MutexLock lock(partitions_mutex_);
      looked_at_ = now;
      changed = found.ok() && partitions_ && *partitions_ != found->partitions;
      if (changed) partitions_.reset();
    }
    if (changed) on_more_data_();
  }

  Status MakeFetcher(size_t partitions) {
    PartitionFetcher::Options options;
    options.settings = settings_;
    // A split in the middle of a partition asks anew, and waits for a fetch that waits.
    if ((options_.min_partitions || options_.max_records_per_partition) &&
        !settings_.fetch_wait_given)
      options.settings.Set("fetch.wait.max.ms", "20");
    options.partitions = partitions;
    options.poll_timeout = options_.poll_timeout;
    options.on_data = on_more_data_;
    options.on_tick = [this] { Tick(); };
    TW_ASSIGN_OR_RETURN(fetcher_, PartitionFetcher::Make(std::move(options)));
    return Status::OK();
  }

  /// Fetches ahead what the next range will begin with.
  Status Prefetch(const PartitionOffsets& from, const PartitionSet& partitions) {
    if (fetcher_ == nullptr) TW_RETURN_NOT_OK(MakeFetcher(partitions.size()));
    PartitionOffsets starts;
    for (const TopicPartition& partition : partitions) {
      const auto found = from.find(partition);
      if (found != from.end()) starts[partition] = found->second;
    }
    return fetcher_->Prefetch(starts);
  }

  Result<PartitionOffsets> Limit(const PartitionOffsets& from,
                                 const std::vector<sql::ReadLimit>& limits) {
    delayed_.store(false);
    const sql::ReadMinRows* least = nullptr;
    const sql::ReadMaxRows* most = nullptr;
    for (const sql::ReadLimit& limit : limits) {
      if (std::holds_alternative<sql::ReadAllAvailable>(limit)) return *latest_;
      if (const auto* min = std::get_if<sql::ReadMinRows>(&limit)) least = min;
      if (const auto* max = std::get_if<sql::ReadMaxRows>(&limit)) most = max;
    }
    if (least != nullptr && Delays(*least, from)) {
      delayed_.store(true);
      return from;
    }
    if (most == nullptr) return *latest_;
    PartitionSet added;
    for (const auto& [partition, offset] : *latest_) {
      if (!from.contains(partition)) added.insert(partition);
    }
    TW_ASSIGN_OR_RETURN(PartitionOffsets start, metadata_->Earliest(added));
    start.insert(from.begin(), from.end());
    return LimitOffsets(most->rows, start, *latest_);
  }

  bool Delays(const sql::ReadMinRows& limit, const PartitionOffsets& from) {
    const int64_t now_ms = clock_.NowMillis();
    if (now_ms - last_trigger_ms_ < limit.max_delay.count()) {
      int64_t fresh = 0;
      for (const auto& [partition, offset] : *latest_) {
        const auto found = from.find(partition);
        fresh = SaturatingAdd(fresh, offset - (found == from.end() ? 0 : found->second));
      }
      if (fresh < limit.rows) return true;
    }
    last_trigger_ms_ = now_ms;
    return false;
  }

  Status Report(Error loss) const {
    Status status = std::move(loss);
    if (options_.fail_on_data_loss) return status;
    TW_LOG(kWarn, "kafka data may have been lost, going on as failOnDataLoss is false",
           {"error", status});
    return Status::OK();
  }

  /// Spark's getOffsetRangesFromResolvedOffsets.
  Result<std::vector<OffsetRange>> Ranges(const PartitionOffsets& from,
                                          const PartitionOffsets& until) {
    PartitionSet added, deleted;
    for (const auto& [partition, offset] : until) {
      if (!from.contains(partition)) added.insert(partition);
    }
    for (const auto& [partition, offset] : from) {
      if (!until.contains(partition)) deleted.insert(partition);
    }
    TW_ASSIGN_OR_RETURN(PartitionOffsets starts, metadata_->Earliest(added));
    PartitionSet lost;
    for (const TopicPartition& partition : added) {
      if (!starts.contains(partition)) lost.insert(partition);
    }
    if (!lost.empty())
      TW_RETURN_NOT_OK(Report(DataLoss("INITIAL_OFFSET_NOT_FOUND_FOR_PARTITIONS")
                                  .With("partitions", DescribeSet(lost))));
    for (const auto& [partition, offset] : starts) {
      TW_LOG(kInfo, "kafka partition added", {"partition", partition}, {"offset", offset});
      if (offset == 0) continue;
      TW_RETURN_NOT_OK(Report(DataLoss("ADDED_PARTITION_DOES_NOT_START_FROM_OFFSET_ZERO")
                                  .With("topicPartition", partition.ToString())
                                  .With("startOffset", static_cast<long long>(offset))));
    }
    if (!deleted.empty()) {
      const char* const sub_condition = options_.has_group_id
                                            ? "PARTITIONS_DELETED_AND_GROUP_ID_CONFIG_PRESENT"
                                            : "PARTITIONS_DELETED";
      TW_RETURN_NOT_OK(Report(DataLoss(sub_condition)
                                  .With("partitions", DescribeSet(deleted))
                                  .With("groupIdConfig", "group.id")));
    }
    starts.insert(from.begin(), from.end());
    std::vector<OffsetRange> ranges;
    for (const auto& [partition, offset] : until) {
      const auto start = starts.find(partition);
      if (start == starts.end()) continue;
      if (offset < start->second) {
        TW_PROBE("kafka: the end of a partition lies before its start");
        TW_RETURN_NOT_OK(Report(DataLoss("PARTITION_OFFSET_CHANGED")
                                    .With("topicPartition", partition.ToString())
                                    .With("prevOffset", static_cast<long long>(start->second))
                                    .With("newOffset", static_cast<long long>(offset))));
      }
      ranges.push_back({partition, start->second, offset});
    }
    return ranges;
  }

  /// Spark's verifyEndOffsetForTriggerAvailableNow.
  Status CheckAvailableNow(const PartitionOffsets& end) {
    const PartitionSet ends = KeysOf(end), prefetched = KeysOf(*available_now_);
    if (ends != prefetched) {
      return Error("MISMATCHED_TOPIC_PARTITIONS_BETWEEN_END_OFFSET_AND_PREFETCHED")
          .With("tpsForPrefetched", DescribeSet(prefetched))
          .With("tpsForEndOffset", DescribeSet(ends));
    }
    const auto beyond = [&](const PartitionOffsets& bound) {
      return std::any_of(end.begin(), end.end(), [&](const auto& entry) {
        const auto found = bound.find(entry.first);
        return found != bound.end() && entry.second > found->second;
      });
    };
    if (beyond(*available_now_)) {
      return Error("END_OFFSET_HAS_GREATER_OFFSET_FOR_TOPIC_PARTITION_THAN_PREFETCHED")
          .With("prefetchedOffset", DescribeOffsets(*available_now_))
          .With("endOffset", DescribeOffsets(end));
    }
    TW_ASSIGN_OR_RETURN(const KnownPartitions now, metadata_->Partitions());
    TW_ASSIGN_OR_RETURN(const PartitionOffsets latest, metadata_->LatestAfter(now.partitions, end));
    for (const TopicPartition& partition : ends) {
      if (latest.contains(partition)) continue;
      return Error("LOST_TOPIC_PARTITIONS_IN_END_OFFSET_WITH_TRIGGER_AVAILABLENOW")
          .With("tpsForLatestOffset", DescribeSet(KeysOf(latest)))
          .With("tpsForEndOffset", DescribeSet(ends));
    }
    if (!beyond(latest)) return Status::OK();
    return Error(
               "END_OFFSET_HAS_GREATER_OFFSET_FOR_TOPIC_PARTITION_THAN_LATEST_WITH_TRIGGER_"
               "AVAILABLENOW")
        .With("latestOffset", DescribeOffsets(latest))
        .With("endOffset", DescribeOffsets(end));
  }

  const std::shared_ptr<const KafkaReadOptions> options_owner_;
  const KafkaReadOptions& options_;
  const KafkaClientSettings settings_;
  Clock& clock_;
  data::NumberedLog initial_log_;
  const std::function<void()> on_more_data_;
  const milliseconds refresh_;
  std::unique_ptr<KafkaMetadata> metadata_;
  std::optional<PartitionOffsets> latest_;
  std::optional<PartitionOffsets> available_now_;
  int64_t last_trigger_ms_ = 0;
  std::atomic<bool> delayed_{false};
  Mutex partitions_mutex_;
  std::optional<PartitionSet> partitions_ TW_GUARDED_BY(partitions_mutex_);
  nanoseconds looked_at_ TW_GUARDED_BY(partitions_mutex_){};
  std::shared_ptr<PartitionFetcher> fetcher_;  // last: its thread calls Tick
};

}  // namespace

Result<std::unique_ptr<sql::MicroBatchStream>> MakeKafkaStream(
    std::shared_ptr<const KafkaReadOptions> options, KafkaClientSettings settings,
    const sql::ConnectorServices& services, const sql::StreamContext& context) {
  auto stream =
      std::make_unique<KafkaStream>(std::move(options), std::move(settings), services, context);
  TW_RETURN_NOT_OK(stream->Open(context));
  return std::unique_ptr<sql::MicroBatchStream>(std::move(stream));
}

PartitionOffsets LimitOffsets(int64_t limit, const PartitionOffsets& start,
                              const PartitionOffsets& latest) {
  PartitionOffsets sizes;
  double total = 0;
  for (const auto& [partition, end] : latest) {
    const auto begin = start.find(partition);
    if (begin == start.end() || end <= begin->second) continue;
    sizes[partition] = end - begin->second;
    total += static_cast<double>(end - begin->second);
  }
  if (total < 1) return latest;
  PartitionOffsets ends = latest;
  for (const auto& [partition, size] : sizes) {
    const double share = static_cast<double>(limit) * (static_cast<double>(size) / total);
    const auto rounded = static_cast<int64_t>(share < 1 ? std::ceil(share) : std::floor(share));
    ends[partition] = std::min(ends[partition], SaturatingAdd(start.at(partition), rounded));
  }
  return ends;
}

std::string FormatInitialOffsets(const PartitionOffsets& offsets) {
  return std::string(1, '\0') + data::LogVersionLine(1) + "\n" + FormatOffsets(offsets);
}

Result<PartitionOffsets> ParseInitialOffsets(std::string_view bytes) {
  if (!bytes.empty())
    bytes.remove_prefix(1);  // Spark 2.1 wrote a zero there and every reader skips it
  if (!bytes.starts_with('v')) return ParseOffsets(bytes);
  const size_t line_end = bytes.find('\n');
  if (line_end == std::string_view::npos)
    return data::MalformedLogEntry("initial offsets of a Kafka source", "no version line");
  TW_RETURN_NOT_OK(data::ParseLogVersion(bytes.substr(0, line_end), 1).status());
  return ParseOffsets(bytes.substr(line_end + 1));
}

std::map<std::string, std::string> BehindLatest(const PartitionOffsets& consumed,
                                                const PartitionOffsets& latest) {
  int64_t least = INT64_MAX, most = INT64_MIN, count = 0;
  double sum = 0;
  for (const auto& [partition, offset] : latest) {
    const auto found = consumed.find(partition);
    if (found == consumed.end()) continue;
    const int64_t behind = offset - found->second;
    least = std::min(least, behind);
    most = std::max(most, behind);
    sum += static_cast<double>(behind);
    ++count;
  }
  if (count == 0) return {};
  std::string average;
  data::AppendJavaDouble(sum / static_cast<double>(count), &average);
  return {{"minOffsetsBehindLatest", std::to_string(least)},
          {"maxOffsetsBehindLatest", std::to_string(most)},
          {"avgOffsetsBehindLatest", average}};
}

}  // namespace thalweg::connectors
