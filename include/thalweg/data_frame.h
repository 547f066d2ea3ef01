#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "thalweg/column.h"
#include "thalweg/data_frame_writer.h"
#include "thalweg/export.h"
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

/// DataFrame::GroupBy, Rollup and Cube. Thread: immutable.
class THALWEG_API GroupedData {
 public:
  DataFrame Agg(const std::vector<Column>& aggregates) const;
  /// One column, "count".
  DataFrame Count() const;
  DataFrame Sum(const std::vector<std::string>& columns) const;
  DataFrame Avg(const std::vector<std::string>& columns) const;
  DataFrame Min(const std::vector<std::string>& columns) const;
  DataFrame Max(const std::vector<std::string>& columns) const;

 private:
  friend class DataFrame;
  enum class Kind : unsigned char { kGroupBy, kRollup, kCube };
  GroupedData(std::shared_ptr<internal::SessionState> session, std::shared_ptr<const internal::RelationNode> input,
              std::vector<Column> keys, Kind kind)
      : session_(std::move(session)), input_(std::move(input)), keys_(std::move(keys)), kind_(kind) {}
  DataFrame AggEach(std::string_view function, const std::vector<std::string>& columns) const;
  std::shared_ptr<internal::SessionState> session_;
  std::shared_ptr<const internal::RelationNode> input_;
  std::vector<Column> keys_;
  Kind kind_;
};

/// A query over tables, files or streams, not yet run. Building one never fails; what is wrong with it is told when it runs.
/// Thread: immutable; copying is cheap. It keeps its session open.
class THALWEG_API DataFrame {
 public:
  /// A column of this frame, also where another frame of a join has one of the same name.
  Column operator[](std::string_view name) const;

  DataFrame Select(const ColumnList& columns) const;
  /// SQL expressions: {"a", "b + 1 AS c"}.
  DataFrame SelectExpr(const std::vector<std::string>& expressions) const;
  DataFrame Filter(const Column& condition) const;
  DataFrame Filter(std::string_view sql) const;
  DataFrame Filter(const char* sql) const { return Filter(std::string_view(sql)); }
  /// Adds the column, or replaces the one of this name in its place.
  DataFrame WithColumn(std::string_view name, const Column& value) const;
  DataFrame WithColumns(const std::vector<std::pair<std::string, Column>>& columns) const;
  DataFrame WithColumnRenamed(std::string_view name, std::string_view new_name) const;
  DataFrame WithColumnsRenamed(const std::map<std::string, std::string>& new_names) const;
  /// Names that are not there are passed over.
  DataFrame Drop(const std::vector<std::string>& names) const;
  /// All columns renamed, in order.
  DataFrame ToDF(const std::vector<std::string>& names) const;
  DataFrame Alias(std::string_view name) const;
  DataFrame Limit(int rows) const;
  DataFrame Offset(int rows) const;
  DataFrame OrderBy(const ColumnList& orders) const;
  DataFrame SortWithinPartitions(const ColumnList& orders) const;
  DataFrame Distinct() const;
  /// One row for each value of the columns; of all columns when none is named.
  DataFrame DropDuplicates(const std::vector<std::string>& columns = {}) const;
  /// The same on a stream, forgetting values once the watermark has passed them.
  DataFrame DropDuplicatesWithinWatermark(const std::vector<std::string>& columns = {}) const;
  /// By position; duplicates stay.
  DataFrame Union(const DataFrame& other) const;
  DataFrame UnionByName(const DataFrame& other, bool allow_missing_columns = false) const;
  DataFrame Intersect(const DataFrame& other) const;
  DataFrame IntersectAll(const DataFrame& other) const;
  DataFrame Subtract(const DataFrame& other) const;
  DataFrame ExceptAll(const DataFrame& other) const;
  /// `how`: "inner", "left", "right", "full", "left_semi", "left_anti", "cross".
  DataFrame Join(const DataFrame& other, const std::vector<std::string>& using_columns, std::string_view how = "inner") const;
  DataFrame Join(const DataFrame& other, std::initializer_list<std::string> using_columns, std::string_view how = "inner") const;
  DataFrame Join(const DataFrame& other, const char* using_column, std::string_view how = "inner") const;
  DataFrame Join(const DataFrame& other, const Column& condition, std::string_view how = "inner") const;
  DataFrame CrossJoin(const DataFrame& other) const;
  GroupedData GroupBy(const ColumnList& keys) const;
  GroupedData Rollup(const ColumnList& keys) const;
  GroupedData Cube(const ColumnList& keys) const;
  /// Over all rows.
  DataFrame Agg(const std::vector<Column>& aggregates) const;
  /// `delay` as an interval: how late rows may come.
  DataFrame WithWatermark(std::string_view event_time, std::string_view delay) const;
  DataFrame Repartition(int partitions) const;
  DataFrame Repartition(const ColumnList& columns) const;
  DataFrame Coalesce(int partitions) const;
  /// A part of the rows, each with this probability; the same seed gives the same rows.
  DataFrame Sample(double fraction, int64_t seed) const;
  /// Nulls of columns of the value's type replaced; in all columns when none is named.
  DataFrame FillNa(const Cell& value, const std::vector<std::string>& columns = {}) const;
  /// Rows with a null in one of the columns left out.
  DataFrame DropNa(const std::vector<std::string>& columns = {}) const;
  DataFrame Hint(std::string_view name) const;
  /// Aggregates of the rows that pass here, under `name` in a stream's progress.
  DataFrame Observe(std::string_view name, const std::vector<Column>& aggregates) const;

