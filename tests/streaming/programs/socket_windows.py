"""Counts equal lines of a TCP server in windows of the time they came: socket_windows.py HOST PORT SECONDS"""
import sys

from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.appName("socket_windows").getOrCreate()
lines = (spark.readStream.format("socket").option("host", sys.argv[1]).option("port", int(sys.argv[2]))
         .option("includeTimestamp", "true").load())
counts = lines.groupBy(F.window(lines.timestamp, f"{sys.argv[3]} seconds"), lines.value).count().orderBy("window", "value")
query = (counts.select("value", "count", F.col("window.end").cast("long") - F.col("window.start").cast("long"))
         .writeStream.outputMode("complete").format("console").option("truncate", False).start())
query.awaitTermination()
