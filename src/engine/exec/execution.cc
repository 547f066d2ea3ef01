// Invariants:
// - while the group is closed only the owner touches fragments; while it is open only their tasks do (and the few
//   synchronised members);
// - every fragment of the epoch finishes exactly once: by its task, or unrun when all its inputs ended without a row and no
//   operator needs the epoch; `remaining_` counts those that have not;
// - after Fail no slice starts work; the owner closes the group before it looks at anything.

#include "engine/exec/execution.h"

#include <algorithm>
#include <map>
#include <utility>

#include "base/clock.h"
#include "engine/exec/plan_graph.h"

namespace thalweg::engine {

void EventTimeStats::Merge(const EventTimeStats& other) {
  if (other.count == 0) return;
  max_ms = count == 0 ? other.max_ms : std::max(max_ms, other.max_ms);
  min_ms = count == 0 ? other.min_ms : std::min(min_ms, other.min_ms);
  sum_ms += other.sum_ms;
  count += other.count;
}

namespace {

/// Barriers that some root instances have passed; delivers complete ones in order.
class BarrierCollector {
 public:
  void Reset(int roots, std::function<void(int64_t, std::vector<sql::CommitMessagePtr>)> deliver) {
    MutexLock lock(mutex_);
    roots_ = roots;
    deliver_ = std::move(deliver);
    pending_.clear();
    delivering_ = false;
  }

  void Passed(int64_t epoch, int partition, std::vector<sql::CommitMessagePtr> messages) {
    {
      MutexLock lock(mutex_);
      Pending& pending = pending_[epoch];
      ++pending.count;
      pending.messages[partition] = std::move(messages);
      if (delivering_) return;
      delivering_ = true;
    }
    DeliverComplete();
  }

  /// An instance that ended passes every barrier to come.
  void RootEnded() {
    {
      MutexLock lock(mutex_);
      --roots_;
      if (delivering_) return;
      delivering_ = true;
    }
    DeliverComplete();
  }

 private:
  struct Pending {
    int count = 0;
    std::map<int, std::vector<sql::CommitMessagePtr>> messages;
  };

  void DeliverComplete() {
    while (true) {
      int64_t epoch = 0;
      std::vector<sql::CommitMessagePtr> messages;
      {
        MutexLock lock(mutex_);
        if (pending_.empty() || pending_.begin()->second.count < roots_) {
          delivering_ = false;
          return;
        }
        epoch = pending_.begin()->first;
        for (auto& [partition, part] : pending_.begin()->second.messages) {
          messages.insert(messages.end(), part.begin(), part.end());
        }
        pending_.erase(pending_.begin());
      }
      if (deliver_) deliver_(epoch, std::move(messages));
    }
  }

  Mutex mutex_;
  int roots_ TW_GUARDED_BY(mutex_) = 0;
  bool delivering_ TW_GUARDED_BY(mutex_) = false;
  std::map<int64_t, Pending> pending_ TW_GUARDED_BY(mutex_);
  std::function<void(int64_t, std::vector<sql::CommitMessagePtr>)> deliver_;
};

class PlanExecution final : public Execution, private FragmentHost {
 public:
  PlanExecution(Scheduler& scheduler, std::shared_ptr<const PhysicalPlan> plan, QueryClass query_class)
      : plan_(std::move(plan)), group_(NewTaskGroup(scheduler, query_class)) {}

  ~PlanExecution() override {
    stopped_.store(true);
    group_->Close();
    ForEachInstance([](OperatorInstance& self) {
      if (self.op != nullptr) self.op->Close();
    });
  }

  Status Init(Scheduler& scheduler, std::shared_ptr<const sql::EvalConfig> config, MemoryReservation* memory) {
    TaskContext context;
    context.config = std::move(config);
    context.memory = memory;
    context.scheduler = &scheduler;
    last_splits_.resize(plan_->leaves.size());
    return BuildPlanGraph(*plan_, *this, group_, context, &graph_);
  }

  Result<EpochResult> RunEpoch(const EpochInput& input, const RootConsumer& consumer) override {
    return Run(input, consumer, false);
  }

