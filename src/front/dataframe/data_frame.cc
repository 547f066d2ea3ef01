#include "thalweg/data_frame.h"

#include <atomic>

#include "data/types/data_type.h"
#include "front/dataframe/nodes.h"
#include "thalweg/functions.h"

namespace thalweg {

using internal::ColumnAccess;
using internal::DataFrameAccess;
namespace proto = ::spark::connect;

namespace {

/// Ids of plans, as clients give them: a server tells DataFrames apart by them.
int64_t NextPlanId() {
  static std::atomic<int64_t> next{0};
  return next++;
}

proto::Join::JoinType JoinTypeOf(std::string_view how) {
  if (how == "left" || how == "left_outer" || how == "leftouter") return proto::Join::JOIN_TYPE_LEFT_OUTER;
  if (how == "right" || how == "right_outer" || how == "rightouter") return proto::Join::JOIN_TYPE_RIGHT_OUTER;
  if (how == "full" || how == "outer" || how == "full_outer" || how == "fullouter") return proto::Join::JOIN_TYPE_FULL_OUTER;
  if (how == "left_semi" || how == "semi" || how == "leftsemi") return proto::Join::JOIN_TYPE_LEFT_SEMI;
  if (how == "left_anti" || how == "anti" || how == "leftanti") return proto::Join::JOIN_TYPE_LEFT_ANTI;
  if (how == "cross") return proto::Join::JOIN_TYPE_CROSS;
  return how == "inner" ? proto::Join::JOIN_TYPE_INNER : proto::Join::JOIN_TYPE_UNSPECIFIED;  // which servers refuse
}

void FillSort(const ColumnList& orders, bool global, proto::Sort* sort) {
  sort->set_is_global(global);
  for (const Column& order : orders.columns()) {
    const proto::Expression& message = ColumnAccess::Message(order);
    *sort->add_order() = message.has_sort_order() ? message.sort_order() : ColumnAccess::Message(order.Asc()).sort_order();
  }
}

// Null has no type of its own to fill with: servers refuse an empty literal.
proto::Expression::Literal LiteralOf(const Cell& value) {
  return std::visit(
      [](const auto& plain) -> proto::Expression::Literal {
        using T = std::decay_t<decltype(plain)>;
        if constexpr (std::is_same_v<T, std::monostate> || std::is_same_v<T, CellList>) {
          return {};
        } else {
          return ColumnAccess::Message(Column(plain)).literal();
        }
      },
      value.value);
}

}  // namespace

DataFrame internal::DataFrameAccess::Make(std::shared_ptr<SessionState> session, proto::Relation relation) {
  relation.mutable_common()->set_plan_id(NextPlanId());
  return DataFrame(std::move(session), std::make_shared<const RelationNode>(RelationNode{std::move(relation)}));
}

template <typename Fill>
DataFrame internal::DataFrameAccess::Over(const DataFrame& input, Fill&& fill) {
  proto::Relation relation;
  *fill(&relation)->mutable_input() = input.relation_->relation;
  return Make(input.session_, std::move(relation));
}

template <typename Fill>
DataFrame internal::DataFrameAccess::Joined(const DataFrame& left, const DataFrame& right, std::string_view how, Fill&& fill) {
  proto::Relation relation;
  proto::Join* join = relation.mutable_join();
  *join->mutable_left() = left.relation_->relation;
  *join->mutable_right() = right.relation_->relation;
  join->set_join_type(JoinTypeOf(how));
  fill(join);
  return Make(left.session_, std::move(relation));
}

namespace {

DataFrame SetOperation(const DataFrame& left, const DataFrame& right, proto::SetOperation::SetOpType type, bool all, bool by_name = false,
                       bool allow_missing = false) {
  proto::Relation relation;
  proto::SetOperation* operation = relation.mutable_set_op();
  *operation->mutable_left_input() = DataFrameAccess::Message(left);
  *operation->mutable_right_input() = DataFrameAccess::Message(right);
  operation->set_set_op_type(type);
  operation->set_is_all(all);
  if (by_name) operation->set_by_name(true);
  if (by_name) operation->set_allow_missing_columns(allow_missing);
  return DataFrameAccess::Make(DataFrameAccess::Session(left), std::move(relation));
}

}  // namespace

// --- grouping ---

DataFrame GroupedData::Agg(const std::vector<Column>& aggregates) const {
  proto::Relation relation;
  proto::Aggregate* aggregate = relation.mutable_aggregate();
  *aggregate->mutable_input() = input_->relation;
  aggregate->set_group_type(kind_ == Kind::kRollup ? proto::Aggregate::GROUP_TYPE_ROLLUP
                            : kind_ == Kind::kCube ? proto::Aggregate::GROUP_TYPE_CUBE
                                                   : proto::Aggregate::GROUP_TYPE_GROUPBY);
  for (const Column& key : keys_) *aggregate->add_grouping_expressions() = ColumnAccess::Message(key);
  for (const Column& column : aggregates) *aggregate->add_aggregate_expressions() = ColumnAccess::Message(column);
  return DataFrameAccess::Make(session_, std::move(relation));
}

DataFrame GroupedData::AggEach(std::string_view function, const std::vector<std::string>& columns) const {
  std::vector<Column> aggregates;
  for (const std::string& column : columns) aggregates.push_back(internal::CallFunction(function, {functions::col(column)}));
  return Agg(aggregates);
}

DataFrame GroupedData::Count() const { return Agg({functions::count().Alias("count")}); }
DataFrame GroupedData::Sum(const std::vector<std::string>& columns) const { return AggEach("sum", columns); }
DataFrame GroupedData::Avg(const std::vector<std::string>& columns) const { return AggEach("avg", columns); }
DataFrame GroupedData::Min(const std::vector<std::string>& columns) const { return AggEach("min", columns); }
DataFrame GroupedData::Max(const std::vector<std::string>& columns) const { return AggEach("max", columns); }

GroupedData DataFrame::GroupBy(const ColumnList& keys) const {
  return GroupedData(session_, relation_, keys.columns(), GroupedData::Kind::kGroupBy);
}
GroupedData DataFrame::Rollup(const ColumnList& keys) const {
  return GroupedData(session_, relation_, keys.columns(), GroupedData::Kind::kRollup);
}
GroupedData DataFrame::Cube(const ColumnList& keys) const {
  return GroupedData(session_, relation_, keys.columns(), GroupedData::Kind::kCube);
}
DataFrame DataFrame::Agg(const std::vector<Column>& aggregates) const { return GroupBy(std::vector<Column>()).Agg(aggregates); }

// --- columns and rows ---

Column DataFrame::operator[](std::string_view name) const {
  proto::Expression expression;
  expression.mutable_unresolved_attribute()->set_unparsed_identifier(std::string(name));
  expression.mutable_unresolved_attribute()->set_plan_id(relation_->relation.common().plan_id());
  return ColumnAccess::Make(std::move(expression));
}

DataFrame DataFrame::Select(const ColumnList& columns) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    for (const Column& column : columns.columns()) *relation->mutable_project()->add_expressions() = ColumnAccess::Message(column);
    return relation->mutable_project();
  });
}

