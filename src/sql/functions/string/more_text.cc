// bin, conv, elt, overlay, split_part, soundex, mask, quote, str_to_map, url_encode, url_decode, try_url_decode, parse_url,
// try_parse_url, regexp_instr, to_binary, try_to_binary, is_valid_utf8, make_valid_utf8, validate_utf8, try_validate_utf8,
// luhn_check.

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>
#include <limits>
#include <unordered_set>

#include "data/columnar/builder.h"
#include "data/text/character_kind.h"
#include "data/text/utf8.h"
#include "sql/expr/binding.h"
#include "sql/expr/fold_argument.h"
#include "sql/functions/conditional/register.h"
#include "sql/functions/meaning.h"
#include "sql/functions/string/regex.h"
#include "sql/functions/string/register.h"

namespace thalweg::sql {
namespace {

Result<ColumnPtr> Bin(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<int64_t>(call, input, [](int64_t value, std::string* out) {
    auto bits = static_cast<uint64_t>(value);
    std::string digits;
    do {
      digits.push_back(static_cast<char>('0' + (bits & 1)));
      bits >>= 1;
    } while (bits != 0);
    out->append(digits.rbegin(), digits.rend());
    return true;
  });
}

int DigitOf(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'z') return c - 'a' + 10;
  if (c >= 'A' && c <= 'Z') return c - 'A' + 10;
  return 99;
}

/// A number of one base in another; unsigned 64 bits, a negative target base means signed. Source: NumberConverter.
Result<ColumnPtr> Conv(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTextChecked<std::string_view, int32_t, int32_t>(
      call, input, [&](std::string_view text, int32_t from, int32_t to, std::string* out, bool* null) -> Status {
        const int64_t base = std::abs(int64_t{to});
        while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
        while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
        if (from < 2 || from > 36 || base < 2 || base > 36 || text.empty()) {
          *null = true;
          return {};
        }
        const bool negative = text[0] == '-';
        uint64_t value = 0;
        bool overflow = false;
        for (size_t i = negative ? 1 : 0; i < text.size(); ++i) {
          const int digit = DigitOf(text[i]);
          if (digit >= from) break;
          uint64_t next;
          if (__builtin_mul_overflow(value, static_cast<uint64_t>(from), &next) ||
              __builtin_add_overflow(next, static_cast<uint64_t>(digit), &next)) {
            overflow = true;
            break;
          }
          value = next;
        }
        if (overflow) {
          if (call.mode == EvalMode::kAnsi) {
            return Error("ARITHMETIC_OVERFLOW")
                .With("message", "Overflow in function conv()")
                .With("alternative", "")
                .With("config", "\"spark.sql.ansi.enabled\"");
          }
          value = std::numeric_limits<uint64_t>::max();
        }
        bool minus = negative;
        if (negative && to > 0) {
          value = static_cast<int64_t>(value) < 0 ? std::numeric_limits<uint64_t>::max() : 0 - value;
          minus = false;
        }
        if (to < 0 && static_cast<int64_t>(value) < 0) {
          value = 0 - value;
          minus = true;
        }
        std::string digits;
        do {
          digits.push_back("0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[value % static_cast<uint64_t>(base)]);
          value /= static_cast<uint64_t>(base);
        } while (value != 0);
        if (minus && to < 0) digits.push_back('-');
        out->append(digits.rbegin(), digits.rend());
        return {};
      });
}

// --- elt ---

Result<ColumnPtr> Elt(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Column& index = *input.arguments[0];
  const Reader<int32_t> indices(index);
  TextOutput out(call.type, input.rows.length);
  const auto count = static_cast<int32_t>(input.arguments.size()) - 1;
  TW_RETURN_NOT_OK(TryForEachValid(KernelInput{{}, input.rows, nullptr}, [&](int64_t row) -> Status {
    const int32_t at = index.IsNull(row) ? 0 : indices[row];
    if (index.IsNull(row)) {
      out.SetNull(row);
    } else if (at < 1 || at > count) {
      if (call.mode == EvalMode::kAnsi) {
        return Error("INVALID_ARRAY_INDEX")
            .With("indexValue", static_cast<long long>(at))
            .With("arraySize", static_cast<long long>(count));
      }
      out.SetNull(row);
    } else if (input.arguments[static_cast<size_t>(at)]->IsNull(row)) {
      out.SetNull(row);
    } else {
      out.Set(row, Reader<std::string_view>(*input.arguments[static_cast<size_t>(at)])[row]);
    }
    return {};
  }));
  return out.Finish();
}

Result<BoundCall> BindElt(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, -1));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::Integer(), context));
  bool binary = true;
  for (size_t i = 1; i < arguments.size(); ++i) binary = binary && arguments[i]->type().Is(TypeKind::kBinary);
  const DataType type = binary ? DataType::Binary() : DataType::String();
  for (size_t i = 1; i < arguments.size(); ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, type, context));
  return MakeBoundExact(function, std::move(arguments), type, true, &Elt, ModeOf(function, context));
}

