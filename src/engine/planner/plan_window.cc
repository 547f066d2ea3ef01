#include "engine/planner/plan_window.h"

#include <algorithm>

#include "engine/exec/operators/sort.h"
#include "engine/exec/operators/window.h"
#include "sql/functions/registry.h"
#include "sql/functions/window/window_functions.h"
#include "sql/plan/window.h"

namespace thalweg::engine {
namespace {

using sql::ExprList;
using sql::ExprPtr;

/// Columns that a window reads, each once.
struct ReadColumns {
  ExprList list;
  int Add(const ExprPtr& expr) {
    for (size_t i = 0; i < list.size(); ++i) {
      if (list[i]->Equals(*expr)) return static_cast<int>(i);
    }
    list.push_back(expr);
    return static_cast<int>(list.size()) - 1;
  }
};

WindowFunctionSpec::Kind KindOf(sql::WindowFunctionKind kind) {
  using Kind = WindowFunctionSpec::Kind;
  switch (kind) {
    case sql::WindowFunctionKind::kRowNumber:
      return Kind::kRowNumber;
    case sql::WindowFunctionKind::kRank:
      return Kind::kRank;
    case sql::WindowFunctionKind::kDenseRank:
      return Kind::kDenseRank;
    case sql::WindowFunctionKind::kPercentRank:
      return Kind::kPercentRank;
    case sql::WindowFunctionKind::kCumeDist:
      return Kind::kCumeDist;
    case sql::WindowFunctionKind::kNtile:
      return Kind::kNtile;
    case sql::WindowFunctionKind::kLag:
    case sql::WindowFunctionKind::kLead:
      return Kind::kOffset;
    case sql::WindowFunctionKind::kNthValue:
      break;
  }
  return Kind::kNth;
}

class WindowPlanner {
 public:
  WindowPlanner(PlanContext& context, const sql::Window& window)
      : context_(context), window_(window) {}

  Result<PhysicalNodePtr> Plan() {
    TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context_.Plan(window_.child()));
    params_->kept_columns = static_cast<int>(input->output.size());
    for (const ExprPtr& key : window_.partition) {
      TW_RETURN_NOT_OK(CheckSortable(key->type()));
      params_->partition_columns.push_back(columns_.Add(key));
    }
    for (const ExprPtr& given : window_.orders) {
      const auto& order = static_cast<const sql::SortOrder&>(*given);
      TW_RETURN_NOT_OK(CheckSortable(order.type()));
      params_->orders.push_back(
          {columns_.Add(order.child()), order.type(), order.ascending(), order.nulls_first()});
    }
    for (const ExprPtr& named : window_.calls) {
      TW_ASSIGN_OR_RETURN(WindowFunctionSpec spec,
                          SpecOf(static_cast<const sql::WindowCall&>(*named->child())));
      params_->functions.push_back(std::move(spec));
    }
    TW_ASSIGN_OR_RETURN(KeyedInput keyed,
                        WithKeyColumns(context_, std::move(input), columns_.list));
    UseColumns(keyed.columns);
    params_->types = TypesOf(keyed.node->output);
    return Over(Sorted(std::move(keyed.node)));
  }

 private:
  /// From numbers of `columns_` to columns of the input.
  void UseColumns(const std::vector<int>& columns) {
    const auto use = [&](int& column) {
      if (column >= 0) column = columns[static_cast<size_t>(column)];
    };
    for (int& column : params_->partition_columns) use(column);
    for (SortKey& key : params_->orders) use(key.column);
    for (WindowFunctionSpec& function : params_->functions) {
      for (WindowArgument& argument : function.arguments) use(argument.column);
      if (function.filter) use(*function.filter);
      use(function.frame.lower_column);
      use(function.frame.upper_column);
    }
  }

  PhysicalNodePtr Sorted(PhysicalNodePtr input) const {
    std::vector<SortKey> keys;
    for (const int column : params_->partition_columns) {
      keys.push_back({column, params_->types[static_cast<size_t>(column)], true, true});
    }
    keys.insert(keys.end(), params_->orders.begin(), params_->orders.end());
    const sql::AttributeList output = input->output;
    const bool many = input->num_partitions > 1;
    const std::string text = "Sort " + OrdersText() + ", false";
    const MakeOperator make =
        [keys, types = params_->types](PartitionId) -> Result<std::unique_ptr<Operator>> {
      return std::make_unique<Sort>(keys, types);
    };
    if (many && !params_->partition_columns.empty() && context_.shuffle_partitions > 1) {
      std::vector<PhysicalInput> inputs = {
          {std::move(input), Distribution::kHash, params_->partition_columns, 0}};
      return NewNode("Sort", text, std::move(inputs), output, context_.shuffle_partitions, make);
    }
    if (keys.empty()) return Gathered(std::move(input));
    if (many)
      input = NewMapNode("Sort", text, std::move(input), output,
                         make);  // runs, which are merged in one
    return NewSingleNode("Sort", text, std::move(input), output, make);
  }

  std::string OrdersText() const {
    ExprList orders;
    for (const ExprPtr& key : window_.partition)
      orders.push_back(sql::SortOrder::Make(key, true, true));
    orders.insert(orders.end(), window_.orders.begin(), window_.orders.end());
    return ListText(orders);
  }