DataFrame DataFrame::SelectExpr(const std::vector<std::string>& expressions) const {
  std::vector<Column> columns;
  for (const std::string& expression : expressions) columns.push_back(internal::SqlExpression(expression));
  return Select(columns);
}

DataFrame DataFrame::Filter(const Column& condition) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    *relation->mutable_filter()->mutable_condition() = ColumnAccess::Message(condition);
    return relation->mutable_filter();
  });
}

DataFrame DataFrame::Filter(std::string_view sql) const { return Filter(internal::SqlExpression(sql)); }

DataFrame DataFrame::WithColumn(std::string_view name, const Column& value) const { return WithColumns({{std::string(name), value}}); }

DataFrame DataFrame::WithColumns(const std::vector<std::pair<std::string, Column>>& columns) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    for (const auto& [name, value] : columns) {
      *relation->mutable_with_columns()->add_aliases() = ColumnAccess::Message(value.Alias(name)).alias();
    }
    return relation->mutable_with_columns();
  });
}

DataFrame DataFrame::WithColumnRenamed(std::string_view name, std::string_view new_name) const {
  return WithColumnsRenamed({{std::string(name), std::string(new_name)}});
}

DataFrame DataFrame::WithColumnsRenamed(const std::map<std::string, std::string>& new_names) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    for (const auto& [name, new_name] : new_names) {
      auto* rename = relation->mutable_with_columns_renamed()->add_renames();
      rename->set_col_name(name);
      rename->set_new_col_name(new_name);
    }
    return relation->mutable_with_columns_renamed();
  });
}

