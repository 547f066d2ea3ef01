#include "engine/exec/plan_graph.h"

#include <algorithm>
#include <utility>

namespace thalweg::engine {
namespace {

// Every instance costs memory and a task; a user's number must not take the server down.
constexpr int kMostPartitions = 100'000;

bool SameTask(const PhysicalInput& input) {
  return input.distribution == Distribution::kSame || input.distribution == Distribution::kOffset;
}

class Builder {
 public:
  Builder(const PhysicalPlan& plan, FragmentHost& host, const std::shared_ptr<TaskGroup>& group,
          const TaskContext& context, PlanGraph* graph)
      : plan_(plan), host_(host), group_(group), context_(context), graph_(*graph) {}

  Status Build() {
    graph_.sets.emplace_back();
    TW_RETURN_NOT_OK(AddOccurrence(*plan_.root, -1, 0, 0));
    graph_.instances.resize(graph_.occurrences.size());
    for (size_t i = 0; i < graph_.occurrences.size(); ++i) {
      graph_.instances[i].resize(graph_.occurrences[i].node->num_partitions, nullptr);
    }
    MakeExchanges();
    for (FragmentSet& set : graph_.sets) TW_RETURN_NOT_OK(MakeFragments(set));
    return Status::OK();
  }

 private:
  Status Check(const PhysicalNode& node) const {
    if (node.num_partitions < 1) return InternalError(node.name + " has no partitions");
    if (node.num_partitions > kMostPartitions) {
      return Unsupported("more than " + std::to_string(kMostPartitions) + " partitions of one operator");
    }
    if (!node.make && (!node.leaf || *node.leaf < 0 || *node.leaf >= static_cast<int>(plan_.leaves.size()))) {
      return InternalError(node.name + " has neither an operator nor a leaf");
    }
    for (const PhysicalInput& input : node.inputs) {
      const int child = input.node->num_partitions;
      const bool fits = input.distribution == Distribution::kSame     ? child == node.num_partitions
                        : input.distribution == Distribution::kOffset ? input.first_partition >= 0 &&
                                                                            input.first_partition + child <= node.num_partitions
                        : input.distribution == Distribution::kSingle ? node.num_partitions == 1
                                                                      : true;
      if (!fits) return InternalError(node.name + " does not fit the partitions of " + input.node->name);
    }
    return Status::OK();
  }

  Status AddOccurrence(const PhysicalNode& node, int parent, int port, int set) {
    TW_RETURN_NOT_OK(Check(node));
    const int index = static_cast<int>(graph_.occurrences.size());
    {
      Occurrence self;
      self.node = &node;
      self.parent = parent;
      self.port = port;
      self.fragment = set;
      self.effects = node.stateful_id.has_value();
      self.may_be_static = !node.varies && !self.effects;
      if (node.leaf) {
        self.leaves.push_back(*node.leaf);
        if (plan_.leaves[*node.leaf].scan == nullptr) self.may_be_static = false;
      }
      graph_.occurrences.push_back(std::move(self));
    }
    if (node.stateful_id) graph_.sets[set].stateful = true;
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      int child_set = set;
      if (!SameTask(node.inputs[i])) {
        child_set = static_cast<int>(graph_.sets.size());
        graph_.sets.emplace_back();
        graph_.sets.back().root = static_cast<int>(graph_.occurrences.size());
        graph_.sets.back().consumer = set;
        graph_.sets[set].has_exchange_inputs = true;
        graph_.sets[set].inputs.push_back(child_set);
      }
      const int child = static_cast<int>(graph_.occurrences.size());
      TW_RETURN_NOT_OK(AddOccurrence(*node.inputs[i].node, index, static_cast<int>(i), child_set));
      Occurrence& self = graph_.occurrences[index];
      const Occurrence& below = graph_.occurrences[child];
      self.children.push_back(child);
      self.effects = self.effects || below.effects;
      self.may_be_static = self.may_be_static && below.may_be_static;
      self.leaves.insert(self.leaves.end(), below.leaves.begin(), below.leaves.end());
    }
    graph_.occurrences[index].end = static_cast<int>(graph_.occurrences.size());
    return Status::OK();
  }

  void MakeExchanges() {
    for (FragmentSet& set : graph_.sets) {
      if (set.consumer < 0) continue;
      const Occurrence& root = graph_.occurrences[set.root];
      const PhysicalNode& parent = *graph_.occurrences[root.parent].node;
      const PhysicalInput& input = parent.inputs[root.port];
      Exchange::Shape shape{input.distribution, root.node->num_partitions, parent.num_partitions, input.key_columns};
      MemoryAccount* account = context_.memory != nullptr ? context_.memory->account() : nullptr;
      set.output = std::make_unique<Exchange>(std::move(shape), account);
    }
  }

  Status MakeFragments(FragmentSet& set) {
    const Occurrence& root = graph_.occurrences[set.root];
    for (int partition = 0; partition < root.node->num_partitions; ++partition) {
      auto fragment = std::make_unique<Fragment>(host_, partition);
      fragment->set_output(set.output.get());
      fragment->set_has_effects(root.effects);
      fragment->MakeTask(group_);
      TW_RETURN_NOT_OK(MakeInstance(*fragment, set.root, partition).status());
      set.fragments.push_back(std::move(fragment));
    }
    return Status::OK();
  }

  Result<OperatorInstance*> MakeInstance(Fragment& fragment, int occurrence, int partition) {
    const Occurrence& place = graph_.occurrences[occurrence];
    const PhysicalNode& node = *place.node;
    fragment.operators().push_back(std::make_unique<OperatorInstance>());
    OperatorInstance& self = *fragment.operators().back();
    graph_.instances[occurrence][partition] = &self;
    self.node = &node;
    self.occurrence = occurrence;
    self.context = context_;
    self.context.operator_index = occurrence;
    self.context.partition = PartitionId(partition);
    self.context.num_partitions = node.num_partitions;
    if (node.leaf) {
      auto scan = std::make_unique<ScanOperator>();
      self.scan = scan.get();
      self.op = std::move(scan);
    } else {
      TW_ASSIGN_OR_RETURN(self.op, node.make(PartitionId(partition)));
    }
    TW_RETURN_NOT_OK(self.op->Open(self.context));
    self.ports.resize(node.inputs.size());
    for (size_t i = 0; i < node.inputs.size(); ++i) {
      const PhysicalInput& input = node.inputs[i];
      const Occurrence& child = graph_.occurrences[place.children[i]];
      self.ports[i].effects = child.effects;
      if (!SameTask(input)) {
        self.ports[i].exchange = graph_.sets[child.fragment].output.get();
        continue;
      }
      const int below = input.distribution == Distribution::kOffset ? partition - input.first_partition : partition;
      if (below < 0 || below >= child.node->num_partitions) continue;
      TW_ASSIGN_OR_RETURN(self.ports[i].child, MakeInstance(fragment, place.children[i], below));
    }
    return &self;
  }

  const PhysicalPlan& plan_;
  FragmentHost& host_;
  const std::shared_ptr<TaskGroup>& group_;
  const TaskContext& context_;
  PlanGraph& graph_;
};

}  // namespace

Status BuildPlanGraph(const PhysicalPlan& plan, FragmentHost& host, const std::shared_ptr<TaskGroup>& group,
                      const TaskContext& context, PlanGraph* graph) {
  if (plan.root == nullptr) return InternalError("a physical plan without a root");
  return Builder(plan, host, group, context, graph).Build();
}

}  // namespace thalweg::engine
