#include "engine/pyworker/udf_task.h"

#include <algorithm>
#include <atomic>

#include "base/no_throw.h"
#include "base/thread.h"
#include "data/columnar/ipc_stream.h"
#include "engine/pyworker/java_data.h"
#include "engine/pyworker/python_results.h"
#include "engine/pyworker/row_pickle.h"

namespace thalweg::engine {

/// Rows to bytes. Thread: confined.
class UdfSender {
 public:
  virtual ~UdfSender() = default;
  virtual Status Add(const data::Chunk& rows, std::string* out) = 0;
  /// What is left, and the end of the data.
  virtual Status End(std::string* out) = 0;
};

/// Bytes to results. Thread: confined.
class UdfReceiver {
 public:
  virtual ~UdfReceiver() = default;
  /// Takes what is complete of the socket's input; adds to `*out`. True: the trailer's tag was taken.
  virtual Result<bool> Take(WorkerSocket& socket, std::vector<data::Chunk>* out) = 0;
};

namespace {

constexpr int32_t kMaxPickleBytes = 1 << 30;
constexpr int64_t kMaxBatchBytes = 256 << 20;

class PickleSender final : public UdfSender {
 public:
  PickleSender(RowPickler pickler, int64_t rows) : pickler_(std::move(pickler)), rows_(rows) {}
  Status Add(const data::Chunk& rows, std::string* out) override {
    for (int64_t at = 0; at < rows.num_rows(); at += rows_) {
      TW_RETURN_NOT_OK(pickler_.Append(rows.Slice(at, std::min(rows_, rows.num_rows() - at)), out));
    }
    return Status::OK();
  }
  Status End(std::string* out) override {
    *out += JavaData().Int(kEndOfDataSection).bytes();
    return Status::OK();
  }

 private:
  const RowPickler pickler_;
  const int64_t rows_;
};

class ArrowSender final : public UdfSender {
 public:
  ArrowSender(std::unique_ptr<data::IpcEncoder> encoder, std::vector<data::DataType> types, int64_t rows)
      : encoder_(std::move(encoder)), types_(std::move(types)), rows_(rows) {}
  Status Add(const data::Chunk& rows, std::string* out) override {
    for (int64_t at = 0; at < rows.num_rows();) {
      const int64_t count = std::min(rows_ - waiting_rows_, rows.num_rows() - at);
      waiting_.push_back(at == 0 && count == rows.num_rows() ? rows : rows.Slice(at, count));
      waiting_rows_ += count;
      waiting_bytes_ += rows.bytes() / rows.num_rows() * count;
      at += count;
      if (waiting_rows_ == rows_ || waiting_bytes_ > kMaxBatchBytes) TW_RETURN_NOT_OK(Flush(out));
    }
    return Status::OK();
  }
  Status End(std::string* out) override {
    if (waiting_rows_ > 0) TW_RETURN_NOT_OK(Flush(out));
    return encoder_->End(out);
  }

 private:
  Status Flush(std::string* out) {
    const data::Chunk batch = waiting_.size() == 1 ? waiting_.front() : data::ConcatChunks(waiting_, types_);
    waiting_.clear();
    waiting_rows_ = waiting_bytes_ = 0;
    return encoder_->Batch(batch, out);
  }

