"""Counts words of a TCP server in windows of the time they came: socket_word_windows.py HOST PORT SECONDS"""
import sys

from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.appName("socket_word_windows").getOrCreate()
lines = spark.readStream.format("socket").options(host=sys.argv[1], port=int(sys.argv[2]), includeTimestamp=True).load()
words = lines.select(F.explode(F.split("value", " ")).alias("word"), "timestamp")
counts = words.groupBy(F.window("timestamp", f"{sys.argv[3]} seconds"), "word").count().orderBy("window")
counts.writeStream.outputMode("complete").format("console").option("truncate", False).start().awaitTermination()
