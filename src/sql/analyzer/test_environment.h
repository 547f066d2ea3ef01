#pragma once

// Test double: a session of one catalogue in memory. Tables have schemas and no rows.

#include <map>
#include <string>
#include <string_view>

#include "sql/analyzer/analyzer.h"

namespace thalweg::sql {

/// A table that can be scanned and streamed by name only: nothing reads it.
class SchemaTable final : public Table {
 public:
  SchemaTable(std::string name, data::Schema schema) : name_(std::move(name)), schema_(std::move(schema)) {}
  std::string name() const override { return name_; }
  data::Schema schema() const override { return schema_; }
  TableCapabilities capabilities() const override { return {true, true, true, true}; }

 private:
  std::string name_;
  data::Schema schema_;
};

class TestEnvironment final : public AnalyzerEnvironment {
 public:
  TestEnvironment();
  /// `ddl`: "k STRING, v INT". Tests only: aborts on a bad one.
  void AddTable(const std::string& name, std::string_view ddl, bool streaming = false);
  void AddView(const std::string& name, PlanPtr plan) { views_[name] = std::move(plan); }
  void AddPythonFunction(PythonFunctionPtr function) { python_functions_[function->name] = std::move(function); }
  EvalConfig& settings() { return *settings_; }

  std::shared_ptr<const EvalConfig> config() const override { return settings_; }
  const FunctionRegistry& functions() const override;
  Result<PlanPtr> ResolveRelation(const UnresolvedRelation& relation) override;
  Result<TablePtr> LoadDataSource(const UnresolvedDataSource& source) override;
  PythonFunctionPtr FindPythonFunction(const std::string& name) override {
    const auto found = python_functions_.find(name);
    return found == python_functions_.end() ? nullptr : found->second;
  }

  /// A fresh leaf of a table.
  PlanPtr Leaf(const std::string& name);

 private:
  struct Entry {
    TablePtr table;
    bool streaming;
  };
  std::shared_ptr<EvalConfig> settings_ = std::make_shared<EvalConfig>();
  std::map<std::string, Entry> tables_;
  std::map<std::string, PlanPtr> views_;
  std::map<std::string, PythonFunctionPtr> python_functions_;
};

}  // namespace thalweg::sql
