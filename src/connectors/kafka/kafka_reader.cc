#include "connectors/kafka/kafka_reader.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <cmath>

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"

namespace thalweg::connectors {
namespace {

constexpr int kRestarts = 3;  // of one reader, for records that are gone
constexpr int kWatermarkTimeoutMs = 5000;

class KafkaRangeReader final : public sql::PartitionReader {
 public:
  KafkaRangeReader(std::shared_ptr<PartitionFetcher> fetcher, OffsetRange range,
                   std::vector<std::string> columns, bool fail_on_data_loss, bool park_at_end)
      : fetcher_(std::move(fetcher)),
        cursor_(fetcher_->Cursor(range.partition)),
        range_(std::move(range)),
        columns_(std::move(columns)),
        fail_on_data_loss_(fail_on_data_loss),
        park_at_end_(park_at_end),
        next_(range_.from) {}
  ~KafkaRangeReader() override { LetGo(); }

  Result<sql::ReadStep> Next() override {
    if (next_ >= range_.until) {
      LetGo();
      return sql::ReadStep(sql::ReadEnd{});
    }
    if (!held_) {
      std::shared_ptr<Signal> freed;
      if (!cursor_->TryHold(&freed)) {
        if (cursor_->closed()) return Cancelled();
        return sql::ReadStep(sql::ReadBlocked{std::move(freed)});
      }
      held_ = true;
      TW_RETURN_NOT_OK(cursor_->MoveTo(next_));
    }
    return ReadSome();
  }
  int64_t bytes_read() const override { return bytes_read_; }

 private:
  Result<sql::ReadStep> ReadSome() {
    auto block = std::make_shared<MessageBlock>(cursor_->client());
    const auto limit =
        static_cast<size_t>(std::min<int64_t>(range_.until - next_, data::kChunkRows));
    block->messages().reserve(std::min<size_t>(limit, 256));
    const CursorEvent event = cursor_->Take(limit, range_.until, &block->messages());
    if (!block->messages().empty()) next_ = cursor_->position();
    switch (event.kind) {
      case CursorEvent::Kind::kNone:
        break;
      case CursorEvent::Kind::kEnd:
        next_ = range_.until;
        break;
      case CursorEvent::Kind::kError:
        return event.error;
      case CursorEvent::Kind::kOutOfRange:
      case CursorEvent::Kind::kUnknown:
        TW_RETURN_NOT_OK(Lost(event));
        break;
    }
    if (!block->messages().empty()) {
      TW_ASSIGN_OR_RETURN(data::Chunk chunk,
                          BuildRows(std::move(block), range_.partition, columns_, &bytes_read_));
      return sql::ReadStep(sql::ReadChunk{std::move(chunk)});
    }
    if (next_ >= range_.until) {
      LetGo();
      return sql::ReadStep(sql::ReadEnd{});
    }
    return Wait();
  }

  Result<sql::ReadStep> Wait() {
    if (cursor_->closed()) return Cancelled();
    TW_RETURN_NOT_OK(fetcher_->failure());
    const std::optional<std::chrono::nanoseconds> since = cursor_->waiting_since();
    if (since && SystemClock::Get().NowMonotonic() - *since > fetcher_->poll_timeout()) {
      int64_t earliest = 0, latest = 0;
      if (Watermarks(&earliest, &latest) && (next_ < earliest || next_ >= latest)) {
        TW_PROBE("kafka: a range ends beyond its partition");
        TW_RETURN_NOT_OK(Lost({CursorEvent::Kind::kOutOfRange, next_, Status::OK()}));
        return ReadSome();
      }
      return Error("KAFKA_REQUEST_FAILED")
          .With("attempted", "read " + range_.partition.ToString())
          .With("error", "Cannot fetch record for offset " + std::to_string(next_) + " in " +
                             std::to_string(fetcher_->poll_timeout().count()) + " milliseconds" +
                             (cursor_->client()->last_error().empty()
                                  ? ""
                                  : " (" + cursor_->client()->last_error() + ")"))
          .Kind(ErrorKind::kEnvironment);
    }
    return sql::ReadStep(sql::ReadBlocked{cursor_->AwaitArrival()});
  }

  /// What the broker holds of the partition; false when it does not say.
  bool Watermarks(int64_t* earliest, int64_t* latest) const {
    return rd_kafka_query_watermark_offsets(cursor_->client()->get(),
                                            range_.partition.topic.c_str(),
                                            range_.partition.partition, earliest, latest,
                                            kWatermarkTimeoutMs) == RD_KAFKA_RESP_ERR_NO_ERROR;
  }

