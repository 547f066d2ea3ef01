// Nodes that change rows one by one, and those that move them.

#include <algorithm>
#include <set>

#include "engine/exec/operators/event_time_watermark.h"
#include "engine/exec/operators/generate.h"
#include "engine/exec/operators/limit.h"
#include "engine/exec/operators/project.h"
#include "engine/exec/operators/sample.h"
#include "engine/exec/operators/show_string.h"
#include "engine/exec/operators/union_all.h"
#include "engine/planner/plan_context.h"

namespace thalweg::engine {
namespace {

MakeOperator PassOn(int ports) {
  return [ports](PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<UnionAll>(ports); };
}

// The rows of a Generate with those of its columns only that `wanted` asks for.
Result<PhysicalNodePtr> NewGenerate(PlanContext& context, const sql::PlanPtr& node, const std::function<bool(ExprId)>& wanted) {
  const auto& generate = static_cast<const sql::Generate&>(*node);
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(node->child()));
  auto params = std::make_shared<GenerateParams>();
  TW_ASSIGN_OR_RETURN(params->input, context.Compile({generate.input}, input->output));
  params->computes = generate.input->kind() != sql::ExprKind::kAttribute;
  params->outer = generate.outer;
  sql::AttributeList output;
  for (const auto& column : node->child()->output()) {
    if (!wanted(column->id())) continue;
    const auto position = Position(input->output, column->id());
    if (!position) return InternalError("a column to repeat is not in the rows");
    params->carried.push_back(*position);
    output.push_back(column);
  }
  for (size_t i = 0; i < generate.generated.size(); ++i) {
    if (!wanted(generate.generated[i]->id())) continue;
    using Kind = GeneratedColumn::Kind;
    const int index = static_cast<int>(i) - (generate.position ? 1 : 0);
    params->columns.push_back({index < 0 ? Kind::kPosition : generate.inline_fields ? Kind::kField : Kind::kChild, index});
    output.push_back(generate.generated[i]);
  }
  auto physical = NewMapNode("Generate", node->NodeText(), std::move(input), std::move(output),
                             [params = std::shared_ptr<const GenerateParams>(std::move(params))](
                                 PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<Generate>(params); });
  physical->varies = Varies({generate.input});
  return PhysicalNodePtr(PassingChanges(std::move(physical), sql::ChangelogMode::kRetract));
}

}  // namespace

Result<PhysicalNodePtr> PlanProject(PlanContext& context, const sql::PlanPtr& node) {
  const sql::ExprList& list = static_cast<const sql::Project&>(*node).list;
  PhysicalNodePtr input;
  const bool generates = node->child()->kind() == sql::PlanKind::kGenerate;
  if (generates || node->child()->kind() == sql::PlanKind::kEvalPython) {
    // What the list does not use is not repeated beside each element, nor kept while Python works.
    std::set<ExprId> used;
    for (const sql::ExprPtr& expr : list) {
      for (const ExprId id : sql::References(expr)) used.insert(id);
    }
    const auto wanted = [&](ExprId id) { return used.count(id) != 0; };
    TW_ASSIGN_OR_RETURN(input, generates ? NewGenerate(context, node->child(), wanted) : NewEvalPython(context, node->child(), wanted));
    const bool exact = std::equal(list.begin(), list.end(), input->output.begin(), input->output.end(),
                                  [](const sql::ExprPtr& expr, const sql::AttributePtr& column) { return expr->Equals(*column); });
    if (exact) return input;
  } else {
    TW_ASSIGN_OR_RETURN(input, context.Plan(node->child()));
  }
  return NewProject(context, std::move(input), list);
}

Result<PhysicalNodePtr> PlanGenerate(PlanContext& context, const sql::PlanPtr& node) {
  return NewGenerate(context, node, [](ExprId) { return true; });
}

Result<PhysicalNodePtr> PlanFilter(PlanContext& context, const sql::PlanPtr& node) {
  const auto& filter = static_cast<const sql::Filter&>(*node);
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(node->child()));
  TW_ASSIGN_OR_RETURN(auto program, context.Compile({filter.condition}, input->output));
  sql::AttributeList output = input->output;
  auto physical = NewMapNode("Filter", "Filter " + filter.condition->PlanText(), std::move(input), std::move(output),
                             [program](PartitionId) -> Result<std::unique_ptr<Operator>> {
                               return std::make_unique<Filter>(program);
                             });
  physical->varies = Varies({filter.condition});
  return PhysicalNodePtr(PassingChanges(std::move(physical), sql::ChangelogMode::kRetract));
}

Result<PhysicalNodePtr> PlanExpand(PlanContext& context, const sql::PlanPtr& node) {
  const auto& expand = static_cast<const sql::Expand&>(*node);
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(node->child()));
  std::vector<std::shared_ptr<const sql::Program>> programs;
  std::string text = "Expand [";
  for (const sql::ExprList& projection : expand.projections) {
    TW_ASSIGN_OR_RETURN(auto program, context.Compile(projection, input->output));
    if (!programs.empty()) text += ", ";
    text += ListText(projection);
    programs.push_back(std::move(program));
  }
  text += "], " + ListText(expand.attributes);
  auto physical = NewMapNode("Expand", text, std::move(input), expand.attributes,
                             [programs](PartitionId) -> Result<std::unique_ptr<Operator>> {
                               return std::make_unique<Expand>(programs);
                             });
  physical->varies = Varies(expand.expressions());
  return PhysicalNodePtr(PassingChanges(std::move(physical), sql::ChangelogMode::kRetract));
}

// Aliases and hints do nothing at run time.
Result<PhysicalNodePtr> PlanChildAlone(PlanContext& context, const sql::PlanPtr& node) { return context.Plan(node->child()); }

