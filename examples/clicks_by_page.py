"""Page views per five minutes: JSON clicks from Kafka, counted by event time, appended to a Delta table.

    thalweg submit examples/clicks_by_page.py BROKER CHECKPOINT [TRIGGER]

BROKER is host:port; the topic is "clicks", with events {"user_id": ..., "page": ..., "event_time": ...}. CHECKPOINT is a folder of
the query's own. TRIGGER is a processing-time interval ("1 minute"), or "once" to read what is there and end.
"""
import sys

from pyspark.sql import SparkSession, functions as F, types as T

broker, checkpoint = sys.argv[1:3]
trigger = sys.argv[3] if len(sys.argv) > 3 else "1 minute"

spark = SparkSession.builder.appName("clicks-stream").getOrCreate()
spark.sql("CREATE DATABASE IF NOT EXISTS analytics")

schema = T.StructType([
    T.StructField("user_id", T.StringType()),
    T.StructField("page", T.StringType()),
    T.StructField("event_time", T.TimestampType()),
])

raw = (spark.readStream.format("kafka")
       .option("kafka.bootstrap.servers", broker)
       .option("subscribe", "clicks")
       .option("startingOffsets", "earliest" if trigger == "once" else "latest")
       .load())

events = (raw.select(F.from_json(F.col("value").cast("string"), schema).alias("e"))
             .select("e.*"))

counts = (events
          .withWatermark("event_time", "10 minutes")              # how late data may arrive
          .groupBy(F.window("event_time", "5 minutes"), "page")
          .count())

query = (counts.writeStream
         .format("delta")
         .outputMode("append")                                     # emit a window once it is final
         .option("checkpointLocation", checkpoint)
         .trigger(**({"availableNow": True} if trigger == "once" else {"processingTime": trigger}))
         .toTable("analytics.clicks_by_page"))

query.awaitTermination()
