// like, ilike: % is any text, _ any character, an escape makes either plain.

#include <vector>

#include "data/text/utf8.h"
#include "sql/expr/binding.h"
#include "sql/functions/meaning.h"
#include "sql/functions/string/register.h"

namespace thalweg::sql {
namespace {

/// A pattern in pieces.
struct LikePattern {
  enum class Step : uint8_t { kByte, kAnyCharacter, kAnyText };
  struct Item {
    Step step;
    char byte = 0;
  };
  std::vector<Item> items;
  // Fast paths: no wildcard but % at either end.
  bool simple = false;
  bool open_start = false;
  bool open_end = false;
  std::string text;
};

Status BadEscape(std::string_view pattern, bool at_end, char next) {
  if (at_end) return Error("INVALID_FORMAT.ESC_AT_THE_END").With("format", "'" + std::string(pattern) + "'");
  return Error("INVALID_FORMAT.ESC_IN_THE_MIDDLE")
      .With("format", "'" + std::string(pattern) + "'")
      .With("char", "'" + std::string(1, next) + "'");
}

Result<LikePattern> CompileLike(std::string_view pattern, char escape) {
  LikePattern like;
  using Step = LikePattern::Step;
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == escape) {
      if (i + 1 == pattern.size()) return BadEscape(pattern, true, 0);
      const char next = pattern[++i];
      if (next != '_' && next != '%' && next != escape) return BadEscape(pattern, false, next);
      like.items.push_back({Step::kByte, next});
    } else if (c == '%') {
      if (like.items.empty() || like.items.back().step != Step::kAnyText) like.items.push_back({Step::kAnyText});
    } else if (c == '_') {
      like.items.push_back({Step::kAnyCharacter});
    } else {
      like.items.push_back({Step::kByte, c});
    }
  }
  size_t begin = 0;
  size_t end = like.items.size();
  if (begin < end && like.items[begin].step == Step::kAnyText) {
    like.open_start = true;
    ++begin;
  }
  if (begin < end && like.items[end - 1].step == Step::kAnyText) {
    like.open_end = true;
    --end;
  } else if (begin == end && like.open_start) {
    like.open_end = true;
  }
  like.simple = true;
  for (size_t i = begin; i < end; ++i) {
    like.simple = like.simple && like.items[i].step == Step::kByte;
    like.text.push_back(like.items[i].byte);
  }
  return like;
}

bool MatchesGeneral(const LikePattern& like, std::string_view text) {
  using Step = LikePattern::Step;
  size_t at = 0;
  size_t item = 0;
  size_t resume_item = std::string_view::npos;
  size_t resume_at = 0;
  for (;;) {
    if (item < like.items.size() && like.items[item].step == Step::kAnyText) {
      resume_item = ++item;
      resume_at = at;
      continue;
    }
    if (item == like.items.size() && at == text.size()) return true;
    if (item < like.items.size() && at < text.size()) {
      if (like.items[item].step == Step::kAnyCharacter) {
        at = std::min(text.size(), at + static_cast<size_t>(data::Utf8CharBytes(static_cast<unsigned char>(text[at]))));
        ++item;
        continue;
      }
      if (like.items[item].byte == text[at]) {
        ++at;
        ++item;
        continue;
      }
    }
    if (resume_item == std::string_view::npos || resume_at >= text.size()) return false;
    resume_at += static_cast<size_t>(data::Utf8CharBytes(static_cast<unsigned char>(text[resume_at])));
    if (resume_at > text.size()) return false;
    at = resume_at;
    item = resume_item;
  }
}

bool Matches(const LikePattern& like, std::string_view text) {
  if (!like.simple) return MatchesGeneral(like, text);
  if (like.open_start && like.open_end) return text.find(like.text) != std::string_view::npos;
  if (like.open_start) return text.ends_with(like.text);
  if (like.open_end) return text.starts_with(like.text);
  return text == like.text;
}

std::string LowerOf(std::string_view text) {
  std::string lower;
  data::AppendLower(text, &lower);
  return lower;
}

