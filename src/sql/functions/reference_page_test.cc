// Promise: docs/reference/functions.md says what the registry says. With TW_WRITE_REFERENCE=1 the page is written anew.
// tests/sql/functions/examples_test.py runs its examples.

#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <map>
#include <sstream>

#include "sql/functions/registry.h"

namespace thalweg::sql {
namespace {

std::string Cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c;
  }
  return out;
}

std::string Code(std::string_view text) { return text.empty() ? "" : "`" + Cell(text) + "`"; }

/// Rows by name; a function stands once, its other names beside it.
template <typename Function>
void AddRows(const std::vector<const Function*>& functions, std::map<std::string, std::string>* rows) {
  for (const Function* function : functions) {
    std::string names = Code(function->name);
    for (const std::string_view alias : function->aliases) names += ", " + Code(alias);
    std::string& row = (*rows)[std::string(function->name)];
    row = "| " + names + " | " + std::string(function->since) + " | " + Cell(function->doc) + " | " +
          Code(function->example.sql) + " | " + Code(function->example.result) + " |\n";
  }
}

std::string Section(const char* title, const std::map<std::string, std::string>& rows) {
  std::string out = "\n## " + std::string(title) + "\n\n| name | since | what | example | answer |\n|---|---|---|---|---|\n";
  for (const auto& [name, row] : rows) out += row;
  return out;
}

std::string FunctionsPage() {
  const FunctionRegistry& registry = BuiltinFunctions();
  std::vector<const ScalarFunction*> visible;
  for (const ScalarFunction* function : registry.scalars()) {
    if (!function->internal) visible.push_back(function);
  }
  std::map<std::string, std::string> scalars, aggregates;
  AddRows(visible, &scalars);
  AddRows(registry.aggregates(), &aggregates);
  return "# Functions and operators\n\nMade by the test program of `sql/functions` (`reference_page_test.cc`) from the registry; "
         "a test runs the examples.\n" +
         Section("Functions of one row", scalars) + Section("Aggregates", aggregates);
}

TEST(ReferencePage, FunctionsPageIsCurrent) {
  const std::string path = TW_SOURCE_DIR "/docs/reference/functions.md";
  const std::string page = FunctionsPage();
  if (std::getenv("TW_WRITE_REFERENCE") != nullptr) std::ofstream(path) << page;
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  EXPECT_TRUE(text.str() == page) << "run the test program of sql/functions with TW_WRITE_REFERENCE=1";
}

TEST(ReferencePage, EveryFunctionSaysWhatItDoes) {
  const FunctionRegistry& registry = BuiltinFunctions();
  for (const ScalarFunction* function : registry.scalars()) EXPECT_FALSE(function->doc.empty()) << function->name;
  for (const AggregateFunction* function : registry.aggregates()) EXPECT_FALSE(function->doc.empty()) << function->name;
}

}  // namespace
}  // namespace thalweg::sql
