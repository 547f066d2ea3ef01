// Page views per five minutes: the program of clicks_by_page.py in C++.
//
//   clicks_by_page SERVER BROKER CHECKPOINT [TRIGGER]
//
// SERVER: sc://host:port of a Thalweg server or of a Spark cluster, or "embedded" for the engine inside this process.

#include <thalweg/thalweg.h>

#include <cstdio>
#include <string>

namespace {

thalweg::Status Run(const std::string& server, const std::string& broker, const std::string& checkpoint, const std::string& trigger) {
  using namespace thalweg::functions;  // NOLINT(google-build-using-namespace)
  TW_ASSIGN_OR_RETURN(const thalweg::Session spark,
                      thalweg::Session::Builder().AppName("clicks-stream").Remote(server == "embedded" ? "" : server).GetOrCreate());
  TW_RETURN_NOT_OK(spark.Sql("CREATE DATABASE IF NOT EXISTS analytics").status());

  const thalweg::DataFrame raw = spark.ReadStream()
                                     .Format("kafka")
                                     .Option("kafka.bootstrap.servers", broker)
                                     .Option("subscribe", "clicks")
                                     .Option("startingOffsets", trigger == "once" ? "earliest" : "latest")
                                     .Load();
  const thalweg::DataFrame events =
      raw.Select({from_json(col("value").Cast("string"), "user_id STRING, page STRING, event_time TIMESTAMP").Alias("e")})
          .Select({"e.*"});
  const thalweg::DataFrame counts = events.WithWatermark("event_time", "10 minutes")
                                        .GroupBy({window("event_time", "5 minutes"), "page"})
                                        .Count();

  thalweg::DataStreamWriter writer = counts.WriteStream();
  writer.Format("delta").OutputMode("append").Option("checkpointLocation", checkpoint);
  if (trigger == "once") {
    writer.TriggerAvailableNow();
  } else {
    writer.TriggerProcessingTime(trigger);
  }
  TW_ASSIGN_OR_RETURN(thalweg::StreamingQuery query, writer.ToTable("analytics.clicks_by_page"));
  return query.AwaitTermination();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) {
    std::fprintf(stderr, "usage: %s SERVER BROKER CHECKPOINT [TRIGGER]\n", argv[0]);
    return 2;
  }
  const thalweg::Status status = Run(argv[1], argv[2], argv[3], argc > 4 ? argv[4] : "1 minute");
  if (status.ok()) return 0;
  std::fprintf(stderr, "%s\n", status.message().c_str());
  return 1;
}
