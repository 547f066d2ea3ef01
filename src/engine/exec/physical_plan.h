#pragma once

// Contract: a compiled plan: a template with slots, made once per query run and executed once per epoch.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/exec/operator.h"
#include "sql/expr/expression.h"

namespace thalweg::engine {

/// How the rows of an input are spread over the instances of the node that reads them.
enum class Distribution : uint8_t {
  kSame,        ///< partition i reads partition i: same task, no exchange; counts must be equal
  kOffset,      ///< partition i reads partition i - `first_partition` when there is one: same task (union)
  kSingle,      ///< one instance reads all; input partitions in order where they do not depend on each other
  kHash,        ///< by Spark's Murmur3 of `keys` pmod the number of instances
  kRoundRobin,
  kBroadcast,   ///< every instance reads all
};

struct PhysicalNode;
using PhysicalNodePtr = std::shared_ptr<const PhysicalNode>;

struct PhysicalInput {
  PhysicalNodePtr node;
  Distribution distribution = Distribution::kSame;
  std::vector<int> key_columns;                 ///< kHash: ordinals in the input's output
  int first_partition = 0;                      ///< kOffset
  /// The most that rows of this input may do to earlier ones: an operator says what it has thought of.
  sql::ChangelogMode accepts = sql::ChangelogMode::kInsertOnly;
};

/// A leaf's data in one epoch. Set per epoch by whoever drives.
using SplitList = std::vector<sql::InputSplitPtr>;

/// One operator of the plan. Immutable. A node that stands under two parents runs once for each.
struct PhysicalNode {
  std::string name;                             ///< "Project", "HashAggregate"
  std::string text;                             ///< for explain
  std::vector<PhysicalInput> inputs;            ///< in port order
  sql::AttributeList output;
  int num_partitions = 1;                       ///< instances; leaves over splits: at most this many tasks at a time
  /// What its rows may do to earlier ones. Who passes changes on says so here and in `accepts`.
  sql::ChangelogMode changelog = sql::ChangelogMode::kInsertOnly;
  /// Makes the instance for one partition. Null for scan leaves (`leaf` set).
  std::function<Result<std::unique_ptr<Operator>>(PartitionId)> make;

  /// Scan leaves: which slot of the epoch's inputs feeds it. Splits are dealt out in contiguous runs, in order.
  std::optional<int> leaf;                      ///< index into EpochInput::leaf_splits
  /// Its rows may differ from epoch to epoch though its inputs did not (current_timestamp, rand, a custom source).
  bool varies = false;

  /// Stateful operators: Spark's operator id within the query, for watermarks, progress and state paths.
  std::optional<int64_t> stateful_id;
  std::string stateful_name;                    ///< "stateStoreSave", "dedupe", ... (progress operatorName)
  /// Stateful operators: a batch without data is due when their watermark has moved.
  bool evicts_by_watermark = false;

  /// Stateful operators: the watermark of their output for that of their input, ms; empty: the same.
  std::function<int64_t(int64_t)> output_watermark;

  /// EventTimeWatermark operators: index into EpochResult::event_time, and the declared delay.
  std::optional<int> watermark;
  int64_t watermark_delay_ms = 0;
};

/// A leaf of the template: static leaves are asked for their version each epoch, streams get an offset range.
struct LeafSlot {
  std::shared_ptr<sql::Scan> scan;              ///< static leaf; null for a streaming one
  int stream_index = -1;                        ///< streaming leaf: index into the query's source list
  sql::ScanRequest request;
  sql::AttributeList output;
  std::string description;
};

struct PhysicalPlan {
  PhysicalNodePtr root;
  std::vector<LeafSlot> leaves;
  sql::AttributeList output;
  /// Event-time columns observed by EventTimeWatermark operators: index -> delay; results come back in EpochResult.
  int num_watermark_operators = 0;
  /// "== Physical Plan ==" body.
  std::string ToString() const;
};

}  // namespace thalweg::engine
