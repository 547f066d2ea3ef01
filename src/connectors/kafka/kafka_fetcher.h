#pragma once

// Fetching ahead: one consumer per stream, one queue per partition, no copy and no hand-over
// between threads.
//
// librdkafka's broker threads fetch into the partitions' queues, between triggers too, until a
// queue holds its share of the buffer; readers take records straight out of them. No consumer group
// is joined. Invariants:
// - a cursor is used by one reader (or the fetcher) at a time: whoever holds it;
// - `position` is the offset that the queue continues at; records below it were handed out or
// skipped;
// - while a queue is empty, the next arrival sets the cursor's signal and tells the stream.

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/signal.h"
#include "connectors/kafka/kafka_client.h"
#include "connectors/kafka/kafka_offsets.h"
#include "connectors/kafka/kafka_rows.h"

struct rd_kafka_queue_s;
struct rd_kafka_topic_s;

namespace thalweg::connectors {

/// What a cursor met besides records.
struct CursorEvent {
  enum class Kind : uint8_t {
    kNone,
    kEnd,  ///< nothing (more) below `offset` at present: gaps and control records have been passed
    kOutOfRange,  ///< the position does not exist (any more)
    kUnknown,     ///< the topic or partition is gone
    kError,       ///< anything else that no retry mends
  };
  Kind kind = Kind::kNone;
  int64_t offset = 0;
  Status error;
};

/// The records of one partition, in order. See the invariants above.
class PartitionCursor {
 public:
  PartitionCursor(std::shared_ptr<KafkaHandle> client, TopicPartition partition, int64_t full_count,
                  int64_t full_bytes, std::shared_ptr<const std::function<void()>> on_data);
  ~PartitionCursor();
  PartitionCursor(const PartitionCursor&) = delete;
  PartitionCursor& operator=(const PartitionCursor&) = delete;

  const TopicPartition& partition() const { return partition_; }
  const std::shared_ptr<KafkaHandle>& client() const { return client_; }

  /// Takes the cursor; false when somebody has it: then `*freed` is set when it may be tried again.
  /// After Close(): never.
  bool TryHold(std::shared_ptr<Signal>* freed) TW_EXCLUDES(mutex_);
  void Release() TW_EXCLUDES(mutex_);
  /// Stops fetching, at once or when its holder releases it.
  void Close() TW_EXCLUDES(mutex_);
  bool closed() const TW_EXCLUDES(mutex_);

  // For the holder:

  /// Goes on at `offset`: with what was fetched ahead when that is where it stands, else by
  /// fetching anew.
  Status MoveTo(int64_t offset);
  int64_t position() const { return position_; }
  /// The same to fetch ahead: what failed a moment ago is left alone.
  Status Prefetch(int64_t offset);
  /// Appends up to `limit` records from the position on, in order, of those below `end`; never
  /// blocks. Stops at an event.
  CursorEvent Take(size_t limit, int64_t end, std::vector<rd_kafka_message_s*>* records);
  /// Drops events that wait in front of the queue, so that an arrival is told. True when a record
  /// waits.
  bool DropEvents();
  /// Set when records or events arrive after this call; when something is there already, at once.
  std::shared_ptr<Signal> AwaitArrival();
  /// Stops fetching; MoveTo begins again.
  void Park();
  /// Reader's clock for time-outs. Set by AwaitArrival; unset by Take when it found something.
  std::optional<std::chrono::nanoseconds> waiting_since() const TW_EXCLUDES(mutex_);
  /// Wakes a reader that waits.
  void Wake() { arrived_->Set(); }

 private:
  Status Start(int64_t offset);
  CursorEvent Classify(rd_kafka_message_s* message) const;
  CursorEvent Handle(rd_kafka_message_s* message, int64_t end,
                     std::vector<rd_kafka_message_s*>* records, int64_t* bytes);
  void CountTaken(size_t count, int64_t bytes, bool drained);

  const std::shared_ptr<KafkaHandle> client_;
  const TopicPartition partition_;
  const int64_t full_count_, full_bytes_;  // a queue of this size makes librdkafka pause
  const std::shared_ptr<const std::function<void()>> on_data_;
  const std::shared_ptr<Signal> arrived_;

  mutable Mutex mutex_;
  bool held_ TW_GUARDED_BY(mutex_) = false;
  bool closed_ TW_GUARDED_BY(mutex_) = false;
  std::shared_ptr<Signal> freed_ TW_GUARDED_BY(mutex_);
  std::optional<std::chrono::nanoseconds> waiting_since_ TW_GUARDED_BY(mutex_);

  // The holder's:
  rd_kafka_topic_s* topic_ = nullptr;
  rd_kafka_queue_s* queue_ = nullptr;
  bool failed_ = false;  // fetching ended with an error; must begin anew
  std::chrono::nanoseconds failed_at_{};
  int64_t position_ = -1;
  int64_t end_seen_ = -1;  // everything below has come out of the queue
  std::deque<rd_kafka_message_s*>
      set_aside_;  // taken from the queue, not yet looked at or beyond the range asked for
  int64_t streak_count_ = 0, streak_bytes_ = 0;  // taken since the queue was last seen empty
};

/// Owns the consumer and its cursors. Thread: any. Blocks: in Make and Stop for librdkafka's
/// threads.
class PartitionFetcher {
 public:
  struct Options {
    KafkaClientSettings settings;
    size_t partitions = 1;                     ///< expected; they share the buffer
    int64_t buffer_bytes = int64_t{64} << 20;  ///< fetched and not yet read
    std::chrono::milliseconds poll_timeout{120'000};
    std::function<void()> on_data;  ///< from any thread; never null
    /// Called about every second from a thread of its own; for what must happen without data. May
    /// be null.
    std::function<void()> on_tick;
  };
  static Result<std::shared_ptr<PartitionFetcher>> Make(Options options);
  ~PartitionFetcher();

  /// The cursor of a partition, made at the first call.
  std::shared_ptr<PartitionCursor> Cursor(const TopicPartition& partition) TW_EXCLUDES(mutex_);
  /// Begins to fetch partitions from these offsets, unless they stand there already or are being
  /// read. Stops all others.
  Status Prefetch(const PartitionOffsets& starts) TW_EXCLUDES(mutex_);
  /// Lets arrivals be told again: see PartitionCursor::DropEvents. True when records wait
  /// somewhere.
  bool DropEvents() TW_EXCLUDES(mutex_);
  /// What no retry mends (credentials, certificates).
  Status failure() const TW_EXCLUDES(mutex_);
  std::chrono::milliseconds poll_timeout() const { return options_.poll_timeout; }
  /// Ends fetching and the thread; readers that wait are woken and fail.
  void Stop() TW_EXCLUDES(mutex_);

 private:
  explicit PartitionFetcher(Options options);
  /// One turn of the thread; false when it was asked to stop.
  bool Tick(const std::stop_token& stop) TW_EXCLUDES(mutex_);
  std::vector<std::shared_ptr<PartitionCursor>> Cursors() const TW_EXCLUDES(mutex_);

  const Options options_;
  std::shared_ptr<KafkaHandle> client_;
  std::shared_ptr<const std::function<void()>> on_data_;
  int64_t full_count_ = 0, full_bytes_ = 0;
  mutable Mutex mutex_;
  std::map<TopicPartition, std::shared_ptr<PartitionCursor>> cursors_ TW_GUARDED_BY(mutex_);
  Status failure_ TW_GUARDED_BY(mutex_);
  std::jthread thread_;  // last: joins first
};

}  // namespace thalweg::connectors
