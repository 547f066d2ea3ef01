// Per node: rewriting its expressions, output and printed line. In the order of logical_plan.h.

#include <algorithm>

#include "base/invariant.h"
#include "sql/plan/commands.h"
#include "sql/plan/logical_plan.h"

namespace thalweg::sql {
namespace {

/// A copy of a node, to be changed before it is shared.
template <typename T>
std::shared_ptr<T> Copy(const T& node) {
  return std::make_shared<T>(node);
}

std::string Bracketed(const ExprList& list) { return "[" + JoinPlanTexts(list) + "]"; }

std::string Bracketed(const AttributeList& list) {
  return Bracketed(ExprList(list.begin(), list.end()));
}

std::string JoinNames(const std::vector<std::string>& names, const char* separator) {
  std::string text;
  for (const std::string& name : names) {
    if (!text.empty()) text += separator;
    text += name;
  }
  return text;
}

const char* BoolText(bool value) { return value ? "true" : "false"; }

std::string NumberText(double value) {
  std::string text = std::to_string(value);
  while (text.ends_with('0') && !text.ends_with(".0")) text.pop_back();
  return text;
}

AttributeList OutputOf(const ExprList& list) {
  AttributeList output;
  for (const ExprPtr& expr : list) {
    if (IsNamed(expr)) output.push_back(ToAttribute(expr));
  }
  return output;
}

/// A predicate that gives the same for a row of the child and for what the node makes of it.
bool OfChild(const ExprPtr& predicate, const LogicalPlan& node) {
  return predicate->deterministic() && RefersOnlyTo(predicate, node.child()->output());
}

bool AllNamed(const ExprList& list) {
  return std::all_of(list.begin(), list.end(), [](const ExprPtr& expr) { return IsNamed(expr); });
}

}  // namespace

// --- leaves ---

std::string UnresolvedRelation::NodeText() const {
  return "UnresolvedRelation [" + JoinNames(name_parts, ", ") + "], [], " + BoolText(streaming);
}
std::string UnresolvedDataSource::NodeText() const {
  return "UnresolvedDataSource format: " + format + ", isStreaming: " + BoolText(streaming) +
         ", paths: " + std::to_string(paths.size()) + " provided";
}
std::string UnresolvedInlineTable::NodeText() const {
  return "UnresolvedInlineTable [" + JoinNames(names, ", ") + "], " + std::to_string(rows.size()) + " rows";
}
PlanPtr LocalRelation::WithProduced(AttributeList columns) const {
  auto copy = Copy(*this);
  copy->attributes = std::move(columns);
  return copy;
}
std::string LocalRelation::NodeText() const {
  int64_t rows = 0;
  for (const data::Chunk& chunk : chunks) rows += chunk.num_rows();
  return std::string("LocalRelation ") + (rows == 0 ? "<empty>, " : "") + Bracketed(attributes);
}
std::string OneRow::NodeText() const { return "OneRowRelation"; }

Range::Range(int64_t s, int64_t e, int64_t st, std::optional<int> p)
    : start(s), end(e), step(st), partitions(p), id(Attribute::Make("id", DataType::Long(), false)) {}
PlanPtr Range::WithProduced(AttributeList columns) const {
  auto copy = Copy(*this);
  copy->id = columns[0];
  return copy;
}
std::string Range::NodeText() const {
  std::string text = "Range (" + std::to_string(start) + ", " + std::to_string(end) + ", step=" + std::to_string(step);
  if (partitions) text += ", splits=Some(" + std::to_string(*partitions) + ")";
  return text + ")";
}

PlanPtr Relation::WithProduced(AttributeList columns) const {
  auto copy = Copy(*this);
  copy->attributes = std::move(columns);
  return copy;
}
std::string Relation::NodeText() const {
  std::string name = catalog_name.empty() ? "" : JoinNames(catalog_name, ".");
  if (streaming) return "StreamingRelationV2 " + (name.empty() ? table->name() : name) + ", " + Bracketed(attributes);
  std::string text = "Relation " + name;
  AttributeList list = attributes;
  text += "[" + JoinPlanTexts(ExprList(list.begin(), list.end())) + "] ";
  // Spark leaves no space after the commas of a relation's columns.
  std::string::size_type at = text.find('[');
  while ((at = text.find(", ", at)) != std::string::npos) text.erase(at + 1, 1);
  return text + (format.empty() ? table->name() : format) +
         (pushed_filters.empty() ? "" : ", PushedFilters: " + Bracketed(pushed_filters));
}

// --- unresolved unary nodes ---

PlanPtr WithColumns::WithExpressions(ExprList e) const {
  auto copy = Copy(*this);
  copy->aliases = std::move(e);
  return copy;
}
std::string WithColumns::NodeText() const { return "DataFrameWithColumns " + Bracketed(aliases); }

std::string WithColumnsRenamed::NodeText() const {
  std::string text;
  for (const auto& [from, to] : renames) text += (text.empty() ? "" : ", ") + from + " AS " + to;
  return "WithColumnsRenamed [" + text + "]";
}

PlanPtr DropColumns::WithExpressions(ExprList e) const {
  auto copy = Copy(*this);
  copy->columns = std::move(e);
  return copy;
}
std::string DropColumns::NodeText() const {
  std::string text = JoinPlanTexts(columns);
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return "DataFrameDropColumns [" + text + "]";
}

std::string ToDf::NodeText() const { return "ToDF [" + JoinNames(names, ", ") + "]"; }
std::string ToSchema::NodeText() const { return "ToSchema " + data::SchemaDdl(target); }

PlanPtr UnresolvedHaving::WithExpressions(ExprList e) const {
  auto copy = Copy(*this);
  copy->condition = std::move(e[0]);
  return copy;
}
std::string UnresolvedHaving::NodeText() const { return "UnresolvedHaving " + condition->PlanText(); }

std::string UnresolvedWith::NodeText() const {
  std::string text;
  for (const auto& [name, plan] : ctes) text += (text.empty() ? "" : ", ") + name;
  return "UnresolvedWith [" + text + "]";
}

// --- resolved nodes ---

AttributeList Project::output() const { return OutputOf(list); }
PlanPtr Project::WithExpressions(ExprList e) const {
  auto copy = Copy(*this);
  copy->list = std::move(e);
  return copy;
}
std::string Project::NodeText() const { return "Project " + Bracketed(list); }
bool Project::node_resolved() const { return AllNamed(list); }

PlanPtr Filter::WithExpressions(ExprList e) const {
  auto copy = Copy(*this);
  copy->condition = std::move(e[0]);
  return copy;
}
std::string Filter::NodeText() const { return "Filter " + condition->PlanText(); }

AttributeList Aggregate::output() const { return OutputOf(aggregates); }
ExprList Aggregate::expressions() const {
  ExprList all = grouping;
  all.insert(all.end(), aggregates.begin(), aggregates.end());
  return all;
}
PlanPtr Aggregate::WithExpressions(ExprList e) const {
  TW_DCHECK(e.size() == grouping.size() + aggregates.size());
  auto copy = Copy(*this);
  const auto middle = e.begin() + static_cast<ptrdiff_t>(grouping.size());
  copy->grouping.assign(e.begin(), middle);
  copy->aggregates.assign(middle, e.end());
  return copy;
}
std::string Aggregate::NodeText() const { return "Aggregate " + Bracketed(grouping) + ", " + Bracketed(aggregates); }
bool Aggregate::node_resolved() const {
  return !group_all && grouping_kind == Grouping::kPlain && AllNamed(aggregates);
}

AttributeList Join::output() const {
  AttributeList left = child(0)->output();
  if (type == JoinType::kLeftSemi || type == JoinType::kLeftAnti) return left;
  AttributeList right = child(1)->output();
  const bool left_null = type == JoinType::kRightOuter || type == JoinType::kFullOuter;
  const bool right_null = type == JoinType::kLeftOuter || type == JoinType::kFullOuter;
  if (left_null) {
    for (AttributePtr& attribute : left) attribute = attribute->WithNullable(true);
  }
  for (AttributePtr& attribute : right) left.push_back(right_null ? attribute->WithNullable(true) : attribute);
  return left;
}
ExprList Join::expressions() const { return condition == nullptr ? ExprList{} : ExprList{condition}; }
PlanPtr Join::WithExpressions(ExprList e) const {
  auto copy = Copy(*this);
  copy->condition = e.empty() ? nullptr : std::move(e[0]);
  return copy;
}
std::string Join::NodeText() const {
  static const char* const kNames[] = {"Inner",     "Cross",    "LeftOuter", "RightOuter",
                                       "FullOuter", "LeftSemi", "LeftAnti"};
  std::string text = std::string("Join ") + kNames[static_cast<int>(type)];
  if (!using_columns.empty()) text += ", using [" + JoinNames(using_columns, ", ") + "]";
  if (condition != nullptr) text += ", " + condition->PlanText();
  return text;
}
bool Join::node_resolved() const {
  if (natural || !using_columns.empty()) return false;
  return condition == nullptr || condition->type().Is(data::TypeKind::kBoolean);
}

PlanPtr Union::WithProduced(AttributeList columns) const {
  auto copy = Copy(*this);
  copy->attributes = std::move(columns);
  return copy;
}
std::string Union::NodeText() const {
  if (op == SetOp::kExcept) return std::string("Except ") + BoolText(all);
  if (op == SetOp::kIntersect) return std::string(all ? "Intersect All " : "Intersect ") + BoolText(all);
  return std::string("Union ") + BoolText(by_name) + ", " + BoolText(allow_missing);
}
bool Union::node_resolved() const { return !by_name && !attributes.empty(); }

PlanPtr Limit::WithExpressions(ExprList e) const {
  auto copy = Copy(*this);
  copy->limit = std::move(e[0]);
  return copy;
}
std::string Limit::NodeText() const {
  return "GlobalLimit " + limit->PlanText() + "\nLocalLimit " + limit->PlanText();
}

PlanPtr OffsetRows::WithExpressions(ExprList e) const {
  auto copy = Copy(*this);
  copy->offset = std::move(e[0]);
  return copy;
}
std::string OffsetRows::NodeText() const { return "Offset " + offset->PlanText(); }

PlanPtr Tail::WithExpressions(ExprList e) const {
  auto copy = Copy(*this);
  copy->limit = std::move(e[0]);
  return copy;
}
std::string Tail::NodeText() const { return "Tail " + limit->PlanText(); }

PlanPtr Sort::WithExpressions(ExprList e) const {
  auto copy = Copy(*this);
  copy->orders = std::move(e);
  return copy;
}
bool Sort::passes_predicate(const ExprPtr& predicate) const { return OfChild(predicate, *this); }
std::string Sort::NodeText() const { return "Sort " + Bracketed(orders) + ", " + BoolText(global); }

std::string Distinct::NodeText() const { return "Distinct"; }

ExprList Deduplicate::expressions() const { return ExprList(keys.begin(), keys.end()); }
PlanPtr Deduplicate::WithExpressions(ExprList e) const {
  auto copy = Copy(*this);
  copy->keys.clear();
  for (const ExprPtr& key : e) copy->keys.push_back(ToAttribute(key));
  return copy;
}
std::string Deduplicate::NodeText() const {
  const char* const name = within_watermark ? "DeduplicateWithinWatermark " : "Deduplicate ";
  if (keys_resolved) return name + Bracketed(keys);
  return std::string("Unresolved") + name + "[" + JoinNames(column_names, ", ") + "]";
}

AttributeList SubqueryAlias::output() const {
  AttributeList output = child()->output();
  for (AttributePtr& attribute : output) attribute = attribute->WithQualifier(name_parts);
  return output;
}
std::string SubqueryAlias::NodeText() const {
  std::string text;
  for (const std::string& part : name_parts) text += (text.empty() ? "" : ".") + data::QuoteIfNeeded(part);
  return "SubqueryAlias " + text;
}

AttributeList EventTimeWatermark::output() const {
  AttributeList output = child()->output();
  const auto* event = event_time->As<Attribute>();
  if (event == nullptr || !delay_resolved) return output;
  for (AttributePtr& attribute : output) {
    if (attribute->id() == event->id()) {
      attribute = attribute->WithMetadata(WithWatermarkDelayMs(attribute->metadata_json(), delay_ms));
    } else if (WatermarkDelayMs(attribute->metadata_json())) {
      // A new watermark takes the place of an older one.
      attribute = attribute->WithMetadata(WithWatermarkDelayMs(attribute->metadata_json(), std::nullopt));
    }
  }
  return output;
}
PlanPtr EventTimeWatermark::WithExpressions(ExprList e) const {
  auto copy = Copy(*this);
  copy->event_time = std::move(e[0]);
  return copy;
}
bool EventTimeWatermark::passes_predicate(const ExprPtr& predicate) const {
  const ExprId event = event_time->As<Attribute>()->id();
  const std::vector<ExprId> ids = References(predicate);
  return predicate->deterministic() && std::find(ids.begin(), ids.end(), event) == ids.end();
}
std::string EventTimeWatermark::NodeText() const {
  std::string text = "EventTimeWatermark " + event_time->PlanText();
  if (event_time->resolved()) text += ": " + event_time->type().SimpleString();
  return text + ", " + delay_text;
}

PlanPtr Repartition::WithExpressions(ExprList e) const {
  auto copy = Copy(*this);
  copy->keys = std::move(e);
  return copy;
}
bool Repartition::passes_predicate(const ExprPtr& predicate) const { return OfChild(predicate, *this); }
std::string Repartition::NodeText() const {
  const std::string count = partitions ? std::to_string(*partitions) : "";
  if (keys.empty()) return "Repartition " + count + ", " + BoolText(shuffle);
  return "RepartitionByExpression " + Bracketed(keys) + (partitions ? ", " + count : "");
}

std::string Sample::NodeText() const {
  return "Sample " + NumberText(lower) + ", " + NumberText(upper) + ", " + BoolText(with_replacement) + ", " +
         std::to_string(seed);
}

ShowString::ShowString(int n, int t, bool v, PlanPtr child)
    : PlanNode({std::move(child)}),
      num_rows(n),
      truncate(t),
      vertical(v),
      text(Attribute::Make("show_string", DataType::String(), false)) {}
PlanPtr ShowString::WithProduced(AttributeList columns) const {
  auto copy = Copy(*this);
  copy->text = columns[0];
  return copy;
}
std::string ShowString::NodeText() const {
  return std::string(html ? "HtmlString " : "ShowString ") + std::to_string(num_rows);
}

std::string Hint::NodeText() const { return "UnresolvedHint " + name + ", " + Bracketed(parameters); }

PlanPtr CollectMetrics::WithExpressions(ExprList e) const {
  auto copy = Copy(*this);
  copy->metrics = std::move(e);
  return copy;
}
std::string CollectMetrics::NodeText() const { return "CollectMetrics " + name + ", " + Bracketed(metrics); }

AttributeList Generate::output() const {
  AttributeList output = child()->output();
  output.insert(output.end(), generated.begin(), generated.end());
  return output;
}
PlanPtr Generate::WithExpressions(ExprList e) const {
  auto copy = Copy(*this);
  copy->input = std::move(e[0]);
  return copy;
}
PlanPtr Generate::WithProduced(AttributeList columns) const {
  auto copy = Copy(*this);
  copy->generated = std::move(columns);
  return copy;
}
bool Generate::passes_predicate(const ExprPtr& predicate) const { return OfChild(predicate, *this); }
std::string Generate::NodeText() const {
  const char* const name = inline_fields ? "inline" : position ? "posexplode" : "explode";
  return std::string("Generate ") + name + "(" + input->PlanText() + "), " + BoolText(outer) + ", " + Bracketed(generated);
}

ExprList Expand::expressions() const {
  ExprList all;
  for (const ExprList& projection : projections) all.insert(all.end(), projection.begin(), projection.end());
  return all;
}
PlanPtr Expand::WithExpressions(ExprList e) const {
  auto copy = Copy(*this);
  size_t at = 0;
  for (ExprList& projection : copy->projections) {
    for (ExprPtr& expr : projection) expr = std::move(e[at++]);
  }
  TW_DCHECK(at == e.size());
  return copy;
}
PlanPtr Expand::WithProduced(AttributeList columns) const {
  auto copy = Copy(*this);
  copy->attributes = std::move(columns);
  return copy;
}
bool Expand::passes_predicate(const ExprPtr& predicate) const { return OfChild(predicate, *this); }
std::string Expand::NodeText() const {
  std::string text;
  for (const ExprList& projection : projections) text += (text.empty() ? "" : ", ") + Bracketed(projection);
  return "Expand [" + text + "], " + Bracketed(attributes);
}

}  // namespace thalweg::sql
