// window(...), session_window(...) and window_time(...): from calls in an operator's expressions to columns that new nodes
// below the operator compute. Source: Spark's TimeWindowing, SessionWindowing and ResolveWindowTime.

#include "sql/analyzer/time_windows.h"

#include <algorithm>
#include <limits>

#include "data/text/interval.h"
#include "sql/analyzer/resolver.h"
#include "sql/expr/evaluator.h"
#include "sql/expr/extract.h"
#include "sql/expr/type_coercion.h"

namespace thalweg::sql {
namespace {

enum class WindowKind { kTime, kSession, kWindowTime };

/// Calls that stand for a window until the operator they stand in is resolved.
const ScalarFunction kPlaceholders[] = {{.name = "window"}, {.name = "session_window"}, {.name = "window_time"}};

const Call* Placeholder(const ExprPtr& expr, WindowKind kind) {
  const auto* call = expr->As<Call>();
  return call != nullptr && call->bound().function == &kPlaceholders[static_cast<int>(kind)] ? call : nullptr;
}

ExprPtr MakePlaceholder(WindowKind kind, ExprList arguments, const DataType& time) {
  auto bound = std::make_shared<BoundScalar>();
  bound->function = &kPlaceholders[static_cast<int>(kind)];
  bound->type = kind == WindowKind::kWindowTime
                    ? time
                    : DataType::Struct({{"start", time, true, "{}"}, {"end", time, true, "{}"}});
  return Call::Make(std::move(bound), std::move(arguments));
}

/// Microseconds of a duration argument. Source: TimeWindow.parseExpression.
Result<int64_t> DurationMicros(const ExprPtr& argument, const EvalConfig& config) {
  if (!argument->foldable()) {
    return Error("DATATYPE_MISMATCH.NON_FOLDABLE_INPUT")
        .With("inputName", "`window_duration`")
        .With("inputType", QuoteType(argument->type()))
        .With("inputExpr", QuoteExpression(argument))
        .With("sqlExpr", QuoteExpression(argument));
  }
  TW_ASSIGN_OR_RETURN(const Value value, EvaluateConstant(argument, config));
  if (const auto* text = value.get_if<std::string>()) {
    data::CalendarInterval interval;
    int64_t micros = 0;
    if (!data::ParseCalendarInterval(*text, &interval)) {
      return Error("CANNOT_PARSE_INTERVAL").With("intervalString", "'" + *text + "'");
    }
    if (interval.months != 0) return Error("_LEGACY_ERROR_TEMP_3231").With("interval", *text);
    if (!data::IntervalMicros(interval, 31, &micros)) {
      return Error("CANNOT_PARSE_INTERVAL").With("intervalString", "'" + *text + "'");
    }
    return micros;
  }
  if (const auto* micros = value.get_if<int64_t>()) return *micros;
  if (const auto* micros = value.get_if<int32_t>()) return static_cast<int64_t>(*micros);
  return Error("CANNOT_PARSE_INTERVAL").With("intervalString", argument->Sql());
}

bool IsWindowStruct(const ExprPtr& expr) {
  const auto* attribute = expr->As<Attribute>();
  return attribute != nullptr && (HasMetadataFlag(attribute->metadata_json(), kTimeWindowFlag) ||
                                  HasMetadataFlag(attribute->metadata_json(), kSessionWindowFlag));
}

/// The time argument as a timestamp; window structs stay.
Result<ExprPtr> TimeArgument(const std::string& name, const ExprPtr& time, const BindContext& context) {
  const DataType& type = time->type();
  if (type.Is(data::TypeKind::kTimestamp) || type.Is(data::TypeKind::kTimestampNtz) || IsWindowStruct(time)) return time;
  if (type.Is(data::TypeKind::kString) || type.Is(data::TypeKind::kDate) || type.Is(data::TypeKind::kNull)) {
    return Coerce(time, DataType::Timestamp(), context.config);
  }
  return Error("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
      .With("sqlExpr", "\"" + name + "(" + AutoName(time) + ")\"")
      .With("paramIndex", "first")
      .With("requiredType", "(\"TIMESTAMP\" or \"TIMESTAMP_NTZ\")")
      .With("inputSql", QuoteExpression(time))
      .With("inputType", QuoteType(type));
}

Status WrongNumber(const std::string& name, const char* expected, size_t actual) {
  return Error("WRONG_NUM_ARGS.WITHOUT_SUGGESTION")
      .With("functionName", data::QuoteIdentifier(name))
      .With("expectedNum", expected)
      .With("actualNum", static_cast<int64_t>(actual))
      .With("docroot", "https://spark.apache.org/docs/latest");
}

Status CheckShape(const ExprPtr& time, const TimeWindowShape& shape) {
  const std::string text = "\"window(" + AutoName(time) + ", " + std::to_string(shape.window) + ", " +
                           std::to_string(shape.slide) + ", " + std::to_string(shape.start) + ")\"";
  const auto number = [](int64_t value) { return std::to_string(value) + "L"; };
  const auto positive = [&](const char* name, int64_t value) -> Status {
    if (value > 0) return Status::OK();
    return Error("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE")
        .With("sqlExpr", text)
        .With("exprName", name)
        .With("valueRange", "(0, 9223372036854775807]")
        .With("currentValue", number(value));
  };
  TW_RETURN_NOT_OK(positive("`window_duration`", shape.window));
  TW_RETURN_NOT_OK(positive("`slide_duration`", shape.slide));
  constexpr int64_t kLongest = std::numeric_limits<int64_t>::max();
  const int64_t start = shape.start < 0 ? -std::max(shape.start, -kLongest) : shape.start;
  const bool slides = shape.slide <= shape.window;
  if (slides && start < shape.slide) return Status::OK();
  return Error("DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION")
      .With("sqlExpr", text)
      .With("leftExprName", slides ? "`abs(start_time)`" : "`slide_duration`")
      .With("leftExprValue", number(slides ? start : shape.slide))
      .With("constraint", slides ? "<" : "<=")
      .With("rightExprName", slides ? "`slide_duration`" : "`window_duration`")
      .With("rightExprValue", number(slides ? shape.slide : shape.window));
}

Result<ExprPtr> TimeWindowCall(const ExprList& arguments, const BindContext& context) {
  if (arguments.empty() || arguments.size() > 4) return WrongNumber("window", "[2, 3, 4]", arguments.size());
  if (arguments.size() == 1) return WrongNumber("window", "[2, 3, 4]", 1);
  TW_ASSIGN_OR_RETURN(ExprPtr time, TimeArgument("window", arguments[0], context));
  TimeWindowShape shape;
  TW_ASSIGN_OR_RETURN(shape.window, DurationMicros(arguments[1], context.config));
  shape.slide = shape.window;
  if (arguments.size() > 2) {
    TW_ASSIGN_OR_RETURN(shape.slide, DurationMicros(arguments[2], context.config));
  }
  if (arguments.size() > 3) {
    TW_ASSIGN_OR_RETURN(shape.start, DurationMicros(arguments[3], context.config));
  }
  TW_RETURN_NOT_OK(CheckShape(time, shape));
  const DataType type = IsWindowStruct(time) ? time->type().fields()[1].type : time->type();
  return MakePlaceholder(WindowKind::kTime,
                         {time, Literal::Long(shape.window), Literal::Long(shape.slide), Literal::Long(shape.start)},
                         type);
}

Result<ExprPtr> SessionWindowCall(const ExprList& arguments, const BindContext& context) {
  if (arguments.size() != 2) return WrongNumber("session_window", "2", arguments.size());
  TW_ASSIGN_OR_RETURN(ExprPtr time, TimeArgument("session_window", arguments[0], context));
  ExprPtr gap = arguments[1];
  if (gap->type().Is(data::TypeKind::kString)) {
    gap = Cast::Make(gap, DataType::CalendarInterval(), context.config.ansi ? EvalMode::kAnsi : EvalMode::kLegacy);
    if (const auto* literal = arguments[1]->As<Literal>(); literal != nullptr && !literal->value().is_null()) {
      data::CalendarInterval interval;
      if (!data::ParseCalendarInterval(literal->value().get<std::string>(), &interval)) {
        return Error("CANNOT_PARSE_INTERVAL").With("intervalString", "'" + literal->value().get<std::string>() + "'");
      }
      gap = Literal::Make(Value(interval), DataType::CalendarInterval());
    }
  }
  if (!gap->type().Is(data::TypeKind::kCalendarInterval)) {
    return Error("_LEGACY_ERROR_TEMP_1040").With("dt", gap->type().SimpleString());
  }
  const DataType type = IsWindowStruct(time) ? time->type().fields()[1].type : time->type();
  return MakePlaceholder(WindowKind::kSession, {time, gap}, type);
}

/// Replaces equal nodes everywhere.
Status ReplaceAll(ExprList* expressions, const ExprPtr& what, const ExprPtr& with) {
  for (ExprPtr& expr : *expressions) {
    TW_ASSIGN_OR_RETURN(expr, TransformUp(expr, [&](const ExprPtr& node) -> Result<ExprPtr> {
                          return node->Equals(*what) ? with : ExprPtr();
                        }));
  }
  return Status::OK();
}

ExprList Collect(const ExprList& expressions, WindowKind kind) {
  ExprList found;
  for (const ExprPtr& expr : expressions) {
    Visit(expr, [&](const ExprPtr& node) {
      if (Placeholder(node, kind) == nullptr) return true;
      const bool known = std::any_of(found.begin(), found.end(), [&](const ExprPtr& f) { return f->Equals(*node); });
      if (!known) found.push_back(node);
      return true;
    });
  }
  return found;
}

ExprList OutputOf(const PlanPtr& plan) {
  const AttributeList output = plan->output();
  return ExprList(output.begin(), output.end());
}

std::string TimeMetadata(const ExprPtr& time, std::string_view flag) {
  const auto* attribute = time->As<Attribute>();
  return WithMetadataFlag(attribute == nullptr ? "{}" : attribute->metadata_json(), flag, true);
}

/// window_time(w) becomes a column of a Project.
Status RewriteWindowTimes(ExprList* expressions, PlanPtr* child) {
  const ExprList calls = Collect(*expressions, WindowKind::kWindowTime);
  if (calls.empty()) return Status::OK();
  ExprList list;
  for (const ExprPtr& call : calls) {
    const auto* window = call->child()->As<Attribute>();
    if (window == nullptr || !IsWindowStruct(call->child())) {
      return Error("_LEGACY_ERROR_TEMP_3101").With("windowTime", call->PlanText());
    }
    std::string metadata = WithMetadataFlag(window->metadata_json(), kTimeWindowFlag, false);
    metadata = WithMetadataFlag(metadata, kSessionWindowFlag, false);
    const auto alias = Alias::Make(MakeWindowTime(call->child()), AutoName(call), NewExprId(), metadata);
    list.push_back(alias);
    TW_RETURN_NOT_OK(ReplaceAll(expressions, call, alias->ToAttribute()));
  }
  const ExprList below = OutputOf(*child);
  list.insert(list.end(), below.begin(), below.end());
  *child = std::make_shared<Project>(std::move(list), *child);
  return Status::OK();
}

/// A row becomes so many rows.
constexpr int64_t kMostOverlapping = 100'000;

int64_t LongOf(const ExprPtr& literal) { return literal->As<Literal>()->value().AsInt64(); }

Status RewriteTimeWindow(Resolver& resolver, const ExprPtr& call, ExprList* expressions, PlanPtr* child) {
  const ExprPtr time = call->child(0);
  const TimeWindowShape shape{LongOf(call->child(1)), LongOf(call->child(2)), LongOf(call->child(3))};
  const std::string metadata = TimeMetadata(time, kTimeWindowFlag);
  TW_ASSIGN_OR_RETURN(const ExprPtr present, resolver.Call("isnotnull", {time}));
  const ExprList below = OutputOf(*child);
  if (shape.window == shape.slide) {
    const auto alias = Alias::Make(MakeWindowStruct(time, shape, 0), "window", NewExprId(), metadata);
    ExprList list = {alias};
    list.insert(list.end(), below.begin(), below.end());
    *child = std::make_shared<Project>(std::move(list), std::make_shared<Filter>(present, *child));
    return ReplaceAll(expressions, call, alias->ToAttribute());
  }
  const int64_t overlapping = (shape.window - 1) / shape.slide + 1;
  if (overlapping > kMostOverlapping) {
    return Unsupported("windows of which more than " + std::to_string(kMostOverlapping) + " overlap: each row would count " +
                       std::to_string(overlapping) + " times; slide by more");
  }
  std::vector<ExprList> projections;
  for (int64_t i = 0; i < overlapping; ++i) {
    ExprList projection = {MakeWindowStruct(time, shape, i)};
    projection.insert(projection.end(), below.begin(), below.end());
    projections.push_back(std::move(projection));
  }
  const AttributePtr window = Attribute::Make("window", projections[0][0]->type(), true, NewExprId(), {}, metadata);
  AttributeList output = {window};
  const AttributeList child_output = (*child)->output();
  output.insert(output.end(), child_output.begin(), child_output.end());
  PlanPtr expand = std::make_shared<Expand>(std::move(projections), std::move(output), *child);
  ExprPtr condition = present;
  if (shape.window % shape.slide != 0) {
    TW_ASSIGN_OR_RETURN(const ExprPtr from, resolver.Call(">=", {time, MakeStructField(window, 0)}));
    TW_ASSIGN_OR_RETURN(const ExprPtr to, resolver.Call("<", {time, MakeStructField(window, 1)}));
    TW_ASSIGN_OR_RETURN(condition, resolver.Call("and", {from, to}));
  }
  *child = std::make_shared<Filter>(condition, std::move(expand));
  return ReplaceAll(expressions, call, window);
}

Status RewriteSessionWindow(Resolver& resolver, const ExprPtr& call, ExprList* expressions, PlanPtr* child) {
  const ExprPtr time = call->child(0);
  const ExprPtr gap = call->child(1);
  const auto alias = Alias::Make(MakeSessionStruct(time, gap), "session_window", NewExprId(),
                                 TimeMetadata(time, kSessionWindowFlag));
  const AttributePtr window = alias->ToAttribute();
  ExprList list = {alias};
  const ExprList below = OutputOf(*child);
  list.insert(list.end(), below.begin(), below.end());
  TW_ASSIGN_OR_RETURN(ExprPtr condition, resolver.Call("isnotnull", {time}));
  const auto* literal = gap->As<Literal>();
  const bool positive = literal != nullptr && !literal->value().is_null() && [&] {
    int64_t micros = 0;
    return data::IntervalMicros(literal->value().get<data::CalendarInterval>(), 31, &micros) && micros > 0;
  }();
  if (!positive) {
    TW_ASSIGN_OR_RETURN(const ExprPtr longer,
                        resolver.Call(">", {MakeStructField(window, 1), MakeStructField(window, 0)}));
    TW_ASSIGN_OR_RETURN(condition, resolver.Call("and", {condition, longer}));
  }
  *child = std::make_shared<Filter>(condition, std::make_shared<Project>(std::move(list), *child));
  return ReplaceAll(expressions, call, window);
}

}  // namespace

Result<ExprPtr> MakeTimeWindow(Resolver& resolver, const std::string& name, const ExprList& arguments) {
  if (name == "window") return TimeWindowCall(arguments, resolver.bind());
  if (name == "session_window") return SessionWindowCall(arguments, resolver.bind());
  if (name != "window_time") return ExprPtr();
  if (arguments.size() != 1) return WrongNumber("window_time", "1", arguments.size());
  if (!arguments[0]->type().Is(data::TypeKind::kStruct)) {
    return Error("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
        .With("sqlExpr", "\"window_time(" + AutoName(arguments[0]) + ")\"")
        .With("paramIndex", "first")
        .With("requiredType", "\"STRUCT\"")
        .With("inputSql", QuoteExpression(arguments[0]))
        .With("inputType", QuoteType(arguments[0]->type()));
  }
  const auto& fields = arguments[0]->type().fields();
  return MakePlaceholder(WindowKind::kWindowTime, arguments, fields.size() == 2 ? fields[1].type : DataType::Timestamp());
}

Status RewriteTimeWindows(Resolver& resolver, ExprList* expressions, PlanPtr* child) {
  // A window over windows is one over their last moments.
  for (const WindowKind kind : {WindowKind::kTime, WindowKind::kSession}) {
    for (const ExprPtr& call : Collect(*expressions, kind)) {
      if (!IsWindowStruct(call->child(0))) continue;
      ExprList arguments = call->children();
      TW_ASSIGN_OR_RETURN(arguments[0], MakeTimeWindow(resolver, "window_time", {arguments[0]}));
      TW_RETURN_NOT_OK(ReplaceAll(expressions, call, call->WithChildren(std::move(arguments))));
    }
  }
  TW_RETURN_NOT_OK(RewriteWindowTimes(expressions, child));
  const ExprList times = Collect(*expressions, WindowKind::kTime);
  const ExprList sessions = Collect(*expressions, WindowKind::kSession);
  if (times.size() + sessions.size() > 1) return Error("_LEGACY_ERROR_TEMP_1039");
  if (!times.empty()) return RewriteTimeWindow(resolver, times[0], expressions, child);
  if (!sessions.empty()) return RewriteSessionWindow(resolver, sessions[0], expressions, child);
  return Status::OK();
}

}  // namespace thalweg::sql
