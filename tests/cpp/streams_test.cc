// Promise: streaming queries start, tell, fail and stop as Spark's do.
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>

#include "test_session.h"

namespace thalweg {
namespace {

using namespace thalweg::functions;  // NOLINT(google-build-using-namespace): as programs do
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const auto kPatience = Patience(std::chrono::seconds(60));

class StreamsTest : public SessionTest {
 protected:
  /// A stream of JSON lines in a folder of the test.
  static DataFrame Events(const std::string& folder) { return spark().ReadStream().Schema("user STRING, n INT, ts TIMESTAMP").Json(folder); }
  static std::string Event(const std::string& user, int n, const std::string& time) {
    return R"({"user": ")" + user + R"(", "n": )" + std::to_string(n) + R"(, "ts": "2026-03-01T)" + time + "Z\"}\n";
  }
};

TEST_F(StreamsTest, FilesIntoMemory) {
  const std::string in = Folder("in");
  WriteFile(in + "/1.json", Event("ana", 1, "12:00:00") + Event("bo", 2, "12:01:00"));
  StreamingQuery query = Events(in).Select({"user", "n"}).WriteStream().Format("memory").QueryName("events").Start().ValueOrDie();
  EXPECT_EQ(query.name(), "events");
  EXPECT_THAT(query.id(), Not(IsEmpty()));
  ASSERT_TRUE(query.ProcessAllAvailable().ok());
  EXPECT_THAT(Rows(spark().Table("events").OrderBy({"n"})), ElementsAre(Row{"ana", 1}, Row{"bo", 2}));
  WriteFile(in + "/2.json", Event("cy", 3, "12:02:00"));
  ASSERT_TRUE(query.ProcessAllAvailable().ok());
  EXPECT_EQ(spark().Table("events").Count().ValueOrDie(), 3);
  EXPECT_TRUE(query.IsActive().ValueOrDie());
  EXPECT_THAT(query.RecentProgress().ValueOrDie(), Not(IsEmpty()));
  EXPECT_THAT(query.LastProgress().ValueOrDie().value_or(""), HasSubstr("\"batchId\""));
  EXPECT_THAT(query.Explain().ValueOrDie(), HasSubstr("== Physical Plan =="));
  ASSERT_TRUE(query.Stop().ok());
  EXPECT_FALSE(query.IsActive().ValueOrDie());
  EXPECT_TRUE(query.AwaitTermination().ok());
  EXPECT_EQ(query.Exception().ValueOrDie(), std::nullopt);
}

TEST_F(StreamsTest, WindowsWithAWatermarkIntoATable) {
  ASSERT_TRUE(spark().SetConf("spark.sql.shuffle.partitions", "2").ok());
  const std::string in = Folder("in"), checkpoint = Folder("checkpoint"), out = Folder("out") + "/t";
  WriteFile(in + "/1.json", Event("ana", 1, "12:01:00") + Event("bo", 2, "12:04:00") + Event("ana", 3, "12:06:00") + Event("bo", 4, "12:30:00"));
  const auto run = [&] {
    StreamingQuery query = Events(in)
                               .WithWatermark("ts", "10 minutes")
                               .GroupBy({window("ts", "5 minutes")})
                               .Agg({sum("n").Alias("total")})
                               .WriteStream()
                               .Format("delta")
                               .OutputMode("append")
                               .Option("checkpointLocation", checkpoint)
                               .TriggerAvailableNow()
                               .Start(out)
                               .ValueOrDie();
    EXPECT_TRUE(query.AwaitTermination(kPatience).ValueOrDie());
    return query.id();
  };
  const std::string id = run();
  const DataFrame table = spark().Read().Format("delta").Load({out}).Select({date_format("window.start", "HH:mm"), col("total")});
  EXPECT_THAT(Rows(table.OrderBy({"total"})), ElementsAre(Row{"12:00", 3}, Row{"12:05", 3}));
  WriteFile(in + "/2.json", Event("ana", 5, "12:01:00") + Event("ana", 6, "12:50:00"));  // the first one is late
  EXPECT_EQ(run(), id);
  EXPECT_THAT(Rows(table.OrderBy({"total"})), ElementsAre(Row{"12:00", 3}, Row{"12:05", 3}, Row{"12:30", 4}));
  EXPECT_TRUE(spark().UnsetConf("spark.sql.shuffle.partitions").ok());
}

TEST_F(StreamsTest, OutputModesAndTriggers) {
  const std::string in = Folder("in");
  WriteFile(in + "/1.json", Event("ana", 1, "12:00:00") + Event("ana", 2, "12:01:00"));
  const DataFrame counts = Events(in).GroupBy({"user"}).Count();
  StreamingQuery complete = counts.WriteStream().Format("memory").QueryName("complete_counts").OutputMode("complete").TriggerOnce().Start().ValueOrDie();
  EXPECT_TRUE(complete.AwaitTermination(kPatience).ValueOrDie());
  EXPECT_THAT(Rows(spark().Table("complete_counts")), ElementsAre(Row{"ana", 2}));
  StreamingQuery update =
      counts.WriteStream().Format("noop").OutputMode("update").TriggerProcessingTime("100 milliseconds").Start().ValueOrDie();
  EXPECT_TRUE(update.ProcessAllAvailable().ok());
  EXPECT_FALSE(update.AwaitTermination(std::chrono::milliseconds(10)).ValueOrDie());
  EXPECT_TRUE(update.Stop().ok());
  EXPECT_EQ(counts.WriteStream().Format("noop").OutputMode("append").Start().status().condition(), "STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION");
  EXPECT_EQ(counts.WriteStream().Format("noop").OutputMode("sideways").Start().status().condition(), "STREAMING_OUTPUT_MODE.INVALID");
  EXPECT_FALSE(spark().Range(0, 1).WriteStream().Format("noop").Start().ok());
  EXPECT_FALSE(counts.Collect().ok());
}

TEST_F(StreamsTest, IntoATableByName) {
  const std::string in = Folder("in");
  WriteFile(in + "/1.json", Event("ana", 1, "12:00:00"));
  StreamingQuery query = Events(in).WriteStream().Format("delta").PartitionBy({"user"}).Options({{"checkpointLocation", Folder("checkpoint")}})
                             .TriggerAvailableNow().ToTable("cpp_stream_table").ValueOrDie();
  EXPECT_TRUE(query.AwaitTermination(kPatience).ValueOrDie());
  EXPECT_EQ(spark().Table("cpp_stream_table").Count().ValueOrDie(), 1);
  EXPECT_TRUE(spark().Sql("DROP TABLE cpp_stream_table").ok());
}

TEST_F(StreamsTest, AFailureIsTheQuerysException) {
  const std::string in = Folder("in");
  WriteFile(in + "/1.json", Event("ana", 0, "12:00:00"));
  StreamingQuery query = Events(in).Select({(1 / col("n")).Alias("x")}).WriteStream().Format("noop").Start().ValueOrDie();
  const Status failure = query.AwaitTermination();
  EXPECT_EQ(failure.condition(), "STREAM_FAILED");
  EXPECT_THAT(failure.message(), HasSubstr("DIVIDE_BY_ZERO"));
  const std::optional<Status> exception = query.Exception().ValueOrDie();
  ASSERT_TRUE(exception.has_value());
  EXPECT_EQ(exception->condition(), "STREAM_FAILED");
  EXPECT_THAT(exception->message(), HasSubstr("DIVIDE_BY_ZERO"));
  EXPECT_FALSE(query.IsActive().ValueOrDie());
  const StreamingQueryManager streams = spark().Streams();
  EXPECT_EQ(streams.AwaitAnyTermination().condition(), "STREAM_FAILED");
  EXPECT_TRUE(streams.ResetTerminated().ok());
}

TEST_F(StreamsTest, TheManagerKnowsWhatRuns) {
  const StreamingQueryManager streams = spark().Streams();
  ASSERT_TRUE(streams.ResetTerminated().ok());
  StreamingQuery query = spark().ReadStream().Format("rate").Load().WriteStream().Format("noop").QueryName("rates").Start().ValueOrDie();
  const std::vector<StreamingQuery> active = streams.Active().ValueOrDie();
  ASSERT_EQ(active.size(), 1U);
  EXPECT_EQ(active[0].id(), query.id());
  EXPECT_EQ(active[0].name(), "rates");
  EXPECT_EQ(streams.Get(query.id()).ValueOrDie()->run_id(), query.run_id());
  EXPECT_FALSE(streams.Get("00000000-0000-0000-0000-000000000000").ValueOrDie().has_value());
  EXPECT_FALSE(streams.AwaitAnyTermination(std::chrono::milliseconds(10)).ValueOrDie());
  ASSERT_TRUE(query.Stop().ok());
  EXPECT_TRUE(streams.AwaitAnyTermination(kPatience).ValueOrDie());
  EXPECT_THAT(streams.Active().ValueOrDie(), IsEmpty());
}

class Recorder final : public StreamingQueryListener {
 public:
  void OnQueryStarted(const std::string& event) override { Add("started", event); }
  void OnQueryProgress(const std::string& event) override { Add("progress", event); }
  void OnQueryTerminated(const std::string& event) override { Add("terminated", event); }

