// Statements that change rows: which files they read and replace, and who loses a race.

#include "connectors/delta/delta_row_level.h"

#include <gtest/gtest.h>

#include <functional>

#include "connectors/delta/delta_commit.h"
#include "connectors/delta/delta_testing.h"
#include "data/io/memory_file_system.h"
#include "sql/functions/registry.h"

namespace thalweg::connectors {
namespace {

using data::Chunk;
using data::DataType;
using data::Schema;
using data::Value;
using sql::RowLevelCommand;
using sql::SaveMode;

const Schema kColumns = {{.name = "id", .type = DataType::Long()}, {.name = "p", .type = DataType::String()}};

Chunk Rows(const std::vector<std::pair<int64_t, std::string>>& rows) {
  std::vector<data::ValueList> values;
  for (const auto& [id, p] : rows) values.push_back({Value(id), Value(p)});
  return data::ChunkFromRows({DataType::Long(), DataType::String()}, values);
}

/// One statement of its own view of the table: begun, what it is to write written, not yet committed.
class Statement {
 public:
  Statement(data::FileSystem& disk, RowLevelCommand command, const std::vector<std::pair<std::string, Value>>& equalities)
      : log_(std::make_shared<DeltaLog>(disk, SystemClock::Get(), "/t")) {
    sql::RowLevelRequest request;
    request.command = command;
    request.schema = request.written = kColumns;
    request.config = std::make_shared<const sql::EvalConfig>();
    for (const data::StructField& field : kColumns) request.attributes.push_back(sql::Attribute::Make(field.name, field.type, true));
    const sql::BindContext bind{*request.config};
    for (const auto& [name, value] : equalities) {
      const size_t at = name == "id" ? 0 : 1;
      request.filters.push_back(sql::BindBuiltin("==", {request.attributes[at], sql::Literal::Make(value, kColumns[at].type)}, bind).ValueOrDie());
    }
    operation_ = NewDeltaRowLevelOperation(log_, log_->Update().ValueOrDie(), request).ValueOrDie();
  }

  sql::RowLevelOperation& operation() { return *operation_; }
  /// Replaces the candidates by those rows.
  std::string Commit(const std::vector<std::pair<int64_t, std::string>>& rows, bool replace = true) {
    auto writer = operation_->NewWriter(PartitionId(0)).ValueOrDie();
    EXPECT_TRUE(writer->Write(Rows(rows)).ok());
    const auto message = writer->Finish(nullptr).ValueOrDie();
    return std::string(operation_->Commit(replace ? operation_->Candidates() : std::vector<int32_t>{}, {message}, {}).condition());
  }

 private:
  std::shared_ptr<DeltaLog> log_;
  std::unique_ptr<sql::RowLevelOperation> operation_;
};

class DeltaRowLevelTest : public testing::Test {
 protected:
  void Make(const std::vector<std::string>& partitions) {
    partitions_ = partitions;
    Append({{1, "a"}, {2, "b"}});
    Append({{3, "a"}});
  }
  void Append(const std::vector<std::pair<int64_t, std::string>>& rows) {
    ASSERT_TRUE(bench_.Write("/t", kColumns, {Rows(rows)}, SaveMode::kAppend, partitions_).ok());
  }
  /// Another statement that replaces the files it is about.
  void Change(const std::vector<std::pair<std::string, Value>>& about, const std::vector<std::pair<int64_t, std::string>>& rows) {
    Statement other(disk_, RowLevelCommand::kUpdate, about);
    ASSERT_EQ(other.Commit(rows), "");
  }
  std::string Loser(RowLevelCommand command, const std::vector<std::pair<std::string, Value>>& about, const std::function<void()>& winner,
                    bool replace = true) {
    Statement loser(disk_, command, about);
    winner();
    return loser.Commit({{99, "a"}}, replace);
  }

