#include "front/session/view_name.h"

#include "sql/catalog/catalog.h"
#include "sql/parser/parser.h"

namespace thalweg::front {

Result<std::string> ParseTempViewName(const std::string& text) {
  Result<sql::NameParts> parts = sql::ParseMultipartIdentifier(text);
  if (!parts.ok()) return Error("_LEGACY_ERROR_TEMP_1321").With("viewName", text);
  if (parts->size() > 1) return Error("TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS").With("actualName", sql::QuoteName(*parts));
  return (*parts)[0];
}

}  // namespace thalweg::front
