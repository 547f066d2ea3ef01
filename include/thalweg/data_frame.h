#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "thalweg/column.h"
#include "thalweg/status.h"
#include "thalweg/streaming.h"
#include "thalweg/value.h"

/// Arrow's C data interface; defined by Arrow's abi.h.
struct ArrowArrayStream;

namespace thalweg {

namespace internal {
class SessionState;
struct RelationNode;
struct DataFrameAccess;
}  // namespace internal

class DataFrame;

/// DataFrame::GroupBy. Thread: immutable.
class GroupedData {
 public:
  DataFrame Agg(const std::vector<Column>& aggregates) const;
  /// One column, "count".
  DataFrame Count() const;

 private:
  friend class DataFrame;
  GroupedData(std::shared_ptr<internal::SessionState> session, std::shared_ptr<const internal::RelationNode> input,
              std::vector<Column> keys)
      : session_(std::move(session)), input_(std::move(input)), keys_(std::move(keys)) {}
  std::shared_ptr<internal::SessionState> session_;
  std::shared_ptr<const internal::RelationNode> input_;
  std::vector<Column> keys_;
};

/// Writes a batch DataFrame. Thread: confined.
class DataFrameWriter {
 public:
  DataFrameWriter& Format(std::string_view format);
  /// "append", "overwrite", "errorifexists" (the default), "ignore".
  DataFrameWriter& Mode(std::string_view mode);
  DataFrameWriter& Option(std::string_view key, std::string_view value);
  DataFrameWriter& PartitionBy(std::vector<std::string> columns);
  Status Save(std::string_view path);
  Status SaveAsTable(std::string_view name);

 private:
  friend class DataFrame;
  DataFrameWriter(std::shared_ptr<internal::SessionState> session, std::shared_ptr<const internal::RelationNode> input);
  struct Spec;
  std::shared_ptr<internal::SessionState> session_;
  std::shared_ptr<const internal::RelationNode> input_;
  std::shared_ptr<Spec> spec_;
};

/// A query over tables, files or streams, not yet run. Building one never fails; what is wrong with it is told when it runs.
/// Thread: immutable; copying is cheap. Lives no longer than its session.
class DataFrame {
 public:
  DataFrame Select(const std::vector<Column>& columns) const;
  /// SQL expressions: {"a", "b + 1 AS c"}.
  DataFrame SelectExpr(const std::vector<std::string>& expressions) const;
  DataFrame Filter(const Column& condition) const;
  DataFrame Filter(std::string_view sql) const;
  DataFrame WithColumn(std::string_view name, const Column& value) const;
  DataFrame Drop(const std::vector<std::string>& names) const;
  DataFrame Alias(std::string_view name) const;
  DataFrame Limit(int rows) const;
  DataFrame OrderBy(const std::vector<Column>& orders) const;
  DataFrame Distinct() const;
  DataFrame Union(const DataFrame& other) const;
  /// `how`: "inner", "left", "right", "full", "left_semi", "left_anti", "cross".
  DataFrame Join(const DataFrame& other, const std::vector<std::string>& using_columns, std::string_view how = "inner") const;
  DataFrame Join(const DataFrame& other, const Column& condition, std::string_view how = "inner") const;
  GroupedData GroupBy(const std::vector<Column>& keys) const;
  /// `delay` as an interval: how late rows may come.
  DataFrame WithWatermark(std::string_view event_time, std::string_view delay) const;

  // --- what runs or asks ---
  Result<std::vector<Row>> Collect() const;
  /// All rows as Arrow record batches; the caller releases the stream.
  Status CollectArrow(ArrowArrayStream* out) const;
  Result<int64_t> Count() const;
  /// The first rows as a table.
  Result<std::string> ShowString(int rows = 20, int truncate = 20) const;
  /// Names and types, in DDL.
  Result<std::vector<std::pair<std::string, std::string>>> Schema() const;
  /// `mode`: "simple", "extended", "formatted", ...
  Result<std::string> Explain(std::string_view mode = "simple") const;
  Result<bool> IsStreaming() const;
  Status CreateOrReplaceTempView(std::string_view name) const;
  DataFrameWriter Write() const;
  DataStreamWriter WriteStream() const;

 private:
  friend struct internal::DataFrameAccess;
  DataFrame(std::shared_ptr<internal::SessionState> session, std::shared_ptr<const internal::RelationNode> relation)
      : session_(std::move(session)), relation_(std::move(relation)) {}
  std::shared_ptr<internal::SessionState> session_;
  std::shared_ptr<const internal::RelationNode> relation_;
};

}  // namespace thalweg
