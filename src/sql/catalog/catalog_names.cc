#include "sql/catalog/catalog_names.h"

#include <algorithm>

#include "sql/catalog/catalog.h"

namespace thalweg::sql {

namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// `*` stands for any text; both are lower case.
bool MatchesOne(std::string_view name, std::string_view pattern) {
  size_t at = 0, in = 0;
  size_t star = std::string_view::npos, resume = 0;
  while (at < name.size()) {
    if (in < pattern.size() && pattern[in] == '*') {
      star = in++;
      resume = at;
    } else if (in < pattern.size() && pattern[in] == name[at]) {
      ++in;
      ++at;
    } else if (star != std::string_view::npos) {
      in = star + 1;
      at = ++resume;
    } else {
      return false;
    }
  }
  while (in < pattern.size() && pattern[in] == '*') ++in;
  return in == pattern.size();
}

}  // namespace

std::string LowerName(std::string_view name) {
  std::string lower(name);
  for (char& c : lower) c = Lower(c);
  return lower;
}

Status CheckCatalogName(std::string_view name) {
  const bool valid = !name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
  });
  return valid ? Status::OK() : Status(Error("INVALID_SCHEMA_OR_RELATION_NAME").With("name", data::QuoteIdentifier(name)));
}

bool MatchesPattern(std::string_view name, std::string_view pattern) {
  const std::string lower = LowerName(name);
  const std::string all = LowerName(pattern);
  size_t begin = 0;
  while (true) {
    const size_t end = all.find('|', begin);
    std::string_view one = std::string_view(all).substr(begin, end == std::string::npos ? end : end - begin);
    while (!one.empty() && one.front() == ' ') one.remove_prefix(1);
    while (!one.empty() && one.back() == ' ') one.remove_suffix(1);
    if (MatchesOne(lower, one)) return true;
    if (end == std::string::npos) return false;
    begin = end + 1;
  }
}

std::string QuoteName(const std::vector<std::string>& parts) {
  std::string text;
  for (const std::string& part : parts) {
    if (!text.empty()) text += '.';
    text += data::QuoteIdentifier(part);
  }
  return text;
}

Status TableNotFound(const std::vector<std::string>& name_parts, std::string_view current_database) {
  return Error("TABLE_OR_VIEW_NOT_FOUND")
      .With("relationName", QuoteName(name_parts))
      .With("searchPath", "[`system`.`builtin`, `system`.`session`, " +
                              QuoteName({std::string(kSessionCatalog), std::string(current_database)}) + "]");
}

Status SchemaNotFound(std::string_view name) {
  return Error("SCHEMA_NOT_FOUND").With("schemaName", QuoteName({std::string(kSessionCatalog), std::string(name)}));
}

std::vector<std::string> TableInfo::QualifiedName() const { return {std::string(kSessionCatalog), database, name}; }

}  // namespace thalweg::sql
