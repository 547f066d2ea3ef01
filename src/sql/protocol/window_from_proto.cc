#include "sql/protocol/window_from_proto.h"

#include "sql/protocol/protocol_errors.h"

namespace thalweg::sql {
namespace {

using WindowMessage = ::spark::connect::Expression_Window;
using FrameMessage = ::spark::connect::Expression_Window_WindowFrame;
using BoundMessage = ::spark::connect::Expression_Window_WindowFrame_FrameBoundary;

Status ReadBound(const BoundMessage& message, FrameEdge unbounded, PlanReader& reader, FrameEdge* edge, ExprPtr* offset) {
  switch (message.boundary_case()) {
    case BoundMessage::kCurrentRow: *edge = FrameEdge::kCurrentRow; return Status::OK();
    case BoundMessage::kUnbounded: *edge = unbounded; return Status::OK();
    case BoundMessage::kValue: {
      *edge = FrameEdge::kOffset;
      TW_ASSIGN_OR_RETURN(*offset, reader.ReadExpression(message.value()));
      return Status::OK();
    }
    case BoundMessage::BOUNDARY_NOT_SET: break;
  }
  return OneOfNotSet(message.GetTypeName(), "BOUNDARY_NOT_SET");
}

Status ReadFrame(const FrameMessage& message, PlanReader& reader, WindowCall::Parts* window) {
  switch (message.frame_type()) {
    case FrameMessage::FRAME_TYPE_ROW: window->frame.unit = FrameUnit::kRows; break;
    case FrameMessage::FRAME_TYPE_RANGE: window->frame.unit = FrameUnit::kRange; break;
    default: return InvalidEnum("spark.connect.Expression.Window.WindowFrame.FrameType", message.frame_type());
  }
  if (!message.has_lower()) return Error("CONNECT_INVALID_PLAN.LOWER_BOUND_REQUIRED_IN_WINDOW_FRAME");
  if (!message.has_upper()) return Error("CONNECT_INVALID_PLAN.UPPER_BOUND_REQUIRED_IN_WINDOW_FRAME");
  TW_RETURN_NOT_OK(ReadBound(message.lower(), FrameEdge::kUnboundedPreceding, reader, &window->frame.lower, &window->lower_offset));
  return ReadBound(message.upper(), FrameEdge::kUnboundedFollowing, reader, &window->frame.upper, &window->upper_offset);
}

}  // namespace

Result<ExprPtr> WindowFromProto(const WindowMessage& message, PlanReader& reader) {
  if (!message.has_window_function()) return Error("CONNECT_INVALID_PLAN.WINDOW_FUNCTION_REQUIRED");
  WindowCall::Parts window;
  TW_ASSIGN_OR_RETURN(window.function, reader.ReadExpression(message.window_function()));
  TW_ASSIGN_OR_RETURN(window.partition, reader.ReadExpressions(message.partition_spec()));
  for (const auto& order : message.order_spec()) {
    TW_ASSIGN_OR_RETURN(ExprPtr read, reader.ReadSortOrder(order));
    window.orders.push_back(std::move(read));
  }
  if (message.has_frame_spec()) TW_RETURN_NOT_OK(ReadFrame(message.frame_spec(), reader, &window));
  return WindowCall::Make(std::move(window));
}

}  // namespace thalweg::sql
