#pragma once

// Contract: logical to physical.

#include <memory>

#include "base/status.h"
#include "data/io/file_system.h"
#include "engine/exec/physical_plan.h"
#include "sql/plan/logical_plan.h"
#include "sql/stateful_shape/stateful_shape.h"

namespace thalweg::engine {

struct SessionPython;  // engine/pyworker
class StateServices;  // engine/state: providers, maintenance; one per process

struct BatchPlanOptions {
  std::shared_ptr<const sql::EvalConfig> config;
  int parallelism = 1;                        ///< tasks per stage, at most
  std::shared_ptr<const SessionPython> python;  ///< null: Python functions are refused
};

/// A resolved, optimized batch plan. Errors: UNSUPPORTED_FEATURE.* naming the node that has no operator yet.
Result<std::shared_ptr<const PhysicalPlan>> PlanBatch(const sql::PlanPtr& plan, const BatchPlanOptions& options);

/// What a streaming plan needs beside the plan.
struct StreamPlanOptions {
  std::shared_ptr<const sql::EvalConfig> config;
  sql::OutputMode mode = sql::OutputMode::kAppend;
  int shuffle_partitions = 16;                ///< pinned by the checkpoint
  int parallelism = 1;
  std::string checkpoint_root;
  StateServices* state = nullptr;
  RunId run_id;
  /// The sink's writers become the root operator (one per partition of the last stage) when set; else rows go to the consumer.
  sql::StreamingWrite* write = nullptr;
  /// sql::Table::accepted_changes of the sink, whatever its shape.
  sql::ChangelogMode sink_accepts = sql::ChangelogMode::kUpsert;
  /// The first batch of this run: state version `first_batch` is loaded before it.
  BatchId first_batch{0};
  std::shared_ptr<const SessionPython> python;  ///< null: Python functions are refused
};

/// `shaped.plan` after the optimizer; checks that what StateLayout names still stands, and that every operator and the sink take
/// the changes that come to them. Errors: UNSUPPORTED_FEATURE.CHANGES_OF_ROWS.
Result<std::shared_ptr<const PhysicalPlan>> PlanStream(const sql::ShapedPlan& shaped, const StreamPlanOptions& options);

}  // namespace thalweg::engine
