// date_format, to_timestamp, try_to_timestamp, to_timestamp_ltz, to_timestamp_ntz, to_date, try_to_date, from_unixtime,
// unix_timestamp, to_unix_timestamp.

#include "data/text/civil.h"
#include "data/text/datetime_pattern.h"
#include "sql/expr/binding.h"
#include "sql/functions/alike.h"
#include "sql/functions/datetime/register.h"
#include "sql/functions/meaning.h"

namespace thalweg::sql {
namespace {

using data::DateTimePattern;

constexpr std::string_view kDefaultPattern = "yyyy-MM-dd HH:mm:ss";

/// The compiled pattern of the row before, when it is the same text.
class PatternCache {
 public:
  explicit PatternCache(DateTimePattern::Purpose purpose) : purpose_(purpose) {}
  Result<const DateTimePattern*> Get(std::string_view text) {
    if (!pattern_ || text_ != text) {
      TW_ASSIGN_OR_RETURN(DateTimePattern pattern, DateTimePattern::Compile(text, purpose_));
      pattern_.emplace(std::move(pattern));
      text_ = text;
    }
    return &*pattern_;
  }

 private:
  DateTimePattern::Purpose purpose_;
  std::string text_;
  std::optional<DateTimePattern> pattern_;
};

// --- to text ---

/// kFactor: microseconds of the argument's unit.
template <int64_t kFactor>
Result<ColumnPtr> FormatTime(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const data::TimeZone zone = SessionZone(context);
  PatternCache cache(DateTimePattern::Purpose::kFormat);
  return MapTextChecked<int64_t, std::string_view>(
      call, input, [&](int64_t time, std::string_view text, std::string* out, bool*) -> Status {
        TW_ASSIGN_OR_RETURN(const DateTimePattern* pattern, cache.Get(text));
        const auto micros = static_cast<int64_t>(static_cast<uint64_t>(time) * static_cast<uint64_t>(kFactor));
        pattern->FormatTimestamp(micros, zone, out);
        return {};
      });
}

Result<BoundCall> BindFromUnixTime(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 2));
  if (arguments.size() == 1) arguments.push_back(Literal::String(std::string(kDefaultPattern)));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::Long(), context));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, DataType::String(), context));
  return MakeBound(function, std::move(arguments), DataType::String(), true, &FormatTime<data::kMicrosPerSecond>, context);
}

// --- from text with a pattern ---

enum class ParseTo : uint8_t { kTimestamp, kTimestampNtz, kSeconds };

template <ParseTo kTo>
Result<ColumnPtr> ParseText(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const data::TimeZone zone = SessionZone(context);
  PatternCache cache(DateTimePattern::Purpose::kParse);
  return MapChecked<int64_t, std::string_view, std::string_view>(
      call, input, [&](std::string_view text, std::string_view format, std::optional<int64_t>* out) -> Status {
        TW_ASSIGN_OR_RETURN(const DateTimePattern* pattern, cache.Get(format));
        int64_t micros = 0;
        const bool ok = kTo == ParseTo::kTimestampNtz ? pattern->ParseTimestampNtz(text, false, &micros)
                                                      : pattern->ParseTimestamp(text, zone, &micros);
        if (ok) {
          *out = kTo == ParseTo::kSeconds ? data::FloorDiv(micros, data::kMicrosPerSecond) : micros;
          return {};
        }
        if (call.mode != EvalMode::kAnsi) return {};
        return Error("CANNOT_PARSE_TIMESTAMP")
            .With("message", "Text '" + std::string(text) + "' could not be parsed at index 0")
            .With("func", "`try_to_timestamp`");
      });
}

/// Internal: the text by a pattern as a timestamp; ANSI errors, else NULL.
Result<BoundCall> BindGetTimestamp(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  for (size_t i = 0; i < 2; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::String(), context));
  const bool ntz = function.name.ends_with("ntz");
  const EvalMode mode = ModeOf(function, context);
  const bool nullable = AnyNullable(arguments) || mode != EvalMode::kAnsi;
  return MakeBoundExact(function, std::move(arguments), ntz ? DataType::TimestampNtz() : DataType::Timestamp(), nullable,
                        ntz ? &ParseText<ParseTo::kTimestampNtz> : &ParseText<ParseTo::kTimestamp>, mode);
}

