// upper, ucase, lower, lcase, initcap.

#include "data/text/utf8.h"
#include "sql/expr/binding.h"
#include "sql/functions/string/register.h"

namespace thalweg::sql {
namespace {

template <void (*kAppend)(std::string_view, std::string*)>
Result<ColumnPtr> MapCase(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<std::string_view>(call, input, [](std::string_view text, std::string* out) {
    kAppend(text, out);
    return true;
  });
}

}  // namespace

void RegisterCaseMapping(FunctionLists& lists) {
  static const ScalarFunction kUpper{.name = "upper", .signature = "(text STRING) -> STRING", .since = "1.0.1",
                                     .doc = "The text in upper case.", .example = {"SELECT upper('SparkSql')", "SPARKSQL"},
                                     .evaluate = &MapCase<&data::AppendUpper>};
  static const ScalarFunction kUcase = Renamed(kUpper, "ucase");
  static const ScalarFunction kLower{.name = "lower", .signature = "(text STRING) -> STRING", .since = "1.0.1",
                                     .doc = "The text in lower case.", .example = {"SELECT lower('SparkSql')", "sparksql"},
                                     .evaluate = &MapCase<&data::AppendLower>};
  static const ScalarFunction kLcase = Renamed(kLower, "lcase");
  static const ScalarFunction kInitcap{.name = "initcap", .signature = "(text STRING) -> STRING", .since = "1.5.0",
                                       .doc = "Each word's first letter in upper case, the others in lower case.",
                                       .example = {"SELECT initcap('sPark sql')", "Spark Sql"},
                                       .evaluate = &MapCase<&data::AppendInitCap>};
  for (const auto* f : {&kUpper, &kUcase, &kLower, &kLcase, &kInitcap}) lists.Add(*f);
}

}  // namespace thalweg::sql
