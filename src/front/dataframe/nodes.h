#pragma once

// What the public handles hold: Spark Connect messages, shared and immutable.

#include <spark/connect/expressions.pb.h>
#include <spark/connect/relations.pb.h>

#include <memory>
#include <utility>
#include <vector>

#include "thalweg/column.h"
#include "thalweg/data_frame.h"

namespace thalweg::internal {

namespace proto = ::spark::connect;

struct ColumnNode {
  proto::Expression expression;
};

struct RelationNode {
  proto::Relation relation;
};

struct ColumnAccess {
  static const proto::Expression& Message(const Column& column) { return column.node_->expression; }
  static Column Make(proto::Expression expression) {
    return Column(std::make_shared<const ColumnNode>(ColumnNode{std::move(expression)}));
  }
};

struct DataFrameAccess {
  static DataFrame Make(std::shared_ptr<SessionState> session, proto::Relation relation);
  static const proto::Relation& Message(const DataFrame& frame) { return frame.relation_->relation; }
  static const std::shared_ptr<SessionState>& Session(const DataFrame& frame) { return frame.session_; }
  /// One input: fill(relation) -> the message whose input it is.
  template <typename Fill>
  static DataFrame Over(const DataFrame& input, Fill&& fill);
  template <typename Fill>
  static DataFrame Joined(const DataFrame& left, const DataFrame& right, std::string_view how, Fill&& fill);
};

/// A call of a function by name.
Column CallFunction(std::string_view name, const std::vector<Column>& arguments, bool distinct = false);
/// A column by its dotted name; names that end in `*` are stars.
Column NamedColumn(std::string_view name);
Column SqlExpression(std::string_view sql);

}  // namespace thalweg::internal
