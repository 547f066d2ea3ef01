#include "engine/exec/physical_plan.h"

#include <string>

namespace thalweg::engine {
namespace {

std::string ExchangeText(const PhysicalInput& input, int consumers) {
  switch (input.distribution) {
    case Distribution::kSame:
    case Distribution::kOffset: return "";
    case Distribution::kSingle: return input.node->num_partitions == 1 ? "" : "Exchange SinglePartition";
    case Distribution::kRoundRobin:
      return "Exchange RoundRobinPartitioning(" + std::to_string(consumers) + ")";
    case Distribution::kBroadcast: return "BroadcastExchange";
    case Distribution::kHash: {
      std::string text = "Exchange hashpartitioning(";
      for (const int column : input.key_columns) {
        if (column < static_cast<int>(input.node->output.size())) {
          text += input.node->output[column]->PlanText();
        } else {
          text += "#" + std::to_string(column);
        }
        text += ", ";
      }
      return text + std::to_string(consumers) + ")";
    }
  }
  return "";
}

void AppendLine(const std::string& indent, bool root, bool last, const std::string& text, std::string* out) {
  *out += indent;
  if (!root) *out += last ? "+- " : ":- ";
  *out += text;
  *out += '\n';
}

void AppendTree(const PhysicalNode& node, const std::string& indent, bool root, bool last, std::string* out) {
  AppendLine(indent, root, last, node.text.empty() ? node.name : node.text, out);
  const std::string below = root ? indent : indent + (last ? "   " : ":  ");
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const PhysicalInput& input = node.inputs[i];
    const bool last_child = i + 1 == node.inputs.size();
    const std::string exchange = ExchangeText(input, node.num_partitions);
    if (exchange.empty()) {
      AppendTree(*input.node, below, false, last_child, out);
    } else {
      AppendLine(below, false, last_child, exchange, out);
      AppendTree(*input.node, below + (last_child ? "   " : ":  "), false, true, out);
    }
  }
}

}  // namespace

std::string PhysicalPlan::ToString() const {
  std::string out;
  AppendTree(*root, "", true, true, &out);
  return out;
}

}  // namespace thalweg::engine
