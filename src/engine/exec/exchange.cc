// Invariants:
// - a lane's `full` is counted in full_lanes of its waiters exactly while it is set;
// - bytes of entries in lanes are charged to the account, exactly once;
// - an entry becomes visible after first_row for its consumer, and before the consumer's task is woken.

#include "engine/exec/exchange.h"

#include <algorithm>
#include <utility>

#include "data/rowformat/xor_shift_random.h"
#include "engine/exec/partitioner.h"

namespace thalweg::engine {
namespace {

constexpr int64_t kLaneRows = 16 * data::kChunkRows;
constexpr size_t kLaneEntries = 64;

}  // namespace

Exchange::Exchange(Shape shape, MemoryAccount* account) : shape_(std::move(shape)), account_(account) {
  for (int i = 0; i < shape_.consumers; ++i) consumers_.push_back(std::make_unique<Consumer>());
  for (int i = 0; i < shape_.producers; ++i) waiters_.push_back(std::make_unique<Waiters>());
  // Spark's starts: partitions of few rows do not all fill the same consumers.
  for (int i = 0; i < shape_.producers; ++i) {
    next_target_.push_back((data::XorShiftRandom(i).NextInt(shape_.consumers) + 1) % shape_.consumers);
  }
}

Exchange::~Exchange() {
  for (const auto& lane : lanes_) {
    MutexLock lock(lane->mutex);
    Drop(*lane);
  }
}

void Exchange::Drop(Lane& lane) {
  if (account_ != nullptr) {
    for (const Entry& entry : lane.entries) account_->Shrink(entry.bytes);
  }
  lane.entries.clear();
  lane.rows = 0;
}

void Exchange::Begin(Lanes lanes, std::vector<std::shared_ptr<Task>> producer_tasks,
                     std::vector<std::shared_ptr<Task>> consumer_tasks, std::function<void(int)> first_row) {
  producer_tasks_ = std::move(producer_tasks);
  lanes_mode_ = lanes;
  first_row_ = std::move(first_row);
  const size_t count = static_cast<size_t>(shape_.consumers) * lanes_per_consumer();
  while (lanes_.size() < count) lanes_.push_back(std::make_unique<Lane>());
  for (const auto& lane : lanes_) {
    MutexLock lock(lane->mutex);
    Drop(*lane);
    lane->full = lane->finished = lane->closed = false;
  }
  for (const auto& waiters : waiters_) {
    waiters->full_lanes.store(0);
    MutexLock lock(waiters->mutex);
    waiters->tasks.clear();
  }
  for (int i = 0; i < shape_.consumers; ++i) {
    Consumer& consumer = *consumers_[i];
    consumer.task = std::move(consumer_tasks[i]);
    consumer.active.store(false);
    consumer.lane = 0;
    consumer.watermark = INT64_MIN;
    if (lanes == Lanes::kAligned) {
      consumer.at_barrier.assign(shape_.producers, 0);
      consumer.watermarks.assign(shape_.producers, INT64_MIN);
    }
  }
  open_producers_.store(shape_.producers);
  open_consumers_.store(shape_.consumers);
}

bool Exchange::HasRoom(int producer, const std::shared_ptr<Task>& waiter) {
  Waiters& waiters = *waiters_[WaitersOf(producer)];
  if (waiters.full_lanes.load() == 0) return true;
  MutexLock lock(waiters.mutex);
  if (waiters.full_lanes.load() == 0) return true;
  if (std::find(waiters.tasks.begin(), waiters.tasks.end(), waiter) == waiters.tasks.end()) {
    waiters.tasks.push_back(waiter);
  }
  return false;
}

void Exchange::MadeRoom(int waiters_index) {
  Waiters& waiters = *waiters_[waiters_index];
  std::vector<std::shared_ptr<Task>> wake;
  {
    MutexLock lock(waiters.mutex);
    if (waiters.full_lanes.fetch_sub(1) == 1) wake.swap(waiters.tasks);
  }
  for (const auto& task : wake) task->Wake();
}

void Exchange::Activate(int consumer) {
  Consumer& target = *consumers_[consumer];
  if (!target.active.load(std::memory_order_acquire) && !target.active.exchange(true)) first_row_(consumer);
}

Status Exchange::Put(int producer, int consumer, Item item, int64_t bytes) {
  const auto* chunk = std::get_if<data::Chunk>(&item);
  const int64_t rows = chunk != nullptr ? chunk->num_rows() : 0;
  const int lane_index = lanes_mode_ == Lanes::kShared ? 0 : producer;
  Lane& lane = LaneAt(consumer, lane_index);
  if (bytes > 0 && account_ != nullptr) TW_RETURN_NOT_OK(account_->Grow(bytes));
  Activate(consumer);
  {
    MutexLock lock(lane.mutex);
    if (lane.closed) {
      if (bytes > 0 && account_ != nullptr) account_->Shrink(bytes);
      return Status::OK();
    }
    lane.entries.push_back({std::move(item), rows, bytes});
    lane.rows += rows;
    if (!lane.full && (lane.rows >= kLaneRows || lane.entries.size() >= kLaneEntries)) {
      lane.full = true;
      waiters_[WaitersOf(producer)]->full_lanes.fetch_add(1);
    }
  }
  consumers_[consumer]->task->Wake();
  return Status::OK();
}

Status Exchange::PutCompacted(int producer, int consumer, data::Chunk chunk, bool charge) {
  const int64_t bytes = charge && account_ != nullptr ? chunk.bytes() : 0;
  return Put(producer, consumer, std::move(chunk), bytes);
}

Status Exchange::Send(int producer, const data::Chunk& chunk) {
  const int64_t rows = chunk.num_rows();
  if (rows == 0) return Status::OK();
  const int consumers = shape_.consumers;
  if (shape_.distribution == Distribution::kBroadcast) {
    const data::Chunk kept = chunk.Compacted();
    for (int i = 0; i < consumers; ++i) TW_RETURN_NOT_OK(PutCompacted(producer, i, kept, i == 0));
    return Status::OK();
  }
  if (consumers == 1) return PutCompacted(producer, 0, chunk.Compacted(), true);
  std::vector<int32_t> targets;
  if (shape_.distribution == Distribution::kHash) {
    TW_RETURN_NOT_OK(HashPartitions(chunk, shape_.key_columns, consumers, &targets));
  } else {
    int next = next_target_[producer];
    targets.resize(rows);
    for (int64_t row = 0; row < rows; ++row) {
      targets[row] = next;
      next = next + 1 == consumers ? 0 : next + 1;
    }
    next_target_[producer] = next;
  }
  return Scatter(producer, chunk, targets);
}

Status Exchange::Scatter(int producer, const data::Chunk& chunk, const std::vector<int32_t>& targets) {
  const bool one_target = std::all_of(targets.begin(), targets.end(), [&](int32_t t) { return t == targets[0]; });
  if (one_target) return PutCompacted(producer, targets[0], chunk.Compacted(), true);
  // Counting sort of the physical rows by target.
  std::vector<int32_t> starts(shape_.consumers + 1, 0);
  for (const int32_t target : targets) ++starts[target + 1];
  for (int i = 0; i < shape_.consumers; ++i) starts[i + 1] += starts[i];
  std::vector<int32_t> rows(targets.size());
  std::vector<int32_t> next(starts.begin(), starts.end() - 1);
  const auto& selection = chunk.selection();
  for (size_t row = 0; row < targets.size(); ++row) {
    rows[next[targets[row]]++] = selection ? (*selection)[row] : static_cast<int32_t>(row);
  }
  for (int i = 0; i < shape_.consumers; ++i) {
    if (starts[i] == starts[i + 1]) continue;
    data::Chunk part = chunk;
    part.set_selection(
        std::make_shared<const std::vector<int32_t>>(rows.begin() + starts[i], rows.begin() + starts[i + 1]));
    TW_RETURN_NOT_OK(PutCompacted(producer, i, part.Compacted(), true));
  }
  return Status::OK();
}

void Exchange::SendMarker(int producer, const Marker& marker) {
  for (int i = 0; i < shape_.consumers; ++i) Ignore(Put(producer, i, marker, 0), "without bytes it cannot fail");
}

bool Exchange::Finish(int producer) {
  if (lanes_mode_ != Lanes::kShared) {
    for (int i = 0; i < shape_.consumers; ++i) {
      Lane& lane = LaneAt(i, producer);
      {
        MutexLock lock(lane.mutex);
        lane.finished = true;
      }
      if (consumers_[i]->active.load()) consumers_[i]->task->Wake();
    }
  }
  if (open_producers_.fetch_sub(1) != 1) return false;
  if (lanes_mode_ == Lanes::kShared) {
    for (int i = 0; i < shape_.consumers; ++i) {
      Lane& lane = LaneAt(i, 0);
      MutexLock lock(lane.mutex);
      lane.finished = true;
    }
  }
  return true;
}

Exchange::Taken Exchange::Take(int consumer, int lane_index, Entry* entry) {
  Lane& lane = LaneAt(consumer, lane_index);
  bool room = false;
  {
    MutexLock lock(lane.mutex);
    if (lane.entries.empty()) return lane.finished ? Taken::kFinished : Taken::kEmpty;
    *entry = std::move(lane.entries.front());
    lane.entries.pop_front();
    lane.rows -= entry->rows;
    if (lane.full && lane.rows <= kLaneRows / 2 && lane.entries.size() <= kLaneEntries / 2) {
      lane.full = false;
      room = true;
    }
  }
  if (room) MadeRoom(lanes_mode_ == Lanes::kShared ? 0 : lane_index);
  if (entry->bytes > 0) account_->Shrink(entry->bytes);
  return Taken::kItem;
}

Exchange::Item Exchange::Receive(int consumer, bool* drained) {
  *drained = false;
  return lanes_mode_ == Lanes::kAligned ? ReceiveAligned(consumer, drained) : ReceiveOrdered(consumer, drained);
}

Exchange::Item Exchange::ReceiveOrdered(int consumer, bool* drained) {
  Consumer& self = *consumers_[consumer];
  Entry entry;
  while (self.lane < lanes_per_consumer()) {
    switch (Take(consumer, self.lane, &entry)) {
      case Taken::kItem: return std::move(entry.item);
      case Taken::kEmpty: return std::monostate{};
      case Taken::kFinished: ++self.lane; break;
    }
  }
  *drained = true;
  return std::monostate{};
}

Exchange::Item Exchange::ReceiveAligned(int consumer, bool* drained) {
  Consumer& self = *consumers_[consumer];
  const int lanes = shape_.producers;
  int finished = 0;
  int waiting = 0;
  for (int step = 0; step < lanes; ++step) {
    const int lane = self.lane;
    self.lane = lane + 1 == lanes ? 0 : lane + 1;
    if (self.at_barrier[lane]) {
      ++waiting;
      continue;
    }
    Entry entry;
    const Taken taken = Take(consumer, lane, &entry);
    if (taken == Taken::kFinished) {
      ++finished;
      self.watermarks[lane] = INT64_MAX;
    }
    if (taken != Taken::kItem) continue;
    const auto* marker = std::get_if<Marker>(&entry.item);
    if (marker == nullptr) return std::move(entry.item);
    step = -1;  // look at every lane again before deciding anything
    waiting = finished = 0;
    if (marker->kind == Marker::Kind::kBarrier) {
      self.at_barrier[lane] = 1;
      self.barrier = *marker;
      continue;
    }
    self.watermarks[lane] = std::max(self.watermarks[lane], marker->value);
    const int64_t least = *std::min_element(self.watermarks.begin(), self.watermarks.end());
    if (least > self.watermark) {
      self.watermark = least;
      return Marker{Marker::Kind::kWatermark, least};
    }
  }
  if (waiting > 0 && waiting + finished == lanes) {
    std::fill(self.at_barrier.begin(), self.at_barrier.end(), 0);
    return self.barrier;
  }
  *drained = finished == lanes;
  return std::monostate{};
}

void Exchange::CloseConsumer(int consumer) {
  bool was_open = false;
  for (int i = 0; i < lanes_per_consumer(); ++i) {
    Lane& lane = LaneAt(consumer, i);
    bool room = false;
    {
      MutexLock lock(lane.mutex);
      was_open = !lane.closed;
      lane.closed = true;
      Drop(lane);
      room = std::exchange(lane.full, false);
    }
    if (room) MadeRoom(lanes_mode_ == Lanes::kShared ? 0 : i);
  }
  if (!was_open || open_consumers_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
  for (const auto& task : producer_tasks_) task->Wake();
}

}  // namespace thalweg::engine
