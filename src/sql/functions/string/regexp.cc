// rlike, regexp, regexp_like, regexp_replace, regexp_extract, regexp_extract_all, regexp_substr, regexp_count, split.

#include <limits>

#include "data/columnar/builder.h"
#include "data/text/utf8.h"
#include "sql/expr/binding.h"
#include "sql/functions/alike.h"
#include "sql/functions/string/regex.h"
#include "sql/functions/string/register.h"

namespace thalweg::sql {
namespace {

/// The byte behind the character at `at`, for stepping over empty matches.
size_t NextCharacter(std::string_view text, size_t at) {
  if (at >= text.size()) return at + 1;
  return at + static_cast<size_t>(data::Utf8CharBytes(static_cast<unsigned char>(text[at])));
}

Result<ColumnPtr> RLike(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  RegexCache cache(call.function->name);
  return MapChecked<bool, std::string_view, std::string_view>(
      call, input, [&](std::string_view text, std::string_view pattern, std::optional<bool>* out) -> Status {
        TW_ASSIGN_OR_RETURN(Regex * regex, cache.Get(pattern));
        TW_ASSIGN_OR_RETURN(*out, regex->Match(text, 0));
        return {};
      });
}

/// A replacement as java.util.regex reads it: $1, ${name}, backslash for plain characters.
Status AppendReplacement(Regex& regex, std::string_view text, std::string_view replacement, std::string* out) {
  const auto illegal = [] { return Error("_LEGACY_ERROR_TEMP_3102").With("msg", "Illegal group reference"); };
  for (size_t i = 0; i < replacement.size(); ++i) {
    const char c = replacement[i];
    if (c == '\\') {
      if (++i == replacement.size()) return Error("_LEGACY_ERROR_TEMP_3102").With("msg", "character to be escaped is missing");
      out->push_back(replacement[i]);
      continue;
    }
    if (c != '$') {
      out->push_back(c);
      continue;
    }
    int group = -1;
    if (i + 1 < replacement.size() && replacement[i + 1] == '{') {
      const size_t end = replacement.find('}', i);
      if (end == std::string_view::npos) return illegal();
      group = regex.GroupNumber(replacement.substr(i + 2, end - i - 2));
      i = end;
    } else {
      while (i + 1 < replacement.size() && replacement[i + 1] >= '0' && replacement[i + 1] <= '9') {
        const int digit = replacement[i + 1] - '0';
        // More digits belong to the number as long as such a group exists.
        if (group >= 0 && group * 10 + digit > regex.groups()) break;
        group = group < 0 ? digit : group * 10 + digit;
        ++i;
      }
    }
    if (group < 0 || group > regex.groups()) return illegal();
    if (regex.begin(group) != std::string_view::npos && regex.begin(group) <= text.size()) {
      out->append(text.substr(regex.begin(group), regex.end(group) - regex.begin(group)));
    }
  }
  return {};
}

Status ReplaceAll(Regex& regex, std::string_view text, std::string_view replacement, size_t start, std::string* out) {
  out->append(text.substr(0, start));
  size_t copied = start;
  size_t at = start;
  while (at <= text.size()) {
    TW_ASSIGN_OR_RETURN(const bool found, regex.Match(text, at));
    if (!found) break;
    const size_t begin = regex.begin();
    const size_t end = regex.end();
    out->append(text.substr(copied, begin - copied));
    TW_RETURN_NOT_OK(AppendReplacement(regex, text, replacement, out));
    copied = end;
    if (end > begin) {
      at = end;
    } else {
      at = NextCharacter(text, end);
    }
  }
  if (copied < text.size()) out->append(text.substr(copied));
  return {};
}

Result<ColumnPtr> RegexpReplace(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  RegexCache cache(call.function->name);
  return MapTextChecked<std::string_view, std::string_view, std::string_view, int32_t>(
      call, input,
      [&](std::string_view text, std::string_view pattern, std::string_view replacement, int32_t position,
          std::string* out, bool*) -> Status {
        TW_ASSIGN_OR_RETURN(Regex * regex, cache.Get(pattern));
        const std::string_view head = data::Utf8Slice(text, 0, static_cast<size_t>(position) - 1);
        if (position > 1 && head.size() >= text.size()) {
          out->append(text);
          return {};
        }
        return ReplaceAll(*regex, text, replacement, head.size(), out);
      });
}

Result<BoundCall> BindRegexpReplace(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 3, 4));
  if (arguments.size() == 3) arguments.push_back(Literal::Integer(1));
  for (size_t i = 0; i < 3; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::String(), context));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 3, DataType::Integer(), context));
  TW_ASSIGN_OR_RETURN(const Value position, FoldArgument(function.name, arguments, 3, "position", context));
  if (!position.is_null() && position.get<int32_t>() <= 0) {
    return Error("DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE")
        .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
        .With("exprName", "`position`")
        .With("valueRange", "(0, 2147483647]")
        .With("currentValue", std::to_string(position.get<int32_t>()));
  }
  return MakeBound(function, std::move(arguments), DataType::String(), false, &RegexpReplace, context);
}

