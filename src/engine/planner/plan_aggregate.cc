// Grouping. A batch aggregation is partial, exchange by keys, final (or one step where there is one partition); a stream's ends
// in the operator that keeps state.

#include <algorithm>

#include "engine/exec/operators/collect_metrics.h"
#include "engine/exec/operators/first_rows.h"
#include "engine/exec/operators/hash_aggregate.h"
#include "engine/planner/plan_context.h"
#include "engine/planner/stream_aggregate.h"
#include "engine/planner/stream_deduplicate.h"
#include "sql/plan/aggregate_parts.h"

namespace thalweg::engine {
namespace {

using sql::AggregateParts;
using sql::AttributeList;
using sql::ExprList;

using Calls = std::vector<std::shared_ptr<const sql::AggregateCall>>;

std::string FunctionsText(const Calls& calls, const std::string& prefix) {
  std::string text = "[";
  for (const auto& call : calls) {
    if (text.size() > 1) text += ", ";
    text += prefix + call->PlanText();
  }
  return text + "]";
}

/// The columns that an aggregation reads: keys first, then arguments and filters of the calls.
struct AggregateInput {
  ExprList list;
  std::vector<int> key_columns;
  std::vector<AggregateSpec> specs;  ///< by call, updating
};

int AddColumn(const sql::ExprPtr& expression, ExprList* list) {
  for (size_t i = 0; i < list->size(); ++i) {
    const auto* alias = (*list)[i]->As<sql::Alias>();
    if ((*list)[i]->Equals(*expression) || (alias != nullptr && alias->child()->Equals(*expression))) return static_cast<int>(i);
  }
  list->push_back(expression);
  return static_cast<int>(list->size()) - 1;
}

AggregateInput InputOf(const ExprList& keys, const Calls& calls) {
  AggregateInput input;
  input.list = keys;
  for (size_t i = 0; i < keys.size(); ++i) input.key_columns.push_back(static_cast<int>(i));
  for (const auto& call : calls) {
    AggregateSpec spec;
    spec.bound = call->bound_ptr();
    for (const auto& argument : call->arguments()) spec.arguments.push_back(AddColumn(argument, &input.list));
    if (call->has_filter()) spec.filter = AddColumn(call->filter(), &input.list);
    input.specs.push_back(std::move(spec));
  }
  return input;
}

/// Attributes of the buffers of the calls, one call after the other, and where each call's begin.
AttributeList BufferAttributes(const Calls& calls) {
  AttributeList attributes;
  for (const auto& call : calls) {
    for (const sql::BufferField& field : call->bound().buffer) {
      attributes.push_back(sql::Attribute::Make(field.name, field.type, field.nullable));
    }
  }
  return attributes;
}

std::vector<AggregateSpec> MergingSpecs(const Calls& calls, int first_buffer) {
  std::vector<AggregateSpec> specs;
  for (const auto& call : calls) {
    AggregateSpec spec;
    spec.bound = call->bound_ptr();
    spec.merge = true;
    for (size_t i = 0; i < call->bound().buffer.size(); ++i) spec.arguments.push_back(first_buffer++);
    specs.push_back(std::move(spec));
  }
  return specs;
}

AttributeList Joined(const AttributeList& a, const AttributeList& b) {
  AttributeList all = a;
  all.insert(all.end(), b.begin(), b.end());
  return all;
}

ExprList Named(const ExprList& list) {
  ExprList named;
  for (const auto& expression : list) named.push_back(sql::IsNamed(expression) ? expression : sql::Alias::Make(expression, "input"));
  return named;
}

struct StepShape {
  std::string text;
  bool buffers = false;
  bool repeats = false;
};

Result<std::shared_ptr<PhysicalNode>> AggregateNode(PhysicalInput input, int partitions, std::shared_ptr<const sql::Program> program,
                                                    std::vector<int> key_columns, std::vector<data::DataType> key_types,
                                                    std::vector<AggregateSpec> specs, StepShape shape, AttributeList output) {
  auto params = std::make_shared<HashAggregateParams>();
  params->input = std::move(program);
  TW_ASSIGN_OR_RETURN(params->spec, MakeAggregationSpec(std::move(key_columns), std::move(key_types), std::move(specs)));
  params->buffers = shape.buffers;
  params->repeats = shape.repeats;
  std::vector<PhysicalInput> inputs;
  inputs.push_back(std::move(input));
  return NewNode("HashAggregate", std::move(shape.text), std::move(inputs), std::move(output), partitions,
                 [params](PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<HashAggregate>(params); });
}

/// Groups the rows of each task: keys and buffers.
Result<PhysicalNodePtr> PlanPartial(PlanContext& context, PhysicalNodePtr input, const Calls& calls, const ExprList& keys) {
  const AggregateInput columns = InputOf(keys, calls);
  TW_ASSIGN_OR_RETURN(auto program, context.Compile(columns.list, input->output));
  AttributeList key_attributes;
  for (const auto& key : keys) key_attributes.push_back(sql::ToAttribute(key));
  const int partitions = input->num_partitions;
  const std::string text = "HashAggregate(keys=" + ListText(key_attributes) + ", functions=" + FunctionsText(calls, "partial_") + ")";
  TW_ASSIGN_OR_RETURN(auto node, AggregateNode({std::move(input), Distribution::kSame, {}, 0}, partitions, std::move(program),
                                               columns.key_columns, TypesOf(key_attributes), columns.specs, {text, true, true},
                                               Joined(key_attributes, BufferAttributes(calls))));
  node->varies = Varies(columns.list);
  return PhysicalNodePtr(std::move(node));
}

PhysicalInput ByKeys(PhysicalNodePtr input, const std::vector<int>& keys, int partitions) {
  if (input->num_partitions == 1 && partitions == 1) return {std::move(input), Distribution::kSame, {}, 0};
  if (partitions == 1) return {std::move(input), Distribution::kSingle, {}, 0};
  return {std::move(input), Distribution::kHash, keys, 0};
}

int FinalPartitions(const PlanContext& context, const PhysicalNode& input, bool keyed) {
  return !keyed || input.num_partitions == 1 ? 1 : context.shuffle_partitions;
}

std::vector<int> FirstColumns(size_t count) {
  std::vector<int> columns(count);
  for (size_t i = 0; i < count; ++i) columns[i] = static_cast<int>(i);
  return columns;
}

// Without DISTINCT. `node` gives keys and results.
Result<PhysicalNodePtr> PlanPlain(PlanContext& context, PhysicalNodePtr input, const AggregateParts& parts) {
  const AttributeList keys = parts.KeyAttributes();
  const AttributeList output = Joined(keys, parts.results);
  const std::string text = "HashAggregate(keys=" + ListText(keys) + ", functions=" + FunctionsText(parts.calls, "") + ")";
  if (input->num_partitions == 1) {
    const AggregateInput columns = InputOf(parts.keys, parts.calls);
    TW_ASSIGN_OR_RETURN(auto program, context.Compile(columns.list, input->output));
    TW_ASSIGN_OR_RETURN(auto node, AggregateNode({std::move(input), Distribution::kSame, {}, 0}, 1, std::move(program),
                                                 columns.key_columns, TypesOf(keys), columns.specs, {text, false, false}, output));
    node->varies = Varies(columns.list);
    return PhysicalNodePtr(std::move(node));
  }
  const int partitions = FinalPartitions(context, *input, !keys.empty());
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr partial, PlanPartial(context, std::move(input), parts.calls, parts.keys));
  const std::vector<int> key_columns = FirstColumns(keys.size());
  TW_ASSIGN_OR_RETURN(auto node, AggregateNode(ByKeys(std::move(partial), key_columns, partitions), partitions, nullptr, key_columns,
                                               TypesOf(keys), MergingSpecs(parts.calls, static_cast<int>(keys.size())),
                                               {text, false, false}, output));
  return PhysicalNodePtr(std::move(node));
}

/// Whether all DISTINCT calls take the same arguments, without FILTER; those arguments.
std::optional<ExprList> CommonDistinctArguments(const Calls& calls) {
  std::optional<ExprList> arguments;
  for (const auto& call : calls) {
    if (!call->distinct()) continue;
    if (call->has_filter()) return std::nullopt;
    const ExprList own = call->arguments();
    if (!arguments) arguments = own;
    const bool same = own.size() == arguments->size() && std::equal(own.begin(), own.end(), arguments->begin(),
                                                                     [](const auto& a, const auto& b) { return a->Equals(*b); });
    if (!same) return std::nullopt;
  }
  return arguments;
}

// DISTINCT over several lists of arguments: rows meet by keys, then one step sorts out repeated ones per call.
Result<PhysicalNodePtr> PlanManyDistinct(PlanContext& context, PhysicalNodePtr input, const AggregateParts& parts) {
  const AttributeList keys = parts.KeyAttributes();
  AggregateInput columns = InputOf(parts.keys, parts.calls);
  const ExprList named = Named(columns.list);
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr rows, NewProject(context, std::move(input), named));
  for (size_t i = 0; i < parts.calls.size(); ++i) {
    if (!parts.calls[i]->distinct()) continue;
    std::vector<data::DataType> types = TypesOf(keys);
    for (const auto& argument : parts.calls[i]->arguments()) types.push_back(argument->type());
    TW_ASSIGN_OR_RETURN(KeyLayout layout, KeyLayout::Make(std::move(types)));
    columns.specs[i].distinct = std::make_shared<const KeyLayout>(std::move(layout));
  }
  const int partitions = FinalPartitions(context, *rows, !keys.empty());
  const std::string text = "HashAggregate(keys=" + ListText(keys) + ", functions=" + FunctionsText(parts.calls, "") + ")";
  TW_ASSIGN_OR_RETURN(auto node, AggregateNode(ByKeys(std::move(rows), columns.key_columns, partitions), partitions, nullptr,
                                               columns.key_columns, TypesOf(keys), columns.specs, {text, false, false},
                                               Joined(keys, parts.results)));
  return PhysicalNodePtr(std::move(node));
}

