// Life of a streaming query: thread, triggers, stop, waiting for it.

#include "streaming/query/micro_batch_driver.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "base/no_throw.h"
#include "base/thread.h"
#include "streaming/query/query_settings.h"

namespace thalweg::streaming {
namespace {

/// A step that others come after, whatever it throws (memory that ran out, as a rule). Telling of it needs memory too: then it is left untold.
template <typename Body>
void Step(Body&& body) noexcept {
  try {
    const Status status = NoThrow([&] {
      body();
      return Status::OK();
    });
    if (!status.ok()) TW_LOG(kError, "the end of a streaming query met an exception", {"error", status});
  } catch (const std::exception&) {
    return;
  }
}

}  // namespace

MicroBatchDriver::MicroBatchDriver(StreamingQuerySpec spec, std::shared_ptr<QueryEvents> events,
                                   std::function<void(const StreamingQuery&)> on_end)
    : spec_(std::move(spec)),
      events_(std::move(events)),
      on_end_(std::move(on_end)),
      progress_log_(spec_.settings.Get(kNumRecentProgress)) {
  run_id_ = RunId(Uuid::MakeRandom());
  status_ = {"Initializing StreamExecution", false, false};
}

MicroBatchDriver::~MicroBatchDriver() {
  Ignore(Stop(), "the owner is gone; a time-out has no one to hear of it");
  if (thread_.joinable()) thread_.join();
}

void MicroBatchDriver::Start() {
  auto started = std::make_shared<Signal>();
  {
    const MutexLock lock(mutex_);
    thread_ = StartThread(
        "stream " + (spec_.name.empty() ? id_.value().ToString().substr(0, 8) : spec_.name),
        [this, started, lost = InternalError("the run broke off without memory to tell why")](const std::stop_token& stop) {
          thread_id_.store(std::this_thread::get_id());
          Status status = lost;
          Step([&] {
            status = NoThrow([&] {
              events_->Started(StartedEvent());
              return Status::OK();
            });
          });
          started->Set();
          if (status.ok()) {
            status = lost;
            Step([&] { status = NoThrow([&] { return ThreadMain(stop); }); });
          }
          Finish(std::move(status));
        });
    if (stop_requested_) thread_.request_stop();  // stopped before it began
  }
  started->Wait({});
}

Status MicroBatchDriver::ThreadMain(const std::stop_token& stop) {
  TW_LOG(kInfo, "streaming query started", {"query", id_.value().ToString()},
         {"run", run_id_.value().ToString()}, {"name", spec_.name});
  return Run(stop);
}

Status MicroBatchDriver::Run(std::stop_token stop) {
  SetStatus("Initializing sources");
  TW_RETURN_NOT_OK(checkpoint_->LockForRun());
  TW_RETURN_NOT_OK(OpenSources(stop));
  TW_RETURN_NOT_OK(OpenSink());
  TW_RETURN_NOT_OK(Recover());
  TW_RETURN_NOT_OK(CompilePlan());
  return Loop(stop);
}

Status MicroBatchDriver::Loop(std::stop_token stop) {
  const bool available_now = std::holds_alternative<AvailableNow>(spec_.trigger);
  const bool freezes = sources_->SupportAvailableNow() || spec_.settings.Get(kAvailableNowWrapper);
  const bool once = std::holds_alternative<Once>(spec_.trigger) || (available_now && !freezes);
  takes_all_ = once;
  bool frozen = !available_now || once;
  while (!stop.stop_requested()) {
    if (!frozen && !turn_) {  // a micro-batch that an earlier run began keeps its own end
      TW_RETURN_NOT_OK(sources_->PrepareForAvailableNow());
      frozen = true;
    }
    StartTimers();
    const int64_t trigger_start_ms = trigger_start_ms_;
    TW_ASSIGN_OR_RETURN(const bool ran, Trigger());
    if (once || (available_now && !ran)) return Status::OK();
    WaitForNextTrigger(trigger_start_ms, ran, stop);
  }
  return Status::OK();
}

Result<bool> MicroBatchDriver::Trigger() {
  more_data_->Reset();  // what is announced from here on is not in this turn's answer
  SetStatus("Getting offsets", false, true);
  if (!turn_) {
    TW_ASSIGN_OR_RETURN(const bool constructed, ConstructNext());
    if (!constructed) {
      SetStatus("Waiting for data to arrive", false, false);
      ReportIdle();
      const MutexLock lock(mutex_);
      ++idle_turns_;
      changed_.NotifyAll();
      return false;
    }
  }
  const bool had_new_data = turn_->has_new_data;
  SetStatus("Writing offsets to log", had_new_data, true);
  TW_RETURN_NOT_OK(RunOne());
  SetStatus("Waiting for next trigger", had_new_data, false);
  return true;
}

void MicroBatchDriver::WaitForNextTrigger(int64_t trigger_start_ms, bool ran,
                                          std::stop_token stop) {
  const auto* processing_time = std::get_if<ProcessingTime>(&spec_.trigger);
  const int64_t interval_ms = processing_time != nullptr ? processing_time->interval.count() : 0;
  if (interval_ms > 0) {
    const int64_t next_ms = trigger_start_ms / interval_ms * interval_ms + interval_ms;
    if (next_ms > spec_.clock->NowMillis())
      spec_.clock->WaitUntil(next_ms * 1000, nullptr, std::move(stop));
    return;
  }
  if (ran) return;
  const std::optional<int64_t> poll_ms =
      sources_->PollIntervalMs(spec_.settings.Get(kPollingDelayMs));
  const int64_t report_ms =
      last_report_ms_.value_or(trigger_start_ms) + spec_.settings.Get(kNoDataProgressIntervalMs);
  const int64_t now_ms = spec_.clock->NowMillis();
  int64_t until_ms = std::max(report_ms, now_ms + 1);
  if (poll_ms) until_ms = std::min(until_ms, now_ms + *poll_ms);
  spec_.clock->WaitUntil(until_ms * 1000, more_data_.get(), std::move(stop));
}

/// The end of every run, in Spark's order: sources, state of the object, manager, listeners,
/// temporary files, waiters. Each comes whatever happened in the one before: somebody waits for the last.
void MicroBatchDriver::Finish(Status status) {
  std::shared_ptr<engine::Execution> execution;
  bool stopped = false;
  {
    const MutexLock lock(mutex_);
    stopped = stop_requested_;
    execution = std::move(execution_);
    execution_ = nullptr;
  }
  // What breaks off because of stop() is not a failure.
  if (stopped && status.kind() == ErrorKind::kCancelled) status = Status::OK();
  Step([&] {
    if (sources_) sources_->Stop();
  });
  Step([&] {
    if (execution != nullptr && !status.ok()) execution->Abort();
  });
  Step([&] { execution.reset(); });
  Step([&] {
    if (!spec_.is_callback) return;
    write_.reset();
    batch_sink_.reset();
    spec_.make_sink = nullptr;
  });
  Step([&] {
    if (state_) state_->AwaitPublished();  // before another run may take the checkpoint
  });
  Step([&] { state_.reset(); });
  Step([&] {
    if (checkpoint_) checkpoint_->Unlock();
  });
  Status failure = status;
  Step([&] {
    if (!status.ok()) failure = FailureOf(status);
  });
  std::string message;
  Step([&] { message = status.ok() ? "Stopped" : "Terminated with exception: " + status.message(); });
  Step([&] {
    if (!status.ok())
      TW_LOG(kError, "streaming query failed", {"query", id_.value().ToString()},
             {"error", status.message()});
  });
  {
    const MutexLock lock(mutex_);
    active_ = false;
    failure_ = std::move(failure);
    status_ = {std::move(message), false, false};
    changed_.NotifyAll();
  }
  Step([&] { on_end_(*this); });
  Step([&] { events_->Terminated(TerminatedEvent(status)); });
  Step([&] {
    if (!spec_.delete_checkpoint_on_stop || !(status.ok() || spec_.settings.Get(kForceDeleteTempCheckpoint))) return;
    Ignore(spec_.file_system->RemoveTree(spec_.checkpoint_location),
           "deleting a temporary checkpoint is best effort");
  });
  std::map<int64_t, std::function<void()>> waiters;
  {
    const MutexLock lock(mutex_);
    ended_ = true;
    waiters.swap(waiters_);
    changed_.NotifyAll();
  }
  for (auto& [id, done] : waiters) Step(done);
}

Status MicroBatchDriver::FailureOf(const Status& cause) const {
  return Error("STREAM_FAILED")
      .With("id", id_.value().ToString())
      .With("runId", run_id_.value().ToString())
      .With("message", cause.message())
      .Because(cause);
}

bool MicroBatchDriver::is_active() const {
  const MutexLock lock(mutex_);
  return active_;
}

QueryStatus MicroBatchDriver::status() const {
  const MutexLock lock(mutex_);
  return status_;
}

Status MicroBatchDriver::exception() const {
  const MutexLock lock(mutex_);
  return failure_;
}

Status MicroBatchDriver::Stop() {
  std::shared_ptr<engine::Execution> execution;
  {
    const MutexLock lock(mutex_);
    active_ = false;
    if (ended_) return Status::OK();
    stop_requested_ = true;
    if (!thread_.joinable()) return Status::OK();
    execution = execution_;
  }
  thread_.request_stop();
  if (execution != nullptr) execution->Cancel(Cancelled());
  // A listener, or a function of foreachBatch, that stops its own query: the run ends when it returns.
  if (std::this_thread::get_id() == thread_id_.load()) return Status::OK();
  if (spec_.interrupt_sink) spec_.interrupt_sink();
  const int64_t timeout_ms = spec_.settings.Get(kStopTimeoutMs);
  const MutexLock lock(mutex_);
  const auto ended = [&] { return ended_; };
  if (timeout_ms <= 0) {
    changed_.Wait(mutex_, ended);
  } else if (!changed_.WaitFor(mutex_, {}, std::chrono::milliseconds(timeout_ms), ended)) {
    return Error("STREAMING_QUERY_STOP_TIMEOUT")
        .With("id", id_.value().ToString())
        .With("timeoutMs", timeout_ms);
  }
  return Status::OK();
}

void MicroBatchDriver::StopAfterBatch() {
  {
    const MutexLock lock(mutex_);
    if (ended_) return;
    stop_requested_ = true;
  }
  thread_.request_stop();
}

Result<bool> MicroBatchDriver::AwaitTermination(std::optional<std::chrono::milliseconds> timeout) {
  if (std::this_thread::get_id() == thread_id_.load())
    return InternalError(
        "Cannot wait for a query state from the same thread that is running the query");
  const MutexLock lock(mutex_);
  const auto ended = [&] { return ended_; };
  if (timeout) {
    changed_.WaitFor(mutex_, {}, *timeout, ended);
  } else {
    changed_.Wait(mutex_, ended);
  }
  if (!ended_) return false;
  TW_RETURN_NOT_OK(failure_);
  return true;
}

Status MicroBatchDriver::ProcessAllAvailable() {
  if (std::this_thread::get_id() == thread_id_.load())
    return InternalError(
        "Cannot wait for a query state from the same thread that is running the query");
  // The turn that runs now may have asked the sources before this call: only the second one from
  // here counts.
  for (int turn = 0; turn < 2; ++turn) {
    int64_t seen = 0;
    {
      const MutexLock lock(mutex_);
      seen = idle_turns_;
    }
    more_data_->Set();  // a sleeping driver takes a look now
    const MutexLock lock(mutex_);
    changed_.Wait(mutex_, [&] { return ended_ || idle_turns_ > seen; });
    if (ended_) return failure_;
  }
  return Status::OK();
}

int64_t MicroBatchDriver::OnTermination(std::function<void()> done) {
  {
    const MutexLock lock(mutex_);
    if (!ended_) {
      waiters_[next_waiter_] = std::move(done);
      return next_waiter_++;
    }
  }
  done();
  return 0;
}

void MicroBatchDriver::RemoveWaiter(int64_t id) {
  const MutexLock lock(mutex_);
  waiters_.erase(id);
}

std::string MicroBatchDriver::Explain(bool extended) const {
  const MutexLock lock(mutex_);
  const std::string& text = extended ? explain_extended_ : explain_;
  return text.empty() ? "No physical plan. Waiting for data." : text;
}

}  // namespace thalweg::streaming
