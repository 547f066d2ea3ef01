#pragma once

// Spark Connect's Relation and Expression messages to unresolved plans. Source: spark/connect/relations.proto, expressions.proto.
// Every variant of the descriptors is converted or answers UNSUPPORTED_FEATURE.THALWEG naming it.

#include "base/status.h"
#include "sql/protocol/plan_environment.h"

namespace google::protobuf {
class MessageLite;
}
namespace spark::connect {
class Expression;
class Expression_SortOrder;
class Plan;
class Relation;
}  // namespace spark::connect

namespace thalweg::sql {

/// Converts messages of one request. Recursion is bounded by kMaxPlanDepth relations and expressions together; the caller's
/// thread needs a stack that holds them (about 16 MB). Thread: confined.
class PlanReader {
 public:
  explicit PlanReader(PlanEnvironment& environment) : environment_(environment) {}

  Result<PlanPtr> ReadRelation(const ::spark::connect::Relation& relation);
  Result<ExprPtr> ReadExpression(const ::spark::connect::Expression& expression);
  Result<ExprPtr> ReadSortOrder(const ::spark::connect::Expression_SortOrder& order);
  template <typename Repeated>
  Result<ExprList> ReadExpressions(const Repeated& expressions) {
    ExprList out;
    out.reserve(expressions.size());
    for (const auto& expression : expressions) {
      TW_ASSIGN_OR_RETURN(ExprPtr read, ReadExpression(expression));
      out.push_back(std::move(read));
    }
    return out;
  }
  PlanEnvironment& environment() { return environment_; }

 private:
  friend class DepthGuard;
  PlanEnvironment& environment_;
  int depth_ = 0;
};

/// Parses a message of a client: nesting up to kMaxPlanDepth. False for anything else than exactly one message.
bool ParseDeepMessage(std::string_view bytes, ::google::protobuf::MessageLite* message);

/// Replaces `plan->compressed_operation` by the operation inside. `max_bytes` bounds the decompressed size.
/// Errors: CONNECT_INVALID_PLAN.PLAN_SIZE_LARGER_THAN_MAX, .CANNOT_PARSE.
Status DecompressPlan(int64_t max_bytes, ::spark::connect::Plan* plan);

}  // namespace thalweg::sql