  const std::unique_ptr<data::IpcEncoder> encoder_;
  const std::vector<data::DataType> types_;
  const int64_t rows_;
  std::vector<data::Chunk> waiting_;
  int64_t waiting_rows_ = 0, waiting_bytes_ = 0;
};

/// The user's traceback, whole.
Result<bool> TakeTraceback(WorkerSocket& socket) {
  socket.AwaitTraceback();
  if (socket.input().size() < 8) return false;
  const int32_t length = ReadJavaInt(socket.input().data() + 4);
  if (length < 0 || length > kMaxPickleBytes) return InternalError("a Python worker sent the length " + std::to_string(length));
  if (socket.input().size() < 8 + static_cast<size_t>(length)) return false;
  return PythonException(socket.input().substr(8, static_cast<size_t>(length)));
}

class PickleReceiver final : public UdfReceiver {
 public:
  static Result<std::unique_ptr<UdfReceiver>> Make(const std::vector<data::DataType>& types) {
    auto receiver = std::make_unique<PickleReceiver>();
    for (const data::DataType& type : types) {
      TW_ASSIGN_OR_RETURN(std::unique_ptr<PythonResults> column, PythonResults::Make(type));
      receiver->columns_.push_back(std::move(column));
    }
    return std::unique_ptr<UdfReceiver>(std::move(receiver));
  }
  Result<bool> Take(WorkerSocket& socket, std::vector<data::Chunk>* out) override {
    while (socket.input().size() >= 4) {
      const int32_t tag = ReadJavaInt(socket.input().data());
      if (tag == kPythonExceptionThrown) return TakeTraceback(socket);
      if (tag == kTimingData) {
        socket.Consume(4);
        Finish(out);
        return true;
      }
      if (tag < 0 || tag > kMaxPickleBytes) return InternalError("a Python worker sent the length " + std::to_string(tag));
      const auto length = static_cast<size_t>(tag);
      if (socket.input().size() < 4 + length) return false;
      TW_RETURN_NOT_OK(Decode(socket.input().substr(4, length)));
      socket.Consume(4 + length);
      if (columns_.front()->length() >= data::kChunkRows) Finish(out);
    }
    return false;
  }

 private:
  Status Decode(std::string_view pickle) {
    TW_ASSIGN_OR_RETURN(const PyValue list, unpickler_.Load(pickle));
    const std::span<const PyValue> rows = unpickler_.items(list);
    if (columns_.size() == 1) return columns_.front()->Append(unpickler_, rows);
    for (size_t column = 0; column < columns_.size(); ++column) {
      values_.clear();
      for (const PyValue& row : rows) {
        const std::span<const PyValue> items = unpickler_.items(row);
        if (items.size() != columns_.size()) return InternalError("a Python worker sent a row of another width");
        values_.push_back(items[column]);
      }
      TW_RETURN_NOT_OK(columns_[column]->Append(unpickler_, values_));
    }
    return Status::OK();
  }
  void Finish(std::vector<data::Chunk>* out) {
    const int64_t rows = columns_.front()->length();
    if (rows == 0) return;
    std::vector<data::ColumnPtr> finished;
    for (const auto& column : columns_) finished.push_back(column->Finish());
    out->push_back(data::Chunk(std::move(finished), rows));
  }

  Unpickler unpickler_;
  std::vector<std::unique_ptr<PythonResults>> columns_;
  std::vector<PyValue> values_;
};

class ArrowReceiver final : public UdfReceiver {
 public:
  explicit ArrowReceiver(std::vector<data::DataType> types) : types_(std::move(types)) {}
  Result<bool> Take(WorkerSocket& socket, std::vector<data::Chunk>* out) override {
    while (true) {
      if (decoder_ != nullptr) {
        const auto wanted = static_cast<size_t>(decoder_->wanted());
        // In the middle of its stream a worker that fails says so in place of the next message.
        const bool between = socket.input().size() >= 4 && wanted == 4;
        if (between && ReadJavaInt(socket.input().data()) == kPythonExceptionThrown) return TakeTraceback(socket);
        if (wanted > 0 && socket.input().size() < wanted) return false;
        if (wanted > 0) {
          TW_RETURN_NOT_OK(decoder_->Take(socket.input().substr(0, wanted), out));
          socket.Consume(wanted);
          continue;
        }
        decoder_.reset();
      }
      if (socket.input().size() < 4) return false;
      const int32_t tag = ReadJavaInt(socket.input().data());
      if (tag == kPythonExceptionThrown) return TakeTraceback(socket);
      socket.Consume(4);
      if (tag == kTimingData) return true;
      if (tag != kStartArrowStream) return InternalError("a Python worker answered " + std::to_string(tag));
      decoder_ = std::make_unique<data::IpcDecoder>(types_);
    }
  }

