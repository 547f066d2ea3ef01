#include "connectors/kafka/kafka_fetcher.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>
#include <array>

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"
#include "base/thread.h"

namespace thalweg::connectors {
namespace {

constexpr size_t kTakeAtOnce = 1024;
constexpr int64_t kLeastShareBytes = int64_t{256} << 10;
constexpr std::chrono::seconds kTickPause{1};
constexpr std::chrono::seconds kRetryPause{
    1};  // between attempts to fetch a partition that cannot be fetched

}  // namespace

// --- PartitionCursor ---

PartitionCursor::PartitionCursor(std::shared_ptr<KafkaHandle> client, TopicPartition partition,
                                 int64_t full_count, int64_t full_bytes,
                                 std::shared_ptr<const std::function<void()>> on_data)
    : client_(std::move(client)),
      partition_(std::move(partition)),
      full_count_(full_count),
      full_bytes_(full_bytes),
      on_data_(std::move(on_data)),
      arrived_(std::make_shared<Signal>()),
      freed_(std::make_shared<Signal>()) {}

PartitionCursor::~PartitionCursor() {
  Park();
  if (topic_ != nullptr) rd_kafka_topic_destroy(topic_);
}

bool PartitionCursor::TryHold(std::shared_ptr<Signal>* freed) {
  const MutexLock lock(mutex_);
  if (!held_ && !closed_) {
    held_ = true;
    return true;
  }
  if (!closed_) freed_->Reset();
  *freed = freed_;
  return false;
}

void PartitionCursor::Release() {
  std::shared_ptr<Signal> freed;
  bool park = false;
  {
    const MutexLock lock(mutex_);
    park = closed_;
    waiting_since_.reset();
    if (!park) held_ = false;
    freed = freed_;
  }
  if (park) Park();  // still held, so nobody else is at it
  freed->Set();
}

void PartitionCursor::Close() {
  std::shared_ptr<Signal> freed;
  bool park = false;
  {
    const MutexLock lock(mutex_);
    if (closed_) return;
    closed_ = true;
    park = !held_;
    held_ = true;  // for good
    freed = freed_;
  }
  if (park) Park();
  freed->Set();
  arrived_->Set();
}

bool PartitionCursor::closed() const {
  const MutexLock lock(mutex_);
  return closed_;
}

Status PartitionCursor::Start(int64_t offset) {
  if (topic_ == nullptr)
    topic_ = rd_kafka_topic_new(client_->get(), partition_.topic.c_str(), nullptr);
  if (topic_ == nullptr) return KafkaError("name topic " + partition_.topic, rd_kafka_last_error());
  queue_ = rd_kafka_queue_new(client_->get());
  rd_kafka_queue_cb_event_enable(
      queue_,
      [](rd_kafka_t*, void* opaque) {
        auto* cursor = static_cast<PartitionCursor*>(opaque);
        cursor->arrived_->Set();
        (*cursor->on_data_)();
      },
      this);
  if (rd_kafka_consume_start_queue(topic_, partition_.partition, offset, queue_) != 0) {
    const rd_kafka_resp_err_t code = rd_kafka_last_error();
    rd_kafka_queue_destroy(queue_);
    queue_ = nullptr;
    return KafkaError("fetch " + partition_.ToString(), code);
  }
  position_ = offset;
  end_seen_ = -1;
  failed_ = false;
  streak_count_ = streak_bytes_ = 0;
  return Status::OK();
}

void PartitionCursor::Park() {
  if (queue_ != nullptr) {
    rd_kafka_queue_cb_event_enable(queue_, nullptr, nullptr);
    if (rd_kafka_consume_stop(topic_, partition_.partition) != 0)
      TW_LOG(kDebug, "kafka partition did not stop", {"partition", partition_},
             {"error", rd_kafka_err2str(rd_kafka_last_error())});
    rd_kafka_queue_destroy(queue_);
    queue_ = nullptr;
  }
  for (rd_kafka_message_t* message : set_aside_) rd_kafka_message_destroy(message);
  set_aside_.clear();
  position_ = -1;
}

Status PartitionCursor::Prefetch(int64_t offset) {
  const bool just_failed = failed_ && position_ == offset &&
                           SystemClock::Get().NowMonotonic() - failed_at_ < kRetryPause;
  return just_failed ? Status::OK() : MoveTo(offset);
}

Status PartitionCursor::MoveTo(int64_t offset) {
  if (queue_ != nullptr && position_ == offset && !failed_) return Status::OK();
  if (queue_ != nullptr) TW_PROBE("kafka: a range does not continue what was fetched ahead");
  Park();
  return Start(offset);
}

CursorEvent PartitionCursor::Classify(rd_kafka_message_t* message) const {
  CursorEvent event;
  event.offset = message->offset;
  switch (message->err) {
    case RD_KAFKA_RESP_ERR__PARTITION_EOF:
      event.kind = CursorEvent::Kind::kEnd;
      break;
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
      event.kind = CursorEvent::Kind::kOutOfRange;
      break;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
      event.kind = CursorEvent::Kind::kUnknown;
      break;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR__BAD_MSG:
    case RD_KAFKA_RESP_ERR__BAD_COMPRESSION:
    case RD_KAFKA_RESP_ERR__NOT_IMPLEMENTED:
      event.kind = CursorEvent::Kind::kError;
      break;
    default:
      break;  // the client goes on by itself
  }
  if (event.kind != CursorEvent::Kind::kNone && event.kind != CursorEvent::Kind::kEnd)
    event.error = KafkaError("fetch " + partition_.ToString(), message->err,
                             rd_kafka_message_errstr(message));
  return event;
}

/// A full queue makes the client pause for up to a second, also when it is emptied at once; asking
/// for the very position where it stands starts it again. Nothing is lost when records arrive in
/// between: they are fetched once more.
void PartitionCursor::CountTaken(size_t count, int64_t bytes, bool drained) {
  streak_count_ += static_cast<int64_t>(count);
  streak_bytes_ += bytes;
  if (!drained) return;
  const bool was_full = streak_count_ >= full_count_ || streak_bytes_ >= full_bytes_;
  streak_count_ = streak_bytes_ = 0;
  if (!was_full || failed_) return;
  TW_PROBE("kafka: a full buffer was emptied");
  rd_kafka_seek(topic_, partition_.partition, position_, 0);
}

CursorEvent PartitionCursor::Handle(rd_kafka_message_t* message, int64_t end,
                                    std::vector<rd_kafka_message_t*>* records, int64_t* bytes) {
  if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR) {
    CursorEvent event = Classify(message);
    rd_kafka_message_destroy(message);
    if (event.kind == CursorEvent::Kind::kEnd) {
      end_seen_ = std::max(end_seen_, event.offset);
      if (event.offset < end) event.kind = CursorEvent::Kind::kNone;  // of an earlier time
    } else if (event.kind != CursorEvent::Kind::kNone) {
      failed_ = true;
      failed_at_ = SystemClock::Get().NowMonotonic();
    }
    return event;
  }
  if (message->offset < position_) {  // a compressed batch begins before the position
    rd_kafka_message_destroy(message);
    return {};
  }
  if (message->offset >= end) {
    set_aside_.push_front(message);
    return {CursorEvent::Kind::kEnd, message->offset, Status::OK()};
  }
  position_ = message->offset + 1;
  *bytes += static_cast<int64_t>(message->len + message->key_len);
  records->push_back(message);
  return {};
}

