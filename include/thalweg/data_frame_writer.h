#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/column.h"
#include "thalweg/export.h"
#include "thalweg/status.h"

namespace thalweg {

namespace internal {
class SessionState;
struct RelationNode;
}  // namespace internal

/// Writes a batch DataFrame. Thread: confined.
class THALWEG_API DataFrameWriter {
 public:
  DataFrameWriter& Format(std::string_view format);
  /// "append", "overwrite", "errorifexists" (the default), "ignore".
  DataFrameWriter& Mode(std::string_view mode);
  DataFrameWriter& Option(std::string_view key, std::string_view value);
  DataFrameWriter& Options(const std::map<std::string, std::string>& options);
  DataFrameWriter& PartitionBy(const std::vector<std::string>& columns);
  /// Sinks without a place take none.
  Status Save(std::string_view path = "");
  Status SaveAsTable(std::string_view name);
  /// Into a table that is there, by position.
  Status InsertInto(std::string_view name, bool overwrite = false);

 private:
  friend class DataFrame;
  DataFrameWriter(std::shared_ptr<internal::SessionState> session, std::shared_ptr<const internal::RelationNode> input);
  struct Spec;
  std::shared_ptr<internal::SessionState> session_;
  std::shared_ptr<const internal::RelationNode> input_;
  std::shared_ptr<Spec> spec_;
};

/// Writes a batch DataFrame to a table, by name. Thread: confined.
class THALWEG_API DataFrameWriterV2 {
 public:
  DataFrameWriterV2& Using(std::string_view format);
  DataFrameWriterV2& Option(std::string_view key, std::string_view value);
  DataFrameWriterV2& TableProperty(std::string_view key, std::string_view value);
  DataFrameWriterV2& PartitionedBy(const std::vector<Column>& columns);
  Status Create();
  Status Replace();
  Status CreateOrReplace();
  Status Append();
  /// Replaces the rows that meet the condition.
  Status Overwrite(const Column& condition);
  Status OverwritePartitions();

 private:
  friend class DataFrame;
  DataFrameWriterV2(std::shared_ptr<internal::SessionState> session, std::shared_ptr<const internal::RelationNode> input,
                    std::string_view table);
  struct Spec;
  Status Run(int mode);
  std::shared_ptr<internal::SessionState> session_;
  std::shared_ptr<const internal::RelationNode> input_;
  std::shared_ptr<Spec> spec_;
};

}  // namespace thalweg