Status CheckGroup(const BoundScalar& call, int32_t group, const Regex& regex) {
  if (group >= 0 && group <= regex.groups()) return {};
  return Error("INVALID_PARAMETER_VALUE.REGEX_GROUP_INDEX")
      .With("parameter", "`idx`")
      .With("functionName", QuoteFunctionName(call.function->name))
      .With("groupCount", static_cast<long long>(regex.groups()))
      .With("groupIndex", static_cast<long long>(group));
}

std::string_view GroupText(const Regex& regex, std::string_view text, int group) {
  if (regex.begin(group) > text.size()) return {};
  return text.substr(regex.begin(group), regex.end(group) - regex.begin(group));
}

Result<ColumnPtr> RegexpExtract(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  RegexCache cache(call.function->name);
  return MapTextChecked<std::string_view, std::string_view, int32_t>(
      call, input, [&](std::string_view text, std::string_view pattern, int32_t group, std::string* out, bool*) -> Status {
        TW_ASSIGN_OR_RETURN(Regex * regex, cache.Get(pattern));
        TW_ASSIGN_OR_RETURN(const bool found, regex->Match(text, 0));
        if (!found) return {};
        TW_RETURN_NOT_OK(CheckGroup(call, group, *regex));
        out->append(GroupText(*regex, text, group));
        return {};
      });
}

/// every(regex, text, match callback) over all matches.
template <typename F>
Status ForEachMatch(Regex& regex, std::string_view text, F&& f) {
  size_t at = 0;
  while (at <= text.size()) {
    TW_ASSIGN_OR_RETURN(const bool found, regex.Match(text, at));
    if (!found) break;
    const size_t begin = regex.begin();
    const size_t end = regex.end();
    TW_RETURN_NOT_OK(f());
    at = end > begin ? end : NextCharacter(text, end);
  }
  return {};
}

/// An array of strings in the making; rows in order.
class StringLists {
 public:
  StringLists(const DataType& type, int64_t length)
      : type_(type), length_(length), offsets_(data::Buffer::AllocateZeroed((length + 1) * 4)), text_(type.element()) {}
  void BeginRow(int64_t row) {
    auto* offsets = reinterpret_cast<int32_t*>(offsets_->mutable_data());
    while (next_ <= row) offsets[next_++] = static_cast<int32_t>(text_.length());
  }
  void Add(std::string_view text) { text_.Append(text); }
  ColumnPtr Finish() {
    BeginRow(length_);
    Column::Parts parts;
    parts.type = type_;
    parts.length = length_;
    parts.values = std::move(offsets_);
    parts.children = {text_.Finish()};
    return Column::Make(std::move(parts));
  }

 private:
  DataType type_;
  int64_t length_;
  std::shared_ptr<data::Buffer> offsets_;
  data::TextBuilder text_;
  int64_t next_ = 0;
};

