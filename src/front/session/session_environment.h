#pragma once

// What the analyzer asks, answered from a session: temporary views, the catalogue, formats.

#include <stop_token>

#include "base/memory.h"
#include "front/session/session.h"
#include "sql/analyzer/analyzer.h"

namespace thalweg::front {

/// Lives for one analysis. Thread: confined.
class SessionEnvironment final : public sql::AnalyzerEnvironment {
 public:
  /// `stop` ends queries whose rows resolving needs; the session pays for those rows as long as this lives.
  SessionEnvironment(Session& session, std::shared_ptr<const sql::EvalConfig> config, std::stop_token stop)
      : SessionEnvironment(session, std::move(config), std::move(stop), 0) {}

  std::shared_ptr<const sql::EvalConfig> config() const override { return config_; }
  const sql::FunctionRegistry& functions() const override { return *session_.server().functions; }
  Result<sql::PlanPtr> ResolveRelation(const sql::UnresolvedRelation& relation) override;
  Result<sql::TablePtr> LoadDataSource(const sql::UnresolvedDataSource& source) override;
  sql::PythonFunctionPtr FindPythonFunction(const std::string& name) override { return session_.FindFunction(name); }
  Result<std::vector<data::Chunk>> RunEagerly(const sql::PlanPtr& resolved) override { return session_.Collect(resolved, stop_, &rows_); }
  std::optional<std::string> Setting(const std::string& key) override { return session_.GetConfOption(key); }

 private:
  /// `depth`: views that are being resolved around this analysis.
  SessionEnvironment(Session& session, std::shared_ptr<const sql::EvalConfig> config, std::stop_token stop, int depth)
      : session_(session), config_(std::move(config)), stop_(std::move(stop)), depth_(depth), rows_(*session.memory().account()) {}
  Result<sql::PlanPtr> TempView(const std::string& name, bool global);
  Result<sql::PlanPtr> CatalogRelation(const sql::TableInfo& info, const sql::UnresolvedRelation& relation);
  Result<sql::PlanPtr> CatalogView(const sql::TableInfo& info);

  Session& session_;
  std::shared_ptr<const sql::EvalConfig> config_;
  std::stop_token stop_;
  int depth_;
  MemoryReservation rows_;
};

/// A leaf over a table, with fresh ids.
sql::PlanPtr MakeRelation(sql::TablePtr table, const std::string& format, bool streaming);

}  // namespace thalweg::front
