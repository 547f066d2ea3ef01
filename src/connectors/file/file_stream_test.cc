#include "connectors/file/file_stream.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include "base/signal.h"
#include "connectors/file/file_test_support.h"
#include "data/io/local_file_system.h"

namespace thalweg::connectors {
namespace {

using Options = std::vector<std::pair<std::string, std::string>>;

/// Does what the driver does: asks, plans, reads, commits.
class Stream {
 public:
  Stream(Files& files, const Options& options, const std::string& path = "/in", const std::string& ddl = "v INT",
         const std::string& format = "json")
      : files_(files) {
    table_ = files.Load(format, path, ddl, options, /*streaming=*/true).ValueOrDie();
    sql::StreamContext context;
    context.metadata_path = "/ck/sources/0";
    context.on_more_data = [] {};
    Result<std::unique_ptr<sql::MicroBatchStream>> made = table_->NewMicroBatchStream(context);
    status_ = made.status();
    if (made.ok()) stream_ = std::move(*made);
  }
  const Status& status() const { return status_; }
  sql::MicroBatchStream& stream() { return *stream_; }
  /// A restart: the position that the offset log holds.
  void StartAt(const std::string& offset) { at_ = sql::Offset{offset}; }

  /// The rows of the next micro-batch, sorted; nothing when there is none.
  std::optional<Lines> Next(const std::vector<sql::ReadLimit>* limits = nullptr) {
    if (!at_) at_ = stream_->InitialOffset().ValueOrDie();
    const auto end =
        stream_->LatestOffset(*at_, limits != nullptr ? *limits : stream_->DefaultReadLimits()).ValueOrDie();
    if (!end || *end == *at_) return std::nullopt;
    Lines rows = files_.Read(stream_->PlanSplits(*at_, *end, Files::All(*table_)).ValueOrDie()).ValueOrDie();
    EXPECT_TRUE(stream_->Commit(*at_).ok());
    at_ = *end;
    std::sort(rows.begin(), rows.end());
    return rows;
  }
  const std::string& offset() const { return at_->json; }