  /// Records of the range are gone: an error, or on to what is left of it.
  Status Lost(const CursorEvent& event) {
    if (fail_on_data_loss_) {
      Error loss = Error("KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE")
                       .With("startOffset", static_cast<long long>(next_))
                       .With("endOffset", static_cast<long long>(range_.until))
                       .With("topicPartition", range_.partition.ToString())
                       .With("groupId", "none");
      if (!event.error.ok()) return std::move(loss).Because(event.error);
      return loss;
    }
    TW_PROBE("kafka: records of a range are gone");
    int64_t earliest = 0, latest = 0;
    const bool known = Watermarks(&earliest, &latest);
    const bool gone = event.kind == CursorEvent::Kind::kUnknown || !known || earliest >= range_.until ||
                      latest <= next_ || ++restarts_ > kRestarts;
    const int64_t resume = gone ? range_.until : std::max(next_, earliest);
    TW_LOG(kWarn, "kafka records are gone and skipped", {"partition", range_.partition},
           {"from", next_}, {"until", resume});
    next_ = resume;
    return gone ? Status::OK() : cursor_->MoveTo(resume);
  }

  void LetGo() {
    if (!held_) return;
    held_ = false;
    if (park_at_end_) cursor_->Park();
    cursor_->Release();
  }

  const std::shared_ptr<PartitionFetcher> fetcher_;
  const std::shared_ptr<PartitionCursor> cursor_;
  const OffsetRange range_;
  const std::vector<std::string> columns_;
  const bool fail_on_data_loss_;
  const bool park_at_end_;
  int64_t next_;
  int64_t bytes_read_ = 0;
  int restarts_ = 0;
  bool held_ = false;
};

class KafkaSplit final : public sql::InputSplit {
 public:
  KafkaSplit(std::shared_ptr<PartitionFetcher> fetcher, OffsetRange range,
             std::vector<std::string> columns, bool fail_on_data_loss, bool park_at_end)
      : fetcher_(std::move(fetcher)),
        range_(std::move(range)),
        columns_(std::move(columns)),
        fail_on_data_loss_(fail_on_data_loss),
        park_at_end_(park_at_end) {}

  Result<std::unique_ptr<sql::PartitionReader>> Open(const sql::EvalConfig&) const override {
    return std::unique_ptr<sql::PartitionReader>(std::make_unique<KafkaRangeReader>(
        fetcher_, range_, columns_, fail_on_data_loss_, park_at_end_));
  }
  std::string Describe() const override {
    return range_.partition.ToString() + " [" + std::to_string(range_.from) + ", " +
           std::to_string(range_.until) + ")";
  }

 private:
  const std::shared_ptr<PartitionFetcher> fetcher_;
  const OffsetRange range_;
  const std::vector<std::string> columns_;
  const bool fail_on_data_loss_;
  const bool park_at_end_;
};

void AppendDivided(const OffsetRange& range, int64_t parts, std::vector<OffsetRange>* out) {
  int64_t remaining = range.size(), from = range.from;
  for (int64_t part = 0; part < parts; ++part) {
    const int64_t size = remaining / (parts - part);
    remaining -= size;
    out->push_back({range.partition, from, from + size});
    from += size;
  }
}

int64_t PartCount(int64_t size, int64_t total, int64_t wanted) {
  return std::max<int64_t>(std::llround(static_cast<double>(size) / static_cast<double>(total) *
                                        static_cast<double>(wanted)),
                           1);
}

}  // namespace

std::vector<OffsetRange> DivideRanges(const std::vector<OffsetRange>& ranges,
                                      const KafkaReadOptions& options) {
  std::vector<OffsetRange> divided;
  for (const OffsetRange& range : ranges) {
    if (range.size() <= 0) continue;
    const int64_t most = options.max_records_per_partition.value_or(range.size());
    AppendDivided(range, (range.size() + most - 1) / most, &divided);
  }
  const int64_t wanted = options.min_partitions.value_or(0);
  if (wanted <= static_cast<int64_t>(divided.size())) return divided;
  int64_t total = 0, whole_total = 0, whole_count = 0;
  for (const OffsetRange& range : divided) total += range.size();
  for (const OffsetRange& range : divided) {
    if (PartCount(range.size(), total, wanted) != 1) continue;
    whole_total += range.size();
    ++whole_count;
  }
  std::vector<OffsetRange> result;
  for (const OffsetRange& range : divided) {
    if (PartCount(range.size(), total, wanted) == 1) {
      result.push_back(range);
    } else {
      AppendDivided(
          range,
          PartCount(range.size(), total - whole_total, std::max<int64_t>(wanted - whole_count, 1)),
          &result);
    }
  }
  return result;
}

sql::InputSplitPtr MakeKafkaSplit(std::shared_ptr<PartitionFetcher> fetcher, OffsetRange range,
                                  std::vector<std::string> columns, bool fail_on_data_loss,
                                  bool park_at_end) {
  return std::make_shared<KafkaSplit>(std::move(fetcher), std::move(range), std::move(columns),
                                      fail_on_data_loss, park_at_end);
}

}  // namespace thalweg::connectors
