"""Counts words of a TCP server: socket_words.py HOST PORT"""
import sys

from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.appName("socket_words").getOrCreate()
lines = spark.readStream.format("socket").options(host=sys.argv[1], port=int(sys.argv[2])).load()
counts = lines.select(F.explode(F.split("value", " ")).alias("word")).groupBy("word").count()
counts.writeStream.outputMode("complete").format("console").start().awaitTermination()
