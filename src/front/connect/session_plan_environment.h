#pragma once

#include <stop_token>

#include "front/connect/session_holder.h"
#include "sql/protocol/plan_environment.h"

namespace thalweg::front {

/// What reading a client's plan asks, answered from its session.
class SessionPlanEnvironment final : public sql::PlanEnvironment {
 public:
  /// `stop` ends what runs while a plan is read: commands, and what an analysis needs rows of.
  SessionPlanEnvironment(SessionHolder& holder, std::stop_token stop) : holder_(holder), stop_(std::move(stop)) {}

  Result<sql::PlanPtr> ParseSql(const std::string& text, const std::map<std::string, sql::ExprPtr>& named,
                                const std::vector<sql::ExprPtr>& positional) override;
  Result<sql::ExprPtr> ParseExpression(const std::string& text) override;
  Result<std::vector<std::string>> ParseName(const std::string& text) override;
  Result<sql::PlanPtr> CachedRemoteRelation(const std::string& id) override;
  Result<std::string> CachedBlob(const std::string& hash) override;
  Result<data::Schema> SchemaOf(const sql::PlanPtr& plan) override;
  Result<sql::PlanPtr> SourceOfFrame(const std::string& frame, sql::PlanPtr source) override;
  Result<sql::PlanPtr> CommandRows(const sql::PlanPtr& command) override;
  Result<sql::PlanPtr> CatalogCall(const ::spark::connect::Catalog& call) override;
  sql::PythonPlace python_place() override;

 private:
  SessionHolder& holder_;
  std::stop_token stop_;
};

}  // namespace thalweg::front