  Result<EpochResult> RunLongLived(const LongLivedInput& input, const RootConsumer& consumer) override {
    for (const Occurrence& place : graph_.occurrences) {
      // Nothing is prepared at a barrier: state would be lost without a word.
      if (place.node->stateful_id) return Unsupported(place.node->name + ", which keeps state, in a run without an end");
    }
    barriers_.Reset(static_cast<int>(graph_.sets[0].fragments.size()), input.on_barrier);
    return Run(input.input, consumer, true);
  }

  void InjectMarker(const Marker& marker) override {
    MutexLock lock(mutex_);
    if (taking_markers_) {
      InjectNow(marker);
    } else {
      early_markers_.push_back(marker);
    }
  }

  std::vector<NodeMetrics> Metrics() const override {
    std::vector<NodeMetrics> nodes;
    for (size_t i = 0; i < graph_.occurrences.size(); ++i) nodes.push_back(TotalOf(i));
    return nodes;
  }

  std::vector<StageMetrics> LiveMetrics() const override {
    std::vector<StageMetrics> stages(graph_.sets.size());
    for (size_t i = 0; i < stages.size(); ++i) {
      for (const auto& fragment : graph_.sets[i].fragments) {
        const bool finished = fragment->finished();
        ++stages[i].tasks;
        if (finished) ++stages[i].finished;
        if (!finished && fragment->activated()) ++stages[i].running;
      }
    }
    for (size_t i = 0; i < graph_.occurrences.size(); ++i) {
      NodeMetrics metrics{graph_.occurrences[i].node, {}};
      for (const OperatorInstance* self : graph_.instances[i]) {
        if (self != nullptr) metrics.total.AddCounters(self->op->metrics());
      }
      stages[graph_.occurrences[i].fragment].nodes.push_back(std::move(metrics));
    }
    return stages;
  }

  Status Prepare() override {
    TW_RETURN_NOT_OK(StartPhase());
    int tasks = 0;
    for (const FragmentSet& set : graph_.sets) {
      if (set.stateful) tasks += static_cast<int>(set.fragments.size());
    }
    remaining_.store(tasks);
    std::vector<Fragment*> wake;
    for (const FragmentSet& set : graph_.sets) {
      for (const auto& fragment : set.fragments) {
        fragment->StartPrepare();
        if (set.stateful) wake.push_back(fragment.get());
      }
    }
    group_->Open();
    for (Fragment* fragment : wake) fragment->task()->Wake();
    Status status = PrepareInline();
    if (!status.ok()) Fail(std::move(status));
    if (tasks > 0) AwaitDone();
    group_->Close();
    return EndPhase();
  }

  Status Committed() override {
    Status first;
    ForEachInstance([&](OperatorInstance& self) {
      Status status = self.op->Committed(self.epoch);
      if (first.ok()) first = std::move(status);
    });
    return first;
  }

  void Abort() override {
    group_->Close();
    epochs_done_ = 0;
    ForEachInstance([](OperatorInstance& self) { self.op->Abort(self.epoch); });
  }

  void Cancel(Status reason) override {
    {
      MutexLock lock(mutex_);
      if (cancelled_.ok()) cancelled_ = reason;
    }
    Fail(std::move(reason));
  }

 private:
  template <typename F>
  void ForEachInstance(F&& f) {
    for (const FragmentSet& set : graph_.sets) {
      for (const auto& fragment : set.fragments) {
        for (const auto& self : fragment->operators()) f(*self);
      }
    }
  }

  // --- phases ---

  Status StartPhase() {
    MutexLock lock(mutex_);
    if (!cancelled_.ok()) return cancelled_;
    failure_ = Status::OK();
    done_ = false;
    stopped_.store(false);
    return Status::OK();
  }

  Status EndPhase() {
    MutexLock lock(mutex_);
    return failure_;
  }

  void AwaitDone() {
    MutexLock lock(mutex_);
    done_changed_.Wait(mutex_, [this] { return done_; });
  }

  void SignalDone() {
    MutexLock lock(mutex_);
    done_ = true;
    done_changed_.NotifyAll();
  }

