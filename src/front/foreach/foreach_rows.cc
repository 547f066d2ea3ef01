#include "front/foreach/foreach_rows.h"

#include <algorithm>
#include <atomic>
#include <deque>
#include <thread>
#include <utility>
#include <vector>

#include "base/bounded_queue.h"
#include "base/cores.h"
#include "base/mutex.h"
#include "base/no_throw.h"
#include "base/thread.h"
#include "engine/pyworker/pyworker_settings.h"
#include "engine/pyworker/row_pickle.h"
#include "engine/pyworker/task_protocol.h"

namespace thalweg::front {

namespace {

constexpr size_t kQueuedPartitions = 4096;

// One partition of one epoch: filled by an engine task, emptied by a thread of the sink.
class PartitionRows {
 public:
  PartitionRows(PartitionId partition, BatchId epoch, MemoryAccount* memory) : partition_(partition), epoch_(epoch) {
    if (memory != nullptr) memory_ = MemoryReservation(*memory);
  }

  /// Errors: OUT_OF_MEMORY.
  Status Add(data::Chunk chunk) {
    const MutexLock lock(mutex_);
    TW_RETURN_NOT_OK(memory_.Grow(chunk.bytes()));
    chunks_.push_back(std::move(chunk));
    changed_.NotifyAll();
    return Status::OK();
  }
  void Complete() {
    const MutexLock lock(mutex_);
    complete_ = true;
    changed_.NotifyAll();
  }
  void Cancel() { stop_.request_stop(); }
  /// The next rows; nothing at the end. Blocks.
  Result<std::optional<data::Chunk>> Next() {
    const MutexLock lock(mutex_);
    const bool ready = changed_.Wait(mutex_, stop_.get_token(), [&] { return complete_ || !chunks_.empty(); });
    if (!ready || stop_.stop_requested()) return Cancelled();
    memory_.Shrink(std::exchange(taken_bytes_, 0));
    if (chunks_.empty()) return std::optional<data::Chunk>{};
    std::optional<data::Chunk> chunk(std::move(chunks_.front()));
    chunks_.pop_front();
    taken_bytes_ = chunk->bytes();
    return chunk;
  }
  void End(Status result) {
    {
      const MutexLock lock(mutex_);
      result_ = std::move(result);
      chunks_.clear();
      memory_.Release();
    }
    ended_->Set();
  }
  Status result() const {
    const MutexLock lock(mutex_);
    return result_;
  }
  PartitionId partition() const { return partition_; }
  BatchId epoch() const { return epoch_; }
  std::stop_token stop() const { return stop_.get_token(); }
  const std::shared_ptr<Signal>& ended() const { return ended_; }

 private:
  const PartitionId partition_;
  const BatchId epoch_;
  std::stop_source stop_;
  const std::shared_ptr<Signal> ended_ = std::make_shared<Signal>();
  mutable Mutex mutex_;
  CondVar changed_;
  std::deque<data::Chunk> chunks_ TW_GUARDED_BY(mutex_);
  MemoryReservation memory_ TW_GUARDED_BY(mutex_);
  int64_t taken_bytes_ TW_GUARDED_BY(mutex_) = 0;  // of the chunk that is being sent
  bool complete_ TW_GUARDED_BY(mutex_) = false;
  Status result_ TW_GUARDED_BY(mutex_);
};
using PartitionRowsPtr = std::shared_ptr<PartitionRows>;

class ForeachMessage final : public sql::CommitMessage {};

class ForeachDataWriter final : public sql::DataWriter {
 public:
  explicit ForeachDataWriter(PartitionRowsPtr rows) : rows_(std::move(rows)) {}
  ~ForeachDataWriter() override {
    if (!finished_) rows_->Cancel();
  }
  Status Write(const data::Chunk& chunk) override {
    if (rows_->ended()->IsSet()) return rows_->result();
    return rows_->Add(chunk.Compacted());
  }
  Result<sql::CommitMessagePtr> Finish(std::shared_ptr<Signal>* blocked) override {
    rows_->Complete();
    if (!rows_->ended()->IsSet()) {
      *blocked = rows_->ended();
      return sql::CommitMessagePtr();
    }
    TW_RETURN_NOT_OK(rows_->result());
    finished_ = true;
    return sql::CommitMessagePtr(std::make_shared<ForeachMessage>());
  }
  void Abort() override { rows_->Cancel(); }

