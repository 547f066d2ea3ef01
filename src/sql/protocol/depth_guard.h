#pragma once

#include "sql/protocol/plan_proto.h"
#include "sql/protocol/protocol_errors.h"

namespace thalweg::sql {

/// One level of nesting in a PlanReader.
class DepthGuard {
 public:
  explicit DepthGuard(PlanReader& reader) : reader_(reader) { ++reader_.depth_; }
  ~DepthGuard() { --reader_.depth_; }
  DepthGuard(const DepthGuard&) = delete;
  DepthGuard& operator=(const DepthGuard&) = delete;
  bool too_deep() const { return reader_.depth_ > kMaxPlanDepth; }

 private:
  PlanReader& reader_;
};

}  // namespace thalweg::sql
