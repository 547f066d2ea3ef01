#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "thalweg/export.h"
#include "thalweg/value.h"

namespace thalweg {

class Window;

namespace internal {
struct ColumnNode;
struct ColumnAccess;
}  // namespace internal

/// An expression over the columns of a DataFrame. Building one never fails: names and types are checked when a query runs.
/// Thread: immutable; copying is cheap.
class THALWEG_API Column {
 public:
  // NOLINTBEGIN(google-explicit-constructor): lit() is rarely needed, plain values convert
  Column(std::nullptr_t);  ///< NULL
  Column(bool value);
  Column(int value);
  Column(int64_t value);
  Column(double value);
  Column(const char* value);
  Column(std::string_view value);
  Column(const std::string& value);
  Column(const DecimalText& value);
  Column(TimestampMicros value);
  Column(DateDays value);
  // NOLINTEND(google-explicit-constructor)

  Column Alias(std::string_view name) const;
  /// `type` in DDL: "string", "decimal(10,2)", "array<int>".
  Column Cast(std::string_view type) const;
  /// Null where the cast fails.
  Column TryCast(std::string_view type) const;
  Column GetField(std::string_view name) const;
  /// An array's element (from 0) or a map's value.
  Column GetItem(const Column& key) const;
  /// A struct with a field added or replaced.
  Column WithField(std::string_view name, const Column& value) const;
  Column DropField(std::string_view name) const;

  /// The function's value over rows that are seen from each row; see thalweg/window.h.
  Column Over(const Window& window) const;

  Column IsNull() const;
  Column IsNotNull() const;
  Column IsNaN() const;
  /// True for two nulls, never null itself.
  Column EqNullSafe(const Column& other) const;
  Column Like(std::string_view pattern) const;
  Column ILike(std::string_view pattern) const;
  Column RLike(std::string_view pattern) const;
  Column StartsWith(const Column& prefix) const;
  Column EndsWith(const Column& suffix) const;
  Column Contains(const Column& part) const;
  /// From the character `start`, counted from 1.
  Column Substr(const Column& start, const Column& length) const;
  Column IsIn(const std::vector<Column>& values) const;
  Column Between(const Column& low, const Column& high) const;
  Column BitwiseAnd(const Column& other) const;
  Column BitwiseOr(const Column& other) const;
  Column BitwiseXor(const Column& other) const;

  // Orders for OrderBy. Nulls are first in ascending order, last in descending, unless said.
  Column Asc() const;
  Column AscNullsFirst() const;
  Column AscNullsLast() const;
  Column Desc() const;
  Column DescNullsFirst() const;
  Column DescNullsLast() const;

  explicit Column(std::shared_ptr<const internal::ColumnNode> node) : node_(std::move(node)) {}

 private:
  friend struct internal::ColumnAccess;
  std::shared_ptr<const internal::ColumnNode> node_;
};

/// Where Spark takes a column or its name: text is a name ("e.page", "*"), not a value.
class THALWEG_API ColumnOrName {
 public:
  // NOLINTBEGIN(google-explicit-constructor)
  ColumnOrName(Column column) : column_(std::move(column)) {}
  ColumnOrName(const char* name);
  ColumnOrName(std::string_view name);
  ColumnOrName(const std::string& name);
  // NOLINTEND(google-explicit-constructor)
  const Column& column() const { return column_; }

 private:
  Column column_;
};

/// Columns, by name or as expressions: {"page", col("n") + 1}.
class THALWEG_API ColumnList {
 public:
  // NOLINTBEGIN(google-explicit-constructor)
  ColumnList(std::initializer_list<ColumnOrName> columns);
  ColumnList(std::vector<Column> columns) : columns_(std::move(columns)) {}
  ColumnList(const std::vector<std::string>& names);
  // NOLINTEND(google-explicit-constructor)
  const std::vector<Column>& columns() const { return columns_; }

 private:
  std::vector<Column> columns_;
};

THALWEG_API Column operator+(const Column& a, const Column& b);
THALWEG_API Column operator-(const Column& a, const Column& b);
THALWEG_API Column operator*(const Column& a, const Column& b);
THALWEG_API Column operator/(const Column& a, const Column& b);
THALWEG_API Column operator%(const Column& a, const Column& b);
THALWEG_API Column operator==(const Column& a, const Column& b);
THALWEG_API Column operator!=(const Column& a, const Column& b);
THALWEG_API Column operator<(const Column& a, const Column& b);
THALWEG_API Column operator<=(const Column& a, const Column& b);
THALWEG_API Column operator>(const Column& a, const Column& b);
THALWEG_API Column operator>=(const Column& a, const Column& b);
THALWEG_API Column operator&&(const Column& a, const Column& b);
THALWEG_API Column operator||(const Column& a, const Column& b);
THALWEG_API Column operator!(const Column& a);
THALWEG_API Column operator-(const Column& a);
THALWEG_API Column operator~(const Column& a);

}  // namespace thalweg