// With DISTINCT over one list of arguments: group by keys and arguments, meet by keys, merge, then group by keys alone.
Result<PhysicalNodePtr> PlanDistinctCalls(PlanContext& context, PhysicalNodePtr input, const AggregateParts& parts,
                                          const ExprList& arguments) {
  Calls plain;
  for (const auto& call : parts.calls) {
    if (!call->distinct()) plain.push_back(call);
  }
  const AttributeList keys = parts.KeyAttributes();
  ExprList wide_keys = parts.keys;
  AttributeList argument_attributes;
  for (const auto& argument : arguments) {
    const sql::ExprPtr alias = sql::Alias::Make(argument, "distinct_argument");
    wide_keys.push_back(alias);
    argument_attributes.push_back(sql::ToAttribute(alias));
  }
  const int partitions = FinalPartitions(context, *input, !keys.empty());
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr partial, PlanPartial(context, std::move(input), plain, wide_keys));
  const AttributeList wide = Joined(keys, argument_attributes);
  const std::vector<int> key_columns = FirstColumns(keys.size());
  const std::string merge_text = "HashAggregate(keys=" + ListText(wide) + ", functions=" + FunctionsText(plain, "merge_") + ")";
  const AttributeList buffers = BufferAttributes(plain);
  TW_ASSIGN_OR_RETURN(auto merged, AggregateNode(ByKeys(std::move(partial), key_columns, partitions), partitions, nullptr,
                                                 FirstColumns(wide.size()), TypesOf(wide), MergingSpecs(plain, static_cast<int>(wide.size())),
                                                 {merge_text, true, false}, Joined(wide, buffers)));
  std::vector<AggregateSpec> specs;
  auto merging = MergingSpecs(plain, static_cast<int>(wide.size()));
  size_t next = 0;
  for (const auto& call : parts.calls) {
    if (!call->distinct()) {
      specs.push_back(merging[next++]);
      continue;
    }
    AggregateSpec spec;
    spec.bound = call->bound_ptr();
    for (size_t i = 0; i < arguments.size(); ++i) spec.arguments.push_back(static_cast<int>(keys.size() + i));
    specs.push_back(std::move(spec));
  }
  const std::string text = "HashAggregate(keys=" + ListText(keys) + ", functions=" + FunctionsText(parts.calls, "") + ")";
  TW_ASSIGN_OR_RETURN(auto node, AggregateNode({std::move(merged), Distribution::kSame, {}, 0}, partitions, nullptr, key_columns,
                                               TypesOf(keys), std::move(specs), {text, false, false}, Joined(keys, parts.results)));
  return PhysicalNodePtr(std::move(node));
}