Result<ColumnPtr> RegexpExtractAll(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  RegexCache cache(call.function->name);
  const Reader<std::string_view> texts(*input.arguments[0]);
  const Reader<std::string_view> patterns(*input.arguments[1]);
  const Reader<int32_t> groups(*input.arguments[2]);
  StringLists out(call.type, input.rows.length);
  TW_RETURN_NOT_OK(TryForEachValid(input, [&](int64_t row) -> Status {
    out.BeginRow(row);
    TW_ASSIGN_OR_RETURN(Regex * regex, cache.Get(patterns[row]));
    return ForEachMatch(*regex, texts[row], [&]() -> Status {
      TW_RETURN_NOT_OK(CheckGroup(call, groups[row], *regex));
      out.Add(GroupText(*regex, texts[row], groups[row]));
      return {};
    });
  }));
  return out.Finish();
}

Result<BoundCall> BindExtract(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 3));
  if (arguments.size() == 2) arguments.push_back(Literal::Integer(1));
  for (size_t i = 0; i < 2; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::String(), context));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 2, DataType::Integer(), context));
  const bool all = function.name == "regexp_extract_all";
  return MakeBound(function, std::move(arguments), all ? DataType::Array(DataType::String(), true) : DataType::String(),
                   false, all ? &RegexpExtractAll : &RegexpExtract, context);
}

Result<ColumnPtr> RegexpCount(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  RegexCache cache(call.function->name);
  return MapChecked<int32_t, std::string_view, std::string_view>(
      call, input, [&](std::string_view text, std::string_view pattern, std::optional<int32_t>* out) -> Status {
        TW_ASSIGN_OR_RETURN(Regex * regex, cache.Get(pattern));
        int32_t count = 0;
        TW_RETURN_NOT_OK(ForEachMatch(*regex, text, [&]() -> Status {
          ++count;
          return {};
        }));
        *out = count;
        return {};
      });
}

Result<ColumnPtr> RegexpSubstr(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  RegexCache cache(call.function->name);
  return MapTextChecked<std::string_view, std::string_view>(
      call, input, [&](std::string_view text, std::string_view pattern, std::string* out, bool* null) -> Status {
        TW_ASSIGN_OR_RETURN(Regex * regex, cache.Get(pattern));
        TW_ASSIGN_OR_RETURN(const bool found, regex->Match(text, 0));
        *null = !found || regex->begin() == regex->end();
        if (!*null) out->append(GroupText(*regex, text, 0));
        return {};
      });
}

/// java.lang.String.split with a limit; -1 keeps empty strings at the end.
Status SplitText(Regex& regex, std::string_view text, int32_t limit, StringLists* out) {
  int32_t parts = 1;
  size_t begin = 0;
  size_t at = 0;
  while (at <= text.size() && (limit <= 0 || parts < limit)) {
    TW_ASSIGN_OR_RETURN(const bool found, regex.Match(text, at));
    if (!found) break;
    const size_t match = regex.begin();
    const size_t end = regex.end();
    at = end > match ? end : NextCharacter(text, end);
    if (end == 0) continue;  // an empty match at the start makes no leading empty string
    out->Add(text.substr(begin, match - begin));
    begin = end;
    ++parts;
  }
  out->Add(text.substr(begin));
  return {};
}

Result<ColumnPtr> Split(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  RegexCache cache(call.function->name);
  const Reader<std::string_view> texts(*input.arguments[0]);
  const Reader<std::string_view> patterns(*input.arguments[1]);
  const Reader<int32_t> limits(*input.arguments[2]);
  StringLists out(call.type, input.rows.length);
  TW_RETURN_NOT_OK(TryForEachValid(input, [&](int64_t row) -> Status {
    out.BeginRow(row);
    const std::string_view text = texts[row];
    if (patterns[row].empty() && !text.empty()) {
      // Every character by itself.
      int32_t parts = 1;
      size_t at = 0;
      while (at < text.size() && (limits[row] <= 0 || parts < limits[row])) {
        const size_t end = std::min(NextCharacter(text, at), text.size());
        out.Add(text.substr(at, end - at));
        at = end;
        ++parts;
      }
      if (at < text.size()) out.Add(text.substr(at));
      return {};
    }
    TW_ASSIGN_OR_RETURN(Regex * regex, cache.Get(patterns[row]));
    return SplitText(*regex, text, limits[row], &out);
  }));
  return out.Finish();
}