// --- overlay ---

Result<ColumnPtr> Overlay(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const bool binary = call.type.Is(TypeKind::kBinary);
  return MapText<std::string_view, std::string_view, int32_t, int32_t>(
      call, input, [=](std::string_view text, std::string_view by, int32_t position, int32_t length, std::string* out) {
        const auto size = [&](std::string_view t) { return static_cast<int32_t>(binary ? t.size() : data::Utf8Length(t)); };
        const int32_t cut = length >= 0 ? length : size(by);
        const auto slice = [&](int32_t start, int32_t count) {
          if (count <= 0) return std::string_view("");
          if (!binary) return data::Utf8Substring(text, start, count);
          const auto begin = static_cast<size_t>(std::max(start - 1, 0));
          return begin >= text.size() ? std::string_view("") : text.substr(begin, static_cast<size_t>(count));
        };
        // Java's int, which wraps round.
        const auto sum = [](int32_t a, int32_t b) { return static_cast<int32_t>(static_cast<uint32_t>(a) + static_cast<uint32_t>(b)); };
        out->append(slice(1, sum(position, -1)));
        out->append(by);
        out->append(slice(sum(position, cut), std::numeric_limits<int32_t>::max()));
        return true;
      });
}

Result<BoundCall> BindOverlay(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 3, 4));
  if (arguments.size() == 3) arguments.push_back(Literal::Integer(-1));
  const bool binary = arguments[0]->type().Is(TypeKind::kBinary) && arguments[1]->type().Is(TypeKind::kBinary);
  const DataType type = binary ? DataType::Binary() : DataType::String();
  for (size_t i = 0; i < 2; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, type, context));
  for (size_t i = 2; i < 4; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::Integer(), context));
  return MakeBound(function, std::move(arguments), type, false, &Overlay, context);
}

// --- split_part, soundex, mask, quote ---

Result<ColumnPtr> SplitPart(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTextChecked<std::string_view, std::string_view, int32_t>(
      call, input, [](std::string_view text, std::string_view delimiter, int32_t part, std::string* out, bool*) -> Status {
        if (part == 0) return Error("INVALID_INDEX_OF_ZERO");
        std::vector<std::string_view> parts;
        if (delimiter.empty()) {
          parts.push_back(text);
        } else {
          for (size_t at = 0;;) {
            const size_t end = text.find(delimiter, at);
            parts.push_back(text.substr(at, end == std::string_view::npos ? end : end - at));
            if (end == std::string_view::npos) break;
            at = end + delimiter.size();
          }
        }
        const auto count = static_cast<int64_t>(parts.size());
        const int64_t at = part > 0 ? part - 1 : count + part;
        if (at >= 0 && at < count) out->append(parts[static_cast<size_t>(at)]);
        return {};
      });
}

