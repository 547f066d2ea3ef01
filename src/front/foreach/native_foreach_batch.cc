#include "front/foreach/native_foreach_batch.h"

#include "base/no_throw.h"
#include "front/foreach/batch_plan.h"

namespace thalweg::front {

Status NativeForeachBatch::AddBatch(BatchId epoch, std::shared_ptr<const sql::BatchRelation> rows) {
  const OfferedRelation offered(relations_, *rows);
  const sql::CallbackScope scope(agent_);
  const Status answered = NoThrow([&] { return callback_(offered.id(), epoch.value()); });
  if (answered.ok()) return answered;
  return Error("FOREACH_BATCH_USER_FUNCTION_ERROR").With("reason", answered.message()).Because(answered);
}

}  // namespace thalweg::front
