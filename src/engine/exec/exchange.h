#pragma once

// Rows between tasks. Internal to this room.

#include <atomic>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "engine/exec/operator.h"
#include "engine/exec/physical_plan.h"
#include "engine/exec/task.h"

namespace thalweg::engine {

/// Carries rows and markers from the instances of one node to those of another. Chunks are compacted when they enter; the
/// query's account pays while they wait. A full lane stops its producers until the consumer has taken half of it.
/// Thread: each producer and consumer index is confined to its task; everything else is synchronised.
class Exchange {
 public:
  enum class Lanes : uint8_t {
    kShared,   ///< one lane per consumer, rows as they come
    kOrdered,  ///< a lane per producer, read one after the other: all of producer 0 first
    kAligned,  ///< a lane per producer, read in turn; barriers wait for each other, the least watermark is passed on
  };
  struct Shape {
    Distribution distribution = Distribution::kSingle;
    int producers = 1;
    int consumers = 1;
    std::vector<int> key_columns;
  };
  Exchange(Shape shape, MemoryAccount* account);
  ~Exchange();

  /// Starts an epoch, while no task runs; what is left of the last one is dropped. `first_row(consumer)` is called once per
  /// epoch before the first row or marker for a consumer becomes visible, on the producer's thread.
  void Begin(Lanes lanes, std::vector<std::shared_ptr<Task>> producer_tasks,
             std::vector<std::shared_ptr<Task>> consumer_tasks, std::function<void(int)> first_row);

  // --- producers ---

  /// False: `waiter` is woken when there is room. Asked before the producer makes another chunk.
  bool HasRoom(int producer, const std::shared_ptr<Task>& waiter);
  /// Errors: OUT_OF_MEMORY.
  Status Send(int producer, const data::Chunk& chunk);
  void SendMarker(int producer, const Marker& marker);
  /// The producer has no more rows. True for the last one: the caller then tells the consumers.
  bool Finish(int producer);
  /// True when no consumer wants more rows.
  bool closed() const { return open_consumers_.load(std::memory_order_acquire) == 0; }

  // --- consumers ---

  using Item = std::variant<std::monostate, data::Chunk, Marker>;
  /// monostate: nothing there now; the consumer's task is woken when there is. `*drained`: nothing will come any more.
  Item Receive(int consumer, bool* drained);
  /// The consumer wants no more rows in this epoch. The last one to say so wakes the producers.
  void CloseConsumer(int consumer);
  const Shape& shape() const { return shape_; }

 private:
  struct Entry {
    Item item;
    int64_t rows = 0;
    int64_t bytes = 0;
  };
  struct Lane {
    Mutex mutex;
    std::deque<Entry> entries TW_GUARDED_BY(mutex);
    int64_t rows TW_GUARDED_BY(mutex) = 0;
    bool full TW_GUARDED_BY(mutex) = false;
    bool finished TW_GUARDED_BY(mutex) = false;  // the producer of this lane has finished
    bool closed TW_GUARDED_BY(mutex) = false;
  };
  /// Producers that wait for room; one for each lane group that fills up independently.
  struct Waiters {
    std::atomic<int> full_lanes{0};
    Mutex mutex;
    std::vector<std::shared_ptr<Task>> tasks TW_GUARDED_BY(mutex);
  };
  struct Consumer {
    std::shared_ptr<Task> task;
    std::atomic<bool> active{false};
    // Confined to the consumer's task:
    int lane = 0;
    std::vector<uint8_t> at_barrier;  // by lane: its barrier waits for the others
    Marker barrier;
    std::vector<int64_t> watermarks;  // by lane
    int64_t watermark = INT64_MIN;
  };
  enum class Taken : uint8_t { kItem, kEmpty, kFinished };

  int lanes_per_consumer() const { return lanes_mode_ == Lanes::kShared ? 1 : shape_.producers; }
  int WaitersOf(int producer) const { return lanes_mode_ == Lanes::kShared ? 0 : producer; }
  Lane& LaneAt(int consumer, int lane) { return *lanes_[static_cast<size_t>(consumer) * lanes_per_consumer() + lane]; }
  Status Put(int producer, int consumer, Item item, int64_t bytes);
  Status PutCompacted(int producer, int consumer, data::Chunk chunk, bool charge);
  Status Scatter(int producer, const data::Chunk& chunk, const std::vector<int32_t>& targets);
  Taken Take(int consumer, int lane, Entry* entry);
  Item ReceiveOrdered(int consumer, bool* drained);
  Item ReceiveAligned(int consumer, bool* drained);
  void Activate(int consumer);
  void MadeRoom(int waiters);
  void Drop(Lane& lane) TW_REQUIRES(lane.mutex);

  const Shape shape_;
  MemoryAccount* const account_;
  Lanes lanes_mode_ = Lanes::kShared;
  std::function<void(int)> first_row_;
  std::vector<std::unique_ptr<Lane>> lanes_;
  std::vector<std::unique_ptr<Waiters>> waiters_;
  std::vector<std::unique_ptr<Consumer>> consumers_;
  std::vector<std::shared_ptr<Task>> producer_tasks_;
  std::atomic<int> open_producers_{0};
  std::atomic<int> open_consumers_{0};
  std::vector<int> next_target_;  // round robin, by producer
};

}  // namespace thalweg::engine