  Result<EpochResult> Run(const EpochInput& input, const RootConsumer& consumer, bool long_lived) {
    TW_RETURN_NOT_OK(StartPhase());
    consumer_ = &consumer;
    long_lived_ = long_lived;
    on_root_end_ = input.on_root_end;
    root_closed_.store(false);
    SetContexts(input);
    FindReusedPorts(input);
    PrepareSets(input);
    group_->Open();
    StartFragments();
    if (long_lived) StartMarkers();
    AwaitDone();
    {
      MutexLock lock(mutex_);
      taking_markers_ = false;
      early_markers_.clear();
    }
    group_->Close();
    TW_RETURN_NOT_OK(EndPhase());
    ++epochs_done_;
    return Report();
  }

  void SetContexts(const EpochInput& input) {
    ++epochs_begun_;
    ForEachInstance([&](OperatorInstance& self) {
      self.context.epoch_sequence = epochs_begun_;
      self.epoch = input.context;
      if (!self.node->stateful_id) return;
      const auto found = input.operator_watermarks.find(*self.node->stateful_id);
      if (found == input.operator_watermarks.end()) return;
      self.epoch.late_watermark_ms = found->second.first;
      self.epoch.eviction_watermark_ms = found->second.second;
      self.epoch.has_watermark = true;
    });
  }

  // Markers that came before the scans ran.
  void StartMarkers() {
    MutexLock lock(mutex_);
    taking_markers_ = true;
    for (const Marker& marker : early_markers_) InjectNow(marker);
    early_markers_.clear();
  }

  void InjectNow(const Marker& marker) {
    for (const FragmentSet& set : graph_.sets) {
      for (const auto& fragment : set.fragments) {
        bool has_scan = false;
        for (const auto& self : fragment->operators()) {
          if (self->scan == nullptr || !fragment->activated()) continue;
          self->scan->Inject(marker);
          has_scan = true;
        }
        if (has_scan) fragment->task()->Wake();
      }
    }
  }

  bool SameRows(const Occurrence& place, const EpochInput& input) const {
    return std::all_of(place.leaves.begin(), place.leaves.end(), [&](int leaf) {
      return leaf < static_cast<int>(input.leaf_unchanged.size()) && input.leaf_unchanged[leaf];
    });
  }

  // Ports whose rows are those of the last epoch, where every instance has kept what it built from them.
  void FindReusedPorts(const EpochInput& input) {
    skipped_.assign(graph_.occurrences.size(), false);
    reused_.assign(graph_.occurrences.size(), false);
    if (epochs_done_ == 0) return;
    for (size_t i = 1; i < graph_.occurrences.size(); ++i) {
      const Occurrence& place = graph_.occurrences[i];
      if (skipped_[i] || !place.may_be_static || !SameRows(place, input)) continue;
      const auto& parents = graph_.instances[place.parent];
      const bool kept = std::all_of(parents.begin(), parents.end(),
                                    [&](const OperatorInstance* p) { return p->op->CanReuse(place.port); });
      if (!kept) continue;
      reused_[i] = true;
      std::fill(skipped_.begin() + static_cast<int64_t>(i), skipped_.begin() + place.end, true);
    }
  }

  void PrepareSets(const EpochInput& input) {
    int remaining = 0;
    for (FragmentSet& set : graph_.sets) {
      if (skipped_[set.root]) {
        for (const auto& fragment : set.fragments) fragment->LeaveOut();
        continue;
      }
      const int inputs = static_cast<int>(
          std::count_if(set.inputs.begin(), set.inputs.end(), [&](int i) { return !skipped_[graph_.sets[i].root]; }));
      for (const auto& fragment : set.fragments) fragment->Reset(inputs);
      remaining += static_cast<int>(set.fragments.size());
      if (set.output != nullptr) BeginExchange(set);
    }
    remaining_.store(remaining);
    for (size_t i = 0; i < graph_.occurrences.size(); ++i) {
      const Occurrence& place = graph_.occurrences[i];
      if (reused_[i]) {
        for (OperatorInstance* parent : graph_.instances[place.parent]) MarkReused(*parent, place.port);
      }
      if (place.node->leaf && !skipped_[i]) DealSplits(static_cast<int>(i), input);
    }
  }