 private:
  const PartitionRowsPtr rows_;
  bool finished_ = false;
};

class PythonForeach final : public sql::StreamingWrite {
 public:
  PythonForeach(ForeachFunction function, data::Schema schema) : function_(std::move(function)), schema_(std::move(schema)) {
    for (int i = 0; i < AvailableCores(); ++i) {
      threads_.push_back(StartThread("foreach", [this](const std::stop_token& stop) {
        while (const std::optional<PartitionRowsPtr> rows = work_.Pop(stop)) {
          // A sink that goes does not wait for the user's function.
          const std::stop_callback cancel(stop, [&rows] { (*rows)->Cancel(); });
          (*rows)->End(NoThrow([&] { return Run(**rows); }));
        }
      }));
    }
  }
  ~PythonForeach() override { work_.Close(); }

  sql::DeliveryGuarantee guarantee() const override { return sql::DeliveryGuarantee::kAtLeastOnce; }
  Result<std::unique_ptr<sql::DataWriter>> NewWriter(PartitionId partition, BatchId epoch) override {
    auto rows = std::make_shared<PartitionRows>(partition, epoch, function_.memory);
    PartitionRowsPtr queued = rows;
    if (!work_.TryPush(queued)) return InternalError("foreach: too many partitions at a time");
    return std::unique_ptr<sql::DataWriter>(std::make_unique<ForeachDataWriter>(std::move(rows)));
  }
  Status Commit(BatchId, const std::vector<sql::CommitMessagePtr>&) override { return Status::OK(); }
  void Abort(BatchId, const std::vector<sql::CommitMessagePtr>&) override {}
  std::string Description() const override { return "ForeachSink"; }

 private:
  Status Run(PartitionRows& rows);
  Status Converse(PartitionRows& rows, engine::PooledWorker& worker, bool* reusable);

  const ForeachFunction function_;
  const data::Schema schema_;
  BoundedQueue<PartitionRowsPtr> work_{kQueuedPartitions};
  std::atomic<int64_t> next_task_{1};
  std::vector<std::jthread> threads_;  // last
};

Status PythonForeach::Run(PartitionRows& rows) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<engine::PooledWorker> worker, function_.workers->Acquire(function_.request, rows.stop()));
  bool reusable = false;
  TW_RETURN_NOT_OK(Converse(rows, *worker, &reusable));
  if (reusable) function_.workers->Release(std::move(worker));
  return Status::OK();
}

Status PythonForeach::Converse(PartitionRows& rows, engine::PooledWorker& worker, bool* reusable) {
  const engine::PythonRuntime& runtime = worker.runtime();
  engine::WorkerSocket& socket = worker.socket();
  const std::stop_token stop = rows.stop();
  TW_ASSIGN_OR_RETURN(const engine::RowPickler pickler,
                      engine::RowPickler::Make(schema_, engine::PickledRow::kRow, runtime.AtLeast(4, 1)));
  engine::TaskInit init;
  init.partition = rows.partition().value();
  init.task_attempt_id = next_task_.fetch_add(1);
  init.local_properties = {{"streaming.sql.batchId", std::to_string(rows.epoch().value())}};
  init.files_directory = function_.files_directory;
  const int64_t rows_at_a_time = function_.request.settings.Get(engine::kPickledRows);
  std::string bytes = engine::TaskBegin(runtime, init, engine::JavaData().Bytes(function_.command).bytes());
  while (true) {
    TW_ASSIGN_OR_RETURN(const std::optional<data::Chunk> chunk, rows.Next());
    if (!chunk) break;
    for (int64_t at = 0; at < chunk->num_rows(); at += rows_at_a_time) {
      TW_RETURN_NOT_OK(pickler.Append(chunk->Slice(at, std::min(rows_at_a_time, chunk->num_rows() - at)), &bytes));
    }
    TW_RETURN_NOT_OK(socket.Write(bytes, stop));
    bytes.clear();
  }
  bytes += engine::JavaData().Int(engine::kEndOfDataSection).Int(engine::kEndOfStream).bytes();
  TW_RETURN_NOT_OK(socket.Write(bytes, stop));
  TW_ASSIGN_OR_RETURN(const int32_t tag, socket.ReadTag(stop));
  if (tag != engine::kTimingData) return InternalError("a foreach worker answered " + std::to_string(tag));
  TW_ASSIGN_OR_RETURN(*reusable, engine::ReadTrailer(socket, runtime, stop));
  return Status::OK();
}

}  // namespace

Result<std::unique_ptr<sql::StreamingWrite>> MakePythonForeach(ForeachFunction function, const data::Schema& schema) {
  TW_RETURN_NOT_OK(engine::RowPickler::Make(schema, engine::PickledRow::kRow, true).status());
  return std::unique_ptr<sql::StreamingWrite>(std::make_unique<PythonForeach>(std::move(function), schema));
}

}  // namespace thalweg::front