 private:
  const std::vector<data::DataType> types_;
  std::unique_ptr<data::IpcDecoder> decoder_;
};

data::Schema ArgumentSchema(const std::vector<data::DataType>& types) {
  data::Schema schema;
  for (size_t i = 0; i < types.size(); ++i) schema.push_back({.name = "_" + std::to_string(i), .type = types[i], .nullable = true});
  return schema;
}

std::string TaskBegin(const UdfParams& params, const PythonRuntime& runtime, int32_t partition, std::optional<int64_t> batch_id) {
  static std::atomic<int64_t> next_task{1};
  TaskInit init;
  init.partition = partition;
  init.task_attempt_id = next_task.fetch_add(1);
  if (batch_id) init.local_properties = {{"streaming.sql.batchId", std::to_string(*batch_id)}};
  init.files_directory = params.files_directory;
  init.eval_type = params.eval_type;
  if (params.eval_type != kPickledUdf) {
    init.runner_conf = params.runner_conf;
    init.runner_conf.emplace_back("spark.sql.session.timeZone", params.time_zone);
  }
  if (params.eval_type == kArrowUdf) {
    init.eval_conf = {{"input_type", data::DataType::Struct(ArgumentSchema(params.arguments)).Json()}};
  }
  return TaskBegin(runtime, init, UdfSection(runtime, init, params.calls));
}

Result<std::unique_ptr<UdfSender>> MakeSender(const UdfParams& params, const PythonRuntime& runtime) {
  const data::Schema schema = ArgumentSchema(params.arguments);
  if (params.eval_type == kPickledUdf) {
    TW_ASSIGN_OR_RETURN(RowPickler pickler, RowPickler::Make(schema, PickledRow::kTuple, runtime.AtLeast(4, 1)));
    return std::unique_ptr<UdfSender>(std::make_unique<PickleSender>(std::move(pickler), params.pickled_rows));
  }
  data::ExportOptions options;
  options.time_zone = params.time_zone;
  options.large_var_types = params.large_var_types;
  TW_ASSIGN_OR_RETURN(std::unique_ptr<data::IpcEncoder> encoder, data::IpcEncoder::Make(schema, options));
  return std::unique_ptr<UdfSender>(std::make_unique<ArrowSender>(std::move(encoder), params.arguments, params.arrow_rows));
}

Result<std::unique_ptr<UdfReceiver>> MakeReceiver(const UdfParams& params) {
  if (params.eval_type == kPickledUdf) return PickleReceiver::Make(params.results);
  return std::unique_ptr<UdfReceiver>(std::make_unique<ArrowReceiver>(params.results));
}

}  // namespace

/// The bytes to and fro of one task.
class UdfTask::Conversation {
 public:
  Conversation(UdfTask& task, PooledWorker& worker, std::unique_ptr<UdfSender> sender, std::unique_ptr<UdfReceiver> receiver, std::stop_token stop)
      : task_(task), socket_(worker.socket()), runtime_(worker.runtime()), sender_(std::move(sender)), receiver_(std::move(receiver)),
        stop_(std::move(stop)) {}

  /// True: the worker may be used again.
  Result<bool> Run() {
    bytes_ = TaskBegin(*task_.params_, runtime_, task_.partition_, task_.batch_id_);
    bool open = true;
    while (open) {
      TW_ASSIGN_OR_RETURN(const std::optional<data::Chunk> rows, task_.NextInput(stop_));
      open = rows.has_value();
      if (open) {
        rows_sent_ += rows->num_rows();
        TW_RETURN_NOT_OK(sender_->Add(*rows, &bytes_));
      } else {
        TW_RETURN_NOT_OK(sender_->End(&bytes_));
        bytes_ += JavaData().Int(kEndOfStream).bytes();
      }
      TW_RETURN_NOT_OK(Send());
    }
    std::string_view nothing;
    while (!at_trailer_) TW_RETURN_NOT_OK(Step(&nothing));
    TW_ASSIGN_OR_RETURN(const bool reusable, ReadTrailer(socket_, runtime_, stop_));
    if (rows_received_ == rows_sent_) return reusable;
    return InternalError("a Python worker answered " + std::to_string(rows_sent_) + " rows with " + std::to_string(rows_received_));
  }

 private:
  Status Send() {
    std::string_view unsent = bytes_;
    while (!unsent.empty() && !at_trailer_) TW_RETURN_NOT_OK(Step(&unsent));
    bytes_.clear();
    return Status::OK();
  }
  Status Step(std::string_view* unsent) {
    const Status moved = socket_.Step(unsent, stop_);
    // What a worker said before it went is heard.
    std::vector<data::Chunk> results;
    TW_ASSIGN_OR_RETURN(at_trailer_, receiver_->Take(socket_, &results));
    for (data::Chunk& chunk : results) {
      rows_received_ += chunk.num_rows();
      TW_RETURN_NOT_OK(task_.Deliver(std::move(chunk)));
    }
    return at_trailer_ ? Status::OK() : moved;
  }