  data::MemoryFileSystem disk_;
  DeltaBench bench_{disk_};
  std::vector<std::string> partitions_;
};

const Value kA(std::string("a")), kB(std::string("b")), kX(std::string("x"));

TEST_F(DeltaRowLevelTest, CandidatesAreFilesThatMayHoldTheRows) {
  Make({"p"});
  EXPECT_EQ(Statement(disk_, RowLevelCommand::kMerge, {}).operation().Candidates().size(), 3u);
  Statement a(disk_, RowLevelCommand::kDelete, {{"p", kA}});
  EXPECT_EQ(a.operation().Candidates().size(), 2u);
  EXPECT_TRUE(a.operation().filters_are_exact());
  Statement one(disk_, RowLevelCommand::kDelete, {{"p", kA}, {"id", Value(int64_t{3})}});
  EXPECT_EQ(one.operation().Candidates().size(), 1u);
  EXPECT_FALSE(one.operation().filters_are_exact());
  EXPECT_EQ(one.operation().GroupRows(one.operation().Candidates()[0]), 1);
}

TEST_F(DeltaRowLevelTest, WithoutPartitionsAnyOtherWriteIsAConflict) {
  Make({});
  const std::vector<std::pair<std::string, Value>> about = {{"id", Value(int64_t{1})}};
  const auto append = [&] { Append({{7, "z"}}); };
  EXPECT_EQ(Loser(RowLevelCommand::kUpdate, about, append), "DELTA_CONCURRENT_APPEND.WITHOUT_HINT");
  EXPECT_EQ(Loser(RowLevelCommand::kMerge, {}, append, false), "DELTA_CONCURRENT_APPEND.WITHOUT_HINT");
  EXPECT_EQ(Loser(RowLevelCommand::kUpdate, about, [&] { Change({{"id", Value(int64_t{3})}}, {{3, "c"}}); }), "DELTA_CONCURRENT_APPEND.WITHOUT_HINT");
  EXPECT_EQ(Loser(RowLevelCommand::kUpdate, about, [&] { Change({{"id", Value(int64_t{1})}}, {{1, "c"}, {2, "b"}}); }),
            "DELTA_CONCURRENT_APPEND.WITHOUT_HINT");
  EXPECT_EQ(Loser(RowLevelCommand::kUpdate, about, [&] { Change({}, {}); }), "DELTA_CONCURRENT_DELETE_READ.WITHOUT_HINT");
}

TEST_F(DeltaRowLevelTest, OtherPartitionsAreNoConflict) {
  Make({"p"});
  const std::vector<std::pair<std::string, Value>> a = {{"p", kA}};
  EXPECT_EQ(Loser(RowLevelCommand::kUpdate, a, [&] { Append({{7, "a"}}); }), "DELTA_CONCURRENT_APPEND.WITH_PARTITION_HINT");
  EXPECT_EQ(Loser(RowLevelCommand::kUpdate, a, [&] { Change(a, {}); }), "DELTA_CONCURRENT_DELETE_READ.WITH_PARTITION_HINT");
  Append({{1, "a"}});
  EXPECT_EQ(Loser(RowLevelCommand::kUpdate, a, [&] { Append({{7, "x"}}); }), "");
  EXPECT_EQ(Loser(RowLevelCommand::kMerge, a, [&] { Append({{8, "x"}}); }), "");
  EXPECT_EQ(Loser(RowLevelCommand::kDelete, a, [&] { Change({{"p", kB}}, {}); }), "");
  EXPECT_EQ(Loser(RowLevelCommand::kDelete, a, [&] { Append({{9, "b"}}); }), "");
}

TEST_F(DeltaRowLevelTest, AnApplicationsNumberIsThereOnce) {
  Make({});
  auto settings = std::make_shared<SettingsMap>();
  settings->Set("spark.databricks.delta.write.txnAppId", "app");
  settings->Set("spark.databricks.delta.write.txnVersion", "4");
  const auto log = std::make_shared<DeltaLog>(disk_, SystemClock::Get(), "/t");
  sql::RowLevelRequest request;
  request.schema = request.written = kColumns;
  request.config = std::make_shared<const sql::EvalConfig>();
  request.settings = settings;
  const auto begin = [&] { return NewDeltaRowLevelOperation(log, log->Update().ValueOrDie(), request).ValueOrDie(); };
  auto first = begin();
  EXPECT_FALSE(first->done_before());
  auto second = begin();
  EXPECT_EQ(first->Commit({0}, {}, {}).condition(), "");
  EXPECT_TRUE(begin()->done_before());
  EXPECT_EQ(second->Commit({1}, {}, {}).condition(), "DELTA_CONCURRENT_TRANSACTION");
  settings->Set("spark.databricks.delta.write.txnVersion", "5");
  EXPECT_FALSE(begin()->done_before());
}

}  // namespace
}  // namespace thalweg::connectors