void AppendSoundex(std::string_view text, std::string* out) {
  // Digits of A to Z; 7: dropped and the digit before stays known; 0: dropped and forgotten.
  constexpr std::string_view kCodes = "01230127022455012623017202";
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  if (text.empty() || !is_letter(text[0])) {
    out->append(text);
    return;
  }
  const auto code = [&](char c) { return kCodes[static_cast<size_t>((c & ~0x20) - 'A')]; };
  std::string digits(1, static_cast<char>(text[0] & ~0x20));
  char last = code(text[0]);
  for (size_t i = 1; i < text.size() && digits.size() < 4; ++i) {
    if (!is_letter(text[i])) {
      last = '0';
      continue;
    }
    const char digit = code(text[i]);
    if (digit == '7') continue;
    if (digit != '0' && digit != last) digits.push_back(digit);
    last = digit;
  }
  digits.resize(4, '0');
  out->append(digits);
}

Result<ColumnPtr> Soundex(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<std::string_view>(call, input, [](std::string_view text, std::string* out) {
    AppendSoundex(text, out);
    return true;
  });
}

Result<ColumnPtr> Mask(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const Column& column = *input.arguments[0];
  const Reader<std::string_view> texts(column);
  TextOutput out(call.type, input.rows.length);
  std::string text;
  input.rows.ForEach([&](int64_t row) {
    if (column.IsNull(row)) {
      out.SetNull(row);
      return;
    }
    text.clear();
    const std::string_view source = texts[row];
    for (size_t at = 0; at < source.size();) {
      const size_t begin = at;
      const char32_t c = data::NextCodePoint(source, &at);
      size_t which = 4;
      switch (data::KindOfCharacter(c)) {
        case data::CharacterKind::kUpper: which = 1; break;
        case data::CharacterKind::kLower: which = 2; break;
        case data::CharacterKind::kDigit: which = 3; break;
        case data::CharacterKind::kOther: break;
      }
      const Column& replacement = *input.arguments[which];
      if (replacement.IsNull(row)) {
        text.append(source.substr(begin, at - begin));
      } else {
        text.append(Reader<std::string_view>(replacement)[row]);
      }
    }
    out.Set(row, text);
  });
  return out.Finish();
}

Result<BoundCall> BindMask(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 5));
  static constexpr std::string_view kDefaults[] = {"", "X", "x", "n"};
  for (size_t i = arguments.size(); i < 4; ++i) arguments.push_back(Literal::String(std::string(kDefaults[i])));
  if (arguments.size() == 4) arguments.push_back(Literal::Null(DataType::String()));
  for (size_t i = 0; i < 5; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::String(), context));
  return MakeBoundExact(function, std::move(arguments), DataType::String(), true, &Mask, ModeOf(function, context));
}

Result<ColumnPtr> Quote(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<std::string_view>(call, input, [](std::string_view text, std::string* out) {
    out->push_back('\'');
    for (const char c : text) {
      if (c == '\'' || c == '\\') out->push_back('\\');
      out->push_back(c);
    }
    out->push_back('\'');
    return true;
  });
}

// --- str_to_map ---

/// The pieces of a text between matches of a pattern, at most `limit` when positive.
Result<std::vector<std::string_view>> Pieces(Regex& regex, std::string_view text, int limit) {
  std::vector<std::string_view> pieces;
  size_t begin = 0;
  size_t at = 0;
  while (at <= text.size() && (limit <= 0 || static_cast<int>(pieces.size()) + 1 < limit)) {
    TW_ASSIGN_OR_RETURN(const bool found, regex.Match(text, at));
    if (!found) break;
    if (regex.end() == regex.begin()) {
      at = regex.end() + 1;
      continue;
    }
    pieces.push_back(text.substr(begin, regex.begin() - begin));
    begin = at = regex.end();
  }
  pieces.push_back(text.substr(begin));
  return pieces;
}

