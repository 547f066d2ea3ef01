#pragma once

#include <string>

#include "front/foreach/batch_plan.h"
#include "sql/datasource/data_source.h"
#include "sql/protocol/local_callbacks.h"

namespace thalweg::front {

/// foreachBatch with a function of this process, called on the query's driver thread. A query that is stopped waits for it.
/// Errors of AddBatch: FOREACH_BATCH_USER_FUNCTION_ERROR with what the function answered.
class NativeForeachBatch final : public sql::BatchSink {
 public:
  /// `agent`: what the function's own requests call themselves.
  NativeForeachBatch(sql::BatchCallback callback, RelationsById relations, std::string agent)
      : callback_(std::move(callback)), relations_(std::move(relations)), agent_(std::move(agent)) {}

  sql::DeliveryGuarantee guarantee() const override { return sql::DeliveryGuarantee::kAtLeastOnce; }
  Status AddBatch(BatchId epoch, std::shared_ptr<const sql::BatchRelation> rows) override;
  std::string Description() const override { return "ForeachBatchSink"; }
  bool reports_rows() const override { return false; }

 private:
  const sql::BatchCallback callback_;
  const RelationsById relations_;
  const std::string agent_;
};

}  // namespace thalweg::front