  static void MarkReused(OperatorInstance& self, int port_index) {
    InputPort& port = self.ports[port_index];
    port.reused = port.ended = true;
    if (port.child != nullptr) MarkClosed(*port.child);
  }

  static void MarkClosed(OperatorInstance& self) {
    self.begun = self.sealed = true;
    self.state = OperatorState::kFinished;
    for (InputPort& port : self.ports) {
      port.ended = true;
      if (port.child != nullptr) MarkClosed(*port.child);
    }
  }

  void BeginExchange(FragmentSet& set) {
    FragmentSet& consumers = graph_.sets[set.consumer];
    std::vector<std::shared_ptr<Task>> tasks;
    for (const auto& fragment : consumers.fragments) tasks.push_back(fragment->task());
    const Distribution distribution = set.output->shape().distribution;
    const bool independent = !set.has_exchange_inputs || set.fragments.size() == 1;
    Exchange::Lanes lanes = Exchange::Lanes::kShared;
    if (long_lived_) {
      lanes = Exchange::Lanes::kAligned;
    } else if (independent && (distribution == Distribution::kSingle || distribution == Distribution::kBroadcast)) {
      lanes = Exchange::Lanes::kOrdered;
    }
    std::vector<std::shared_ptr<Task>> producers;
    for (const auto& fragment : set.fragments) producers.push_back(fragment->task());
    set.output->Begin(lanes, std::move(producers), std::move(tasks), [&consumers](int consumer) { consumers.fragments[consumer]->Activate(); });
  }

  // Contiguous runs of splits, balanced by bytes.
  void DealSplits(int occurrence, const EpochInput& input) {
    const size_t leaf = *graph_.occurrences[occurrence].node->leaf;
    const bool given = leaf < input.leaf_splits.size() && !input.leaf_splits[leaf].empty();
    const bool unchanged = leaf < input.leaf_unchanged.size() && input.leaf_unchanged[leaf];
    if (given || !unchanged) last_splits_[leaf] = given ? input.leaf_splits[leaf] : SplitList{};
    const SplitList& splits = last_splits_[leaf];
    if (plan_->leaves[leaf].scan == nullptr && !unchanged) {
      streaming_splits_ = splits;  // a stream's splits are not kept: they may hold what they read
      last_splits_[leaf].clear();
    }
    const SplitList& dealt = last_splits_[leaf].empty() ? streaming_splits_ : splits;
    const auto& instances = graph_.instances[occurrence];
    int64_t total = 0;
    for (const auto& split : dealt) total += std::max<int64_t>(1, split->estimated_bytes());
    std::vector<SplitList> shares(instances.size());
    int64_t before = 0;
    const auto count = static_cast<int64_t>(instances.size());
    for (const auto& split : dealt) {
      const int64_t bytes = std::max<int64_t>(1, split->estimated_bytes());
      const int64_t at = static_cast<int64_t>(static_cast<double>(before) + static_cast<double>(bytes) / 2);
      const auto share = static_cast<int64_t>(static_cast<double>(at) * static_cast<double>(count) / static_cast<double>(total));
      shares[std::clamp<int64_t>(share, 0, count - 1)].push_back(split);
      before += bytes;
    }
    streaming_splits_.clear();
    for (size_t i = 0; i < instances.size(); ++i) {
      if (instances[i] != nullptr) instances[i]->scan->SetSplits(std::move(shares[i]));
    }
  }

  // Sources start at once; a fragment without any input to wait for is settled here; the rest follow their exchanges.
  void StartFragments() {
    std::vector<Fragment*> settle;
    std::vector<Fragment*> wake;
    for (const FragmentSet& set : graph_.sets) {
      if (skipped_[set.root]) continue;
      for (const auto& fragment : set.fragments) {
        const bool source = std::any_of(
            fragment->operators().begin(), fragment->operators().end(), [](const auto& self) {
              return self->ports.empty() && !self->sealed && (self->scan == nullptr || self->scan->has_splits());
            });
        if (source) {
          wake.push_back(fragment.get());
        } else if (!fragment->has_open_inputs()) {
          settle.push_back(fragment.get());
        }
      }
    }
    for (Fragment* fragment : wake) fragment->Activate();
    for (Fragment* fragment : wake) fragment->task()->Wake();
    for (Fragment* fragment : settle) Settle(*fragment);
  }