  // --- what runs or asks; each blocks until the answer is there ---
  Result<std::vector<Row>> Collect() const;
  /// All rows as Arrow record batches; the caller releases the stream.
  Status CollectArrow(ArrowArrayStream* out) const;
  Result<std::vector<Row>> Take(int rows) const;
  Result<std::vector<Row>> Tail(int rows) const;
  Result<int64_t> Count() const;
  Result<bool> IsEmpty() const;
  /// The first rows as a table; `truncate`: longest text of a cell, 0 for any.
  Result<std::string> ShowString(int rows = 20, int truncate = 20, bool vertical = false) const;
  /// ShowString on standard output.
  Status Show(int rows = 20, int truncate = 20) const;
  /// Names and types, in DDL.
  Result<std::vector<std::pair<std::string, std::string>>> Schema() const;
  Result<std::vector<std::string>> Columns() const;
  /// The schema as Spark's printSchema shows it.
  Result<std::string> TreeString() const;
  /// `mode`: "simple", "extended", "codegen", "cost", "formatted".
  Result<std::string> Explain(std::string_view mode = "simple") const;
  Result<bool> IsStreaming() const;
  /// URIs of the files that would be read.
  Result<std::vector<std::string>> InputFiles() const;
  Status CreateTempView(std::string_view name) const;
  Status CreateOrReplaceTempView(std::string_view name) const;
  Status CreateGlobalTempView(std::string_view name) const;
  Status CreateOrReplaceGlobalTempView(std::string_view name) const;
  /// Keeps the rows of the first run for later ones.
  Status Cache() const;
  Status Unpersist() const;
  DataFrameWriter Write() const;
  DataFrameWriterV2 WriteTo(std::string_view table) const;
  DataStreamWriter WriteStream() const;

 private:
  friend struct internal::DataFrameAccess;
  DataFrame(std::shared_ptr<internal::SessionState> session, std::shared_ptr<const internal::RelationNode> relation)
      : session_(std::move(session)), relation_(std::move(relation)) {}
  Status CreateView(std::string_view name, bool global, bool replace) const;
  std::shared_ptr<internal::SessionState> session_;
  std::shared_ptr<const internal::RelationNode> relation_;
};

}  // namespace thalweg
