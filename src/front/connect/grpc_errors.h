#pragma once

// Errors on the wire: a gRPC status with a google.rpc.Status inside, and the longer form that FetchErrorDetails answers.
// Source: google.rpc.ErrorInfo as PySpark's Connect client reads it.

#include <string>

#include "base/status.h"

namespace grpc {
class Status;
}
namespace spark::connect {
class FetchErrorDetailsResponse;
}

namespace thalweg::front {

/// INTERNAL with ErrorInfo. `error_id` (may be empty) names the entry that FetchErrorDetails will be asked for.
grpc::Status ToGrpcStatus(const Status& status, const std::string& error_id);

/// The chain of causes, at most five.
void FillErrorDetails(const Status& status, ::spark::connect::FetchErrorDetailsResponse* out);

/// `text` cut to `max_bytes` with its head and tail, on character boundaries.
std::string Abbreviate(const std::string& text, size_t max_bytes);

}  // namespace thalweg::front