  // All exchange inputs of the fragment have ended.
  void Settle(Fragment& fragment) {
    if (!fragment.activated()) {
      if (!fragment.NeedsEpoch()) {
        OnFinished(fragment);
        return;
      }
      fragment.Activate();
    }
    fragment.task()->Wake();
  }

  Status PrepareInline() {
    for (const FragmentSet& set : graph_.sets) {
      if (set.stateful) continue;
      for (const auto& fragment : set.fragments) {
        for (const auto& self : fragment->operators()) {
          while (true) {
            TW_ASSIGN_OR_RETURN(const bool prepared, self->op->Prepare(self->epoch));
            if (prepared) break;
            const std::shared_ptr<Signal> signal = self->op->blocked_on();
            if (signal == nullptr) return InternalError("an operator that prepares later names no signal");
            if (!signal->Wait(stop_source_.get_token())) return Cancelled();
          }
        }
      }
    }
    return Status::OK();
  }

  Result<EpochResult> Report() {
    EpochResult result;
    result.leaf_rows.assign(plan_->leaves.size(), 0);
    result.event_time.resize(plan_->num_watermark_operators);
    result.nodes.resize(graph_.occurrences.size());
    for (size_t i = 0; i < graph_.occurrences.size(); ++i) {
      const PhysicalNode* node = graph_.occurrences[i].node;
      result.nodes[i] = TotalOf(i);
      if (skipped_[i]) continue;
      for (OperatorInstance* self : graph_.instances[i]) {
        if (self != nullptr) self->op->AddReport(self->begun, &result);
      }
      if (node->leaf) result.leaf_rows[*node->leaf] += result.nodes[i].total.output_rows;
    }
    return result;
  }

  // Sums over the instances of one node; nothing for what did not run in this epoch.
  NodeMetrics TotalOf(size_t i) const {
    NodeMetrics metrics;
    metrics.node = graph_.occurrences[i].node;
    for (const OperatorInstance* self : graph_.instances[i]) {
      if (self != nullptr) metrics.total.Add(self->op->metrics());
    }
    return metrics;
  }

  // --- FragmentHost, on workers ---

  bool stopped() const override { return stopped_.load(std::memory_order_acquire); }
  bool long_lived() const override { return long_lived_; }

  void Fail(Status status) override {
    {
      MutexLock lock(mutex_);
      if (failure_.ok()) failure_ = std::move(status);
    }
    stopped_.store(true, std::memory_order_release);
    stop_source_.request_stop();
    SignalDone();
  }

  void OnFinished(Fragment& fragment) override {
    fragment.set_finished();
    if (fragment.output() == nullptr) {
      if (long_lived_) {
        barriers_.RootEnded();
      } else if (on_root_end_) {
        on_root_end_(PartitionId(fragment.partition()));
      }
    } else if (fragment.output()->Finish(fragment.partition())) {
      FragmentSet& consumers = graph_.sets[graph_.sets[graph_.occurrences[fragment.root().occurrence].fragment].consumer];
      for (const auto& consumer : consumers.fragments) {
        if (consumer->InputEnded()) {
          Settle(*consumer);
        } else if (consumer->activated()) {
          consumer->task()->Wake();
        }
      }
    }
    if (remaining_.fetch_sub(1) == 1) SignalDone();
  }

  void OnPrepared(Fragment&) override {
    if (remaining_.fetch_sub(1) == 1) SignalDone();
  }

  Result<bool> Consume(Fragment& fragment, data::Chunk chunk, std::shared_ptr<Signal>* blocked) override {
    if (!*consumer_) return true;
    TW_ASSIGN_OR_RETURN(const bool more, (*consumer_)(PartitionId(fragment.partition()), std::move(chunk), blocked));
    if (!more && !root_closed_.exchange(true)) {
      for (const auto& other : graph_.sets[0].fragments) {
        if (other->activated()) other->task()->Wake();
      }
    }
    return more;
  }