CursorEvent PartitionCursor::Take(size_t limit, int64_t end,
                                  std::vector<rd_kafka_message_t*>* records) {
  const size_t before = records->size();
  const auto left = [&] { return limit - (records->size() - before); };
  int64_t bytes = 0;
  CursorEvent event;
  const auto going_on = [&] { return event.kind == CursorEvent::Kind::kNone && left() > 0; };
  while (!set_aside_.empty() && going_on()) {
    rd_kafka_message_t* message = set_aside_.front();
    set_aside_.pop_front();
    event = Handle(message, end, records, &bytes);
  }
  bool drained = false;
  std::array<rd_kafka_message_t*, kTakeAtOnce> taken;
  while (queue_ != nullptr && !drained && going_on()) {
    const size_t wanted = std::min(left(), taken.size());
    const auto count = static_cast<size_t>(
        std::max<ssize_t>(rd_kafka_consume_batch_queue(queue_, 0, taken.data(), wanted), 0));
    drained = count < wanted;
    size_t i = 0;
    while (i < count && event.kind == CursorEvent::Kind::kNone)
      event = Handle(taken[i++], end, records, &bytes);
    set_aside_.insert(set_aside_.end(), taken.begin() + i, taken.begin() + count);
  }
  if (event.kind == CursorEvent::Kind::kNone && position_ < end && end_seen_ >= end && drained)
    event = {CursorEvent::Kind::kEnd, end_seen_, Status::OK()};
  if (event.kind == CursorEvent::Kind::kEnd) position_ = std::max(position_, end);
  const size_t count = records->size() - before;
  CountTaken(count, bytes, drained && set_aside_.empty());
  if (count > 0 || event.kind != CursorEvent::Kind::kNone) {
    const MutexLock lock(mutex_);
    waiting_since_.reset();
  }
  return event;
}

bool PartitionCursor::DropEvents() {
  while (queue_ != nullptr && set_aside_.empty()) {
    rd_kafka_message_t* message = rd_kafka_consume_queue(queue_, 0);
    if (message == nullptr) return false;
    std::vector<rd_kafka_message_t*> none;
    int64_t bytes = 0;
    // With the position for its end every record is set aside, every event noted.
    Ignore(Handle(message, position_, &none, &bytes).error, "the next reader meets it again");
  }
  return !set_aside_.empty();
}

