#pragma once

// One task of a plan: the operators of one partition between two exchanges. Internal to this room.

#include <atomic>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "engine/exec/exchange.h"
#include "engine/exec/execution.h"
#include "engine/exec/operator.h"
#include "engine/exec/physical_plan.h"
#include "engine/exec/scan_operator.h"
#include "engine/exec/task.h"

namespace thalweg::engine {

struct OperatorInstance;

/// Where an operator instance gets the rows of one port from: an operator of the same task, an exchange, or nowhere.
struct InputPort {
  OperatorInstance* child = nullptr;
  Exchange* exchange = nullptr;
  bool effects = false;      ///< what stands below must see all its input, whatever is done with its rows
  // Per epoch:
  bool ended = false;
  bool reused = false;
  bool at_barrier = false;
  Marker barrier;
  int64_t watermark = INT64_MIN;
};

/// An operator with its place in the tree and what the driver loop knows about it.
struct OperatorInstance {
  const PhysicalNode* node = nullptr;
  int occurrence = 0;               ///< pre-order index in the plan
  TaskContext context;
  std::unique_ptr<Operator> op;
  ScanOperator* scan = nullptr;     ///< `op` when it is a scan
  std::vector<InputPort> ports;
  // Per epoch:
  sql::EpochContext epoch;
  OperatorState state = OperatorState::kNeedInput;
  bool begun = false;
  bool sealed = false;
  bool prepared = false;
  std::optional<Marker> marker;     ///< passed on when there is no more output
  int64_t watermark = INT64_MIN;
  int next_port = 0;
};

class Fragment;

/// What a fragment needs of its execution. Thread: any.
class FragmentHost {
 public:
  virtual ~FragmentHost() = default;
  virtual bool stopped() const = 0;
  virtual bool long_lived() const = 0;
  virtual void Fail(Status status) = 0;
  /// All of its rows are out. `fragment` does nothing more in this epoch.
  virtual void OnFinished(Fragment& fragment) = 0;
  virtual void OnPrepared(Fragment& fragment) = 0;
  /// Root only: hands a chunk to the consumer; answers false when no more rows are wanted.
  virtual Result<bool> Consume(Fragment& fragment, data::Chunk chunk, std::shared_ptr<Signal>* blocked) = 0;
  virtual bool root_closed() const = 0;
  virtual void OnRootMarker(Fragment& fragment, const Marker& marker) = 0;
};

/// Drives its operators by pulling from the root; it can stop after any chunk and go on later.
/// Thread: RunSlice on one worker at a time; the setup by the owner while its group is closed.
class Fragment final : public TaskRunner {
 public:
  Fragment(FragmentHost& host, int partition) : host_(host), partition_(partition) {}

  void MakeTask(const std::shared_ptr<TaskGroup>& group) { task_ = std::make_shared<Task>(group, *this); }
  const std::shared_ptr<Task>& task() const { return task_; }
  int partition() const { return partition_; }
  OperatorInstance& root() { return *operators_[0]; }
  /// Pre-order; the root first.
  std::vector<std::unique_ptr<OperatorInstance>>& operators() { return operators_; }
  Exchange* output() const { return output_; }
  void set_output(Exchange* output) { output_ = output; }
  bool has_effects() const { return has_effects_; }
  void set_has_effects(bool effects) { has_effects_ = effects; }

  /// Forgets the last epoch. `exchange_inputs` that will be fed in this one.
  void Reset(int exchange_inputs);
  /// In an epoch that it has no part in.
  void LeaveOut();
  /// True for the first call in an epoch: from now on its task runs when woken.
  bool Activate() { return !activated_.exchange(true); }
  bool activated() const { return activated_.load(); }
  /// Done in this epoch, with or without having run. Thread: any.
  bool finished() const { return finished_.load(std::memory_order_relaxed); }
  void set_finished() { finished_.store(true, std::memory_order_relaxed); }
  /// One of its exchanges has ended. True when it was the last.
  bool InputEnded() { return open_inputs_.fetch_sub(1) == 1; }
  bool has_open_inputs() const { return open_inputs_.load() > 0; }
  bool NeedsEpoch() const;
  /// Closes all operators below without sealing them; their exchanges take no more rows.
  void CloseBelow(OperatorInstance& self);

  /// Next slices call Prepare instead, until OnPrepared.
  void StartPrepare() {
    preparing_ = true;
    done_ = false;
    activated_.store(true);
  }

  SliceEnd RunSlice(const SliceLimit& limit) override;

 private:
  static int partition_of(const OperatorInstance& self) { return self.context.partition.value(); }
  struct Blocked {
    std::vector<std::shared_ptr<Signal>> signals;  // none: an exchange wakes the task
  };
  struct Yield {};
  struct End {};
  using Step = std::variant<data::Chunk, Marker, Blocked, Yield, End>;

  Result<Step> Advance(OperatorInstance& self, const SliceLimit& limit);
  Result<std::optional<Step>> TakeInput(OperatorInstance& self, const SliceLimit& limit);
  Result<std::optional<Step>> TakeFromPort(OperatorInstance& self, int port, const SliceLimit& limit);
  Result<std::optional<Step>> FinishInputs(OperatorInstance& self, const SliceLimit& limit);
  Result<Step> FromPort(OperatorInstance& self, int port, const SliceLimit& limit);
  Status AcceptMarker(OperatorInstance& self, int port, const Marker& marker);
  Status Begin(OperatorInstance& self);
  Result<SliceEnd> RunSteps(const SliceLimit& limit);
  Result<bool> Emit(data::Chunk chunk);
  Result<SliceEnd> RunPrepare();
  void WaitFor(const std::vector<std::shared_ptr<Signal>>& signals);
  bool OutputClosed() const;
  void Finish();

  FragmentHost& host_;
  const int partition_;
  std::shared_ptr<Task> task_;
  std::vector<std::unique_ptr<OperatorInstance>> operators_;
  Exchange* output_ = nullptr;  // null: the plan's root
  bool has_effects_ = false;
  std::atomic<bool> activated_{false};
  std::atomic<bool> finished_{false};
  std::atomic<int> open_inputs_{0};
  bool done_ = false;
  bool preparing_ = false;
  std::shared_ptr<Signal> output_blocked_;
  // Signals that have a callback of ours still to come.
  struct Registration {
    std::weak_ptr<Signal> signal;
    std::shared_ptr<std::atomic<bool>> pending;
  };
  std::vector<Registration> registrations_;
};

}  // namespace thalweg::engine
