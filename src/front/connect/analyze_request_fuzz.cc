// AnalyzePlan requests as they come from the wire: no crash, an answer or a named condition. Bytes of spark.connect.AnalyzePlanRequest.

#include <spark/connect/base.pb.h>

#include <cstdint>
#include <cstdlib>

#include "front/connect/session_holder.h"
#include "front/connect/unary_calls.h"
#include "front/session/fuzz_server.h"
#include "sql/protocol/plan_proto.h"

namespace {

using namespace thalweg;  // NOLINT

struct Server : front::FuzzServer {
  const std::shared_ptr<front::SessionHolder> holder = std::make_shared<front::SessionHolder>(session, "server");
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static Server* const server = new Server();  // lives to the end of the process
  spark::connect::AnalyzePlanRequest request;
  if (!sql::ParseDeepMessage({reinterpret_cast<const char*>(bytes), size}, &request)) return 0;
  spark::connect::AnalyzePlanResponse response;
  const Status status = front::AnswerAnalyze(*server->holder, request, &response, {});
  if (!status.ok() && status.condition().empty()) std::abort();
  return 0;
}