Result<ColumnPtr> StrToMap(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  RegexCache pairs("str_to_map");
  RegexCache keys("str_to_map");
  const Reader<std::string_view> texts(*input.arguments[0]);
  const Reader<std::string_view> pair_patterns(*input.arguments[1]);
  const Reader<std::string_view> key_patterns(*input.arguments[2]);
  std::vector<uint8_t> asked(static_cast<size_t>(input.rows.length), 0);
  ForEachValid(input, [&](int64_t row) { asked[static_cast<size_t>(row)] = 1; });
  auto builder = data::ColumnBuilder::Make(call.type);
  for (int64_t row = 0; row < input.rows.length; ++row) {
    if (!asked[static_cast<size_t>(row)]) {
      builder->AppendNull();
      continue;
    }
    TW_ASSIGN_OR_RETURN(Regex * pair, pairs.Get(pair_patterns[row]));
    TW_ASSIGN_OR_RETURN(Regex * key, keys.Get(key_patterns[row]));
    std::unordered_set<std::string_view> seen;  // in the row's text
    TW_ASSIGN_OR_RETURN(const auto pieces, Pieces(*pair, texts[row], -1));
    for (const auto piece : pieces) {
      TW_ASSIGN_OR_RETURN(const auto parts, Pieces(*key, piece, 2));
      const std::string name(parts[0]);
      if (!seen.insert(parts[0]).second) {
        return Error("DUPLICATED_MAP_KEY")
            .With("key", name)
            .With("mapKeyDedupPolicy", "\"spark.sql.mapKeyDedupPolicy\"");
      }
      builder->child(0)->AppendValue(Value(name));
      builder->child(1)->AppendValue(parts.size() < 2 ? Value() : Value(std::string(parts[1])));
    }
    builder->AppendList();
  }
  return builder->Finish();
}

Result<BoundCall> BindStrToMap(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 3));
  if (arguments.size() == 1) arguments.push_back(Literal::String(","));
  if (arguments.size() == 2) arguments.push_back(Literal::String(":"));
  for (size_t i = 0; i < 3; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::String(), context));
  return MakeBound(function, std::move(arguments), DataType::Map(DataType::String(), DataType::String(), true), false,
                   &StrToMap, context);
}

// --- urls ---

Result<ColumnPtr> UrlEncode(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<std::string_view>(call, input, [](std::string_view text, std::string* out) {
    for (const char c : text) {
      if (std::isalnum(static_cast<unsigned char>(c)) || c == '.' || c == '-' || c == '*' || c == '_') {
        out->push_back(c);
      } else if (c == ' ') {
        out->push_back('+');
      } else {
        constexpr std::string_view kDigits = "0123456789ABCDEF";
        out->push_back('%');
        out->push_back(kDigits[static_cast<unsigned char>(c) >> 4]);
        out->push_back(kDigits[static_cast<unsigned char>(c) & 15]);
      }
    }
    return true;
  });
}

bool DecodeUrl(std::string_view text, std::string* out) {
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out->push_back(' ');
    } else if (text[i] == '%') {
      if (i + 2 >= text.size()) return false;
      const int high = DigitOf(text[i + 1]);
      const int low = DigitOf(text[i + 2]);
      if (high > 15 || low > 15) return false;
      out->push_back(static_cast<char>(high << 4 | low));
      i += 2;
    } else {
      out->push_back(text[i]);
    }
  }
  return true;
}

Result<ColumnPtr> UrlDecode(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTextChecked<std::string_view>(call, input, [&](std::string_view text, std::string* out, bool* null) -> Status {
    if (DecodeUrl(text, out)) return {};
    if (call.mode == EvalMode::kTry) {
      *null = true;
      return {};
    }
    return Error("CANNOT_DECODE_URL").With("url", text);
  });
}

/// The parts of a URL as java.net.URI splits them.
struct Url {
  std::optional<std::string_view> protocol, authority, user, host, path, query, ref;
};

