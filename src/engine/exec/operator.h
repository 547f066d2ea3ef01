#pragma once

// Contract: the operator. No operator knows who drives it: micro-batch = one epoch per range; batch = one epoch without a
// watermark; long-lived = watermarks and barriers in-band, with aligned exchanges. Life:
//   Open -> { BeginEpoch -> (Push | Pull | EndInput)* -> Seal -> Pull* -> Prepare -> Committed | Abort }* -> Close
// An operator never waits: it answers kBlocked and names a signal.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/memory.h"
#include "base/signal.h"
#include "base/status.h"
#include "data/columnar/chunk.h"
#include "sql/datasource/data_source.h"
#include "sql/expr/eval_context.h"

namespace thalweg::engine {

/// How the rows of an edge may change earlier ones.
enum class ChangelogMode : uint8_t { kInsertOnly, kUpsert, kRetract };

enum class OperatorState : uint8_t {
  kNeedInput,   ///< Push to the port that `wanted_port()` names
  kHaveOutput,  ///< Pull
  kBlocked,     ///< call again after `blocked_on()` is set
  kFinished,    ///< nothing more in this epoch
};

/// Counters of one operator instance; summed over instances into progress and explain. Written by the task only.
struct OperatorMetrics {
  int64_t input_rows = 0;
  int64_t output_rows = 0;
  int64_t output_bytes = 0;
  int64_t busy_ns = 0;
  /// Spark's names ("numRowsTotal", "numRowsUpdated", "allUpdatesTimeMs", "numRowsDroppedByWatermark", ...).
  std::map<std::string, int64_t> custom;
};

/// What an operator instance gets when it is opened. Outlives the instance.
struct TaskContext {
  std::string query_name;                        ///< for messages
  int operator_index = 0;                        ///< in the physical plan
  PartitionId partition{0};
  int num_partitions = 1;
  std::shared_ptr<const sql::EvalConfig> config;
  MemoryReservation* memory = nullptr;           ///< of the query; charge what you keep
};

/// One instance per partition. Thread: one task at a time (a strand), on any worker.
class Operator {
 public:
  virtual ~Operator() = default;
  virtual Status Open(const TaskContext& context);
  /// The watermarks are already those of this operator. `epoch` outlives the epoch.
  virtual Status BeginEpoch(const sql::EpochContext& epoch);
  /// Which port to push to next; only asked in kNeedInput. Fixed order of ports is a property of the operator: a port is
  /// drained (EndInput) before the next one is named, unless the operator alternates on purpose.
  virtual int wanted_port() const { return 0; }
  /// Takes a chunk. The state after it is what the driver acts on.
  virtual Result<OperatorState> Push(int port, data::Chunk chunk) = 0;
  /// No more rows at this port in this epoch.
  virtual Result<OperatorState> EndInput(int port) = 0;
  /// The next output chunk; only in kHaveOutput (sources start there). Sets `*state` for what follows.
  /// May answer an empty optional with any state.
  virtual Result<std::optional<data::Chunk>> Pull(OperatorState* state) = 0;
  /// After all inputs ended and all output was pulled: emit what this epoch closes, evict. More output may follow.
  virtual Result<OperatorState> Seal();
  virtual std::shared_ptr<Signal> blocked_on() const { return nullptr; }
  /// Hands over what must become durable with this epoch (state changes, commit messages). May complete later: then it
  /// answers false and `blocked_on()` names the signal; it is called again until it answers true.
  virtual Result<bool> Prepare(const sql::EpochContext& epoch);
  /// The epoch is durable.
  virtual Status Committed(const sql::EpochContext& epoch);
  /// Forget everything since BeginEpoch. May be called at any point, also after a failed Prepare.
  virtual void Abort(const sql::EpochContext& epoch);
  virtual void Close();

  OperatorMetrics& metrics() { return metrics_; }
  const OperatorMetrics& metrics() const { return metrics_; }

 protected:
  OperatorMetrics metrics_;
};

/// Rows in, rows out, nothing kept: base for project, filter and kin. Implement Process.
class MapOperator : public Operator {
 public:
  virtual Result<data::Chunk> Process(data::Chunk chunk) = 0;
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;

 private:
  std::optional<data::Chunk> pending_;
};

}  // namespace thalweg::engine
