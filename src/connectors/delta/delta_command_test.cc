// Maintenance commands on tables of our own; what they do to Spark's tables is in tests/compat/delta.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "connectors/delta/delta_alter.h"
#include "connectors/delta/delta_command.h"
#include "connectors/delta/delta_protocol.h"
#include "connectors/delta/delta_testing.h"
#include "data/io/faulty_file_system.h"
#include "data/io/local_file_system.h"
#include "data/io/memory_file_system.h"
#include "data/io/path.h"

namespace thalweg::connectors {
namespace {

using data::DataType;
using data::Value;
using data::ValueList;

constexpr const char* kPath = "/t";
constexpr int64_t kHourUs = int64_t{3600} * 1'000'000;

class DeltaCommandTest : public ::testing::Test {
 protected:
  DeltaCommandTest() : clock_(1'700'000'000'000'000), disk_(clock_), bench_(disk_, clock_) {}

  void Append(int64_t from, int64_t to, const std::vector<std::string>& partitions = {}) {
    clock_.Advance(std::chrono::seconds(1));
    std::vector<ValueList> rows;
    for (int64_t id = from; id < to; ++id) rows.push_back({Value(id), Value(id % 2)});
    const data::Schema schema = {{.name = "id", .type = DataType::Long()}, {.name = "p", .type = DataType::Long()}};
    const auto written = bench_.Write(kPath, schema, {data::ChunkFromRows({DataType::Long(), DataType::Long()}, rows)},
                                      sql::SaveMode::kAppend, partitions);
    ASSERT_TRUE(written.ok()) << written.status().message();
  }

  Result<sql::TableCommandAnswer> Run(const std::string& name, std::vector<std::pair<std::string, std::string>> arguments = {},
                                      const SettingsMap& settings = {}) {
    TW_ASSIGN_OR_RETURN(const sql::TablePtr table, bench_.Load(kPath));
    sql::TableCommandRequest request;
    request.name = name;
    for (auto& [key, value] : arguments) request.arguments.Set(key, value);
    request.config = bench_.config();
    request.settings = std::make_shared<const SettingsMap>(settings);
    return dynamic_cast<sql::SupportsTableCommands&>(*table).RunCommand(request);
  }

  Status Alter(const sql::TableChange& change) {
    TW_ASSIGN_OR_RETURN(const sql::TablePtr table, bench_.Load(kPath));
    return dynamic_cast<sql::SupportsAlterTable&>(*table).Alter(std::span(&change, 1), {.table_name = table->name(), .config = bench_.config()});
  }
  std::vector<int64_t> Ids() {
    std::vector<int64_t> ids;
    for (const ValueList& row : bench_.Rows(kPath).ValueOrDie()) ids.push_back(row[0].AsInt64());
    std::sort(ids.begin(), ids.end());
    return ids;
  }

  size_t DataFiles() {
    const auto files = disk_.ListTree(kPath).ValueOrDie();
    return static_cast<size_t>(std::count_if(files.begin(), files.end(), [](const data::FileInfo& f) { return f.path.ends_with(".snappy.parquet"); }));
  }

  ManualClock clock_;
  data::MemoryFileSystem disk_;
  DeltaBench bench_;
};

TEST(DeltaInterval, IsReadAsDeltaWritesIt) {
  EXPECT_EQ(ParseDeltaInterval("interval 7 days"), int64_t{7} * 24 * 3600 * 1000);
  EXPECT_EQ(ParseDeltaInterval("1 week"), int64_t{7} * 24 * 3600 * 1000);
  EXPECT_EQ(ParseDeltaInterval("INTERVAL 1 hour 30 minutes"), 5400000);
  for (const char* bad : {"", "interval", "7", "7 months", "x days", "interval 1"}) EXPECT_FALSE(ParseDeltaInterval(bad).has_value()) << bad;
}

TEST_F(DeltaCommandTest, OptimizePutsFilesTogetherAndKeepsTheRows) {
  for (int64_t i = 0; i < 4; ++i) Append(i * 10, i * 10 + 10);
  const std::vector<int64_t> before = Ids();
  const auto answer = Run("OPTIMIZE");
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(Ids(), before);
  DeltaLog log(disk_, clock_, kPath);
  EXPECT_EQ(log.Update().ValueOrDie()->files()->num_live(), 1);
  const DeltaCommitPtr commit = log.ReadCommit(4).ValueOrDie();
  EXPECT_EQ(commit->info->operation, "OPTIMIZE");
  EXPECT_FALSE(commit->adds[0]->data_change);
  EXPECT_EQ(commit->removes.size(), 4U);
  EXPECT_FALSE(commit->removes[0].data_change);
  // Nothing to do: no commit.
  ASSERT_TRUE(Run("OPTIMIZE").ok());
  EXPECT_EQ(log.Update().ValueOrDie()->version(), 4);
}

TEST_F(DeltaCommandTest, OptimizeKeepsPartitionsApart) {
  for (int64_t i = 0; i < 3; ++i) Append(i * 10, i * 10 + 10, {"p"});
  const std::vector<int64_t> before = Ids();
  ASSERT_TRUE(Run("OPTIMIZE").ok());
  EXPECT_EQ(Ids(), before);
  DeltaLog log(disk_, clock_, kPath);
  EXPECT_EQ(log.Update().ValueOrDie()->files()->num_live(), 2);
}

TEST_F(DeltaCommandTest, OptimizeFindsItsPlaceBehindOthers) {
  Append(0, 10);
  Append(10, 20);
  // Somebody appends between the look at the table and the commit: the same files go, the new one stays.
  DeltaLog log(disk_, clock_, kPath);
  sql::TableCommandRequest request;
  request.name = "OPTIMIZE";
  request.config = bench_.config();
  const auto shared = std::make_shared<DeltaLog>(disk_, clock_, kPath);
  const DeltaCommandRun run{.log = shared, .snapshot = shared->Update().ValueOrDie(), .request = request};
  Append(20, 30);
  const auto answer = OptimizeDelta(run);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(Ids().size(), 30U);
  EXPECT_EQ(log.Update().ValueOrDie()->files()->num_live(), 2);
}

// What it wrote is named nowhere then.
TEST_F(DeltaCommandTest, OptimizeThatMeetsAConflictLeavesNoFiles) {
  Append(0, 10);
  Append(10, 20);
  sql::TableCommandRequest request;
  request.name = "OPTIMIZE";
  request.config = bench_.config();
  const auto stale = std::make_shared<DeltaLog>(disk_, clock_, kPath);
  const DeltaCommandRun run{.log = stale, .snapshot = stale->Update().ValueOrDie(), .request = request};
  ASSERT_TRUE(Run("OPTIMIZE").ok());  // somebody else's: the same files go
  const size_t files = DataFiles();
  EXPECT_EQ(OptimizeDelta(run).status().condition(), "DELTA_CONCURRENT_DELETE_DELETE.WITHOUT_HINT");
  EXPECT_EQ(DataFiles(), files);
  EXPECT_EQ(Ids().size(), 20U);
}

TEST_F(DeltaCommandTest, VacuumKeepsWhatAVersionWithinTheRetentionNeeds) {
  Append(0, 10);
  Append(10, 20);
  ASSERT_TRUE(Run("OPTIMIZE").ok());
  EXPECT_EQ(DataFiles(), 3U);
  ASSERT_TRUE(Run("VACUUM").ok());
  EXPECT_EQ(DataFiles(), 3U);
  clock_.Advance(std::chrono::microseconds(6 * 24 * kHourUs));
  Append(20, 30);
  ASSERT_TRUE(Run("VACUUM").ok());
  EXPECT_EQ(DataFiles(), 4U);
  clock_.Advance(std::chrono::microseconds(2 * 24 * kHourUs));
  const auto dry = Run("VACUUM", {{"dryRun", "true"}});
  ASSERT_TRUE(dry.ok()) << dry.status().message();
  EXPECT_EQ(dry->rows.size(), 2U);
  EXPECT_EQ(DataFiles(), 4U);
  ASSERT_TRUE(Run("VACUUM").ok());
  EXPECT_EQ(DataFiles(), 2U);
  EXPECT_EQ(Ids().size(), 30U);
}

TEST_F(DeltaCommandTest, VacuumLeavesHiddenAndForeignYoungFilesAlone) {
  Append(0, 10);
  const auto put = [&](const std::string& path) {
    auto file = disk_.Create(path, data::CreateMode::kReplace).ValueOrDie();
    ASSERT_TRUE(file->Append("x").ok() && file->Close().ok());
  };
  put("/t/_hidden");
  put("/t/.hidden");
  put("/t/old");
  clock_.Advance(std::chrono::microseconds(8 * 24 * kHourUs));
  put("/t/young");
  ASSERT_TRUE(Run("VACUUM").ok());
  EXPECT_TRUE(disk_.Exists("/t/_hidden").ValueOrDie());
  EXPECT_TRUE(disk_.Exists("/t/.hidden").ValueOrDie());
  EXPECT_FALSE(disk_.Exists("/t/old").ValueOrDie());
  EXPECT_TRUE(disk_.Exists("/t/young").ValueOrDie());
  EXPECT_EQ(Ids().size(), 10U);
}

TEST(DeltaVacuumTest, WhatALinkLeadsToIsNotTheTables) {
  std::string pattern = ::testing::TempDir() + "tw_vacuum_XXXXXX";
  const std::string root = mkdtemp(pattern.data());
  data::LocalFileSystem& disk = data::LocalFileSystem::Get();
  ManualClock clock(SystemClock::Get().NowMicros());
  const DeltaBench bench(disk, clock);
  const std::string path = root + "/t";
  const data::Schema schema = {{.name = "id", .type = DataType::Long()}};
  ASSERT_TRUE(bench.Write(path, schema, {data::ChunkFromRows({DataType::Long()}, {{Value(int64_t{1})}})}, sql::SaveMode::kAppend).ok());
  const auto put = [&](const std::string& file) {
    ASSERT_TRUE(disk.MakeDirectories(data::ParentPath(file)).ok());
    ASSERT_TRUE((*disk.Create(file, data::CreateMode::kReplace))->Close().ok());
  };
  put(root + "/outside/keep.parquet");
  put(path + "/old.parquet");
  ASSERT_TRUE(disk.MakeDirectories(root + "/empty").ok());
  ASSERT_EQ(symlink((root + "/outside").c_str(), (path + "/link").c_str()), 0);
  ASSERT_EQ(symlink((root + "/empty").c_str(), (path + "/hollow").c_str()), 0);
  clock.Advance(std::chrono::microseconds(30 * 24 * kHourUs));
  sql::TableCommandRequest request;
  request.name = "VACUUM";
  request.config = bench.config();
  const sql::TablePtr table = bench.Load(path).ValueOrDie();
  const auto answer = dynamic_cast<sql::SupportsTableCommands&>(*table).RunCommand(request);
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_FALSE(disk.Exists(path + "/old.parquet").ValueOrDie());
  EXPECT_TRUE(disk.Exists(root + "/outside/keep.parquet").ValueOrDie());
  EXPECT_TRUE(disk.Exists(path + "/link").ValueOrDie());
  EXPECT_TRUE(disk.Exists(path + "/hollow").ValueOrDie());
  EXPECT_EQ(bench.Rows(path).ValueOrDie().size(), 1U);
  ASSERT_TRUE(disk.RemoveTree(root).ok());
}

TEST_F(DeltaCommandTest, VacuumChecksTheRetention) {
  Append(0, 10);
  EXPECT_EQ(Run("VACUUM", {{"retainHours", "0"}}).status().condition(), "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT");
  EXPECT_EQ(Run("VACUUM", {{"retainHours", "-1"}}).status().condition(), "DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE");
  EXPECT_TRUE(Run("VACUUM", {{"retainHours", "1"}}).ok());  // the table's own retention counts
  SettingsMap settings;
  settings.Set("spark.databricks.delta.vacuum.retentionWindowIgnore.enabled", "false");
  EXPECT_EQ(Run("VACUUM", {{"retainHours", "1"}}, settings).status().condition(), "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT");
  EXPECT_TRUE(Run("VACUUM", {{"retainHours", "200"}}, settings).ok());
  EXPECT_EQ(Run("VACUUM", {{"lite", "true"}}).status().condition(), "UNSUPPORTED_FEATURE.THALWEG");
}

// What is said on a full disk leads to a way out of it.
TEST_F(DeltaCommandTest, VacuumOnAFullDiskNamesTheSettingThatMakesRoom) {
  data::FaultyFileSystem full(disk_);
  const DeltaBench bench(full, clock_);
  const auto vacuum = [&](const SettingsMap& settings) {
    sql::TableCommandRequest request;
    request.name = "VACUUM";
    request.config = bench.config();
    request.settings = std::make_shared<const SettingsMap>(settings);
    const sql::TablePtr table = bench.Load(kPath).ValueOrDie();
    return dynamic_cast<sql::SupportsTableCommands&>(*table).RunCommand(request).status();
  };
  Append(0, 10);
  const auto old = [&] { return data::JoinPath(kPath, "old.parquet"); };
  ASSERT_TRUE(disk_.Create(old(), data::CreateMode::kReplace).ValueOrDie()->Close().ok());
  clock_.Advance(std::chrono::microseconds(8 * 24 * kHourUs));
  for (const int error : {ENOSPC, EDQUOT}) {
    full.Add({.operation = data::FileOperation::kWrite, .error_number = error, .path_part = {}, .lasting = true});
    const Status refused = vacuum({});
    EXPECT_EQ(refused.condition(), "DELTA_VACUUM_NO_ROOM_FOR_LOGGING");
    EXPECT_EQ(refused.kind(), ErrorKind::kEnvironment);
    for (const char* part : {"VACUUM START", "file:/t/_delta_log", "Nothing was deleted", "spark.databricks.delta.vacuum.logging.enabled to false"}) {
      EXPECT_NE(refused.message_text().find(part), std::string::npos) << refused.message_text();
    }
    EXPECT_TRUE(disk_.Exists(old()).ValueOrDie());
    full.ClearFaults();
  }
  // The start found room, the end did not: an entry is written in one piece.
  full.Add({.operation = data::FileOperation::kWrite, .nth = 2, .error_number = ENOSPC, .path_part = "_delta_log", .lasting = true});
  const Status ended = vacuum({});
  EXPECT_EQ(ended.condition(), "DELTA_VACUUM_NO_ROOM_FOR_LOGGING");
  EXPECT_NE(ended.message_text().find("VACUUM END"), std::string::npos) << ended.message_text();
  EXPECT_NE(ended.message_text().find("The files were deleted"), std::string::npos) << ended.message_text();
  EXPECT_FALSE(disk_.Exists(old()).ValueOrDie());
  // What it says to do helps, on a disk that is still full; other errors are what they are.
  ASSERT_TRUE(disk_.Create(old(), data::CreateMode::kReplace).ValueOrDie()->Close().ok());
  clock_.Advance(std::chrono::microseconds(8 * 24 * kHourUs));
  SettingsMap settings;
  settings.Set("spark.databricks.delta.vacuum.logging.enabled", "false");
  EXPECT_TRUE(vacuum(settings).ok());
  EXPECT_FALSE(disk_.Exists(old()).ValueOrDie());
  full.ClearFaults();
  full.Add({.operation = data::FileOperation::kWrite, .error_number = EIO, .path_part = {}, .lasting = true});
  EXPECT_EQ(vacuum({}).condition(), "IO_ERROR");
}

TEST_F(DeltaCommandTest, RestoreBringsAVersionBack) {
  Append(0, 10);
  Append(10, 20);
  ASSERT_TRUE(Run("OPTIMIZE").ok());
  const auto answer = Run("RESTORE", {{"version", "0"}});
  ASSERT_TRUE(answer.ok()) << answer.status().message();
  EXPECT_EQ(Ids().size(), 10U);
  EXPECT_EQ(answer->rows[0][1], Value(int64_t{1}));  // files after
  EXPECT_EQ(answer->rows[0][2], Value(int64_t{1}));  // removed
  EXPECT_EQ(answer->rows[0][3], Value(int64_t{1}));  // restored
  EXPECT_EQ(Run("RESTORE", {{"version", "99"}}).status().condition(), "DELTA_CANNOT_RESTORE_TABLE_VERSION");
}

TEST_F(DeltaCommandTest, HistoryIsNewestFirst) {
  Append(0, 10);
  Append(10, 20);
  ASSERT_TRUE(Run("OPTIMIZE").ok());
  const auto history = Run("DESCRIBE HISTORY", {{"limit", "2"}});
  ASSERT_TRUE(history.ok()) << history.status().message();
  ASSERT_EQ(history->rows.size(), 2U);
  EXPECT_EQ(history->rows[0][0], Value(int64_t{2}));
  EXPECT_EQ(history->rows[0][4], Value(std::string("OPTIMIZE")));
  EXPECT_EQ(history->rows[0][10], Value(std::string("SnapshotIsolation")));
  EXPECT_EQ(history->rows[1][4], Value(std::string("WRITE")));
  EXPECT_EQ(history->rows[1][11], Value(true));
}

TEST_F(DeltaCommandTest, PropertiesAreSetAndUnset) {
  Append(0, 10);
  DeltaLog log(disk_, clock_, kPath);
  ASSERT_TRUE(Alter(sql::SetTableProperties{{{"mine", "1"}, {"delta.APPENDONLY", "true"}}}).ok());
  EXPECT_EQ(log.Update().ValueOrDie()->metadata().Property("delta.appendOnly"), "true");
  EXPECT_EQ(log.Update().ValueOrDie()->metadata().Property("mine"), "1");
  EXPECT_EQ(log.Update().ValueOrDie()->protocol().min_writer_version, 2);
  ASSERT_TRUE(Alter(sql::SetTableProperties{{{"delta.enableDeletionVectors", "true"}}}).ok());
  EXPECT_TRUE(SupportsFeature(log.Update().ValueOrDie()->protocol(), "deletionVectors"));
  EXPECT_EQ(log.Update().ValueOrDie()->metadata().Property("mine"), "1");
  EXPECT_EQ(Alter(sql::SetTableProperties{{{"delta.nonsense", "1"}}}).condition(), "DELTA_UNKNOWN_CONFIGURATION");
  EXPECT_EQ(Alter(sql::SetTableProperties{{{"delta.constraints.c", "id > 0"}}}).condition(), "DELTA_ADD_CONSTRAINTS");
  ASSERT_TRUE(Alter(sql::UnsetTableProperties{{"mine"}, true}).ok());
  EXPECT_EQ(log.Update().ValueOrDie()->metadata().Property("mine"), std::nullopt);
  EXPECT_EQ(Ids().size(), 10U);
}

TEST_F(DeltaCommandTest, ColumnsAreAddedAndDescribed) {
  Append(0, 10);
  DeltaLog log(disk_, clock_, kPath);
  const auto column = [](const std::string& name, bool nullable = true) {
    return sql::AddTableColumns{{{{name}, {.name = name, .type = DataType::String(), .nullable = nullable}}}};
  };
  ASSERT_TRUE(Alter(column("note")).ok());
  ASSERT_TRUE(Alter(sql::ChangeTableColumn{{"NOTE"}, {}, "what it says", {}}).ok());
  ASSERT_TRUE(Alter(sql::SetTableComment{"all of them"}).ok());
  const DeltaSnapshotPtr snapshot = log.Update().ValueOrDie();
  ASSERT_EQ(snapshot->schema().size(), 3U);
  EXPECT_EQ(snapshot->schema()[2].name, "note");
  EXPECT_EQ(snapshot->schema()[2].Comment(), "what it says");
  EXPECT_EQ(snapshot->metadata().description, "all of them");
  EXPECT_EQ(bench_.Rows(kPath).ValueOrDie()[0].size(), 3U);
  EXPECT_EQ(Alter(column("ID")).condition(), "FIELD_ALREADY_EXISTS");
  EXPECT_EQ(Alter(column("more", false)).condition(), "UNSUPPORTED_FEATURE.THALWEG");
  EXPECT_EQ(Alter(sql::DropTableColumns{{{"note"}}, false}).condition(), "UNSUPPORTED_FEATURE.THALWEG");
  EXPECT_EQ(Alter(sql::RenameTableColumn{{"note"}, "text"}).condition(), "UNSUPPORTED_FEATURE.THALWEG");
}

TEST_F(DeltaCommandTest, ProtocolsOnlyGrow) {
  Append(0, 10);
  DeltaLog log(disk_, clock_, kPath);
  ASSERT_TRUE(Run("UPGRADE PROTOCOL", {{"readerVersion", "1"}, {"writerVersion", "4"}}).ok());
  EXPECT_EQ(log.Update().ValueOrDie()->protocol().min_writer_version, 4);
  ASSERT_TRUE(Run("ADD FEATURE", {{"feature", "TIMESTAMPNTZ"}}).ok());
  const DeltaProtocol protocol = log.Update().ValueOrDie()->protocol();
  EXPECT_EQ(protocol.min_reader_version, 3);
  EXPECT_EQ(protocol.min_writer_version, 7);
  EXPECT_TRUE(SupportsFeature(protocol, "timestampNtz"));
  EXPECT_TRUE(SupportsFeature(protocol, "changeDataFeed"));  // what version 4 stood for stays
  EXPECT_EQ(Run("ADD FEATURE", {{"feature", "nonsense"}}).status().condition(), "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG");
  EXPECT_EQ(Run("NONSENSE").status().condition(), "UNSUPPORTED_FEATURE.THALWEG");
  Append(10, 20);
  EXPECT_EQ(Ids().size(), 20U);
}

}  // namespace
}  // namespace thalweg::connectors
