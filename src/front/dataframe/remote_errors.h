#pragma once

#include <functional>
#include <string>

#include "base/status.h"

namespace grpc {
class Status;
}
namespace spark::connect {
class FetchErrorDetailsResponse;
}

namespace thalweg::internal {

/// Asks the server for the whole of an error; false when it does not answer.
using FetchErrorDetails = std::function<bool(const std::string& error_id, ::spark::connect::FetchErrorDetailsResponse* response)>;

/// The server's error as ours: condition, SQLSTATE, parameters, query context and causes as the server has them, the text as it
/// wrote it. No answer at all: SPARK_CONNECT_UNREACHABLE; an error without condition: SPARK_CONNECT_ERROR.
Status FromGrpc(const grpc::Status& status, const FetchErrorDetails& fetch);

/// Worth another try with the same request: the connection broke, or another stream took the operation over.
bool IsTransient(const grpc::Status& status);
/// The server does not know the operation (or its session): the request never arrived.
bool IsUnknownOperation(const grpc::Status& status);

}  // namespace thalweg::internal