bool SplitUrl(std::string_view text, Url* url) {
  for (const char c : text) {
    if (c == ' ' || c == '"' || c == '<' || c == '>' || c == '\\' || c == '^' || c == '`' || c == '{' || c == '|' || c == '}') {
      return false;
    }
  }
  if (const size_t hash = text.find('#'); hash != std::string_view::npos) {
    url->ref = text.substr(hash + 1);
    text = text.substr(0, hash);
  }
  for (size_t i = text.find('%'); i != std::string_view::npos; i = text.find('%', i + 1)) {
    if (i + 2 >= text.size() || std::isxdigit(static_cast<unsigned char>(text[i + 1])) == 0 ||
        std::isxdigit(static_cast<unsigned char>(text[i + 2])) == 0) {
      return false;
    }
  }
  const size_t colon = text.find(':');
  const size_t slash = text.find_first_of("/?");
  if (colon != std::string_view::npos && (slash == std::string_view::npos || colon < slash)) {
    if (colon == 0 || std::isalpha(static_cast<unsigned char>(text[0])) == 0) return false;
    url->protocol = text.substr(0, colon);
    text.remove_prefix(colon + 1);
  }
  if (const size_t question = text.find('?'); question != std::string_view::npos) {
    url->query = text.substr(question + 1);
    text = text.substr(0, question);
  }
  if (text.starts_with("//")) {
    text.remove_prefix(2);
    const size_t end = std::min(text.find('/'), text.size());
    url->authority = text.substr(0, end);
    std::string_view host = *url->authority;
    if (const size_t at = host.rfind('@'); at != std::string_view::npos) {
      url->user = host.substr(0, at);
      host.remove_prefix(at + 1);
    }
    const size_t port = host.rfind(':');
    url->host = host.starts_with('[') ? host.substr(0, host.find(']') + 1) : host.substr(0, port);
    text.remove_prefix(end);
  }
  url->path = text;
  return true;
}

std::optional<std::string> PartOf(const Url& url, std::string_view part, const std::string_view* key) {
  const auto text = [](std::optional<std::string_view> v) { return v ? std::optional<std::string>(*v) : std::nullopt; };
  if (key != nullptr) {
    if (part != "QUERY" || !url.query) return {};
    std::string_view query = *url.query;
    for (;;) {
      const size_t end = std::min(query.find('&'), query.size());
      const std::string_view pair = query.substr(0, end);
      if (pair.starts_with(*key) && pair.size() > key->size() && pair[key->size()] == '=') {
        return std::string(pair.substr(key->size() + 1));
      }
      if (end == query.size()) return {};
      query.remove_prefix(end + 1);
    }
  }
  if (part == "HOST") return text(url.host);
  if (part == "PATH") return text(url.path);
  if (part == "QUERY") return text(url.query);
  if (part == "REF") return text(url.ref);
  if (part == "PROTOCOL") return text(url.protocol);
  if (part == "AUTHORITY") return text(url.authority);
  if (part == "USERINFO") return text(url.user);
  if (part == "FILE") {
    if (!url.query) return text(url.path);
    return std::string(url.path.value_or("")) + "?" + std::string(*url.query);
  }
  return {};
}

Result<ColumnPtr> ParseUrl(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const bool has_key = input.arguments.size() > 2;
  TextOutput out(call.type, input.rows.length);
  const Reader<std::string_view> urls(*input.arguments[0]);
  const Reader<std::string_view> parts(*input.arguments[1]);
  TW_RETURN_NOT_OK(TryForEachValid(input, [&](int64_t row) -> Status {
    Url url;
    if (!SplitUrl(urls[row], &url)) {
      if (call.mode == EvalMode::kAnsi) return Error("INVALID_URL").With("url", urls[row]);
      out.SetNull(row);
      return {};
    }
    std::string_view key;
    if (has_key) key = Reader<std::string_view>(*input.arguments[2])[row];
    const auto part = PartOf(url, parts[row], has_key ? &key : nullptr);
    if (part) {
      out.Set(row, *part);
    } else {
      out.SetNull(row);
    }
    return {};
  }));
  return out.Finish();
}

// --- regexp_instr ---

Result<ColumnPtr> RegexpInstr(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  RegexCache cache(call.function->name);
  return MapChecked<int32_t, std::string_view, std::string_view, int32_t>(
      call, input, [&](std::string_view text, std::string_view pattern, int32_t, std::optional<int32_t>* out) -> Status {
        TW_ASSIGN_OR_RETURN(Regex * regex, cache.Get(pattern));
        TW_ASSIGN_OR_RETURN(const bool found, regex->Match(text, 0));
        *out = found ? static_cast<int32_t>(data::Utf8Length(text.substr(0, regex->begin()))) + 1 : 0;
        return {};
      });
}