std::shared_ptr<Signal> PartitionCursor::AwaitArrival() {
  arrived_->Reset();
  {
    const MutexLock lock(mutex_);
    if (!waiting_since_) waiting_since_ = SystemClock::Get().NowMonotonic();
  }
  if (queue_ == nullptr || failed_ || !set_aside_.empty() || rd_kafka_queue_length(queue_) > 0 ||
      closed())
    arrived_->Set();
  return arrived_;
}

std::optional<std::chrono::nanoseconds> PartitionCursor::waiting_since() const {
  const MutexLock lock(mutex_);
  return waiting_since_;
}

// --- PartitionFetcher ---

PartitionFetcher::PartitionFetcher(Options options)
    : options_(std::move(options)),
      on_data_(std::make_shared<const std::function<void()>>(options_.on_data)) {}

Result<std::shared_ptr<PartitionFetcher>> PartitionFetcher::Make(Options options) {
  std::shared_ptr<PartitionFetcher> fetcher(new PartitionFetcher(std::move(options)));
  KafkaClientSettings settings = fetcher->options_.settings;
  const int64_t share =
      std::max(fetcher->options_.buffer_bytes /
                   static_cast<int64_t>(std::max<size_t>(fetcher->options_.partitions, 1)),
               kLeastShareBytes);
  settings.Set("queued.max.messages.kbytes", std::to_string(share >> 10));
  // The client pauses at either; a little below counts as full, since records come in whole
  // responses.
  constexpr int64_t kQueuedMinMessages = 100'000;
  fetcher->full_count_ = kQueuedMinMessages * 3 / 4;
  fetcher->full_bytes_ = share * 3 / 4;
  TW_ASSIGN_OR_RETURN(fetcher->client_, KafkaHandle::Make(KafkaRole::kConsumer, settings));
  fetcher->thread_ = StartLoop(
      "kafka fetcher", [raw = fetcher.get()](const std::stop_token& stop) { return raw->Tick(stop); });
  return fetcher;
}

PartitionFetcher::~PartitionFetcher() { Stop(); }

void PartitionFetcher::Stop() {
  thread_.request_stop();
  if (thread_.joinable() && thread_.get_id() != std::this_thread::get_id()) thread_.join();
  for (const auto& cursor : Cursors()) cursor->Close();
}

std::vector<std::shared_ptr<PartitionCursor>> PartitionFetcher::Cursors() const {
  const MutexLock lock(mutex_);
  std::vector<std::shared_ptr<PartitionCursor>> cursors;
  for (const auto& [partition, cursor] : cursors_) cursors.push_back(cursor);
  return cursors;
}

std::shared_ptr<PartitionCursor> PartitionFetcher::Cursor(const TopicPartition& partition) {
  const MutexLock lock(mutex_);
  std::shared_ptr<PartitionCursor>& cursor = cursors_[partition];
  if (cursor == nullptr)
    cursor =
        std::make_shared<PartitionCursor>(client_, partition, full_count_, full_bytes_, on_data_);
  return cursor;
}

Status PartitionFetcher::Prefetch(const PartitionOffsets& starts) {
  for (const auto& [partition, offset] : starts) {
    const std::shared_ptr<PartitionCursor> cursor = Cursor(partition);
    std::shared_ptr<Signal> freed;
    if (!cursor->TryHold(&freed)) continue;
    const Status moved = cursor->Prefetch(offset);
    cursor->Release();
    TW_RETURN_NOT_OK(moved);
  }
  for (const auto& cursor : Cursors()) {
    std::shared_ptr<Signal> freed;
    if (starts.contains(cursor->partition()) || !cursor->TryHold(&freed)) continue;
    cursor->Park();
    cursor->Release();
  }
  return Status::OK();
}

bool PartitionFetcher::DropEvents() {
  bool records = false;
  for (const auto& cursor : Cursors()) {
    std::shared_ptr<Signal> freed;
    if (!cursor->TryHold(&freed)) continue;
    records = cursor->DropEvents() || records;
    cursor->Release();
  }
  return records;
}

Status PartitionFetcher::failure() const {
  const MutexLock lock(mutex_);
  return failure_;
}

bool PartitionFetcher::Tick(const std::stop_token& stop) {
  Clock& clock = SystemClock::Get();
  if (clock.WaitFor(kTickPause, nullptr, stop) == Clock::Wake::kStop) return false;
  const Status served = client_->Serve();
  if (!served.ok()) {
    const MutexLock lock(mutex_);
    failure_ = served;
  }
  for (const auto& cursor : Cursors()) {
    const std::optional<std::chrono::nanoseconds> since = cursor->waiting_since();
    if (since && (!served.ok() || clock.NowMonotonic() - *since > options_.poll_timeout))
      cursor->Wake();
  }
  if (options_.on_tick) options_.on_tick();
  return true;
}

}  // namespace thalweg::connectors
