// The relations of DataFrame.stat, describe and summary as aggregations. Source: Spark's StatFunctions.
#include <spark/connect/expressions.pb.h>
#include <spark/connect/relations.pb.h>

#include "base/string_case.h"
#include "data/text/numbers.h"
#include "sql/plan/reshape.h"
#include "sql/protocol/literal_proto.h"
#include "sql/protocol/plan_proto.h"
#include "sql/protocol/protocol_errors.h"
#include "sql/protocol/relation_readers.h"

namespace thalweg::sql {

namespace {

namespace pb = ::spark::connect;
using data::DataType;

ExprPtr Fn(const char* name, ExprList arguments) { return UnresolvedFunction::Make({name}, std::move(arguments)); }
ExprPtr Column(const std::string& name) { return UnresolvedAttribute::Make({name}); }
ExprPtr Number(double value) { return Literal::Make(Value(value), DataType::Double()); }
ExprPtr Text(ExprPtr value) { return Cast::Make(std::move(value), DataType::String(), EvalMode::kAnsi); }

Status IllegalArgument(const std::string& message) { return Error("ILLEGAL_ARGUMENT").With("message", message); }

ExprPtr Percentiles(ExprPtr column, const std::vector<double>& points, double accuracy) {
  ExprList list;
  for (const double point : points) list.push_back(Number(point));
  return Fn("percentile_approx", {std::move(column), Fn("array", std::move(list)), Literal::Long(static_cast<int64_t>(accuracy))});
}

/// The column of one statistic; `points` are the percentiles asked for, in order.
Result<ExprPtr> Statistic(const std::string& name, const data::StructField& field, const std::vector<double>& points, size_t* point) {
  const ExprPtr column = Column(field.name);
  const bool text = field.type.Is(data::TypeKind::kString);
  const ExprPtr number = text ? Cast::Make(column, DataType::Double(), EvalMode::kTry) : column;
  const std::string lower = ToAsciiLower(name);
  if (lower == "count" || lower == "approx_count_distinct" || lower == "min" || lower == "max") return Fn(lower.c_str(), {column});
  if (lower == "count_distinct") return UnresolvedFunction::Make({"count"}, {column}, true);
  if (lower == "mean") return Fn("avg", {number});
  if (lower == "stddev") return Fn("stddev", {number});
  if (lower.ends_with("%")) {
    constexpr double kAccuracy = 10000;
    return Fn("get", {Percentiles(number, points, kAccuracy), Literal::Integer(static_cast<int32_t>((*point)++))});
  }
  return Error("UNRECOGNIZED_STATISTIC").With("stats", "'" + name + "'");
}

/// A row per statistic: its name, then its text for each number or text column.
Result<PlanPtr> Summary(PlanPtr input, const std::vector<std::string>& statistics, PlanReader& reader) {
  std::vector<double> points;
  for (const std::string& statistic : statistics) {
    if (!statistic.ends_with("%")) continue;
    double percent = 0;
    if (!data::ParseDouble(std::string_view(statistic).substr(0, statistic.size() - 1), &percent)) {
      return IllegalArgument("Unable to parse " + statistic + " as a percentile");
    }
    points.push_back(percent / 100);
    if (points.back() < 0 || points.back() > 1) return IllegalArgument("requirement failed: Percentiles must be in the range [0, 1]");
  }
  TW_ASSIGN_OR_RETURN(const data::Schema schema, reader.environment().SchemaOf(input));
  std::vector<const data::StructField*> described;
  for (const data::StructField& field : schema) {
    if (field.type.IsNumeric() || field.type.Is(data::TypeKind::kString)) described.push_back(&field);
  }
  std::vector<size_t> next_point(described.size(), 0);
  ExprList rows;
  for (const std::string& statistic : statistics) {
    ExprList row{Literal::String("summary"), Literal::String(statistic)};
    for (size_t i = 0; i < described.size(); ++i) {
      TW_ASSIGN_OR_RETURN(ExprPtr value, Statistic(statistic, *described[i], points, &next_point[i]));
      row.push_back(Literal::String(described[i]->name));
      row.push_back(Text(std::move(value)));
    }
    rows.push_back(Fn("named_struct", std::move(row)));
  }
  ExprList list{Fn("inline", {Fn("array", std::move(rows))})};
  if (described.empty()) return std::make_shared<Project>(std::move(list), std::make_shared<OneRow>());
  return std::make_shared<Aggregate>(ExprList{}, std::move(list), std::move(input));
}

/// Both columns as numbers, missing ones as 0.
Result<ExprList> TwoNumbers(const std::string& first, const std::string& second, const char* what, const PlanPtr& input, PlanReader& reader) {
  ExprList list{Column(first), Column(second)};
  TW_ASSIGN_OR_RETURN(const data::Schema schema, reader.environment().SchemaOf(std::make_shared<Project>(list, input)));
  for (size_t i = 0; i < list.size(); ++i) {
    if (!schema[i].type.IsNumeric()) {
      return IllegalArgument("requirement failed: Currently " + std::string(what) + " calculation for columns with dataType " +
                             schema[i].type.SimpleString() + " not supported.");
    }
    list[i] = Fn("coalesce", {Cast::Make(list[i], DataType::Double(), EvalMode::kAnsi), Number(0)});
  }
  return list;
}

}  // namespace

Result<PlanPtr> ReadDescribe(const pb::StatDescribe& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  if (message.cols_size() > 0) {
    ExprList columns;
    for (const std::string& name : message.cols()) columns.push_back(Column(name));
    input = std::make_shared<Project>(std::move(columns), std::move(input));
  }
  return Summary(std::move(input), {"count", "mean", "stddev", "min", "max"}, reader);
}

Result<PlanPtr> ReadSummary(const pb::StatSummary& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  std::vector<std::string> statistics(message.statistics().begin(), message.statistics().end());
  if (statistics.empty()) statistics = {"count", "mean", "stddev", "min", "25%", "50%", "75%", "max"};
  return Summary(std::move(input), statistics, reader);
}

Result<PlanPtr> ReadCov(const pb::StatCov& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  TW_ASSIGN_OR_RETURN(ExprList numbers, TwoNumbers(message.col1(), message.col2(), "covariance", input, reader));
  ExprList list{Alias::Make(Fn("coalesce", {Fn("covar_samp", std::move(numbers)), Number(0)}), "cov")};
  return std::make_shared<Aggregate>(ExprList{}, std::move(list), std::move(input));
}

Result<PlanPtr> ReadCorr(const pb::StatCorr& message, PlanReader& reader) {
  if (message.has_method() && message.method() != "pearson") {
    return IllegalArgument("requirement failed: Currently only the calculation of the Pearson Correlation coefficient is supported.");
  }
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  TW_ASSIGN_OR_RETURN(ExprList numbers, TwoNumbers(message.col1(), message.col2(), "correlation", input, reader));
  ExprList list{Alias::Make(Fn("corr", std::move(numbers)), "corr")};
  return std::make_shared<Aggregate>(ExprList{}, std::move(list), std::move(input));
}

Result<PlanPtr> ReadCrosstab(const pb::StatCrosstab& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  auto pivot = std::make_shared<UnresolvedPivot>(std::move(input));
  const auto text = [](const std::string& name) { return Fn("coalesce", {Text(Column(name)), Literal::String("null")}); };
  pivot->grouping = ExprList{Alias::Make(text(message.col1()), message.col1() + "_" + message.col2())};
  pivot->columns = {Fn("replace", {text(message.col2()), Literal::String("`"), Literal::String("")})};
  pivot->find_values = true;
  pivot->counts_apart = true;
  pivot->aggregates = {Fn("count", {Literal::Integer(1)})};
  return pivot;
}

Result<PlanPtr> ReadApproxQuantile(const pb::StatApproxQuantile& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  const double error = message.relative_error();
  if (!(error >= 0)) return IllegalArgument("requirement failed: Relative Error must be non-negative but got " + std::to_string(error));
  std::vector<double> points;
  for (const double point : message.probabilities()) {
    if (!(point >= 0 && point <= 1)) return IllegalArgument("requirement failed: percentile should be in the range [0.0, 1.0], but got " + std::to_string(point));
    // What a summary with this error answers for its ends.
    points.push_back(point <= error ? 0 : point >= 1 - error ? 1 : point);
  }
  ExprList columns;
  for (const std::string& name : message.cols()) columns.push_back(Column(name));
  TW_ASSIGN_OR_RETURN(const data::Schema schema, reader.environment().SchemaOf(std::make_shared<Project>(columns, input)));
  ExprList quantiles;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!schema[i].type.IsNumeric()) {
      return IllegalArgument("requirement failed: Quantile calculation for column " + schema[i].name + " with data type " +
                             schema[i].type.Json() + " is not supported.");
    }
    const ExprPtr number = Cast::Make(columns[i], DataType::Double(), EvalMode::kAnsi);
    ExprPtr present = Fn("when", {Fn("not", {Fn("isnan", {number})}), number});
    constexpr double kExact = 2147483647;
    ExprPtr found = Percentiles(std::move(present), points, kExact);
    quantiles.push_back(Fn("coalesce", {std::move(found), Cast::Make(Fn("array", {}), DataType::Array(DataType::Double()), EvalMode::kAnsi)}));
  }
  ExprList list{Alias::Make(Fn("array", std::move(quantiles)), "approx_quantile")};
  return std::make_shared<Aggregate>(ExprList{}, std::move(list), std::move(input));
}