  /// The newest event of the kind that names the query.
  bool Await(const std::string& kind, const std::string& run_id) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, kPatience, [&] {
      for (const auto& [what, event] : events_) {
        if (what == kind && event.find(run_id) != std::string::npos) return true;
      }
      return false;
    });
  }
  size_t size() {
    const std::lock_guard lock(mutex_);
    return events_.size();
  }

 private:
  void Add(const std::string& kind, const std::string& event) {
    const std::lock_guard lock(mutex_);
    events_.emplace_back(kind, event);
    changed_.notify_all();
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::pair<std::string, std::string>> events_;
};

TEST_F(StreamsTest, ListenersHearOfQueries) {
  const std::string in = Folder("in");
  WriteFile(in + "/1.json", Event("ana", 1, "12:00:00"));
  const auto first = std::make_shared<Recorder>(), second = std::make_shared<Recorder>();
  ASSERT_TRUE(spark().Streams().AddListener(first).ok());
  ASSERT_TRUE(spark().Streams().AddListener(second).ok());
  StreamingQuery query = Events(in).WriteStream().Format("noop").TriggerAvailableNow().Start().ValueOrDie();
  for (const auto& recorder : {first, second}) {
    EXPECT_TRUE(recorder->Await("started", query.run_id()));
    EXPECT_TRUE(recorder->Await("progress", query.run_id()));
    EXPECT_TRUE(recorder->Await("terminated", query.run_id()));
  }
  ASSERT_TRUE(spark().Streams().RemoveListener(first).ok());
  ASSERT_TRUE(spark().Streams().RemoveListener(second).ok());
  ASSERT_TRUE(spark().Streams().RemoveListener(second).ok());
  const size_t heard = first->size();
  StreamingQuery unheard = Events(in).WriteStream().Format("noop").TriggerAvailableNow().Start().ValueOrDie();
  EXPECT_TRUE(unheard.AwaitTermination(kPatience).ValueOrDie());
  EXPECT_EQ(first->size(), heard);
}

