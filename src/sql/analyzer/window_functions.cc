#include <algorithm>

#include "data/columnar/builder.h"
#include "data/text/civil.h"
#include "data/text/time_zone.h"
#include "sql/analyzer/time_windows.h"

namespace thalweg::sql {
namespace {

using data::ColumnPtr;
using data::StructField;

struct WindowData final : BoundData {
  TimeWindowShape shape;
  int64_t index = 0;
};

int64_t Add(int64_t a, int64_t b) { return static_cast<int64_t>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b)); }

DataType WindowType(const DataType& time) {
  return DataType::Struct({{"start", time, true, "{}"}, {"end", time, true, "{}"}});
}

/// A struct that is never null over two columns that share the nulls of `time`.
ColumnPtr WindowColumn(const DataType& type, const data::Column& time, std::vector<int64_t> start,
                       std::vector<int64_t> end) {
  const auto column = [&](const std::vector<int64_t>& values) {
    const int64_t bytes = static_cast<int64_t>(values.size() * sizeof(int64_t));
    auto buffer = data::Buffer::Allocate(bytes);
    std::copy(values.begin(), values.end(), buffer->as_mutable<int64_t>().begin());
    data::Column::Parts parts;
    parts.type = type.fields()[0].type;
    parts.length = time.length();
    parts.null_count = time.null_count();
    parts.validity = time.parts().validity;
    parts.values = std::move(buffer);
    return data::Column::Make(std::move(parts));
  };
  data::Column::Parts parts;
  parts.type = type;
  parts.length = time.length();
  parts.children = {column(start), column(end)};
  return data::Column::Make(std::move(parts));
}

Result<ColumnPtr> EvaluateWindow(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const auto& data = static_cast<const WindowData&>(*call.data);
  const ColumnPtr time = data::Flatten(input.arguments[0]);
  const auto values = time->values<int64_t>();
  std::vector<int64_t> start(values.size());
  std::vector<int64_t> end(values.size());
  const int64_t back = data.index * data.shape.slide;
  for (size_t row = 0; row < values.size(); ++row) {
    start[row] = Add(LatestWindowStart(values[row], data.shape), -back);
    end[row] = Add(start[row], data.shape.window);
  }
  return WindowColumn(call.type, *time, std::move(start), std::move(end));
}

Result<ColumnPtr> EvaluateSession(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const ColumnPtr time = data::Flatten(input.arguments[0]);
  const ColumnPtr& gaps = input.arguments[1];
  const auto values = time->values<int64_t>();
  const auto gap = gaps->values<data::CalendarInterval>();
  const bool local = call.type.fields()[0].type.Is(data::TypeKind::kTimestampNtz);
  const std::optional<data::TimeZone> zone = data::TimeZone::Find(local ? "UTC" : context.config->time_zone);
  if (!zone) return InternalError("unknown session time zone");
  std::vector<int64_t> start(values.begin(), values.end());
  std::vector<int64_t> end(values.size());
  for (size_t row = 0; row < values.size(); ++row) {
    const data::CalendarInterval& add = gap[gaps->is_constant() ? 0 : row];
    int64_t moved = values[row];
    if (add.months != 0 || add.days != 0) {
      int64_t civil = zone->ToLocal(moved);
      if (!data::AddMonthsToMicros(civil, add.months, &civil)) return Error("DATETIME_OVERFLOW").With("operation", "session_window");
      moved = zone->FromLocal(Add(civil, add.days * data::kMicrosPerDay), zone->OffsetSecondsAt(moved));
    }
    // A row without gap makes no session: its end is its start, which the filter above drops.
    end[row] = gaps->IsNull(static_cast<int64_t>(row)) ? values[row] : Add(moved, add.microseconds);
  }
  return WindowColumn(call.type, *time, std::move(start), std::move(end));
}

Result<ColumnPtr> EvaluateWindowTime(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const ColumnPtr window = data::Flatten(input.arguments[0]);
  const ColumnPtr end = data::Flatten(window->child(1));
  data::FixedBuilder<int64_t> builder(call.type);
  builder.Reserve(window->length());
  const auto values = end->values<int64_t>();
  for (int64_t row = 0; row < window->length(); ++row) {
    if (window->IsNull(row) || end->IsNull(row)) {
      builder.AppendNull();
    } else {
      builder.Append(Add(values[static_cast<size_t>(row)], -1));
    }
  }
  return builder.Finish();
}

std::string Text(const ExprPtr& expr, bool plan_text) { return plan_text ? expr->PlanText() : expr->Sql(); }

std::string WindowSql(const Call& call, bool plan_text) {
  const auto& data = static_cast<const WindowData&>(*call.bound().data);
  std::string text = "window(" + Text(call.child(0), plan_text) + ", " + std::to_string(data.shape.window) + ", " +
                     std::to_string(data.shape.slide) + ", " + std::to_string(data.shape.start) + ")";
  if (data.index != 0) text += "[" + std::to_string(data.index) + "]";
  return text;
}

const ScalarFunction kWindow{
    .name = "window", .nulls = NullPolicy::kCustom, .internal = true, .sql = &WindowSql};
const ScalarFunction kSession{.name = "session_window", .nulls = NullPolicy::kCustom, .internal = true};
const ScalarFunction kWindowTime{.name = "window_time", .nulls = NullPolicy::kCustom, .internal = true};

ExprPtr Make(const ScalarFunction& function, ExprList arguments, DataType type, bool nullable, ScalarKernel kernel,
             std::shared_ptr<const BoundData> data) {
  auto bound = std::make_shared<BoundScalar>();
  bound->function = &function;
  bound->type = std::move(type);
  bound->nullable = nullable;
  bound->kernel = kernel;
  bound->data = std::move(data);
  return Call::Make(std::move(bound), std::move(arguments));
}

}  // namespace

int64_t LatestWindowStart(int64_t time, const TimeWindowShape& shape) {
  int64_t remainder = Add(time, -shape.start) % shape.slide;
  if (remainder < 0) remainder += shape.slide;
  return Add(time, -remainder);
}

ExprPtr MakeWindowStruct(const ExprPtr& time, const TimeWindowShape& shape, int64_t index) {
  auto data = std::make_shared<WindowData>();
  data->shape = shape;
  data->index = index;
  // The numbers are arguments too, so that equal calls compare equal.
  return Make(kWindow,
              {time, Literal::Long(shape.window), Literal::Long(shape.slide), Literal::Long(shape.start),
               Literal::Long(index)},
              WindowType(time->type()), false, &EvaluateWindow, std::move(data));
}

ExprPtr MakeSessionStruct(const ExprPtr& time, const ExprPtr& gap) {
  return Make(kSession, {time, gap}, WindowType(time->type()), false, &EvaluateSession, nullptr);
}

ExprPtr MakeWindowTime(const ExprPtr& window) {
  return Make(kWindowTime, {window}, window->type().fields()[1].type, true, &EvaluateWindowTime, nullptr);
}

}  // namespace thalweg::sql
