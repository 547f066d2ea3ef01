"""Page views from Kafka, counted per 5-minute window, appended to a Delta table; one run over what is there. BOOTSTRAP FOLDER"""
import os
import sys

from pyspark.sql import SparkSession, functions as F

bootstrap, base = sys.argv[1:3]
spark = SparkSession.builder.config("spark.sql.shuffle.partitions", "2").getOrCreate()

events = (spark.readStream.format("kafka").option("kafka.bootstrap.servers", bootstrap).option("subscribe", "pages")
          .option("startingOffsets", "earliest").load()
          .select(F.from_json(F.col("value").cast("string"), "page STRING, user STRING, ts TIMESTAMP").alias("e"))
          .select("e.*"))
counts = (events.withWatermark("ts", "10 minutes")
          .groupBy(F.window("ts", "5 minutes"), "page").agg(F.count("*").alias("views"))
          .select("window.start", "window.end", "page", "views"))
query = (counts.writeStream.format("delta").outputMode("append").queryName("pages")
         .option("checkpointLocation", os.path.join(base, "checkpoint")).option("path", os.path.join(base, "table"))
         .trigger(availableNow=True).toTable("page_views"))
query.awaitTermination()