  PhysicalNodePtr Over(PhysicalNodePtr sorted) const {
    std::shared_ptr<const WindowParams> params = params_;
    auto node = NewMapNode("Window", window_.NodeText(), std::move(sorted), window_.output(),
                           [params](PartitionId) -> Result<std::unique_ptr<Operator>> {
                             return std::make_unique<Window>(params);
                           });
    return node;
  }

  Result<WindowArgument> ArgumentOf(const ExprPtr& expr) {
    WindowArgument argument;
    argument.type = expr->type();
    if (expr->foldable()) {
      TW_ASSIGN_OR_RETURN(argument.constant, sql::EvaluateConstant(expr, *context_.config));
    } else {
      argument.column = columns_.Add(expr);
    }
    return argument;
  }

  Result<WindowFunctionSpec> SpecOf(const sql::WindowCall& call) {
    using Kind = WindowFunctionSpec::Kind;
    WindowFunctionSpec spec;
    spec.type = call.type();
    ExprList arguments;
    if (const sql::WindowFunctionData* function = sql::AsWindowFunction(*call.function())) {
      spec.kind = KindOf(function->kind);
      spec.number =
          function->kind == sql::WindowFunctionKind::kLag ? -function->number : function->number;
      spec.ignore_nulls = function->ignore_nulls;
      const ExprList& given = call.function()->children();
      if (spec.kind == Kind::kOffset) arguments = {given[0], given[2]};
      if (spec.kind == Kind::kNth) arguments = {given[0]};
    } else {
      const auto& aggregate = static_cast<const sql::AggregateCall&>(*call.function());
      spec.aggregate = aggregate.bound_ptr();
      arguments = aggregate.arguments();
      if (aggregate.has_filter()) spec.filter = columns_.Add(aggregate.filter());
      TW_RETURN_NOT_OK(PickRow(aggregate, &spec, &arguments));
    }
    for (const ExprPtr& argument : arguments) {
      TW_ASSIGN_OR_RETURN(WindowArgument one, ArgumentOf(argument));
      spec.arguments.push_back(std::move(one));
    }
    if (spec.kind == Kind::kAggregate || spec.kind == Kind::kFirst || spec.kind == Kind::kLast ||
        spec.kind == Kind::kNth) {
      TW_ASSIGN_OR_RETURN(spec.frame, FrameOf(call));
    }
    return spec;
  }

  /// first and last are a row of the frame, which needs no accumulator.
  Status PickRow(const sql::AggregateCall& aggregate, WindowFunctionSpec* spec,
                 ExprList* arguments) const {
    const std::string_view name = aggregate.bound().function->name;
    const bool first = name == "first" || name == "first_value" || name == "any_value";
    if ((!first && name != "last" && name != "last_value") || aggregate.has_filter())
      return Status::OK();
    if (arguments->size() == 2) {
      TW_ASSIGN_OR_RETURN(const sql::Value ignore,
                          sql::EvaluateConstant((*arguments)[1], *context_.config));
      spec->ignore_nulls = !ignore.is_null() && ignore.get<bool>();
      arguments->pop_back();
    }
    spec->kind = first ? WindowFunctionSpec::Kind::kFirst : WindowFunctionSpec::Kind::kLast;
    spec->aggregate = nullptr;
    return Status::OK();
  }

  Result<FrameSpec> FrameOf(const sql::WindowCall& call) {
    FrameSpec spec;
    spec.frame = call.frame();
    TW_RETURN_NOT_OK(Offset(call, call.lower_offset(), &spec.lower_rows, &spec.lower_column));
    TW_RETURN_NOT_OK(Offset(call, call.upper_offset(), &spec.upper_rows, &spec.upper_column));
    return spec;
  }

  Status Offset(const sql::WindowCall& call, const ExprPtr& offset, int64_t* rows, int* column) {
    if (offset == nullptr) return Status::OK();
    if (call.frame().unit == sql::FrameUnit::kRows) {
      TW_ASSIGN_OR_RETURN(const sql::Value value, sql::EvaluateConstant(offset, *context_.config));
      *rows = value.is_null() ? 0 : value.AsInt64();
      return Status::OK();
    }
    const auto& order = static_cast<const sql::SortOrder&>(*call.orders()[0]);
    const sql::BindContext bind{*context_.config};
    ExprPtr step = offset;
    if (!order.ascending()) {
      TW_ASSIGN_OR_RETURN(step, sql::BindBuiltin("negative", {step}, bind));
    }
    TW_ASSIGN_OR_RETURN(const ExprPtr bound, sql::RangeBound(order.child(), step, bind));
    *column = columns_.Add(bound);
    return Status::OK();
  }

  PlanContext& context_;
  const sql::Window& window_;
  ReadColumns columns_;
  std::shared_ptr<WindowParams> params_ = std::make_shared<WindowParams>();
};

}  // namespace

Result<PhysicalNodePtr> PlanWindow(PlanContext& context, const sql::PlanPtr& node) {
  return WindowPlanner(context, static_cast<const sql::Window&>(*node)).Plan();
}

}  // namespace thalweg::engine
