// Promise: the engine inside a program starts at once, serves several sessions and ends without a trace. Run without SPARK_REMOTE.
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

#include "test_session.h"

namespace thalweg {
namespace {

using testing::IsEmpty;
using testing::Not;

class EmbeddedTest : public testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove_all(warehouse_); }
  Result<Session> Start() { return Session::Connect("", {{"spark.sql.warehouse.dir", warehouse_}}); }
  /// Names of the engine's threads that run now.
  static std::vector<std::string> Threads() {
    std::vector<std::string> names;
    for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
      std::string name;
      std::getline(std::ifstream(task.path() / "comm"), name);
      if (name.starts_with("tw-")) names.push_back(name);
    }
    return names;
  }
  const std::string warehouse_ = testing::TempDir() + "/cpp-embedded-" + std::to_string(getpid());
};

TEST_F(EmbeddedTest, TwoSessionsShareOneEngine) {
  Session first = Start().ValueOrDie();
  Session second = Session::Connect("").ValueOrDie();
  ASSERT_TRUE(first.Sql("CREATE TABLE shared USING delta AS SELECT 1 AS a").ok());
  EXPECT_EQ(second.Table("shared").Count().ValueOrDie(), 1);
  ASSERT_TRUE(first.Range(0, 1).CreateOrReplaceTempView("own").ok());
  EXPECT_EQ(second.Table("own").Collect().status().condition(), "TABLE_OR_VIEW_NOT_FOUND");
  EXPECT_EQ(Session::Connect("", {{"spark.sql.warehouse.dir", "/elsewhere"}}).status().condition(), "CANNOT_MODIFY_STATIC_CONFIG");
  ASSERT_TRUE(first.SetConf("spark.sql.session.timeZone", "Asia/Tokyo").ok());
  EXPECT_NE(second.GetConf("spark.sql.session.timeZone").ValueOrDie(), "Asia/Tokyo");
}

TEST_F(EmbeddedTest, TheBuilderJoinsTheSessionThatIsThere) {
  Session first = Start().ValueOrDie();
  ASSERT_TRUE(first.Range(0, 1).CreateOrReplaceTempView("own").ok());
  Session same = Session::Builder().AppName("clicks").Config("spark.my.key", "v").GetOrCreate().ValueOrDie();
  EXPECT_TRUE(same.Table("own").Collect().ok());
  EXPECT_EQ(first.GetConf("spark.my.key").ValueOrDie(), "v");
  EXPECT_EQ(first.GetConf("spark.app.name").ValueOrDie(), "clicks");
  Session other = Session::Builder().Create().ValueOrDie();
  EXPECT_FALSE(other.Table("own").Collect().ok());
  ASSERT_TRUE(other.Stop().ok());
  EXPECT_EQ(other.Range(0, 1).Count().status().condition(), "INVALID_HANDLE.SESSION_CLOSED");
  EXPECT_TRUE(other.Stop().ok());
}

TEST_F(EmbeddedTest, TheLastSessionEndsTheEngineAndItsQueries) {
  {
    const Session spark = Start().ValueOrDie();
    for (int i = 0; i < 3; ++i) ASSERT_TRUE(spark.ReadStream().Format("rate").Load().WriteStream().Format("noop").Start().ok());
    EXPECT_THAT(Threads(), Not(IsEmpty()));
  }
  EXPECT_THAT(Threads(), IsEmpty());
  const Session again = Start().ValueOrDie();
  EXPECT_EQ(again.Streams().Active().ValueOrDie().size(), 0U);
}

TEST_F(EmbeddedTest, AQueryMayBeStartedAgainAtOnce) {
  const std::string checkpoint = warehouse_ + "/checkpoint";
  std::string id;
  for (int run = 0; run < 3; ++run) {
    const Session spark = Start().ValueOrDie();
    StreamingQuery query = spark.ReadStream().Format("rate").Load().WriteStream().Format("noop").Option("checkpointLocation", checkpoint).Start()
                               .ValueOrDie();
    EXPECT_TRUE(run == 0 || query.id() == id);
    id = query.id();
  }
}

TEST_F(EmbeddedTest, AddressesThatAreNoneAreRefused) {
  EXPECT_EQ(Session::Connect("http://here").status().condition(), "INVALID_CONNECT_URL");
  EXPECT_EQ(Session::Connect("sc://").status().condition(), "INVALID_CONNECT_URL");
  EXPECT_EQ(Session::Connect("sc://localhost:1/;token").status().condition(), "INVALID_CONNECT_URL");
  const Session nobody = Session::Connect("sc://127.0.0.1:1").ValueOrDie();
  const Status status = nobody.Range(0, 1).Count().status();
  EXPECT_EQ(status.condition(), "SPARK_CONNECT_UNREACHABLE");
  EXPECT_EQ(status.kind(), ErrorKind::kEnvironment);
}

// A program with nothing but a session: its start counts.
TEST_F(EmbeddedTest, StartIsQuick) {
  std::chrono::nanoseconds best = std::chrono::hours(1);
  for (int i = 0; i < 5; ++i) {
    const auto begin = std::chrono::steady_clock::now();
    const Session spark = Start().ValueOrDie();
    EXPECT_EQ(spark.Range(0, 3).Count().ValueOrDie(), 3);
    best = std::min<std::chrono::nanoseconds>(best, std::chrono::steady_clock::now() - begin);
  }
  EXPECT_LT(best, Patience(std::chrono::milliseconds(100)));
}

}  // namespace
}  // namespace thalweg
