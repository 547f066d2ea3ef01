#include "engine/exec/fragment.h"

#include <algorithm>
#include <utility>

#include "base/no_throw.h"

namespace thalweg::engine {
namespace {

/// Adds the time of its life to a counter.
class BusyTime {
 public:
  explicit BusyTime(OperatorInstance& self) : total_ns_(self.op->metrics().busy_ns), start_ns_(MonotonicNs()) {}
  ~BusyTime() { total_ns_.Add(MonotonicNs() - start_ns_); }

 private:
  MetricCell& total_ns_;
  const int64_t start_ns_;
};

bool AllEnded(const OperatorInstance& self) {
  return std::all_of(self.ports.begin(), self.ports.end(), [](const InputPort& port) { return port.ended; });
}

}  // namespace

void Fragment::Reset(int exchange_inputs) {
  activated_.store(false);
  finished_.store(false, std::memory_order_relaxed);
  open_inputs_.store(exchange_inputs);
  done_ = false;
  preparing_ = false;
  output_blocked_.reset();
  for (const auto& self : operators_) {
    self->state = self->ports.empty() ? OperatorState::kHaveOutput : OperatorState::kNeedInput;
    self->begun = self->sealed = self->prepared = false;
    self->marker.reset();
    self->watermark = INT64_MIN;
    self->next_port = 0;
    self->op->metrics().Clear();
    for (InputPort& port : self->ports) {
      port.ended = port.child == nullptr && port.exchange == nullptr;
      port.reused = port.at_barrier = false;
      port.watermark = INT64_MIN;
    }
  }
}

void Fragment::LeaveOut() {
  set_finished();
  for (const auto& self : operators_) self->op->metrics().Clear();
}

bool Fragment::NeedsEpoch() const {
  return std::any_of(operators_.begin(), operators_.end(), [](const auto& self) {
    return !self->sealed && self->op->NeedsEpoch(self->epoch);
  });
}

void Fragment::CloseBelow(OperatorInstance& self) {
  for (InputPort& port : self.ports) {
    if (port.ended) continue;
    port.ended = true;
    if (port.exchange != nullptr) port.exchange->CloseConsumer(partition_of(self));
    if (port.child != nullptr) {
      CloseBelow(*port.child);
      port.child->state = OperatorState::kFinished;
      port.child->begun = port.child->sealed = true;
    }
  }
}

Status Fragment::Begin(OperatorInstance& self) {
  self.begun = true;
  TW_RETURN_NOT_OK(self.op->BeginEpoch(self.epoch));
  for (size_t i = 0; i < self.ports.size(); ++i) {
    if (self.ports[i].reused) {
      self.op->Reuse(static_cast<int>(i));
    } else if (self.ports[i].child == nullptr && self.ports[i].exchange == nullptr) {
      BusyTime busy(self);
      TW_ASSIGN_OR_RETURN(self.state, self.op->EndInput(static_cast<int>(i)));
    }
  }
  return Status::OK();
}

Result<Fragment::Step> Fragment::Advance(OperatorInstance& self, const SliceLimit& limit) {
  if (!self.begun) TW_RETURN_NOT_OK(Begin(self));
  while (true) {
    if (host_.long_lived()) {
      if (const auto marker = self.op->TakeMarker()) return Step(*marker);
    }
    switch (self.state) {
      case OperatorState::kHaveOutput: {
        std::optional<data::Chunk> out;
        {
          BusyTime busy(self);
          TW_ASSIGN_OR_RETURN(out, self.op->Pull(&self.state));
        }
        if (out && out->num_rows() > 0) {
          self.op->metrics().output_rows.Add(out->num_rows());
          return Step(*std::move(out));
        }
        if (self.state == OperatorState::kHaveOutput && (host_.stopped() || limit.ShouldYield())) return Step(Yield{});
        break;
      }
      case OperatorState::kBlocked: {
        const std::shared_ptr<Signal> signal = self.op->blocked_on();
        if (signal != nullptr && !signal->IsSet()) return Step(Blocked{{signal}});
        self.state = OperatorState::kHaveOutput;
        break;
      }
      case OperatorState::kNeedInput: {
        if (self.marker) return Step(*std::exchange(self.marker, std::nullopt));
        if (AllEnded(self)) {
          self.state = OperatorState::kFinished;
          break;
        }
        TW_ASSIGN_OR_RETURN(std::optional<Step> step, TakeInput(self, limit));
        if (step) return *std::move(step);
        break;
      }
      case OperatorState::kFinished: {
        if (self.sealed) return Step(End{});
        TW_ASSIGN_OR_RETURN(std::optional<Step> step, FinishInputs(self, limit));
        if (step) return *std::move(step);
        self.sealed = true;
        BusyTime busy(self);
        TW_ASSIGN_OR_RETURN(self.state, self.op->Seal());
        break;
      }
    }
  }
}

// An operator that wants no more rows: operators below that must see all their input go on, the others stop.
Result<std::optional<Fragment::Step>> Fragment::FinishInputs(OperatorInstance& self, const SliceLimit& limit) {
  for (size_t i = 0; i < self.ports.size(); ++i) {
    InputPort& port = self.ports[i];
    while (!port.ended && port.effects) {
      TW_ASSIGN_OR_RETURN(Step step, FromPort(self, static_cast<int>(i), limit));
      if (std::holds_alternative<End>(step)) {
        port.ended = true;
      } else if (!std::holds_alternative<data::Chunk>(step)) {
        return std::optional<Step>(std::move(step));
      } else if (limit.ShouldYield()) {
        return std::optional<Step>(Yield{});
      }
    }
  }
  CloseBelow(self);
  return std::optional<Step>{};
}

Result<Fragment::Step> Fragment::FromPort(OperatorInstance& self, int port_index, const SliceLimit& limit) {
  InputPort& port = self.ports[port_index];
  if (port.child != nullptr) return Advance(*port.child, limit);
  if (port.exchange == nullptr) return Step(End{});
  bool drained = false;
  Exchange::Item item = port.exchange->Receive(partition_of(self), &drained);
  if (auto* chunk = std::get_if<data::Chunk>(&item)) return Step(std::move(*chunk));
  if (const auto* marker = std::get_if<Marker>(&item)) return Step(*marker);
  if (drained) return Step(End{});
  return Step(Blocked{});
}

// Feeds the operator from the port it wants. Answers a step when it has to be passed on to the caller.
Result<std::optional<Fragment::Step>> Fragment::TakeInput(OperatorInstance& self, const SliceLimit& limit) {
  const int wanted = self.op->wanted_port();
  const int ports = static_cast<int>(self.ports.size());
  const auto usable = [&](int port) { return !self.ports[port].ended && !self.ports[port].at_barrier; };
  if (wanted != kAnyPort && usable(wanted)) return TakeFromPort(self, wanted, limit);
  Blocked blocked;
  for (int i = 0; i < ports; ++i) {
    const int port = (self.next_port + i) % ports;
    if (!usable(port)) continue;
    TW_ASSIGN_OR_RETURN(std::optional<Step> step, TakeFromPort(self, port, limit));
    auto* waits = step ? std::get_if<Blocked>(&*step) : nullptr;
    if (waits == nullptr) {
      self.next_port = (port + 1) % ports;
      return step;
    }
    blocked.signals.insert(blocked.signals.end(), waits->signals.begin(), waits->signals.end());
  }
  return std::optional<Step>(std::move(blocked));
}

Result<std::optional<Fragment::Step>> Fragment::TakeFromPort(OperatorInstance& self, int port, const SliceLimit& limit) {
  TW_ASSIGN_OR_RETURN(Step step, FromPort(self, port, limit));
  if (auto* chunk = std::get_if<data::Chunk>(&step)) {
    self.op->metrics().input_rows.Add(chunk->num_rows());
    {
      BusyTime busy(self);
      TW_ASSIGN_OR_RETURN(self.state, self.op->Push(port, std::move(*chunk)));
    }
    if (self.state == OperatorState::kNeedInput && (host_.stopped() || limit.ShouldYield())) {
      return std::optional<Step>(Yield{});
    }
    return std::optional<Step>{};
  }
  if (std::holds_alternative<End>(step)) {
    self.ports[port].ended = true;
    BusyTime busy(self);
    TW_ASSIGN_OR_RETURN(self.state, self.op->EndInput(port));
    return std::optional<Step>{};
  }
  if (const auto* marker = std::get_if<Marker>(&step)) {
    TW_RETURN_NOT_OK(AcceptMarker(self, port, *marker));
    return std::optional<Step>{};
  }
  return std::optional<Step>(std::move(step));
}

Status Fragment::AcceptMarker(OperatorInstance& self, int port_index, const Marker& marker) {
  InputPort& port = self.ports[port_index];
  Marker passed = marker;
  if (marker.kind == Marker::Kind::kBarrier) {
    port.at_barrier = true;
    for (const InputPort& other : self.ports) {
      if (!other.ended && !other.at_barrier) return Status::OK();
    }
    for (InputPort& other : self.ports) other.at_barrier = false;
  } else {
    port.watermark = std::max(port.watermark, marker.value);
    int64_t least = INT64_MAX;
    for (const InputPort& other : self.ports) {
      if (!other.ended) least = std::min(least, other.watermark);
    }
    if (least <= self.watermark) return Status::OK();
    self.watermark = passed.value = least;
  }
  self.marker = passed;
  BusyTime busy(self);
  TW_ASSIGN_OR_RETURN(self.state, self.op->OnMarker(passed));
  return Status::OK();
}

TaskRunner::SliceEnd Fragment::RunSlice(const SliceLimit& limit) {
  if (!activated_.load() || host_.stopped()) return SliceEnd::kIdle;
  SliceEnd end = SliceEnd::kIdle;
  Status status = NoThrow([&]() -> Status {
    TW_ASSIGN_OR_RETURN(end, preparing_ ? RunPrepare() : RunSteps(limit));
    return Status::OK();
  });
  if (status.ok()) return end;
  host_.Fail(std::move(status));
  return SliceEnd::kIdle;
}

bool Fragment::OutputClosed() const { return output_ != nullptr ? output_->closed() : host_.root_closed(); }

Result<TaskRunner::SliceEnd> Fragment::RunSteps(const SliceLimit& limit) {
  while (!done_) {
    if (host_.stopped()) return SliceEnd::kIdle;
    if (output_blocked_ != nullptr) {
      if (!output_blocked_->IsSet()) {
        WaitFor({output_blocked_});
        return SliceEnd::kIdle;
      }
      output_blocked_.reset();
    }
    const bool closed = OutputClosed();
    if (closed && !has_effects_) {
      CloseBelow(root());
      Finish();
      break;
    }
    if (!closed && output_ != nullptr && !output_->HasRoom(partition_, task_)) return SliceEnd::kIdle;
    TW_ASSIGN_OR_RETURN(Step step, Advance(root(), limit));
    if (auto* chunk = std::get_if<data::Chunk>(&step)) {
      if (!closed) TW_RETURN_NOT_OK(Emit(std::move(*chunk)).status());
      if (limit.ShouldYield()) return SliceEnd::kAgain;
    } else if (const auto* marker = std::get_if<Marker>(&step)) {
      if (output_ != nullptr) {
        output_->SendMarker(partition_, *marker);
      } else {
        host_.OnRootMarker(*this, *marker);
      }
    } else if (const auto* blocked = std::get_if<Blocked>(&step)) {
      WaitFor(blocked->signals);
      return SliceEnd::kIdle;
    } else if (std::holds_alternative<Yield>(step)) {
      return SliceEnd::kAgain;
    } else {
      Finish();
    }
  }
  return SliceEnd::kIdle;
}

Result<bool> Fragment::Emit(data::Chunk chunk) {
  if (output_ == nullptr) return host_.Consume(*this, std::move(chunk), &output_blocked_);
  TW_RETURN_NOT_OK(output_->Send(partition_, chunk));
  return true;
}

void Fragment::Finish() {
  done_ = true;
  host_.OnFinished(*this);
}

// Each signal gets one callback at a time, however often the task runs and blocks on it again.
void Fragment::WaitFor(const std::vector<std::shared_ptr<Signal>>& signals) {
  for (const auto& signal : signals) {
    registrations_.erase(std::remove_if(registrations_.begin(), registrations_.end(),
                                        [](const Registration& r) { return !r.pending->load(); }),
                         registrations_.end());
    const bool known = std::any_of(registrations_.begin(), registrations_.end(),
                                   [&](const Registration& r) { return r.signal.lock() == signal; });
    if (known) continue;
    auto pending = std::make_shared<std::atomic<bool>>(true);
    registrations_.push_back({signal, pending});
    signal->OnSet([pending, task = std::weak_ptr<Task>(task_)] {
      pending->store(false);
      if (const auto alive = task.lock()) alive->Wake();
    });
  }
}

Result<TaskRunner::SliceEnd> Fragment::RunPrepare() {
  if (done_) return SliceEnd::kIdle;
  for (const auto& self : operators_) {
    if (self->prepared) continue;
    TW_ASSIGN_OR_RETURN(self->prepared, self->op->Prepare(self->epoch));
    if (self->prepared) continue;
    const std::shared_ptr<Signal> signal = self->op->blocked_on();
    if (signal == nullptr) return InternalError("an operator that prepares later names no signal");
    WaitFor({signal});
    return SliceEnd::kIdle;
  }
  done_ = true;
  host_.OnPrepared(*this);
  return SliceEnd::kIdle;
}

}  // namespace thalweg::engine
