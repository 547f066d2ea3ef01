#include "thalweg/window.h"

#include "front/dataframe/nodes.h"

namespace thalweg {

using internal::ColumnAccess;
using Message = ::spark::connect::Expression_Window;
using Frame = ::spark::connect::Expression_Window_WindowFrame;
using Order = ::spark::connect::Expression_SortOrder;

namespace internal {

struct WindowNode {
  Message window;
};

}  // namespace internal

namespace {

void SetBound(int64_t value, int64_t unbounded, bool rows, ::spark::connect::Expression_Window_WindowFrame_FrameBoundary* bound) {
  if (value == Window::kCurrentRow) {
    bound->set_current_row(true);
  } else if (value == unbounded) {
    bound->set_unbounded(true);
  } else if (rows && value == static_cast<int32_t>(value)) {
    bound->mutable_value()->mutable_literal()->set_integer(static_cast<int32_t>(value));
  } else {
    bound->mutable_value()->mutable_literal()->set_long_(value);
  }
}

Frame FrameOf(Frame::FrameType type, int64_t first, int64_t last) {
  Frame frame;
  frame.set_frame_type(type);
  const bool rows = type == Frame::FRAME_TYPE_ROW;
  SetBound(first, Window::kUnboundedPreceding, rows, frame.mutable_lower());
  SetBound(last, Window::kUnboundedFollowing, rows, frame.mutable_upper());
  return frame;
}

template <typename Fill>
std::shared_ptr<const internal::WindowNode> Changed(const internal::WindowNode& from, Fill&& fill) {
  auto node = std::make_shared<internal::WindowNode>(from);
  fill(node->window);
  return node;
}

}  // namespace

Window::Window() : node_(std::make_shared<const internal::WindowNode>()) {}

Window Window::PartitionBy(const ColumnList& keys) const {
  return Window(Changed(*node_, [&](Message& window) {
    window.clear_partition_spec();
    for (const Column& key : keys.columns()) *window.add_partition_spec() = ColumnAccess::Message(key);
  }));
}

Window Window::OrderBy(const ColumnList& orders) const {
  return Window(Changed(*node_, [&](Message& window) {
    window.clear_order_spec();
    for (const Column& given : orders.columns()) {
      const bool ordered = ColumnAccess::Message(given).has_sort_order();
      const Column order = ordered ? given : given.Asc();
      *window.add_order_spec() = ColumnAccess::Message(order).sort_order();
    }
  }));
}

Window Window::RowsBetween(int64_t first, int64_t last) const {
  return Window(Changed(*node_, [&](Message& window) { *window.mutable_frame_spec() = FrameOf(Frame::FRAME_TYPE_ROW, first, last); }));
}

Window Window::RangeBetween(int64_t first, int64_t last) const {
  return Window(Changed(*node_, [&](Message& window) { *window.mutable_frame_spec() = FrameOf(Frame::FRAME_TYPE_RANGE, first, last); }));
}

Column Column::Over(const Window& window) const {
  ::spark::connect::Expression expression;
  *expression.mutable_window() = window.node_->window;
  *expression.mutable_window()->mutable_window_function() = ColumnAccess::Message(*this);
  return ColumnAccess::Make(std::move(expression));
}

}  // namespace thalweg
