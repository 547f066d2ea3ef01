// What readers of a checkpoint answer to options and files that cannot be; real checkpoints are read in tests/checkpoints.

#include "connectors/state/state_source.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "data/io/memory_file_system.h"
#include "engine/checkpoint/commit_log.h"
#include "engine/checkpoint/offset_log.h"
#include "engine/state/store_schema.h"

namespace thalweg::connectors {
namespace {

using data::DataType;

class StateSourceTest : public ::testing::Test {
 protected:
  StateSourceTest() : layout_("/c") {
    EXPECT_TRUE(engine::OffsetLog(disk_, layout_.OffsetsDirectory()).Add(BatchId(0), {.metadata = engine::OffsetMetadata{}, .offsets = {}}).ok());
    EXPECT_TRUE(engine::CommitLog(disk_, layout_.CommitsDirectory()).Add(BatchId(0), {}).ok());
  }
  Status Load(const std::vector<std::pair<std::string, std::string>>& options) {
    sql::LoadRequest request;
    request.paths = {"/c"};
    for (const auto& [key, value] : options) request.options.Set(key, value);
    const auto source = MakeStateStoreDataSource({.file_system = &disk_, .clock = &SystemClock::Get(), .console = {}});
    return source->Load(request).status();
  }
  void WriteSchema(std::string_view store, const engine::StoreSchema& schema) {
    ASSERT_TRUE(engine::WriteOrCheckStoreSchema(disk_, layout_, OperatorId(0), store, schema).ok());
  }

  data::MemoryFileSystem disk_;
  const engine::CheckpointLayout layout_;
};

TEST_F(StateSourceTest, AJoinSideNeedsColumns) {
  WriteSchema("left-keyWithIndexToValue", {});
  EXPECT_EQ(Load({{"joinSide", "left"}}).condition(), "STDS_FAILED_TO_READ_STATE_SCHEMA");
  const data::StructField key{"key", DataType::Integer()}, index{"index", DataType::Long()}, value{"v", DataType::Integer()};
  WriteSchema("right-keyWithIndexToValue", {.key = {key, index}, .value = {value}});
  const Status loaded = Load({{"joinSide", "right"}});
  EXPECT_TRUE(loaded.ok()) << loaded.message();
}

TEST_F(StateSourceTest, PartitionsThatCannotBeAreRefused) {
  WriteSchema("default", {.key = {{"key", DataType::Integer()}}, .value = {{"v", DataType::Integer()}}});
  EXPECT_TRUE(Load({{"snapshotStartBatchId", "0"}, {"snapshotPartitionId", "0"}}).ok());
  EXPECT_EQ(Load({{"snapshotStartBatchId", "0"}, {"snapshotPartitionId", "4294967296"}}).condition(),
            "STDS_INVALID_OPTION_VALUE.WITH_MESSAGE");
}

}  // namespace
}  // namespace thalweg::connectors
