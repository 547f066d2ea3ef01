#include "engine/planner/plan_context.h"

#include <algorithm>
#include <utility>

#include "engine/exec/operators/project.h"
#include "engine/exec/operators/union_all.h"
#include "sql/expr/function.h"

namespace thalweg::engine {

Result<PhysicalNodePtr> PlanContext::Plan(const sql::PlanPtr& node) {
  const PlanFunction plan_node = FindPlanFunction(node->kind());
  if (plan_node == nullptr) return Unsupported("running " + node->NodeText());
  return plan_node(*this, node);
}

std::shared_ptr<PhysicalNode> NewNode(std::string name, std::string text, std::vector<PhysicalInput> inputs,
                                      sql::AttributeList output, int partitions, MakeOperator make) {
  auto node = std::make_shared<PhysicalNode>();
  node->name = std::move(name);
  node->text = std::move(text);
  node->inputs = std::move(inputs);
  node->output = std::move(output);
  node->num_partitions = partitions;
  node->make = std::move(make);
  return node;
}

std::shared_ptr<PhysicalNode> NewMapNode(std::string name, std::string text, PhysicalNodePtr input, sql::AttributeList output,
                                         MakeOperator make) {
  const int partitions = input->num_partitions;
  std::vector<PhysicalInput> inputs = {{std::move(input), Distribution::kSame, {}, 0}};
  return NewNode(std::move(name), std::move(text), std::move(inputs), std::move(output), partitions, std::move(make));
}

std::shared_ptr<PhysicalNode> NewSingleNode(std::string name, std::string text, PhysicalNodePtr input, sql::AttributeList output,
                                            MakeOperator make) {
  const Distribution distribution = input->num_partitions == 1 ? Distribution::kSame : Distribution::kSingle;
  std::vector<PhysicalInput> inputs = {{std::move(input), distribution, {}, 0}};
  return NewNode(std::move(name), std::move(text), std::move(inputs), std::move(output), 1, std::move(make));
}

PhysicalNodePtr Gathered(PhysicalNodePtr input) {
  if (input->num_partitions == 1) return input;
  sql::AttributeList output = input->output;
  return PassingChanges(NewSingleNode("Gather", "Gather", std::move(input), std::move(output),
                                      [](PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<UnionAll>(1); }),
                        sql::ChangelogMode::kRetract);
}

std::optional<int> Position(const sql::AttributeList& list, ExprId id) {
  for (size_t i = 0; i < list.size(); ++i) {
    if (list[i]->id() == id) return static_cast<int>(i);
  }
  return std::nullopt;
}

std::vector<data::DataType> TypesOf(const sql::AttributeList& list) {
  std::vector<data::DataType> types;
  types.reserve(list.size());
  for (const auto& attribute : list) types.push_back(attribute->type());
  return types;
}

bool Varies(const sql::ExprList& expressions) {
  return std::any_of(expressions.begin(), expressions.end(), [](const sql::ExprPtr& expression) {
    bool varies = !expression->deterministic();
    sql::Visit(expression, [&](const sql::ExprPtr& node) {
      const auto* call = node->As<sql::Call>();
      varies = varies || (call != nullptr && call->bound().function != nullptr && call->bound().function->batch_time);
      return !varies;
    });
    return varies;
  });
}

std::string ListText(const sql::ExprList& expressions) {
  std::string text = "[";
  for (const auto& expression : expressions) {
    if (text.size() > 1) text += ", ";
    text += expression->PlanText();
  }
  return text + "]";
}

std::string ListText(const sql::AttributeList& attributes) {
  return ListText(sql::ExprList(attributes.begin(), attributes.end()));
}

Result<PhysicalNodePtr> NewProject(PlanContext& context, PhysicalNodePtr input, const sql::ExprList& list) {
  sql::AttributeList output;
  std::vector<int> columns;
  for (const auto& expression : list) {
    output.push_back(sql::ToAttribute(expression));
    const auto* attribute = expression->As<sql::Attribute>();
    if (attribute == nullptr) continue;
    if (const auto position = Position(input->output, attribute->id())) columns.push_back(*position);
  }
  const std::string text = "Project " + ListText(list);
  if (columns.size() == list.size()) {
    auto picked = NewMapNode("Project", text, std::move(input), std::move(output),
                             [columns](PartitionId) -> Result<std::unique_ptr<Operator>> {
                               return std::make_unique<PickColumns>(columns);
                             });
    return PhysicalNodePtr(PassingChanges(std::move(picked), sql::ChangelogMode::kRetract));
  }
  TW_ASSIGN_OR_RETURN(auto program, context.Compile(list, input->output));
  auto node = NewMapNode("Project", text, std::move(input), std::move(output),
                         [program](PartitionId) -> Result<std::unique_ptr<Operator>> {
                           return std::make_unique<Project>(program);
                         });
  node->varies = Varies(list);
  return PhysicalNodePtr(PassingChanges(std::move(node), sql::ChangelogMode::kRetract));
}

Result<KeyedInput> WithKeyColumns(PlanContext& context, PhysicalNodePtr input, const sql::ExprList& keys) {
  KeyedInput keyed;
  sql::ExprList list(input->output.begin(), input->output.end());
  for (const auto& key : keys) {
    const auto* attribute = key->As<sql::Attribute>();
    const auto position = attribute != nullptr ? Position(input->output, attribute->id()) : std::nullopt;
    keyed.columns.push_back(position.value_or(static_cast<int>(list.size())));
    if (!position) list.push_back(sql::Alias::Make(key, "key"));
  }
  if (list.size() == input->output.size()) {
    keyed.node = std::move(input);
  } else {
    TW_ASSIGN_OR_RETURN(keyed.node, NewProject(context, std::move(input), list));
  }
  return keyed;
}

}  // namespace thalweg::engine
