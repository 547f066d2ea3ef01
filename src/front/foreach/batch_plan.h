#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sql/datasource/data_source.h"
#include "sql/plan/logical_plan.h"

namespace thalweg::front {

/// The rows of a micro-batch as an ordinary, repeatable relation. It shares the rows: whoever holds it (a temp view, a plan) keeps them.
sql::PlanPtr PlanOfBatch(const sql::BatchRelation& rows);

/// Where a function finds its batch: the relations of the client's session by id. Any thread; a session that is gone is no error.
struct RelationsById {
  std::function<void(const std::string& id, sql::PlanPtr plan)> put;
  std::function<void(const std::string& id)> drop;
};

/// A micro-batch in the session, under an id of its own, for as long as the function runs. A Python object of it drops it too,
/// normally before.
class OfferedRelation {
 public:
  /// `relations` is borrowed.
  OfferedRelation(const RelationsById& relations, const sql::BatchRelation& rows);
  ~OfferedRelation();
  OfferedRelation(const OfferedRelation&) = delete;
  const std::string& id() const { return id_; }

 private:
  const RelationsById& relations_;
  const std::string id_;
};

}  // namespace thalweg::front
