#define PCRE2_CODE_UNIT_WIDTH 8
#include "sql/functions/string/regex.h"

#include <pcre2.h>

#include <algorithm>
#include <optional>
#include <string>
#include <unordered_map>

#include "data/types/data_type.h"

namespace thalweg::sql {
namespace {

/// Seconds of a core, as a pattern's steps go; without a bound nested repetitions take the time of the universe.
constexpr uint32_t kMostSteps = 20'000'000;
constexpr uint32_t kMostHeapKib = 256 << 10;
constexpr size_t kFirstStack = 32 << 10;
constexpr size_t kLargestStack = 64 << 20;  // addresses; memory only as far as a match goes

/// What a thread's matches share.
struct MatchRoom {
  pcre2_match_context* context = pcre2_match_context_create(nullptr);
  pcre2_jit_stack* stack = pcre2_jit_stack_create(kFirstStack, kLargestStack, nullptr);
  MatchRoom() {
    pcre2_set_match_limit(context, kMostSteps);
    pcre2_set_heap_limit(context, kMostHeapKib);
    if (stack != nullptr) pcre2_jit_stack_assign(context, nullptr, stack);
  }
  ~MatchRoom() {
    pcre2_jit_stack_free(stack);
    pcre2_match_context_free(context);
  }
  MatchRoom(const MatchRoom&) = delete;
  MatchRoom& operator=(const MatchRoom&) = delete;
};

/// What Java (up to 18) calls a word at \b: letters and digits of any script, '_', and marks on a letter or digit.
constexpr std::string_view kBoundary =
    "(?(?<=[\\p{L}\\p{Nd}_]|[\\p{L}\\p{Nd}]\\p{Mn}|[\\p{L}\\p{Nd}]\\p{Mn}\\p{Mn})"
    "(?![\\p{L}\\p{Nd}_]|(?<=[\\p{L}\\p{Nd}]|[\\p{L}\\p{Nd}]\\p{Mn})\\p{Mn})|"
    "(?=[\\p{L}\\p{Nd}_]|(?<=[\\p{L}\\p{Nd}]|[\\p{L}\\p{Nd}]\\p{Mn})\\p{Mn}))";
constexpr std::string_view kNoBoundary =
    "(?(?<=[\\p{L}\\p{Nd}_]|[\\p{L}\\p{Nd}]\\p{Mn}|[\\p{L}\\p{Nd}]\\p{Mn}\\p{Mn})"
    "(?=[\\p{L}\\p{Nd}_]|(?<=[\\p{L}\\p{Nd}]|[\\p{L}\\p{Nd}]\\p{Mn})\\p{Mn})|"
    "(?![\\p{L}\\p{Nd}_]|(?<=[\\p{L}\\p{Nd}]|[\\p{L}\\p{Nd}]\\p{Mn})\\p{Mn}))";

/// `pattern` with \b and \B, outside classes and quotations, as Java means them; nothing when it has none.
std::optional<std::string> WithJavaBoundaries(std::string_view pattern) {
  std::string out;
  bool found = false;
  int depth = 0;  // of [
  for (size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c != '\\' || i + 1 == pattern.size()) {
      if (c == '[') ++depth;
      if (c == ']' && depth > 0) --depth;
      out.push_back(c);
      continue;
    }
    const char escaped = pattern[++i];
    if (escaped == 'Q') {
      const size_t end = std::min(pattern.find("\\E", i), pattern.size());
      out.append(pattern.substr(i - 1, end - i + 1));
      i = end - 1;
    } else if ((escaped == 'b' || escaped == 'B') && depth == 0 && pattern.substr(i + 1, 1) != "{") {
      found = true;
      out.append(escaped == 'b' ? kBoundary : kNoBoundary);
    } else {
      out.push_back(c);
      out.push_back(escaped);
    }
  }
  if (!found) return std::nullopt;
  return out;
}

bool IsAscii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

pcre2_code* CompileCode(std::string_view pattern) {
  int error = 0;
  size_t offset = 0;
  pcre2_compile_context* context = pcre2_compile_context_create(nullptr);
  pcre2_set_newline(context, PCRE2_NEWLINE_ANY);
  pcre2_code* code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                                   PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &error, &offset, context);
  pcre2_compile_context_free(context);
  // Without the JIT (no executable memory) matching is slower, not wrong.
  if (code != nullptr) (void)pcre2_jit_compile(code, PCRE2_JIT_COMPLETE);
  return code;
}

}  // namespace