TEST_F(StreamsTest, EachMicroBatchToAFunction) {
  if (IsRemote()) return;
  const std::string in = Folder("in"), checkpoint = Folder("checkpoint"), out = Folder("out") + "/t";
  WriteFile(in + "/1.json", Event("ana", 1, "12:00:00") + Event("bo", 2, "12:01:00"));
  std::vector<std::string> calls;
  const auto run = [&](std::function<Status(const DataFrame&, int64_t)> function) {
    StreamingQuery query = Events(in).Select({"user", "n"}).WriteStream().ForeachBatch(std::move(function)).TriggerAvailableNow()
                               .Option("checkpointLocation", checkpoint).Start().ValueOrDie();
    return query.AwaitTermination(kPatience).status();
  };
  const auto save = [&](const DataFrame& rows, int64_t batch_id) -> Status {
    TW_ASSIGN_OR_RETURN(const int64_t count, rows.Count());
    TW_ASSIGN_OR_RETURN(const int64_t again, rows.Count());
    calls.push_back(std::to_string(batch_id) + ": " + std::to_string(count) + " " + std::to_string(again));
    TW_RETURN_NOT_OK(rows.CreateOrReplaceTempView("batch_of_cpp"));
    return rows.Write().Format("delta").Mode("append").Save(out);
  };
  ASSERT_TRUE(run(save).ok());
  WriteFile(in + "/2.json", Event("cy", 3, "12:02:00"));
  const Status failed = run([&](const DataFrame& rows, int64_t batch_id) -> Status {
    calls.push_back(std::to_string(batch_id) + " fails");
    return rows.Select({"boom"}).Count().status();
  });
  EXPECT_EQ(failed.condition(), "STREAM_FAILED");
  EXPECT_THAT(failed.message(), HasSubstr("FOREACH_BATCH_USER_FUNCTION_ERROR"));
  EXPECT_THAT(failed.message(), HasSubstr("boom"));
  ASSERT_TRUE(run(save).ok());
  EXPECT_THAT(calls, ElementsAre("0: 2 2", "1 fails", "1: 1 1"));
  EXPECT_THAT(Rows(spark().Read().Format("delta").Load({out}).OrderBy({"n"})), ElementsAre(Row{"ana", 1}, Row{"bo", 2}, Row{"cy", 3}));
  EXPECT_THAT(Rows(spark().Table("batch_of_cpp")), ElementsAre(Row{"cy", 3}));
}