Result<BoundCall> BindSplit(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 3));
  if (arguments.size() == 2) arguments.push_back(Literal::Integer(-1));
  for (size_t i = 0; i < 2; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::String(), context));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 2, DataType::Integer(), context));
  return MakeBound(function, std::move(arguments), DataType::Array(DataType::String(), false), false, &Split, context);
}

std::string RLikeText(const Call& call, bool plan_text) {
  return "RLIKE(" + TextOf(call.child(0), plan_text) + ", " + TextOf(call.child(1), plan_text) + ")";
}
std::string RegexpLikeText(const Call& call, bool plan_text) {
  std::string name = call.function_name() == "regexp" ? "REGEXP" : "REGEXP_LIKE";
  return name + "(" + TextOf(call.child(0), plan_text) + ", " + TextOf(call.child(1), plan_text) + ")";
}

}  // namespace

void RegisterRegex(FunctionLists& lists) {
  static const ScalarFunction kRLike{.name = "rlike", .signature = "(text STRING, pattern STRING) -> BOOLEAN",
                                     .doc = "Whether the regular expression occurs in the text.",
                                     .example = {"SELECT rlike('abc', 'b.')", "true"}, .evaluate = &RLike, .sql = &RLikeText};
  static const ScalarFunction kRegexp = [] {
    ScalarFunction f = Renamed(kRLike, "regexp");
    f.sql = &RegexpLikeText;
    return f;
  }();
  static const ScalarFunction kRegexpLike = Renamed(kRegexp, "regexp_like");
  static const ScalarFunction kReplace{.name = "regexp_replace", .since = "1.5.0", .doc = "Every match replaced.",
                                       .example = {"SELECT regexp_replace('100-200', '(\\\\d+)', 'num')", "num-num"},
                                       .bind = &BindRegexpReplace};
  static const ScalarFunction kExtract{.name = "regexp_extract", .since = "1.5.0", .doc = "A group of the first match.",
                                       .example = {"SELECT regexp_extract('100-200', '(\\\\d+)-(\\\\d+)', 1)", "100"},
                                       .bind = &BindExtract};
  static const ScalarFunction kExtractAll =
      Alike(kExtract, "regexp_extract_all", "A group of every match.",
            {"SELECT regexp_extract_all('100-200, 300-400', '(\\\\d+)-(\\\\d+)', 1)", "[100, 300]"});
  static const ScalarFunction kSubstr{.name = "regexp_substr", .signature = "(text STRING, pattern STRING) -> STRING?",
                                      .since = "3.4.0", .doc = "The first match.",
                                      .example = {"SELECT regexp_substr('Steven', 'Ste(v|ph)en')", "Steven"},
                                      .evaluate = &RegexpSubstr};
  static const ScalarFunction kCount{.name = "regexp_count", .signature = "(text STRING, pattern STRING) -> INT",
                                     .since = "3.4.0", .doc = "How often the pattern matches.",
                                     .example = {"SELECT regexp_count('Steven Jones', 'en')", "1"}, .evaluate = &RegexpCount};
  static const ScalarFunction kSplit{.name = "split", .since = "1.5.0", .doc = "The parts between matches.",
                                     .example = {"SELECT split('oneAtwoBthreeC', '[ABC]')", "[one, two, three, ]"},
                                     .bind = &BindSplit};
  for (const auto* f : {&kRLike, &kRegexp, &kRegexpLike, &kReplace, &kExtract, &kExtractAll, &kSubstr, &kCount, &kSplit}) {
    lists.Add(*f);
  }
}

}  // namespace thalweg::sql
