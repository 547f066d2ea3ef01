#include "connectors/file/glob.h"

#include <algorithm>

namespace thalweg::connectors {
namespace {

/// The alternatives of the group that opens at `open`, and where it closes; npos: it never does.
size_t SplitGroup(std::string_view pattern, size_t open, std::vector<std::string_view>* parts) {
  int depth = 0;
  size_t begin = open + 1;
  for (size_t i = open; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\') {
      ++i;
    } else if (c == '{') {
      ++depth;
    } else if (c == ',' && depth == 1) {
      parts->push_back(pattern.substr(begin, i - begin));
      begin = i + 1;
    } else if (c == '}' && --depth == 0) {
      parts->push_back(pattern.substr(begin, i - begin));
      return i;
    }
  }
  return std::string_view::npos;
}

/// Whether `c` is in the set that opens at pattern[at]; moves `*at` behind it.
bool MatchSet(std::string_view pattern, size_t* at, char c) {
  size_t i = *at + 1;
  const bool negated = i < pattern.size() && (pattern[i] == '^' || pattern[i] == '!');
  if (negated) ++i;
  bool found = false;
  for (bool first = true; i < pattern.size() && (first || pattern[i] != ']'); first = false) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) ++i;
    const char low = pattern[i++];
    char high = low;
    if (i + 1 < pattern.size() && pattern[i] == '-' && pattern[i + 1] != ']') {
      high = pattern[i + 1];
      i += 2;
    }
    found = found || (low <= c && c <= high);
  }
  *at = i + 1;
  return found != negated;
}

}  // namespace

bool IsGlob(std::string_view path) { return path.find_first_of("{}[]*?\\") != std::string_view::npos; }

std::vector<std::string> ExpandBraces(std::string_view pattern) {
  for (size_t open = 0; open < pattern.size(); ++open) {
    if (pattern[open] == '\\') {
      ++open;
      continue;
    }
    if (pattern[open] != '{') continue;
    std::vector<std::string_view> parts;
    const size_t close = SplitGroup(pattern, open, &parts);
    if (close == std::string_view::npos) break;
    std::vector<std::string> expanded;
    for (const std::string_view part : parts) {
      std::string one(pattern.substr(0, open));
      one.append(part).append(pattern.substr(close + 1));
      for (std::string& whole : ExpandBraces(one)) expanded.push_back(std::move(whole));
    }
    return expanded;
  }
  return {std::string(pattern)};
}

bool GlobMatches(std::string_view pattern, std::string_view name) {
  size_t p = 0, n = 0;
  size_t star = std::string_view::npos, star_name = 0;  // where to go back to
  while (true) {
    bool good = false;
    size_t next = p + 1;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_name = n;
      continue;
    }
    if (n == name.size() && p == pattern.size()) return true;
    if (n < name.size() && p < pattern.size()) {
      if (pattern[p] == '?') {
        good = true;
      } else if (pattern[p] == '[') {
        next = p;
        good = MatchSet(pattern, &next, name[n]);
      } else if (pattern[p] == '\\' && p + 1 < pattern.size()) {
        next = p + 2;
        good = pattern[p + 1] == name[n];
      } else {
        good = pattern[p] == name[n];
      }
    }
    if (good) {
      p = next;
      ++n;
    } else if (star != std::string_view::npos && star_name < name.size()) {
      p = star + 1;
      n = ++star_name;
    } else {
      return false;
    }
  }
}

bool NameFilter::Matches(std::string_view name) const {
  return std::any_of(patterns_.begin(), patterns_.end(),
                     [&](const std::string& pattern) { return GlobMatches(pattern, name); });
}

}  // namespace thalweg::connectors