DataFrame DataFrame::Drop(const std::vector<std::string>& names) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    for (const std::string& name : names) relation->mutable_drop()->add_column_names(name);
    return relation->mutable_drop();
  });
}

DataFrame DataFrame::ToDF(const std::vector<std::string>& names) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    for (const std::string& name : names) relation->mutable_to_df()->add_column_names(name);
    return relation->mutable_to_df();
  });
}

DataFrame DataFrame::Alias(std::string_view name) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    relation->mutable_subquery_alias()->set_alias(std::string(name));
    return relation->mutable_subquery_alias();
  });
}

DataFrame DataFrame::Limit(int rows) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    relation->mutable_limit()->set_limit(rows);
    return relation->mutable_limit();
  });
}

DataFrame DataFrame::Offset(int rows) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    relation->mutable_offset()->set_offset(rows);
    return relation->mutable_offset();
  });
}

DataFrame DataFrame::OrderBy(const ColumnList& orders) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    FillSort(orders, true, relation->mutable_sort());
    return relation->mutable_sort();
  });
}

DataFrame DataFrame::SortWithinPartitions(const ColumnList& orders) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    FillSort(orders, false, relation->mutable_sort());
    return relation->mutable_sort();
  });
}

DataFrame DataFrame::Distinct() const { return DropDuplicates(); }

DataFrame DataFrame::DropDuplicates(const std::vector<std::string>& columns) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    relation->mutable_deduplicate()->set_all_columns_as_keys(columns.empty());
    for (const std::string& column : columns) relation->mutable_deduplicate()->add_column_names(column);
    return relation->mutable_deduplicate();
  });
}

DataFrame DataFrame::DropDuplicatesWithinWatermark(const std::vector<std::string>& columns) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    relation->mutable_deduplicate()->set_all_columns_as_keys(columns.empty());
    for (const std::string& column : columns) relation->mutable_deduplicate()->add_column_names(column);
    relation->mutable_deduplicate()->set_within_watermark(true);
    return relation->mutable_deduplicate();
  });
}

DataFrame DataFrame::WithWatermark(std::string_view event_time, std::string_view delay) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    relation->mutable_with_watermark()->set_event_time(std::string(event_time));
    relation->mutable_with_watermark()->set_delay_threshold(std::string(delay));
    return relation->mutable_with_watermark();
  });
}

DataFrame DataFrame::Repartition(int partitions) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    relation->mutable_repartition()->set_num_partitions(partitions);
    relation->mutable_repartition()->set_shuffle(true);
    return relation->mutable_repartition();
  });
}

DataFrame DataFrame::Repartition(const ColumnList& columns) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    for (const Column& column : columns.columns()) {
      *relation->mutable_repartition_by_expression()->add_partition_exprs() = ColumnAccess::Message(column);
    }
    return relation->mutable_repartition_by_expression();
  });
}