TEST_F(StreamsTest, AFunctionMayStopItsOwnQuery) {
  if (IsRemote()) return;
  const std::string in = Folder("in");
  WriteFile(in + "/1.json", Event("ana", 1, "12:00:00"));
  std::atomic<int> calls{0};
  const StreamingQueryManager streams = spark().Streams();
  StreamingQuery query = Events(in).WriteStream().QueryName("stops_itself").ForeachBatch([&](const DataFrame&, int64_t) -> Status {
    ++calls;
    TW_ASSIGN_OR_RETURN(std::vector<StreamingQuery> active, streams.Active());
    for (StreamingQuery& one : active) {
      if (one.name() == "stops_itself") TW_RETURN_NOT_OK(one.Stop());
    }
    return Status::OK();
  }).Start().ValueOrDie();
  EXPECT_TRUE(query.AwaitTermination(kPatience).ValueOrDie());
  EXPECT_EQ(calls.load(), 1);
}

TEST_F(StreamsTest, AnotherProcessesEngineRefusesFunctions) {
  if (!IsRemote()) return;
  const Status refused = spark().ReadStream().Format("rate").Load().WriteStream().ForeachBatch([](const DataFrame&, int64_t) { return Status::OK(); })
                             .Start().status();
  EXPECT_EQ(refused.condition(), "UNSUPPORTED_FEATURE.THALWEG");
  EXPECT_THAT(refused.message(), HasSubstr("foreachBatch"));
}

TEST_F(StreamsTest, InterruptEndsWhatCarriesTheTag) {
  spark().AddTag("mine");
  StreamingQuery query = spark().ReadStream().Format("rate").Load().WriteStream().Format("noop").Start().ValueOrDie();
  spark().RemoveTag("mine");
  EXPECT_THAT(spark().InterruptTag("other").ValueOrDie(), IsEmpty());
  EXPECT_EQ(spark().InterruptTag("mine").ValueOrDie().size(), 1U);
  EXPECT_TRUE(query.AwaitTermination(kPatience).ValueOrDie());
}

}  // namespace
}  // namespace thalweg