Result<BoundCall> BindRegexpInstr(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 3));
  if (arguments.size() == 2) arguments.push_back(Literal::Integer(0));
  for (size_t i = 0; i < 2; ++i) TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, i, DataType::String(), context));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 2, DataType::Integer(), context));
  return MakeBound(function, std::move(arguments), DataType::Integer(), false, &RegexpInstr, context);
}

// --- to_binary ---

Result<ExprPtr> MeanToBinaryBy(const ExprList& a, const BindContext& c, const char* name) {
  TW_RETURN_NOT_OK(CheckArity(name, a.size(), 1, 2));
  std::string format = "hex";
  if (a.size() == 2) {
    TW_ASSIGN_OR_RETURN(const Value value, FoldArgumentAs(name, a, 1, "fmt", DataType::String(), c));
    if (value.is_null()) return Literal::Null(DataType::Binary());
    format = value.get<std::string>();
    for (char& ch : format) ch = static_cast<char>(std::tolower(static_cast<unsigned char>(ch)));
  }
  const bool lenient = std::string_view(name).starts_with("try_");
  if (format == "hex") return BindBuiltin("__bytes_of_hex", {a[0], Literal::Boolean(lenient)}, c);
  if (format == "base64") {
    return BindBuiltin(lenient ? "__bytes_of_base64_or_null" : "__bytes_of_base64", {a[0], Literal::Boolean(lenient)}, c);
  }
  if (format == "utf-8" || format == "utf8") {
    return BindBuiltin("encode", {a[0], Literal::String("UTF-8")}, c);
  }
  return Error("DATATYPE_MISMATCH.INVALID_ARG_VALUE")
      .With("sqlExpr", QuoteSql(CallSql(name, a)))
      .With("inputName", "fmt")
      .With("requireType", "case-insensitive \"STRING\"")
      .With("validValues", "'hex', 'utf-8', 'utf8', or 'base64'")
      .With("inputValue", "'" + format + "'");
}
Result<ExprPtr> MeanToBinary(const ExprList& a, const BindContext& c) { return MeanToBinaryBy(a, c, "to_binary"); }
Result<ExprPtr> MeanTryToBinary(const ExprList& a, const BindContext& c) { return MeanToBinaryBy(a, c, "try_to_binary"); }

// --- luhn_check ---

/// Digits only whose Luhn sum ends with zero.
bool PassesLuhn(std::string_view text) {
  int sum = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[text.size() - 1 - i];
    if (c < '0' || c > '9') return false;
    const int digit = (c - '0') * (i % 2 == 0 ? 1 : 2);
    sum += digit > 9 ? digit - 9 : digit;
  }
  return !text.empty() && sum % 10 == 0;
}

Result<ColumnPtr> LuhnCheck(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapValues<bool, std::string_view>(call, input, &PassesLuhn);
}

// --- UTF-8 ---

Result<ColumnPtr> IsValid(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapValues<bool, std::string_view>(call, input, [](std::string_view text) { return data::IsValidUtf8(text); });
}
Result<ColumnPtr> MakeValid(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapText<std::string_view>(call, input, [](std::string_view text, std::string* out) {
    data::AppendValidUtf8(text, out);
    return true;
  });
}
Result<ColumnPtr> Validate(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return MapTextChecked<std::string_view>(call, input, [&](std::string_view text, std::string* out, bool* null) -> Status {
    if (data::IsValidUtf8(text)) {
      out->append(text);
    } else if (call.mode == EvalMode::kTry) {
      *null = true;
    } else {
      std::string hex;
      for (const char c : text) {
        hex += "\\x";
        hex.push_back("0123456789ABCDEF"[static_cast<unsigned char>(c) >> 4]);
        hex.push_back("0123456789ABCDEF"[static_cast<unsigned char>(c) & 15]);
      }
      return Error("INVALID_UTF8_STRING").With("str", hex);
    }
    return {};
  });
}

}  // namespace