  bool root_closed() const override { return root_closed_.load(std::memory_order_acquire); }

  void OnRootMarker(Fragment& fragment, const Marker& marker) override {
    if (marker.kind != Marker::Kind::kBarrier) return;
    EpochResult part;
    fragment.root().op->AddReport(true, &part);
    barriers_.Passed(marker.value, fragment.partition(), std::move(part.messages));
  }

  const std::shared_ptr<const PhysicalPlan> plan_;
  const std::shared_ptr<TaskGroup> group_;
  PlanGraph graph_;
  int64_t epochs_done_ = 0;  // since the last Abort
  int64_t epochs_begun_ = 0;
  std::vector<SplitList> last_splits_;
  SplitList streaming_splits_;
  std::vector<bool> skipped_;  // by occurrence: nothing runs there in this epoch
  std::vector<bool> reused_;   // by occurrence: the parent's port is reused
  const RootConsumer* consumer_ = nullptr;
  std::function<void(PartitionId)> on_root_end_;
  bool long_lived_ = false;
  BarrierCollector barriers_;
  std::stop_source stop_source_;
  std::atomic<bool> stopped_{false};
  std::atomic<bool> root_closed_{false};
  std::atomic<int> remaining_{0};
  Mutex mutex_;
  CondVar done_changed_;
  bool done_ TW_GUARDED_BY(mutex_) = false;
  bool taking_markers_ TW_GUARDED_BY(mutex_) = false;
  std::vector<Marker> early_markers_ TW_GUARDED_BY(mutex_);
  Status failure_ TW_GUARDED_BY(mutex_);
  Status cancelled_ TW_GUARDED_BY(mutex_);
};

}  // namespace

Result<std::unique_ptr<Execution>> Execution::Make(Scheduler& scheduler, std::shared_ptr<const PhysicalPlan> plan,
                                                   QueryClass query_class, std::shared_ptr<const sql::EvalConfig> config,
                                                   MemoryReservation* memory) {
  auto execution = std::make_unique<PlanExecution>(scheduler, std::move(plan), query_class);
  TW_RETURN_NOT_OK(execution->Init(scheduler, std::move(config), memory));
  return std::unique_ptr<Execution>(std::move(execution));
}

void ExecutionView::Show(const Execution* execution) {
  const MutexLock lock(mutex_);
  execution_ = execution;
}

std::vector<StageMetrics> ExecutionView::Stages() const {
  const MutexLock lock(mutex_);
  return execution_ == nullptr ? std::vector<StageMetrics>{} : execution_->LiveMetrics();
}

namespace {

/// Shows an execution for as long as this lives, whatever ends that.
class Shown {
 public:
  Shown(ExecutionView* view, const Execution& execution) : view_(view) {
    if (view_ != nullptr) view_->Show(&execution);
  }
  ~Shown() {
    if (view_ != nullptr) view_->Show(nullptr);
  }
  Shown(const Shown&) = delete;

 private:
  ExecutionView* const view_;
};

}  // namespace

Result<EpochResult> RunBatch(Scheduler& scheduler, std::shared_ptr<const PhysicalPlan> plan,
                             std::shared_ptr<const sql::EvalConfig> config, MemoryReservation* memory,
                             const RootConsumer& consumer, std::stop_token stop,
                             std::function<void(PartitionId)> on_root_end, ExecutionView* view) {
  EpochInput input;
  input.on_root_end = std::move(on_root_end);
  input.context.batch_timestamp_us = SystemClock::Get().NowMicros();
  for (const LeafSlot& leaf : plan->leaves) {
    if (leaf.scan == nullptr) return InternalError("a batch plan with a streaming leaf");
    TW_ASSIGN_OR_RETURN(SplitList splits, leaf.scan->PlanSplits());
    input.leaf_splits.push_back(std::move(splits));
  }
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<Execution> execution,
                      Execution::Make(scheduler, std::move(plan), QueryClass::kInteractive, std::move(config), memory));
  const std::stop_callback cancel(std::move(stop), [&] { execution->Cancel(Cancelled()); });
  const Shown shown(view, *execution);
  return execution->RunEpoch(input, consumer);
}

}  // namespace thalweg::engine
