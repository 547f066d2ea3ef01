#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thalweg::sql {

/// A regular expression in Java's syntax over UTF-8, compiled by PCRE2 with its JIT. Ill-formed bytes match nothing.
/// Thread: Match uses scratch memory of the object, so an object is confined to one thread.
class Regex {
 public:
  /// Errors: INVALID_PARAMETER_VALUE.PATTERN, which names `function` and the pattern.
  static Result<Regex> Compile(std::string_view pattern, std::string_view function);
  ~Regex();
  Regex(Regex&&) noexcept;
  Regex& operator=(Regex&&) noexcept;

  /// Searches from byte `start` on; false when nothing matches.
  /// Errors: REGEX_TOO_COMPLEX when it takes too many steps or too deep a stack to know.
  Result<bool> Match(std::string_view text, size_t start);
  /// Of the last match; {npos, npos} for a group that took no part.
  size_t begin(int group = 0) const;
  size_t end(int group = 0) const;
  int groups() const;
  /// The number of a named group, -1 without one.
  int GroupNumber(std::string_view name) const;

 private:
  struct State;
  explicit Regex(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

/// Compiled patterns by text: the one of the row before is at hand, others are kept by the thread, so that a constant pattern is
/// compiled once and not once a chunk.
class RegexCache {
 public:
  explicit RegexCache(std::string_view function) : function_(function) {}
  Result<Regex*> Get(std::string_view pattern);

 private:
  std::string function_;
  std::string pattern_;
  std::shared_ptr<Regex> regex_;
};

}  // namespace thalweg::sql