DataFrame DataFrame::Coalesce(int partitions) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    relation->mutable_repartition()->set_num_partitions(partitions);
    relation->mutable_repartition()->set_shuffle(false);
    return relation->mutable_repartition();
  });
}

DataFrame DataFrame::Sample(double fraction, int64_t seed) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    relation->mutable_sample()->set_lower_bound(0);
    relation->mutable_sample()->set_upper_bound(fraction);
    relation->mutable_sample()->set_with_replacement(false);
    relation->mutable_sample()->set_seed(seed);
    return relation->mutable_sample();
  });
}

DataFrame DataFrame::FillNa(const Cell& value, const std::vector<std::string>& columns) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    *relation->mutable_fill_na()->add_values() = LiteralOf(value);
    for (const std::string& column : columns) relation->mutable_fill_na()->add_cols(column);
    return relation->mutable_fill_na();
  });
}

DataFrame DataFrame::DropNa(const std::vector<std::string>& columns) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    for (const std::string& column : columns) relation->mutable_drop_na()->add_cols(column);
    return relation->mutable_drop_na();
  });
}

DataFrame DataFrame::Hint(std::string_view name) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    relation->mutable_hint()->set_name(std::string(name));
    return relation->mutable_hint();
  });
}

DataFrame DataFrame::Observe(std::string_view name, const std::vector<Column>& aggregates) const {
  return DataFrameAccess::Over(*this, [&](proto::Relation* relation) {
    relation->mutable_collect_metrics()->set_name(std::string(name));
    for (const Column& column : aggregates) *relation->mutable_collect_metrics()->add_metrics() = ColumnAccess::Message(column);
    return relation->mutable_collect_metrics();
  });
}

// --- two frames ---

DataFrame DataFrame::Union(const DataFrame& other) const {
  return SetOperation(*this, other, proto::SetOperation::SET_OP_TYPE_UNION, true);
}
DataFrame DataFrame::UnionByName(const DataFrame& other, bool allow_missing_columns) const {
  return SetOperation(*this, other, proto::SetOperation::SET_OP_TYPE_UNION, true, true, allow_missing_columns);
}
DataFrame DataFrame::Intersect(const DataFrame& other) const {
  return SetOperation(*this, other, proto::SetOperation::SET_OP_TYPE_INTERSECT, false);
}
DataFrame DataFrame::IntersectAll(const DataFrame& other) const {
  return SetOperation(*this, other, proto::SetOperation::SET_OP_TYPE_INTERSECT, true);
}
DataFrame DataFrame::Subtract(const DataFrame& other) const {
  return SetOperation(*this, other, proto::SetOperation::SET_OP_TYPE_EXCEPT, false);
}
DataFrame DataFrame::ExceptAll(const DataFrame& other) const {
  return SetOperation(*this, other, proto::SetOperation::SET_OP_TYPE_EXCEPT, true);
}

DataFrame DataFrame::Join(const DataFrame& other, const std::vector<std::string>& using_columns, std::string_view how) const {
  return DataFrameAccess::Joined(*this, other, how, [&](proto::Join* join) {
    for (const std::string& column : using_columns) join->add_using_columns(column);
  });
}
DataFrame DataFrame::Join(const DataFrame& other, std::initializer_list<std::string> using_columns, std::string_view how) const {
  return Join(other, std::vector<std::string>(using_columns), how);
}
DataFrame DataFrame::Join(const DataFrame& other, const char* using_column, std::string_view how) const {
  return Join(other, std::vector<std::string>{using_column}, how);
}
DataFrame DataFrame::Join(const DataFrame& other, const Column& condition, std::string_view how) const {
  return DataFrameAccess::Joined(*this, other, how,
                                 [&](proto::Join* join) { *join->mutable_join_condition() = ColumnAccess::Message(condition); });
}
DataFrame DataFrame::CrossJoin(const DataFrame& other) const {
  return DataFrameAccess::Joined(*this, other, "cross", [](proto::Join*) {});
}

}  // namespace thalweg