void RegisterMoreText(FunctionLists& lists) {
  static const ScalarFunction kAll[] = {
      {.name = "bin", .signature = "(value BIGINT) -> STRING", .since = "1.5.0", .doc = "The number in binary digits.", .evaluate = &Bin},
      {.name = "conv", .signature = "(text STRING, from INT, to INT) -> STRING?", .since = "1.5.0", .doc = "A number in another base.", .evaluate = &Conv},
      {.name = "elt", .since = "2.0.0", .doc = "The n-th text.", .nulls = NullPolicy::kCustom, .bind = &BindElt},
      {.name = "overlay", .since = "3.0.0", .doc = "Characters replaced by a text.", .bind = &BindOverlay},
      {.name = "split_part", .signature = "(text STRING, delimiter STRING, part INT) -> STRING?", .since = "3.3.0", .doc = "The n-th part between delimiters.", .evaluate = &SplitPart},
      {.name = "soundex", .signature = "(text STRING) -> STRING", .since = "1.5.0", .doc = "The Soundex code.", .evaluate = &Soundex},
      {.name = "mask", .since = "3.4.0", .doc = "Letters and digits replaced.", .nulls = NullPolicy::kCustom, .bind = &BindMask},
      {.name = "quote", .signature = "(text STRING) -> STRING?", .since = "4.1.0", .doc = "The text in quotes.", .evaluate = &Quote},
      {.name = "str_to_map", .since = "2.0.1", .doc = "Pairs of a text as a map.", .bind = &BindStrToMap},
      {.name = "url_encode", .signature = "(text STRING) -> STRING?", .since = "3.4.0", .doc = "The text in URL encoding.", .evaluate = &UrlEncode},
      {.name = "url_decode", .signature = "(text STRING) -> STRING?", .since = "3.4.0", .doc = "The text of a URL encoding.", .evaluate = &UrlDecode},
      {.name = "try_url_decode", .signature = "(text STRING) -> STRING?", .since = "4.0.0", .doc = "As url_decode, NULL for other texts.", .evaluate = &UrlDecode},
      {.name = "parse_url", .signature = "(url STRING, part STRING, [key STRING]) -> STRING?", .since = "2.0.0", .doc = "A part of a URL.", .evaluate = &ParseUrl},
      {.name = "try_parse_url", .signature = "(url STRING, part STRING, [key STRING]) -> STRING?", .since = "4.0.0", .doc = "As parse_url, NULL for other texts.", .evaluate = &ParseUrl},
      {.name = "regexp_instr", .since = "3.4.0", .doc = "Where the pattern matches first, from 1.", .bind = &BindRegexpInstr},
      {.name = "to_binary", .since = "3.3.0", .doc = "A text as binary: hex, utf-8 or base64.", .bind = &BindAs<MeanToBinary>},
      {.name = "try_to_binary", .since = "3.3.0", .doc = "As to_binary.", .bind = &BindAs<MeanTryToBinary>},
      {.name = "luhn_check", .signature = "(text STRING) -> BOOLEAN?", .since = "3.5.0", .doc = "Whether the digits pass the Luhn check.", .evaluate = &LuhnCheck},
      {.name = "is_valid_utf8", .signature = "(text STRING) -> BOOLEAN?", .since = "4.0.0", .doc = "Whether the bytes are UTF-8.", .evaluate = &IsValid},
      {.name = "make_valid_utf8", .signature = "(text STRING) -> STRING?", .since = "4.0.0", .doc = "Ill-formed bytes replaced.", .evaluate = &MakeValid},
      {.name = "validate_utf8", .signature = "(text STRING) -> STRING?", .since = "4.0.0", .doc = "The text, or an error.", .evaluate = &Validate},
      {.name = "try_validate_utf8", .signature = "(text STRING) -> STRING?", .since = "4.0.0", .doc = "The text, or NULL.", .evaluate = &Validate},
  };
  for (const auto& function : kAll) lists.Add(function);
}

}  // namespace thalweg::sql
