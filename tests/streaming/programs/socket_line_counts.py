"""Counts equal lines of a TCP server: socket_line_counts.py HOST PORT"""
import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("socket_line_counts").getOrCreate()
lines = spark.readStream.format("socket").option("host", sys.argv[1]).option("port", int(sys.argv[2])).load()
query = lines.groupBy("value").count().writeStream.outputMode("complete").format("console").option("truncate", False).start()
query.awaitTermination()