/// Rows of each key meet in one instance, which lets the first through.
Result<PhysicalNodePtr> FirstOfKeys(PlanContext& context, PhysicalNodePtr input, const std::vector<int>& columns, const std::string& text) {
  const AttributeList output = input->output;
  std::vector<data::DataType> types;
  for (const int column : columns) types.push_back(output[column]->type());
  TW_ASSIGN_OR_RETURN(KeyLayout made, KeyLayout::Make(types));
  auto layout = std::make_shared<const KeyLayout>(std::move(made));
  const MakeOperator make = [columns, layout](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<FirstRows>(columns, layout);
  };
  const int partitions = FinalPartitions(context, *input, !columns.empty());
  PhysicalNodePtr node = NewMapNode("Distinct", "partial_" + text, std::move(input), output, make);
  if (node->num_partitions == 1) {
    auto alone = std::make_shared<PhysicalNode>(*node);
    alone->text = text;
    return PhysicalNodePtr(std::move(alone));
  }
  return PhysicalNodePtr(NewNode("Distinct", text, {ByKeys(std::move(node), columns, partitions)}, output, partitions, make));
}

}  // namespace

namespace {

// Sessions that overlap would have to be merged.
bool IsSessionWindow(const sql::AttributePtr& key) { return sql::HasMetadataFlag(key->metadata_json(), sql::kSessionWindowFlag); }

}  // namespace