EvalMode ConfiguredMode(const BindContext& context) { return context.config.ansi ? EvalMode::kAnsi : EvalMode::kLegacy; }

Result<ExprPtr> MeanTo(const char* name, const ExprList& a, const BindContext& c, const DataType& type, EvalMode mode) {
  TW_RETURN_NOT_OK(CheckArity(name, a.size(), 1, 2));
  const DataType& from = a[0]->type();
  // The pattern is for texts.
  const bool text = from.Is(TypeKind::kString) || from.Is(TypeKind::kNull);
  if (a.size() == 1 || !text) return MeanCast(a[0], type, mode);
  std::string get = type.Is(TypeKind::kTimestampNtz) ? "get_timestamp_ntz" : "get_timestamp";
  if (mode == EvalMode::kTry) get.insert(0, "try_");
  TW_ASSIGN_OR_RETURN(ExprPtr parsed, BindBuiltin(get, a, c));
  return type.Is(TypeKind::kDate) ? MeanCast(parsed, type, mode) : Result<ExprPtr>(parsed);
}

DataType DefaultTimestamp(const BindContext& c) {
  return c.config.timestamp_ntz_default ? DataType::TimestampNtz() : DataType::Timestamp();
}
Result<ExprPtr> MeanToTimestamp(const ExprList& a, const BindContext& c) {
  return MeanTo("to_timestamp", a, c, DefaultTimestamp(c), ConfiguredMode(c));
}
Result<ExprPtr> MeanTryToTimestamp(const ExprList& a, const BindContext& c) {
  return MeanTo("try_to_timestamp", a, c, DefaultTimestamp(c), EvalMode::kTry);
}
Result<ExprPtr> MeanToLtz(const ExprList& a, const BindContext& c) {
  return MeanTo("to_timestamp_ltz", a, c, DataType::Timestamp(), ConfiguredMode(c));
}
Result<ExprPtr> MeanToNtz(const ExprList& a, const BindContext& c) {
  return MeanTo("to_timestamp_ntz", a, c, DataType::TimestampNtz(), ConfiguredMode(c));
}
Result<ExprPtr> MeanToDate(const ExprList& a, const BindContext& c) {
  return MeanTo("to_date", a, c, DataType::Date(), ConfiguredMode(c));
}
Result<ExprPtr> MeanTryToDate(const ExprList& a, const BindContext& c) {
  return MeanTo("try_to_date", a, c, DataType::Date(), EvalMode::kTry);
}

// --- unix_timestamp ---

Result<ColumnPtr> SecondsOfTimestamp(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapValues<int64_t, int64_t, std::string_view>(
      call, input, [](int64_t micros, std::string_view) { return micros / data::kMicrosPerSecond; });  // towards 1970
}

Result<BoundCall> BindUnixTimestamp(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), function.name == "unix_timestamp" ? 0 : 1, 2));
  if (arguments.empty()) {
    TW_ASSIGN_OR_RETURN(ExprPtr now, BindBuiltin("current_timestamp", {}, context));
    arguments.push_back(std::move(now));
  }
  if (arguments.size() == 1) arguments.push_back(Literal::String(std::string(kDefaultPattern)));
  const DataType type = arguments[0]->type();
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 1, DataType::String(), context));
  const EvalMode mode = ModeOf(function, context);
  const bool text = type.Is(TypeKind::kString) || type.Is(TypeKind::kNull);
  if (!text && !type.Is(TypeKind::kDate) && !type.Is(TypeKind::kTimestamp) && !type.Is(TypeKind::kTimestampNtz)) {
    return UnexpectedInputType(function.name, arguments, 0,
                               "(\"STRING\" or \"DATE\" or \"TIMESTAMP\" or \"TIMESTAMP_NTZ\")");
  }
  arguments[0] = Coerce(arguments[0], text ? DataType::String() : DataType::Timestamp(), context.config);
  const bool nullable = AnyNullable(arguments) || mode != EvalMode::kAnsi;
  return MakeBoundExact(function, std::move(arguments), DataType::Long(), nullable,
                        text ? &ParseText<ParseTo::kSeconds> : static_cast<ScalarKernel>(&SecondsOfTimestamp), mode);
}

}  // namespace

