// instr, locate, position, startswith, endswith, contains, replace, translate, find_in_set, levenshtein.

#include <algorithm>
#include <vector>

#include "data/text/utf8.h"
#include "sql/expr/binding.h"
#include "sql/functions/alike.h"
#include "sql/functions/string/register.h"

namespace thalweg::sql {
namespace {

/// Position in characters from 1 of `part` at or after character `start` (from 0); 0 without one.
int32_t Find(std::string_view text, std::string_view part, size_t start) {
  if (part.empty()) return start == 0 ? 1 : static_cast<int32_t>(start) + 1;
  const std::string_view rest = data::Utf8Slice(text, start, text.size());
  const size_t at = rest.find(part);
  if (at == std::string_view::npos || rest.empty()) return 0;
  return static_cast<int32_t>(start + data::Utf8Length(rest.substr(0, at))) + 1;
}

Result<ColumnPtr> Instr(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapValues<int32_t, std::string_view, std::string_view>(
      call, input, [](std::string_view text, std::string_view part) { return Find(text, part, 0); });
}

Result<ColumnPtr> Locate(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Column& part = *input.arguments[0];
  const Column& text = *input.arguments[1];
  const Column& start = *input.arguments[2];
  const Reader<std::string_view> parts(part);
  const Reader<std::string_view> texts(text);
  const Reader<int32_t> starts(start);
  FixedOutput<int32_t> out(call.type, input.rows.length);
  input.rows.ForEach([&](int64_t row) {
    if (start.IsNull(row)) {
      out.Set(row, 0);
    } else if (part.IsNull(row) || text.IsNull(row)) {
      out.SetNull(row);
    } else if (starts[row] >= 1) {
      out.Set(row, Find(texts[row], parts[row], static_cast<size_t>(starts[row]) - 1));
    }
  });
  return out.Finish();
}

Result<BoundCall> BindLocate(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 3));
  if (arguments.size() == 2) arguments.push_back(Literal::Integer(1));
  for (size_t i = 0; i < 2; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::String(), context));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 2, DataType::Integer(), context));
  const bool nullable = AnyNullable(arguments);
  return MakeBoundExact(function, std::move(arguments), DataType::Integer(), nullable, &Locate, ModeOf(function, context));
}

struct Starts {
  static bool Test(std::string_view text, std::string_view part) { return text.starts_with(part); }
};
struct Ends {
  static bool Test(std::string_view text, std::string_view part) { return text.ends_with(part); }
};
struct Has {
  static bool Test(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }
};
template <typename F>
Result<ColumnPtr> TestText(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapValues<bool, std::string_view, std::string_view>(call, input, &F::Test);
}

void ReplaceAll(std::string_view text, std::string_view what, std::string_view by, std::string* out) {
  if (what.empty()) {
    out->append(text);
    return;
  }
  for (;;) {
    const size_t at = text.find(what);
    if (at == std::string_view::npos) break;
    out->append(text.substr(0, at));
    out->append(by);
    text.remove_prefix(at + what.size());
  }
  out->append(text);
}

Result<ColumnPtr> Replace(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<std::string_view, std::string_view, std::string_view>(
      call, input, [](std::string_view text, std::string_view what, std::string_view by, std::string* out) {
        ReplaceAll(text, what, by, out);
        return true;
      });
}

Result<BoundCall> BindReplace(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 3));
  if (arguments.size() == 2) arguments.push_back(Literal::String(""));
  for (size_t i = 0; i < 3; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::String(), context));
  return MakeBound(function, std::move(arguments), DataType::String(), false, &Replace, context);
}

std::vector<char32_t> CodePoints(std::string_view text) {
  std::vector<char32_t> points;
  for (size_t at = 0; at < text.size();) points.push_back(data::NextCodePoint(text, &at));
  return points;
}

Result<ColumnPtr> Translate(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<std::string_view, std::string_view, std::string_view>(
      call, input, [](std::string_view text, std::string_view from, std::string_view to, std::string* out) {
        const auto sources = CodePoints(from);
        const auto targets = CodePoints(to);
        for (size_t at = 0; at < text.size();) {
          const char32_t point = data::NextCodePoint(text, &at);
          const auto found = static_cast<size_t>(std::find(sources.begin(), sources.end(), point) - sources.begin());
          if (found == sources.size()) {
            data::AppendCodePoint(point, out);
          } else if (found < targets.size()) {
            data::AppendCodePoint(targets[found], out);
          }
        }
        return true;
      });
}