  UdfTask& task_;
  WorkerSocket& socket_;
  const PythonRuntime& runtime_;
  const std::unique_ptr<UdfSender> sender_;
  const std::unique_ptr<UdfReceiver> receiver_;
  const std::stop_token stop_;
  std::string bytes_;
  bool at_trailer_ = false;
  int64_t rows_sent_ = 0, rows_received_ = 0;
};

UdfTask::UdfTask(std::shared_ptr<const UdfParams> params, int32_t partition, std::optional<int64_t> batch_id, MemoryReservation memory)
    : params_(std::move(params)), partition_(partition), batch_id_(batch_id), memory_(std::move(memory)) {}

UdfTask::~UdfTask() = default;

Status UdfTask::Add(data::Chunk arguments) {
  {
    const MutexLock lock(mutex_);
    TW_RETURN_NOT_OK(memory_.Grow(arguments.bytes()));
    input_.push_back(std::move(arguments));
    more_input_.NotifyAll();
  }
  if (thread_.joinable()) return Status::OK();
  thread_ = StartThread("python-udf", [this](const std::stop_token& stop) {
    Status status = NoThrow([&] { return Run(stop); });  // whoever waits for the end hears of it
    {
      const MutexLock lock(mutex_);
      status_ = std::move(status);
      ended_ = true;
      for (const data::Chunk& chunk : input_) memory_.Shrink(chunk.bytes());
      input_.clear();
    }
    Changed();
  });
  return Status::OK();
}

void UdfTask::CloseInput() {
  const MutexLock lock(mutex_);
  closed_ = true;
  more_input_.NotifyAll();
}

bool UdfTask::HasRoom() const {
  const MutexLock lock(mutex_);
  return input_.size() < kMaxQueuedChunks || ended_;
}

Result<UdfTask::Output> UdfTask::Take() {
  const MutexLock lock(mutex_);
  TW_RETURN_NOT_OK(status_);
  Output output;
  output.results = std::exchange(results_, {});
  for (const data::Chunk& chunk : output.results) memory_.Shrink(chunk.bytes());
  output.ended = ended_;
  return output;
}

std::shared_ptr<Signal> UdfTask::NextChange() {
  const MutexLock lock(mutex_);
  if (change_ == nullptr) change_ = std::make_shared<Signal>();
  return change_;
}

void UdfTask::Changed() {
  std::shared_ptr<Signal> change;
  {
    const MutexLock lock(mutex_);
    change = std::exchange(change_, nullptr);
  }
  if (change != nullptr) change->Set();
}

Result<std::optional<data::Chunk>> UdfTask::NextInput(std::stop_token stop) {
  std::optional<data::Chunk> chunk;
  {
    const MutexLock lock(mutex_);
    const bool ready = more_input_.Wait(mutex_, stop, [&] { return closed_ || !input_.empty(); });
    if (!ready) return Cancelled();
    if (input_.empty()) return chunk;
    memory_.Shrink(input_.front().bytes());
    chunk = std::move(input_.front());
    input_.pop_front();
  }
  Changed();
  return chunk;
}

Status UdfTask::Deliver(data::Chunk results) {
  {
    const MutexLock lock(mutex_);
    TW_RETURN_NOT_OK(memory_.Grow(results.bytes()));
    results_.push_back(std::move(results));
  }
  Changed();
  return Status::OK();
}

Status UdfTask::Run(std::stop_token stop) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<PooledWorker> worker, params_->workers->Acquire(params_->request, stop));
  TW_ASSIGN_OR_RETURN(std::unique_ptr<UdfSender> sender, MakeSender(*params_, worker->runtime()));
  TW_ASSIGN_OR_RETURN(std::unique_ptr<UdfReceiver> receiver, MakeReceiver(*params_));
  Conversation conversation(*this, *worker, std::move(sender), std::move(receiver), stop);
  TW_ASSIGN_OR_RETURN(const bool reusable, conversation.Run());
  if (reusable) params_->workers->Release(std::move(worker));
  return Status::OK();
}

}  // namespace thalweg::engine
