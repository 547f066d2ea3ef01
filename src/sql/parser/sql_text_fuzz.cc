// SQL text: no crash, and a statement that is understood is one statement also when a script is split into it; what stands between its
// tokens does not matter.

#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sql/parser/parser.h"

namespace {

void Require(bool holds) {
  if (!holds) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace thalweg;       // NOLINT
  using namespace thalweg::sql;  // NOLINT
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  ParserOptions options;
  options.double_quoted_identifiers = size % 2 == 1;
  if (const Result<PlanPtr> plan = ParsePlan(text, options); plan.ok()) {
    const std::string tree = (*plan)->TreeText();
    const std::string spaced = "\n /* a remark */ " + std::string(text) + "\n";
    const Result<PlanPtr> again = ParsePlan(spaced, options);
    Require(again.ok() && !tree.empty());
    Require(SplitStatements(text).size() == 1);
  }
  Ignore(ParseExpression(text, options).status(), "only that it ends");
  if (const Result<NameParts> name = ParseMultipartIdentifier(text); name.ok()) Require(!name->empty());
  for (const std::string& statement : SplitStatements(text)) Require(statement.size() <= text.size());
  if (EndsStatement(text)) Require(text.find(';') != std::string_view::npos);
  return 0;
}
