#pragma once

#include <memory>
#include <string>
#include <utility>

#include "sql/datasource/data_source.h"

namespace thalweg::front {

/// A query's handle on a sink that somebody else holds too, to interrupt it. Thread: the driver's.
class SharedSink final : public sql::BatchSink {
 public:
  explicit SharedSink(std::shared_ptr<sql::BatchSink> sink) : sink_(std::move(sink)) {}
  sql::DeliveryGuarantee guarantee() const override { return sink_->guarantee(); }
  Status AddBatch(BatchId epoch, std::shared_ptr<const sql::BatchRelation> rows) override {
    return sink_->AddBatch(epoch, std::move(rows));
  }
  std::string Description() const override { return sink_->Description(); }
  bool reports_rows() const override { return sink_->reports_rows(); }
  bool recoverable() const override { return sink_->recoverable(); }

 private:
  const std::shared_ptr<sql::BatchSink> sink_;
};

}  // namespace thalweg::front