struct Regex::State {
  std::string pattern;
  std::string function;
  pcre2_code* code = nullptr;
  pcre2_code* beyond_ascii = nullptr;  ///< for texts beyond ASCII, when it differs
  std::string_view text;               ///< whose matches are being asked for; never read
  bool is_ascii = false;               ///< that text
  pcre2_match_data* match = nullptr;
  ~State() {
    pcre2_match_data_free(match);
    pcre2_code_free(code);
    pcre2_code_free(beyond_ascii);
  }
};

Regex::Regex(std::unique_ptr<State> state) : state_(std::move(state)) {}
Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

Result<Regex> Regex::Compile(std::string_view pattern, std::string_view function) {
  auto state = std::make_unique<State>();
  state->pattern = pattern;
  state->function = function;
  state->code = CompileCode(pattern);
  if (state->code == nullptr) {
    return Error("INVALID_PARAMETER_VALUE.PATTERN")
        .With("parameter", "`regexp`")
        .With("functionName", data::QuoteIdentifier(function))
        .With("value", "'" + std::string(pattern) + "'");
  }
  if (const std::optional<std::string> java = WithJavaBoundaries(pattern)) state->beyond_ascii = CompileCode(*java);
  state->match = pcre2_match_data_create_from_pattern(state->code, nullptr);
  return Regex(std::move(state));
}

Result<bool> Regex::Match(std::string_view text, size_t start) {
  static thread_local MatchRoom room;
  const auto* const subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  if (state_->beyond_ascii != nullptr &&
      (start == 0 || text.data() != state_->text.data() || text.size() != state_->text.size())) {
    state_->text = text;
    state_->is_ascii = IsAscii(text);
  }
  const pcre2_code* const code =
      state_->beyond_ascii != nullptr && !state_->is_ascii ? state_->beyond_ascii : state_->code;
  int found = pcre2_match(code, subject, text.size(), start, 0, state_->match, room.context);
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) {  // the interpreter keeps its places on the heap
    found = pcre2_match(code, subject, text.size(), start, PCRE2_NO_JIT, state_->match, room.context);
  }
  if (found > 0) return true;
  const bool gave_up = found == PCRE2_ERROR_MATCHLIMIT || found == PCRE2_ERROR_DEPTHLIMIT || found == PCRE2_ERROR_HEAPLIMIT ||
                       found == PCRE2_ERROR_JIT_STACKLIMIT || found == PCRE2_ERROR_NOMEMORY;
  if (!gave_up) return false;
  return Error("REGEX_TOO_COMPLEX")
      .With("functionName", data::QuoteIdentifier(state_->function))
      .With("pattern", "'" + state_->pattern + "'")
      .With("textBytes", static_cast<int64_t>(text.size()));
}

size_t Regex::begin(int group) const { return pcre2_get_ovector_pointer(state_->match)[2 * group]; }
size_t Regex::end(int group) const { return pcre2_get_ovector_pointer(state_->match)[2 * group + 1]; }

int Regex::groups() const {
  uint32_t count = 0;
  pcre2_pattern_info(state_->code, PCRE2_INFO_CAPTURECOUNT, &count);
  return static_cast<int>(count);
}

int Regex::GroupNumber(std::string_view name) const {
  const int number =
      pcre2_substring_number_from_name(state_->code, reinterpret_cast<PCRE2_SPTR>(std::string(name).c_str()));
  return number < 0 ? -1 : number;
}

Result<Regex*> RegexCache::Get(std::string_view pattern) {
  if (regex_ == nullptr || pattern_ != pattern) {
    constexpr size_t kMostKept = 64;
    thread_local std::unordered_map<std::string, std::shared_ptr<Regex>> kept;
    pattern_ = pattern;
    regex_ = nullptr;
    if (const auto it = kept.find(pattern_); it != kept.end()) {
      regex_ = it->second;
    } else {
      TW_ASSIGN_OR_RETURN(Regex regex, Regex::Compile(pattern, function_));
      regex_ = std::make_shared<Regex>(std::move(regex));
      if (kept.size() >= kMostKept) kept.clear();
      kept.emplace(pattern_, regex_);
    }
  }
  return regex_.get();
}

}  // namespace thalweg::sql
