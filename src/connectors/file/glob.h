#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace thalweg::connectors {

/// Whether a path is a pattern: holds one of {}[]*?\ (Spark's isGlobPath).
bool IsGlob(std::string_view path);

/// The patterns without braces that `{a,b}` groups stand for, in order; groups may nest and hold separators.
std::vector<std::string> ExpandBraces(std::string_view pattern);

/// Whether a name, or a part of a path, matches a pattern without braces: `*` `?` `[abc]` `[a-z]` `[^a]` `\x`.
bool GlobMatches(std::string_view pattern, std::string_view name);

/// A pattern for names (pathGlobFilter), braces included. Source: Hadoop's GlobFilter.
class NameFilter {
 public:
  explicit NameFilter(std::string_view pattern) : patterns_(ExpandBraces(pattern)) {}
  bool Matches(std::string_view name) const;

 private:
  std::vector<std::string> patterns_;
};

}  // namespace thalweg::connectors