template <bool kFold>
Result<ColumnPtr> Like(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Reader<std::string_view> texts(*input.arguments[0]);
  const Reader<std::string_view> patterns(*input.arguments[1]);
  const bool has_escape = input.arguments.size() > 2;
  FixedOutput<bool> out(call.type, input.rows.length);
  std::string known;
  std::optional<LikePattern> like;
  TW_RETURN_NOT_OK(TryForEachValid(input, [&](int64_t row) -> Status {
    const std::string_view pattern = patterns[row];
    if (!like || known != pattern) {
      char escape = '\\';
      if (has_escape) {
        const std::string_view text = Reader<std::string_view>(*input.arguments[2])[row];
        escape = text.empty() ? '\\' : text[0];
      }
      TW_ASSIGN_OR_RETURN(like, CompileLike(kFold ? LowerOf(pattern) : std::string(pattern), escape));
      known = pattern;
    }
    out.Set(row, kFold ? Matches(*like, LowerOf(texts[row])) : Matches(*like, texts[row]));
    return {};
  }));
  return out.Finish();
}

std::string LikeText(const Call& call, bool plan_text) {
  if (call.function_name() == "ilike") {
    std::string ilike = "ilike(" + TextOf(call.child(0), plan_text) + ", " + TextOf(call.child(1), plan_text);
    if (call.children().size() > 2) ilike += ", " + TextOf(call.child(2), plan_text);
    return ilike + ")";
  }
  std::string text = TextOf(call.child(0), plan_text) + " LIKE " + TextOf(call.child(1), plan_text);
  if (call.children().size() > 2) text += " ESCAPE '" + TextOf(call.child(2), plan_text) + "'";
  return text;
}

/// LIKE ALL and its kin over constant patterns; the text shows the first argument alone.
template <bool kAny, bool kNot>
Result<ExprPtr> MeanQuantified(const ExprList& a, const BindContext& c) {
  ExprPtr all;
  for (size_t i = 1; i < a.size(); ++i) {
    TW_ASSIGN_OR_RETURN(ExprPtr test, BindBuiltin("like", {a[0], a[i]}, c));
    if (kNot) {
      TW_ASSIGN_OR_RETURN(test, BindBuiltin("not", {std::move(test)}, c));
    }
    if (all == nullptr) {
      all = std::move(test);
    } else {
      TW_ASSIGN_OR_RETURN(all, BindBuiltin(kAny ? "or" : "and", {std::move(all), std::move(test)}, c));
    }
  }
  return all;
}

template <bool kAny, bool kNot>
Result<BoundCall> BindQuantified(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, -1));
  TW_ASSIGN_OR_RETURN(BoundCall call, (BindAs<MeanQuantified<kAny, kNot>>(function, std::move(arguments), context)));
  auto bound = std::make_shared<BoundScalar>(*call.bound);
  bound->nullable = true;
  call.bound = std::move(bound);
  return call;
}

std::string QuantifiedText(const Call& call, bool plan_text) {
  return call.function_name() + "(" + TextOf(call.child(0), plan_text) + ")";
}

}  // namespace

void RegisterLike(FunctionLists& lists) {
  static const ScalarFunction kLike{.name = "like", .signature = "(text STRING, pattern STRING, [escape STRING]) -> BOOLEAN",
                                    .doc = "Whether the text has the pattern's form: % any text, _ any character.",
                                    .example = {"SELECT 'Spark' LIKE '_park'", "true"}, .evaluate = &Like<false>,
                                    .sql = &LikeText};
  static const ScalarFunction kIlike = [] {
    ScalarFunction f = Renamed(kLike, "ilike");
    f.evaluate = &Like<true>;
    f.since = "3.3.0";
    return f;
  }();
  static const ScalarFunction kLikeAll{.name = "likeall", .doc = "Whether the text has the form of every pattern.",
                                       .bind = &BindQuantified<false, false>, .internal = true, .sql = &QuantifiedText};
  static const ScalarFunction kNotLikeAll{.name = "notlikeall", .doc = "Whether the text has the form of no pattern.",
                                          .bind = &BindQuantified<false, true>, .internal = true, .sql = &QuantifiedText};
  static const ScalarFunction kLikeAny{.name = "likeany", .doc = "Whether the text has the form of a pattern.",
                                       .bind = &BindQuantified<true, false>, .internal = true, .sql = &QuantifiedText};
  static const ScalarFunction kNotLikeAny{.name = "notlikeany", .doc = "Whether there is a pattern whose form the text has not.",
                                          .bind = &BindQuantified<true, true>, .internal = true, .sql = &QuantifiedText};
  for (const auto* f : {&kLikeAll, &kNotLikeAll, &kLikeAny, &kNotLikeAny}) lists.Add(*f);
  lists.Add(kLike);
  lists.Add(kIlike);
}

}  // namespace thalweg::sql
