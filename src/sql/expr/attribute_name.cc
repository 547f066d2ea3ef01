#include "sql/expr/attribute_name.h"

#include "data/types/data_type.h"

namespace thalweg::sql {

Result<std::vector<std::string>> ParseAttributeName(std::string_view name) {
  const auto malformed = [&] { return Error("INVALID_ATTRIBUTE_NAME_SYNTAX").With("name", data::QuoteIdentifier(name)); };
  std::vector<std::string> parts(1);
  bool quoted = false;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    const char next = i + 1 < name.size() ? name[i + 1] : '.';
    if (quoted) {
      if (c != '`') {
        parts.back() += c;
      } else if (next == '`') {
        parts.back() += c;
        ++i;
      } else if (next == '.') {
        quoted = false;
      } else {
        return malformed();
      }
    } else if (c == '`') {
      if (!parts.back().empty()) return malformed();
      quoted = true;
    } else if (c == '.') {
      if (i == 0 || name[i - 1] == '.' || i + 1 == name.size()) return malformed();
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  if (quoted) return malformed();
  return parts;
}

}  // namespace thalweg::sql