Result<PlanPtr> ReadFreqItems(const pb::StatFreqItems& message, PlanReader& reader) {
  constexpr double kDefaultSupport = 0.01, kLeastSupport = 1e-4;
  const double support = message.has_support() ? message.support() : kDefaultSupport;
  if (!(support >= kLeastSupport && support <= 1)) {
    return IllegalArgument("requirement failed: Support must be in [1e-4, 1], but got " + std::to_string(support) + ".");
  }
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  ExprList list;
  for (const std::string& name : message.cols()) {
    ExprPtr items = UnresolvedFunction::Make({"collect_frequent_items"}, {Column(name), Literal::Integer(static_cast<int32_t>(1 / support))},
                                             false, nullptr, true);
    list.push_back(Alias::Make(std::move(items), name + "_freqItems"));
  }
  return std::make_shared<Aggregate>(ExprList{}, std::move(list), std::move(input));
}

Result<PlanPtr> ReadSampleBy(const pb::StatSampleBy& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  TW_ASSIGN_OR_RETURN(const ExprPtr column, reader.ReadExpression(message.col()));
  if (!message.has_seed()) return Unsupported("a sample without a seed");
  ExprList branches;
  for (const auto& fraction : message.fractions()) {
    if (!(fraction.fraction() >= 0 && fraction.fraction() <= 1)) {
      return IllegalArgument("requirement failed: Fractions must be in [0, 1], but got " + std::to_string(fraction.fraction()));
    }
    TW_ASSIGN_OR_RETURN(ExprPtr stratum, LiteralFromProto(fraction.stratum()));
    branches.push_back(Fn("<=>", {column, std::move(stratum)}));
    branches.push_back(Number(fraction.fraction()));
  }
  branches.push_back(Number(0));
  ExprPtr wanted = branches.size() == 1 ? branches[0] : Fn("when", std::move(branches));
  return std::make_shared<Filter>(Fn("<", {Fn("rand", {Literal::Long(message.seed())}), std::move(wanted)}), std::move(input));
}

}  // namespace thalweg::sql
