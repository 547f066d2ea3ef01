#pragma once

// What an ExecutePlan request asks for, on a thread of the pool. Source: spark/connect/base.proto.

#include <memory>
#include <stop_token>

#include "front/connect/operation.h"
#include "front/connect/session_holder.h"

namespace spark::connect {
class ExecutePlanRequest;
class Relation;
class StreamingQueryCommand;
class StreamingQueryManagerCommand;
class StreamingQueryListenerBusCommand;
class WriteStreamOperationStart;
}  // namespace spark::connect

namespace thalweg::front {

/// One running request.
struct ExecuteContext {
  SessionHolder& holder;
  std::shared_ptr<Operation> operation;
  const ::spark::connect::ExecutePlanRequest& request;
};

/// True: done, the operation is to be finished. False: somebody else finishes it (the stream of listener events).
Result<bool> RunExecutePlan(const ExecuteContext& context);

/// A relation of a request as an unresolved plan. A catalogue call or a command of
/// Delta that ran before answers its rows again.
Result<sql::PlanPtr> ReadRelation(SessionHolder& holder, const ::spark::connect::Relation& relation, const std::stop_token& stop);

// streaming_commands.cc
Status StartStreamingQuery(const ExecuteContext& context, const ::spark::connect::WriteStreamOperationStart& command);
Status RunQueryCommand(const ExecuteContext& context, const ::spark::connect::StreamingQueryCommand& command);
Status RunQueryManagerCommand(const ExecuteContext& context, const ::spark::connect::StreamingQueryManagerCommand& command);

/// spark.connect.maxPlanSize of the server.
int64_t MaxPlanBytes(SessionHolder& holder);

}  // namespace thalweg::front