Result<ColumnPtr> FindInSet(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapValues<int32_t, std::string_view, std::string_view>(call, input, [](std::string_view word, std::string_view set) {
    if (word.find(',') != std::string_view::npos) return 0;
    for (int32_t position = 1;; ++position) {
      const size_t comma = set.find(',');
      if (set.substr(0, comma) == word) return position;
      if (comma == std::string_view::npos) return 0;
      set.remove_prefix(comma + 1);
    }
  });
}

int32_t EditDistance(std::string_view left, std::string_view right) {
  const auto a = CodePoints(left);
  const auto b = CodePoints(right);
  std::vector<int32_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = static_cast<int32_t>(j);
  for (size_t i = 1; i <= a.size(); ++i) {
    int32_t diagonal = row[0];
    row[0] = static_cast<int32_t>(i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const int32_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row[b.size()];
}

Result<ColumnPtr> Levenshtein(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  if (input.arguments.size() == 3) {
    return MapValues<int32_t, std::string_view, std::string_view, int32_t>(
        call, input, [](std::string_view left, std::string_view right, int32_t limit) {
          const int32_t distance = EditDistance(left, right);
          return distance <= limit ? distance : -1;
        });
  }
  return MapValues<int32_t, std::string_view, std::string_view>(call, input, &EditDistance);
}

}  // namespace

void RegisterSearch(FunctionLists& lists) {
  static const ScalarFunction kInstr{.name = "instr", .signature = "(text STRING, part STRING) -> INT", .since = "1.5.0",
                                     .doc = "Position of the part in the text, from 1; 0 without one.",
                                     .example = {"SELECT instr('SparkSQL', 'SQL')", "6"}, .evaluate = &Instr};
  static const ScalarFunction kLocate{.name = "locate", .since = "1.5.0", .doc = "Position of the first text in the second.",
                                      .example = {"SELECT locate('bar', 'foobarbar')", "4"}, .nulls = NullPolicy::kCustom,
                                      .bind = &BindLocate};
  static const ScalarFunction kPosition = Renamed(kLocate, "position");
  static const ScalarFunction kStarts{.name = "startswith", .signature = "(text STRING|BINARY, part STRING|BINARY) -> BOOLEAN",
                                      .since = "3.3.0", .doc = "Whether the text begins with the part.",
                                      .example = {"SELECT startswith('Spark SQL', 'Spark')", "true"},
                                      .evaluate = &TestText<Starts>};
  static const ScalarFunction kEnds = [] {
    ScalarFunction f = Alike(kStarts, "endswith", "Whether the text ends with the part.", {"SELECT endswith('Spark SQL', 'SQL')", "true"});
    f.evaluate = &TestText<Ends>;
    return f;
  }();
  static const ScalarFunction kContains = [] {
    ScalarFunction f = Alike(kStarts, "contains", "Whether the part occurs in the text.", {"SELECT contains('Spark SQL', 'ark')", "true"});
    f.evaluate = &TestText<Has>;
    return f;
  }();
  static const ScalarFunction kReplace{.name = "replace", .since = "2.3.0", .doc = "Every occurrence replaced.",
                                       .example = {"SELECT replace('ABCabc', 'abc', 'DEF')", "ABCDEF"}, .bind = &BindReplace};
  static const ScalarFunction kTranslate{.name = "translate", .signature = "(text STRING, from STRING, to STRING) -> STRING",
                                         .since = "1.5.0", .doc = "Characters replaced one by one.",
                                         .example = {"SELECT translate('AaBbCc', 'abc', '123')", "A1B2C3"},
                                         .evaluate = &Translate};
  static const ScalarFunction kFindInSet{.name = "find_in_set", .signature = "(word STRING, list STRING) -> INT",
                                         .since = "1.5.0", .doc = "Position of a word in a list with commas.",
                                         .example = {"SELECT find_in_set('ab', 'abc,b,ab,c,def')", "3"},
                                         .evaluate = &FindInSet};
  static const ScalarFunction kLevenshtein{.name = "levenshtein", .signature = "(left STRING, right STRING, [limit INT]) -> INT",
                                           .since = "1.5.0", .doc = "Edit distance between two strings in code points; -1 beyond a limit.",
                                           .example = {"SELECT levenshtein('kitten', 'sitting')", "3"},
                                           .evaluate = &Levenshtein};
  for (const auto* f : {&kInstr, &kLocate, &kPosition, &kStarts, &kEnds, &kContains, &kReplace, &kTranslate, &kFindInSet,
                        &kLevenshtein}) {
    lists.Add(*f);
  }
}

}  // namespace thalweg::sql
