#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace thalweg {

namespace internal {
struct ColumnNode;
struct ColumnAccess;
}  // namespace internal

/// An expression over the columns of a DataFrame. Building one never fails: names and types are checked when a query runs.
/// Thread: immutable; copying is cheap.
class Column {
 public:
  /// Literals: lit() is rarely needed, plain values convert.
  Column(bool value);                // NOLINT(google-explicit-constructor)
  Column(int value);                 // NOLINT(google-explicit-constructor)
  Column(int64_t value);             // NOLINT(google-explicit-constructor)
  Column(double value);              // NOLINT(google-explicit-constructor)
  Column(const char* value);         // NOLINT(google-explicit-constructor)
  Column(std::string_view value);    // NOLINT(google-explicit-constructor)
  Column(const std::string& value);  // NOLINT(google-explicit-constructor)

  Column Alias(std::string_view name) const;
  /// `type` in DDL: "string", "decimal(10,2)", "array<int>".
  Column Cast(std::string_view type) const;
  Column TryCast(std::string_view type) const;
  Column GetField(std::string_view name) const;
  Column GetItem(const Column& key) const;
  Column IsNull() const;
  Column IsNotNull() const;
  Column Like(std::string_view pattern) const;
  Column StartsWith(const Column& prefix) const;
  Column Contains(const Column& part) const;
  Column IsIn(const std::vector<Column>& values) const;
  Column Between(const Column& low, const Column& high) const;
  /// Orders for OrderBy.
  Column Asc() const;
  Column Desc() const;

  explicit Column(std::shared_ptr<const internal::ColumnNode> node) : node_(std::move(node)) {}

 private:
  friend struct internal::ColumnAccess;
  std::shared_ptr<const internal::ColumnNode> node_;
};

Column operator+(const Column& a, const Column& b);
Column operator-(const Column& a, const Column& b);
Column operator*(const Column& a, const Column& b);
Column operator/(const Column& a, const Column& b);
Column operator%(const Column& a, const Column& b);
Column operator==(const Column& a, const Column& b);
Column operator!=(const Column& a, const Column& b);
Column operator<(const Column& a, const Column& b);
Column operator<=(const Column& a, const Column& b);
Column operator>(const Column& a, const Column& b);
Column operator>=(const Column& a, const Column& b);
Column operator&&(const Column& a, const Column& b);
Column operator||(const Column& a, const Column& b);
Column operator!(const Column& a);
Column operator-(const Column& a);

}  // namespace thalweg
