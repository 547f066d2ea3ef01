#define PCRE2_CODE_UNIT_WIDTH 8
#include "sql/functions/string/regex.h"

#include <pcre2.h>

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

}  // namespace

struct Regex::State {
  std::string pattern;
  std::string function;
  pcre2_code* code = nullptr;
  pcre2_match_data* match = nullptr;
  ~State() {
    pcre2_match_data_free(match);
    pcre2_code_free(code);
  }
};

Regex::Regex(std::unique_ptr<State> state) : state_(std::move(state)) {}
Regex::~Regex() = default;
Regex::Regex(Regex&&) noexcept = default;
Regex& Regex::operator=(Regex&&) noexcept = default;

Result<Regex> Regex::Compile(std::string_view pattern, std::string_view function) {
  int error = 0;
  size_t offset = 0;
  auto state = std::make_unique<State>();
  state->pattern = pattern;
  state->function = function;
  pcre2_compile_context* context = pcre2_compile_context_create(nullptr);
  pcre2_set_newline(context, PCRE2_NEWLINE_ANY);
  state->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(pattern.data()), pattern.size(),
                              PCRE2_UTF | PCRE2_MATCH_INVALID_UTF, &error, &offset, context);
  pcre2_compile_context_free(context);
  if (state->code == nullptr) {
    return Error("INVALID_PARAMETER_VALUE.PATTERN")
        .With("parameter", "`regexp`")
        .With("functionName", data::QuoteIdentifier(function))
        .With("value", "'" + std::string(pattern) + "'");
  }
  // Without the JIT (no executable memory) matching is slower, not wrong.
  (void)pcre2_jit_compile(state->code, PCRE2_JIT_COMPLETE);
  state->match = pcre2_match_data_create_from_pattern(state->code, nullptr);
  return Regex(std::move(state));
}

Result<bool> Regex::Match(std::string_view text, size_t start) {
  static thread_local MatchRoom room;
  const auto* const subject = reinterpret_cast<PCRE2_SPTR>(text.data());
  int found = pcre2_match(state_->code, subject, text.size(), start, 0, state_->match, room.context);
  if (found == PCRE2_ERROR_JIT_STACKLIMIT) {  // the interpreter keeps its places on the heap
    found = pcre2_match(state_->code, subject, text.size(), start, PCRE2_NO_JIT, state_->match, room.context);
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
