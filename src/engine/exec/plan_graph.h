#pragma once

// A plan as a tree of occurrences cut into fragments. Internal to this room.

#include <memory>
#include <vector>

#include "engine/exec/fragment.h"

namespace thalweg::engine {

/// One place of a node in the tree; a node under two parents has two.
struct Occurrence {
  const PhysicalNode* node = nullptr;
  int parent = -1;
  int port = 0;                        ///< of the parent
  std::vector<int> children;           ///< by port
  int end = 0;                         ///< occurrences below: (own index, end)
  int fragment = 0;                    ///< index in PlanGraph::fragments
  bool effects = false;                ///< a stateful node here or below
  bool may_be_static = true;           ///< no stream, effect or varying node here or below
  std::vector<int> leaves;             ///< leaf slots here and below
};

/// All tasks that stand for one part of the tree, one per partition.
struct FragmentSet {
  int root = 0;                        ///< occurrence
  std::vector<std::unique_ptr<Fragment>> fragments;
  std::unique_ptr<Exchange> output;    ///< null for the plan's root
  int consumer = -1;                   ///< fragment set that reads the output
  std::vector<int> inputs;             ///< fragment sets whose outputs are read here
  bool has_exchange_inputs = false;
  bool stateful = false;
};

struct PlanGraph {
  std::vector<Occurrence> occurrences;
  std::vector<FragmentSet> sets;       ///< producers stand behind their consumers
  /// Instances of an occurrence, by partition.
  std::vector<std::vector<OperatorInstance*>> instances;
};

/// Builds the tree, makes and opens all operators. Errors: INTERNAL_ERROR for an ill-formed plan; those of the operators.
Status BuildPlanGraph(const PhysicalPlan& plan, FragmentHost& host, const std::shared_ptr<TaskGroup>& group,
                      const TaskContext& context, PlanGraph* graph);

}  // namespace thalweg::engine