Result<PhysicalNodePtr> PlanUnion(PlanContext& context, const sql::PlanPtr& node) {
  const auto& all = static_cast<const sql::Union&>(*node);
  if (all.op != sql::SetOp::kUnion) return Unsupported("running " + node->NodeText());
  std::vector<PhysicalInput> inputs;
  int partitions = 0;
  for (const sql::PlanPtr& child : node->children()) {
    TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(child));
    const int first = partitions;
    partitions += input->num_partitions;
    inputs.push_back({std::move(input), Distribution::kOffset, {}, first});
  }
  const int ports = static_cast<int>(inputs.size());
  return PhysicalNodePtr(PassingChanges(NewNode("Union", "Union", std::move(inputs), all.output(), partitions, PassOn(ports)),
                                        sql::ChangelogMode::kRetract));
}

Result<PhysicalNodePtr> PlanRepartition(PlanContext& context, const sql::PlanPtr& node) {
  const auto& repartition = static_cast<const sql::Repartition&>(*node);
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(node->child()));
  const sql::AttributeList output = input->output;
  for (const sql::ExprPtr& key : repartition.keys) {
    if (key->kind() == sql::ExprKind::kSortOrder) return Unsupported("DataFrame.repartitionByRange");
  }
  const int partitions = repartition.partitions.value_or(context.shuffle_partitions);
  if (!repartition.shuffle && partitions >= input->num_partitions) return input;
  if (partitions == 1) return Gathered(std::move(input));
  if (repartition.keys.empty()) {
    // Rows that change the same earlier one may be dealt to different partitions, out of order.
    return PhysicalNodePtr(PassingChanges(NewNode("Repartition", "Repartition", {{std::move(input), Distribution::kRoundRobin, {}, 0}},
                                                  output, partitions, PassOn(1)),
                                          sql::ChangelogMode::kUpsert));
  }
  TW_ASSIGN_OR_RETURN(KeyedInput keyed, WithKeyColumns(context, std::move(input), repartition.keys));
  const bool widened = keyed.node->output.size() > output.size();
  const sql::AttributeList wide = keyed.node->output;
  PhysicalNodePtr moved = PassingChanges(
      NewNode("Repartition", "Repartition", {{std::move(keyed.node), Distribution::kHash, std::move(keyed.columns), 0}}, wide,
              partitions, PassOn(1)),
      sql::ChangelogMode::kUpsert);
  if (!widened) return moved;
  return NewProject(context, std::move(moved), sql::ExprList(output.begin(), output.end()));
}

Result<PhysicalNodePtr> PlanSample(PlanContext& context, const sql::PlanPtr& node) {
  const auto& sample = static_cast<const sql::Sample&>(*node);
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(node->child()));
  sql::AttributeList output = input->output;
  const double lower = sample.lower;
  const double upper = sample.upper;
  const bool with_replacement = sample.with_replacement;
  const int64_t seed = sample.seed;
  auto physical = NewMapNode("Sample", node->NodeText(), std::move(input), std::move(output),
                             [=](PartitionId) -> Result<std::unique_ptr<Operator>> {
                               return std::make_unique<Sample>(lower, upper, with_replacement, seed);
                             });
  // A row and what takes it back are not drawn together.
  return PhysicalNodePtr(PassingChanges(std::move(physical), sql::ChangelogMode::kUpsert));
}

Result<PhysicalNodePtr> PlanShowString(PlanContext& context, const sql::PlanPtr& node) {
  const auto& show = static_cast<const sql::ShowString&>(*node);
  // One row more than is printed tells whether there are more.
  const auto limited = std::make_shared<sql::Limit>(
      sql::Literal::Integer(show.num_rows < INT32_MAX ? show.num_rows + 1 : show.num_rows), node->child());
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(limited));
  ShowStringParams params;
  for (const auto& attribute : input->output) {
    params.names.push_back(attribute->name());
    params.types.push_back(attribute->type());
  }
  params.num_rows = show.num_rows;
  params.truncate = show.truncate;
  params.vertical = show.vertical;
  params.html = show.html;
  return PhysicalNodePtr(NewSingleNode("ShowString", node->NodeText(), std::move(input), show.output(),
                                    [params](PartitionId) -> Result<std::unique_ptr<Operator>> {
                                      return std::make_unique<ShowString>(params);
                                    }));
}

Result<PhysicalNodePtr> PlanEventTimeWatermark(PlanContext& context, const sql::PlanPtr& node) {
  const auto& watermark = static_cast<const sql::EventTimeWatermark&>(*node);
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(node->child()));
  const auto* attribute = watermark.event_time->As<sql::Attribute>();
  const auto column = attribute != nullptr ? Position(input->output, attribute->id()) : std::nullopt;
  if (!column) return InternalError("the event-time column is not in the rows");
  // In a batch query it only marks the column.
  if (context.stream == nullptr || !node->child()->is_streaming()) {
    return NewProject(context, std::move(input), sql::ExprList(node->child()->output().begin(), node->child()->output().end()));
  }
  const int index = context.plan->num_watermark_operators++;
  auto physical = NewMapNode("EventTimeWatermark", node->NodeText(), std::move(input), node->output(),
                             [index, column = *column](PartitionId) -> Result<std::unique_ptr<Operator>> {
                               return std::make_unique<EventTimeWatermark>(index, column);
                             });
  physical->watermark = index;
  physical->watermark_delay_ms = watermark.delay_ms;
  return PhysicalNodePtr(PassingChanges(std::move(physical), sql::ChangelogMode::kRetract));
}

}  // namespace thalweg::engine