 private:
  Files& files_;
  sql::TablePtr table_;
  std::unique_ptr<sql::MicroBatchStream> stream_;
  Status status_;
  std::optional<sql::Offset> at_;
};

TEST(FileStream, EachFileIsReadOnce) {  // P28
  Files files;
  files.PutNow("/in/.keep", "");
  Stream stream(files, {});
  EXPECT_EQ(stream.stream().Description(), "FileStreamSource[file:/in]");
  EXPECT_EQ(stream.Next(), std::nullopt);
  files.Put("/in/orders.json", "{\"v\":1}\n{\"v\":2}");
  EXPECT_EQ(stream.Next(), (Lines{"1", "2"}));
  EXPECT_EQ(stream.offset(), "{\"logOffset\":0}");
  files.Put("/in/orders.json", "{\"v\":3}\n{\"v\":4}\n{\"v\":5}");
  EXPECT_EQ(stream.Next(), std::nullopt);
  files.Put("/in/fix.json", "{\"v\":6}");
  EXPECT_EQ(stream.Next(), (Lines{"6"}));
  EXPECT_EQ(files.memory.ReadWhole("/ck/sources/0/1").ValueOrDie(),
            "v1\n{\"path\":\"file:///in/fix.json\",\"timestamp\":1700000000003,\"batchId\":1}");
}

TEST(FileStream, ARestartGoesOnFromTheLog) {
  Files files;
  files.Put("/in/a.json", "{\"v\":1}");
  {
    Stream first(files, {});
    EXPECT_EQ(first.Next(), (Lines{"1"}));
  }
  {
    // Logged, then the query died before it wrote its offsets.
    files.Put("/in/b.json", "{\"v\":2}");
    Stream second(files, {});
    second.StartAt("{\"logOffset\":0}");
    EXPECT_TRUE(second.stream().LatestOffset({"{\"logOffset\":0}"}, {sql::ReadAllAvailable{}}).ok());
  }
  Stream third(files, {});
  third.StartAt(third.stream().DeserializeOffset("0").ValueOrDie().json);
  EXPECT_EQ(third.Next(), (Lines{"2"}));
  EXPECT_EQ(third.Next(), std::nullopt);
}

TEST(FileStream, NamesArePlainNames) {  // P25
  Files files;
  const std::string folder = "/in %20#x";
  files.Put(folder + "/a b.json", "{\"v\":1}");
  files.Put(folder + "/part[1-3].json", "{\"v\":2}");
  files.Put(folder + "/50%25.json", "{\"v\":3}");
  files.Put(folder + "/\xC3\xBC.json", "{\"v\":4}");
  Stream stream(files, {}, folder);
  EXPECT_EQ(stream.Next(), (Lines{"1", "2", "3", "4"}));
  Stream again(files, {}, folder);
  again.StartAt("{\"logOffset\":0}");
  EXPECT_EQ(again.Next(), std::nullopt);
  files.Put(folder + "/c d.json", "{\"v\":5}");
  EXPECT_EQ(again.Next(), (Lines{"5"}));
  // A replay reads the same files.
  EXPECT_EQ(files.Read(again.stream().PlanSplits({""}, {"{\"logOffset\":0}"}, {.columns = {"v"}, .filters = {}, .attributes = {}, .limit = {}}).ValueOrDie())
                .ValueOrDie()
                .size(),
            4u);
}

TEST(FileStream, AvailableNowEndsAtWhatWasThere) {  // P26
  Files files;
  for (int i = 1; i <= 3; ++i)
    files.Put("/in/f" + std::to_string(i) + ".json", "{\"v\":" + std::to_string(i) + "}");
  Stream stream(files, {{"maxFilesPerTrigger", "1"}});
  ASSERT_TRUE(stream.stream().PrepareForTriggerAvailableNow().ok());
  EXPECT_EQ(stream.Next(), (Lines{"1"}));
  files.Put("/in/f4.json", "{\"v\":4}");
  EXPECT_EQ(stream.Next(), (Lines{"2"}));
  EXPECT_EQ(stream.Next(), (Lines{"3"}));
  EXPECT_EQ(stream.Next(), std::nullopt);
  Stream second(files, {{"maxFilesPerTrigger", "1"}});
  second.StartAt(stream.offset());
  EXPECT_EQ(second.Next(), (Lines{"4"}));
}

TEST(FileStream, ManyFilesOfOneMoment) {  // P52
  Files files;
  int64_t sum = 0;
  for (int i = 0; i < 2500; ++i)
    files.PutNow("/in/m" + std::to_string(i) + ".json", "{\"v\":" + std::to_string(i) + "}");
  Stream stream(files, {{"maxFilesPerTrigger", "1000"}});
  for (const size_t rows : {1000u, 1000u, 500u}) {
    const Lines batch = stream.Next().value();
    EXPECT_EQ(batch.size(), rows);
    for (const std::string& row : batch) sum += std::stoll(row);
  }
  EXPECT_EQ(sum, 3123750);
  for (int i = 0; i < 10; ++i) files.PutNow("/in/late" + std::to_string(i) + ".json", "{\"v\":7}");
  EXPECT_EQ(stream.Next().value().size(), 10u);
}

TEST(FileStream, LimitsOrderAndAge) {
  Files files;
  for (int i = 1; i <= 4; ++i)
    files.Put("/in/f" + std::to_string(i) + ".json", "{\"v\":" + std::to_string(i) + "}");  // 7 bytes each
  Stream by_bytes(files, {{"maxBytesPerTrigger", "15"}});
  EXPECT_EQ(by_bytes.Next(), (Lines{"1", "2"}));
  const std::vector<sql::ReadLimit> all{sql::ReadAllAvailable{}};
  EXPECT_EQ(by_bytes.Next(&all), (Lines{"3", "4"}));
  ASSERT_TRUE(files.memory.RemoveTree("/ck").ok());
  Stream latest(files, {{"latestFirst", "true"}, {"maxFilesPerTrigger", "1"}});
  EXPECT_EQ(latest.Next(), (Lines{"4"}));
  files.Put("/in/f5.json", "{\"v\":5}");
  EXPECT_EQ(latest.Next(), (Lines{"5"}));
  EXPECT_EQ(latest.Next(), (Lines{"3"}));
  ASSERT_TRUE(files.memory.RemoveTree("/ck").ok());
  // Age counts from the newest file taken, so nothing is too old at first.
  Stream aged(files, {{"maxFileAge", "1s"}});
  EXPECT_EQ(aged.Next().value().size(), 5u);
  files.clock.Advance(std::chrono::seconds(10));
  files.Put("/in/f6.json", "{\"v\":6}");
  EXPECT_EQ(aged.Next(), (Lines{"6"}));
  EXPECT_EQ(aged.Next(), std::nullopt);
}

TEST(FileStream, IdentityCanBeTheNameAlone) {
  Files files;
  files.Put("/in/k=1/a.json", "{\"v\":1}");
  Stream stream(files, {{"fileNameOnly", "true"}});
  EXPECT_EQ(stream.Next(), (Lines{"1 | 1"}));
  files.Put("/in/k=2/a.json", "{\"v\":2}");
  files.Put("/in/k=2/b.json", "{\"v\":3}");
  EXPECT_EQ(stream.Next(), (Lines{"3 | 2"}));
}

TEST(FileStream, OptionErrorsAriseWhenTheStreamOpens) {
  Files files;
  files.PutNow("/in/.keep", "");
  const std::pair<Options, std::string> cases[] = {
      {{{"maxFilesPerTrigger", "0"}}, "Invalid value '0' for option 'maxFilesPerTrigger', must be a positive integer"},
      {{{"maxBytesPerTrigger", "x"}}, "Invalid value 'x' for option 'maxBytesPerTrigger', must be a positive integer"},
      {{{"maxFilesPerTrigger", "1"}, {"maxBytesPerTrigger", "1"}},
       "Options 'maxFilesPerTrigger' and 'maxBytesPerTrigger' can't be both set at the same time"},
      {{{"maxCachedFiles", "-1"}},
       "Invalid value '-1' for option 'maxCachedFiles', must be an integer greater than or equal to 0"},
      {{{"discardCachedInputRatio", "2"}},
       "Invalid value '2' for option 'discardCachedInputRatio', must be a positive float between 0 and 1"},
      {{{"cleanSource", "zap"}}, "Invalid mode for clean source option Some(zap). Must be one of ARCHIVE,DELETE,OFF"},
      {{{"cleanSource", "archive"}}, "Archive mode must be used with 'sourceArchiveDir' option."},
      {{{"latestFirst", "maybe"}}, "Invalid value 'maybe' for option 'latestFirst', must be 'true' or 'false'"},
      {{{"modifiedAfter", "2024-01-01T00:00:00"}}, "option 'modifiedafter' is not allowed in file stream sources"}};
  for (const auto& [options, message] : cases) {
    const Stream stream(files, options);
    EXPECT_EQ(stream.status().condition(), "ILLEGAL_ARGUMENT") << message;
    EXPECT_EQ(stream.status().message_text(), message);
  }
}

TEST(FileStream, DoneFilesAreDeletedOrArchived) {
  Files files;
  files.settings.Set("spark.sql.streaming.fileSource.cleaner.numThreads", "0");
  files.Put("/in/a b.json", "{\"v\":1}");
  Stream archive(files, {{"cleanSource", "ARCHIVE"}, {"sourceArchiveDir", "/old"}});
  EXPECT_EQ(archive.Next(), (Lines{"1"}));
  EXPECT_TRUE(files.memory.Exists("/in/a b.json").ValueOrDie());
  files.Put("/in/b.json", "{\"v\":2}");
  EXPECT_EQ(archive.Next(), (Lines{"2"}));
  EXPECT_FALSE(files.memory.Exists("/in/a b.json").ValueOrDie());
  EXPECT_TRUE(files.memory.Exists("/old/in/a b.json").ValueOrDie());
  EXPECT_TRUE(files.memory.Exists("/in/b.json").ValueOrDie());
  EXPECT_EQ(Stream(files, {{"cleanSource", "archive"}, {"sourceArchiveDir", "/in/old"}}).status().condition(),
            "ILLEGAL_ARGUMENT");
  files.settings.Set("spark.sql.streaming.fileSource.cleaner.numThreads", "1");
  {
    Stream remove(files, {{"cleanSource", "delete"}});
    remove.StartAt(archive.offset());
    files.Put("/in/c.json", "{\"v\":3}");
    EXPECT_EQ(remove.Next(), (Lines{"3"}));
  }
  EXPECT_FALSE(files.memory.Exists("/in/b.json").ValueOrDie());
  EXPECT_TRUE(files.memory.Exists("/in/c.json").ValueOrDie());
}

TEST(FileStream, AFileSinksFolderIsReadThroughItsLog) {
  Files files;
  files.Put("/in/part-0.json", "{\"v\":1}");
  files.Put("/in/leftover.json", "{\"v\":9}");
  files.Put("/in/_spark_metadata/0",
            "v1\n{\"path\":\"file:///in/part-0.json\",\"size\":7,\"isDir\":false,\"modificationTime\":1700000000001,"
            "\"blockReplication\":1,\"blockSize\":33554432,\"action\":\"add\"}");
  EXPECT_EQ(files.ReadAll("json", "/in", "v INT").ValueOrDie(), (Lines{"1"}));
  EXPECT_EQ(files.ReadAll("json", "/in/*.json", "v INT").ValueOrDie(), (Lines{"1", "9"}));
  Stream stream(files, {});
  EXPECT_EQ(stream.Next(), (Lines{"1"}));
  Stream clean(files, {{"cleanSource", "delete"}});
  EXPECT_EQ(clean.stream().LatestOffset({""}, {sql::ReadAllAvailable{}}).status().condition(),
            "_LEGACY_ERROR_TEMP_2261");
}

TEST(FileStream, WhatAFrameNeedsToBeBuilt) {  // P50
  Files files;
  files.Put("/in/a.json", "{\"v\":1}");
  EXPECT_EQ(files.Load("json", "/in", "", {}, true).status().condition(), "_LEGACY_ERROR_TEMP_2048");
  EXPECT_EQ(data::SchemaDdl(files.Load("text", "/in", "", {}, true).ValueOrDie()->schema()), "value STRING");
  EXPECT_EQ(files.Load("json", "/nowhere", "v INT", {}, true).status().condition(), "PATH_NOT_FOUND");
  EXPECT_EQ(files.Load("json", "", "v INT", {}, true).status().condition(), "_LEGACY_ERROR_TEMP_2047");
}

TEST(FileStream, TheKernelTellsOfNewFiles) {
  data::FileSystem& disk = data::LocalFileSystem::Get();
  const std::string root = ::testing::TempDir() + "tw_file_stream_" + std::to_string(getpid());
  Files files(&disk);
  ASSERT_TRUE(disk.MakeDirectories(root + "/in").ok());
  const sql::TablePtr table = files.Load("json", root + "/in", "v INT", {}, true).ValueOrDie();
  Signal changed;
  sql::StreamContext context;
  context.metadata_path = root + "/ck/sources/0";
  context.on_more_data = [&] { changed.Set(); };
  const auto stream = table->NewMicroBatchStream(context).ValueOrDie();
  EXPECT_EQ(stream->LatestOffset({""}, {sql::ReadAllAvailable{}}).ValueOrDie(), std::nullopt);
  EXPECT_GT(stream->poll_interval(), std::chrono::seconds(1));
  EXPECT_FALSE(changed.IsSet());
  files.PutNow(root + "/in/a.json", "{\"v\":1}");
  ASSERT_TRUE(changed.Wait({}));
  EXPECT_EQ(stream->LatestOffset({""}, {sql::ReadAllAvailable{}}).ValueOrDie()->json, "{\"logOffset\":0}");
  // Also below directories that came later.
  changed.Reset();
  ASSERT_TRUE(disk.MakeDirectories(root + "/in/k=1").ok());
  ASSERT_TRUE(changed.Wait({}));
  stream->Stop();
  ASSERT_TRUE(disk.RemoveTree(root).ok());
}

}  // namespace
}  // namespace thalweg::connectors