Result<PhysicalNodePtr> PlanAggregate(PlanContext& context, const sql::PlanPtr& node) {
  const auto& aggregate = static_cast<const sql::Aggregate&>(*node);
  if (aggregate.grouping_kind != sql::Aggregate::Grouping::kPlain) return Unsupported("GROUPING SETS, CUBE and ROLLUP");
  TW_ASSIGN_OR_RETURN(const AggregateParts parts, sql::SplitAggregate(aggregate));
  const bool distinct = std::any_of(parts.calls.begin(), parts.calls.end(), [](const auto& call) { return call->distinct(); });
  const bool stateful = context.stream != nullptr && node->child()->is_streaming();
  if (stateful && distinct) return Unsupported("DISTINCT aggregates on a stream");
  const AttributeList keys = parts.KeyAttributes();
  if (!stateful && std::any_of(keys.begin(), keys.end(), IsSessionWindow)) return Unsupported("session windows");
  // State ids are given from the sink down, so before the input is planned.
  const std::optional<size_t> layout_index = stateful ? std::optional<size_t>(context.next_stateful++) : std::nullopt;
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(node->child()));
  PhysicalNodePtr grouped;
  if (stateful) {
    TW_ASSIGN_OR_RETURN(PhysicalNodePtr partial, PlanPartial(context, std::move(input), parts.calls, parts.keys));
    TW_ASSIGN_OR_RETURN(grouped, PlanStatefulAggregate(context, std::move(partial), parts, *layout_index));
  } else if (distinct) {
    const std::optional<ExprList> arguments = CommonDistinctArguments(parts.calls);
    TW_ASSIGN_OR_RETURN(grouped, arguments ? PlanDistinctCalls(context, std::move(input), parts, *arguments)
                                           : PlanManyDistinct(context, std::move(input), parts));
  } else {
    TW_ASSIGN_OR_RETURN(grouped, PlanPlain(context, std::move(input), parts));
  }
  return NewProject(context, std::move(grouped), parts.output);
}

Result<PhysicalNodePtr> PlanDistinct(PlanContext& context, const sql::PlanPtr& node) {
  if (context.stream != nullptr && node->child()->is_streaming()) return Unsupported("DISTINCT on a stream");
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(node->child()));
  const std::vector<int> columns = FirstColumns(input->output.size());
  return FirstOfKeys(context, std::move(input), columns, "Distinct");
}

Result<PhysicalNodePtr> PlanDeduplicate(PlanContext& context, const sql::PlanPtr& node) {
  const auto& deduplicate = static_cast<const sql::Deduplicate&>(*node);
  if (context.stream != nullptr && node->child()->is_streaming()) return PlanStreamDeduplicate(context, deduplicate);
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(node->child()));
  std::vector<int> columns;
  for (const auto& key : deduplicate.keys) {
    const auto position = Position(input->output, key->id());
    if (!position) return InternalError("a deduplication key is not in the rows");
    columns.push_back(*position);
  }
  return FirstOfKeys(context, std::move(input), columns, "Deduplicate " + ListText(deduplicate.keys));
}

Result<PhysicalNodePtr> PlanCollectMetrics(PlanContext& context, const sql::PlanPtr& node) {
  const auto& metrics = static_cast<const sql::CollectMetrics&>(*node);
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(node->child()));
  const sql::Aggregate all(ExprList{}, Named(metrics.metrics), node->child());
  TW_ASSIGN_OR_RETURN(const AggregateParts parts, sql::SplitAggregate(all));
  if (std::any_of(parts.calls.begin(), parts.calls.end(), [](const auto& call) { return call->distinct(); })) {
    return Unsupported("DISTINCT aggregates in observe");
  }
  const AggregateInput columns = InputOf({}, parts.calls);
  auto params = std::make_shared<CollectMetricsParams>();
  params->name = metrics.name;
  params->num_partitions = input->num_partitions;
  TW_ASSIGN_OR_RETURN(params->input, context.Compile(columns.list, input->output));
  TW_ASSIGN_OR_RETURN(params->spec, MakeAggregationSpec({}, {}, columns.specs));
  TW_ASSIGN_OR_RETURN(params->merge, MakeAggregationSpec({}, {}, MergingSpecs(parts.calls, 0)));
  TW_ASSIGN_OR_RETURN(params->output, context.Compile(parts.output, parts.results));
  AttributeList output = input->output;
  auto physical = NewMapNode("CollectMetrics", node->NodeText(), std::move(input), std::move(output),
                             [params](PartitionId) -> Result<std::unique_ptr<Operator>> {
                               return std::make_unique<CollectMetrics>(params);
                             });
  // As in Spark it counts the rows of an update, whatever they stand for.
  return PhysicalNodePtr(PassingChanges(std::move(physical), sql::ChangelogMode::kUpsert));
}

}  // namespace thalweg::engine