void RegisterPatterns(FunctionLists& lists) {
  static const ScalarFunction kFormat{.name = "date_format", .signature = "(time TIMESTAMP, pattern STRING) -> STRING",
                                      .since = "1.5.0", .doc = "The time as text by a pattern.",
                                      .example = {"SELECT date_format('2016-04-08', 'y')", "2016"}, .evaluate = &FormatTime<1>};
  static const ScalarFunction kFromUnix{.name = "from_unixtime", .since = "1.5.0", .doc = "Seconds since 1970 as text.",
                                        .example = {"SELECT from_unixtime(0, 'yyyy-MM-dd HH:mm:ss')", "1970-01-01 00:00:00"},
                                        .bind = &BindFromUnixTime};
  static const ScalarFunction kGet{.name = "get_timestamp", .doc = "The text by a pattern as a timestamp.",
                                   .bind = &BindGetTimestamp, .internal = true};
  static const ScalarFunction kGetNtz = Alike(kGet, "get_timestamp_ntz", "The text by a pattern as a TIMESTAMP_NTZ.");
  static const ScalarFunction kTryGet = Alike(kGet, "try_get_timestamp", "As get_timestamp, NULL for other texts.");
  static const ScalarFunction kTryGetNtz =
      Alike(kGet, "try_get_timestamp_ntz", "As get_timestamp_ntz, NULL for other texts.");
  static const ScalarFunction kTo{.name = "to_timestamp", .since = "2.2.0", .doc = "The text as a timestamp, by a pattern or as CAST reads it.",
                                  .example = {"SELECT to_timestamp('2016-12-31', 'yyyy-MM-dd')", "2016-12-31 00:00:00"},
                                  .bind = &BindAs<MeanToTimestamp>};
  static const ScalarFunction kTryTo{.name = "try_to_timestamp", .since = "3.5.0", .doc = "As to_timestamp, NULL for other texts.",
                                     .example = {"SELECT try_to_timestamp('foo', 'yyyy-MM-dd')", "NULL"},
                                     .bind = &BindAs<MeanTryToTimestamp>};
  static const ScalarFunction kToLtz{.name = "to_timestamp_ltz", .since = "3.4.0", .doc = "The text as TIMESTAMP_LTZ.",
                                     .example = {"SELECT to_timestamp_ltz('2016-12-31 00:12:00')", "2016-12-31 00:12:00"},
                                     .bind = &BindAs<MeanToLtz>};
  static const ScalarFunction kToNtz{.name = "to_timestamp_ntz", .since = "3.4.0", .doc = "The text as TIMESTAMP_NTZ.",
                                     .example = {"SELECT to_timestamp_ntz('2016-12-31 00:12:00')", "2016-12-31 00:12:00"},
                                     .bind = &BindAs<MeanToNtz>};
  static const ScalarFunction kToDate{.name = "to_date", .since = "1.5.0", .doc = "The text as a date, by a pattern or as CAST reads it.",
                                      .example = {"SELECT to_date('2009-07-30 04:17:52')", "2009-07-30"},
                                      .bind = &BindAs<MeanToDate>};
  static const ScalarFunction kTryToDate{.name = "try_to_date", .since = "4.0.0", .doc = "As to_date, NULL for other texts.",
                                         .example = {"SELECT try_to_date('foo', 'yyyy-MM-dd')", "NULL"},
                                         .bind = &BindAs<MeanTryToDate>};
  static const ScalarFunction kUnix{.name = "unix_timestamp", .since = "1.5.0", .doc = "Seconds since 1970 of a time or text; of now without arguments.",
                                    .example = {"SELECT unix_timestamp('2016-04-08', 'yyyy-MM-dd')", "1460073600"},
                                    .bind = &BindUnixTimestamp};
  static const ScalarFunction kToUnix =
      Alike(kUnix, "to_unix_timestamp", "Seconds since 1970 of a time or text.",
            {"SELECT to_unix_timestamp('2016-04-08', 'yyyy-MM-dd')", "1460073600"});
  for (const auto* f : {&kFormat, &kFromUnix, &kGet, &kGetNtz, &kTryGet, &kTryGetNtz, &kTo, &kTryTo, &kToLtz, &kToNtz,
                        &kToDate, &kTryToDate, &kUnix, &kToUnix}) {
    lists.Add(*f);
  }
}

}  // namespace thalweg::sql
