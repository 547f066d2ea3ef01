#pragma once

// Contract: the operator. No operator knows who drives it: micro-batch = one epoch per range; batch = one epoch without a
// watermark; long-lived = watermarks and barriers in-band, with aligned exchanges. Life:
//   Open -> { BeginEpoch -> (Push | Pull | EndInput)* -> Seal -> Pull* -> Prepare -> Committed | Abort }* -> Close
// An operator never waits: it answers kBlocked and names a signal; once that is set the driver calls Pull, whatever call it
// was that blocked (a pushed chunk was taken all the same).
// An instance that gets no row in an epoch and does not need it (NeedsEpoch) sees only Prepare, Committed and Abort.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/memory.h"
#include "base/signal.h"
#include "base/status.h"
#include "data/columnar/chunk.h"
#include "engine/exec/operator_metrics.h"
#include "sql/datasource/data_source.h"
#include "sql/expr/eval_context.h"

namespace thalweg::engine {

class Scheduler;
struct EpochResult;

enum class OperatorState : uint8_t {
  kNeedInput,   ///< Push to the port that `wanted_port()` names
  kHaveOutput,  ///< Pull
  kBlocked,     ///< Pull after `blocked_on()` is set
  kFinished,    ///< nothing more in this epoch; said before all inputs ended it also means that no more input is wanted
};

/// `wanted_port()`: whichever port has rows.
inline constexpr int kAnyPort = -1;

/// What flows in-band between chunks of a long-lived run. An operator with several inputs sees a barrier when it has come
/// from all of them (aligned), and a watermark when the least of them rises.
struct Marker {
  enum class Kind : uint8_t { kBarrier, kWatermark };
  Kind kind = Kind::kBarrier;
  int64_t value = 0;  ///< epoch that ends here, or watermark in ms
  bool operator==(const Marker&) const = default;
};

/// What an operator instance gets when it is opened. Outlives the instance.
struct TaskContext {
  std::string query_name;                        ///< for messages
  int operator_index = 0;                        ///< in the physical plan, pre-order
  PartitionId partition{0};
  int num_partitions = 1;
  std::shared_ptr<const sql::EvalConfig> config;
  MemoryReservation* memory = nullptr;           ///< of the query; shared by all tasks: use NewReservation
  Scheduler* scheduler = nullptr;                ///< for RunBlocking
  int64_t epoch_sequence = 0;                    ///< epochs that this execution began, failed ones too; same for all instances
  /// An account entry of the instance's own for what it keeps. Thread: any.
  MemoryReservation NewReservation() const;
};

/// One instance per partition. Thread: one task at a time (a strand), on any worker; Open, Prepare of operators without
/// state, Committed, Abort, Close and AddReport also on the owner's thread while no task runs.
class Operator {
 public:
  virtual ~Operator() = default;
  virtual Status Open(const TaskContext& context);
  /// The watermarks are already those of this operator. `epoch` outlives the epoch.
  virtual Status BeginEpoch(const sql::EpochContext& epoch);
  /// False: without any input row this instance has nothing to do in `epoch` (nothing to emit or evict), so no task runs
  /// for it. Asked before BeginEpoch, on any thread. True unless said.
  virtual bool NeedsEpoch(const sql::EpochContext& epoch) const;
  /// True when what the last epoch built from this port is still held. Asked when the port's rows would be the same again
  /// (static leaves of unchanged version); if all instances say yes nothing is read there.
  virtual bool CanReuse(int port) const;
  /// After BeginEpoch: stands for all chunks of the port and its EndInput.
  virtual void Reuse(int port);
  /// Which port to push to next; only asked in kNeedInput. Fixed order of ports is a property of the operator: a port is
  /// drained (EndInput) before the next one is named, unless the operator alternates on purpose (or says kAnyPort).
  virtual int wanted_port() const { return 0; }
  /// Takes a chunk. The state after it is what the driver acts on.
  virtual Result<OperatorState> Push(int port, data::Chunk chunk) = 0;
  /// No more rows at this port in this epoch.
  virtual Result<OperatorState> EndInput(int port) = 0;
  /// The next output chunk; in kHaveOutput (operators without inputs start there), and after kBlocked. Sets `*state` for
  /// what follows. May answer an empty optional with any state.
  virtual Result<std::optional<data::Chunk>> Pull(OperatorState* state) = 0;
  /// Long-lived runs only, asked before each step: a marker that follows the chunks handed out so far (sources; operators
  /// that make watermarks).
  virtual std::optional<Marker> TakeMarker() { return std::nullopt; }
  /// Long-lived runs only, when all output was pulled. The marker is passed on when the operator has no more output.
  virtual Result<OperatorState> OnMarker(const Marker& marker);
  /// After all inputs ended and all output was pulled: emit what this epoch closes, evict. More output may follow.
  virtual Result<OperatorState> Seal();
  virtual std::shared_ptr<Signal> blocked_on() const { return nullptr; }
  /// Hands over what must become durable with this epoch (state changes, commit messages). May complete later: then it
  /// answers false and `blocked_on()` names the signal; it is called again until it answers true. Called on every instance,
  /// also on those that had no task in this epoch; in parallel tasks for nodes with a stateful id.
  virtual Result<bool> Prepare(const sql::EpochContext& epoch);
  /// The epoch is durable.
  virtual Status Committed(const sql::EpochContext& epoch);
  /// Forget everything since BeginEpoch. May be called at any point, also after a failed Prepare.
  virtual void Abort(const sql::EpochContext& epoch);
  virtual void Close();
  /// Adds what the driver gets beside rows: commit messages, event times, observations. Called once per epoch, after Seal, in
  /// partition order, on every instance; `ran` says whether it had a task. At a barrier its task calls it on the root alone.
  virtual void AddReport(bool ran, EpochResult* result);

  OperatorMetrics& metrics() { return metrics_; }
  const OperatorMetrics& metrics() const { return metrics_; }

 protected:
  OperatorMetrics metrics_;
};

/// Rows in, rows out, nothing kept: base for project, filter and kin. Implement Process; an empty chunk is not passed on.
class MapOperator : public Operator {
 public:
  virtual Result<data::Chunk> Process(data::Chunk chunk) = 0;
  bool NeedsEpoch(const sql::EpochContext&) const override { return false; }
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;

 private:
  std::optional<data::Chunk> pending_;
};

}  // namespace thalweg::engine
