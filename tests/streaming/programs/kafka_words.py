"""Counts words of Kafka messages: kafka_words.py BOOTSTRAP subscribe|subscribePattern|assign TOPICS"""
import sys

from pyspark.sql import SparkSession, functions as F

spark = SparkSession.builder.appName("kafka_words").getOrCreate()
lines = (spark.readStream.format("kafka").option("kafka.bootstrap.servers", sys.argv[1]).option(sys.argv[2], sys.argv[3]).load()
         .selectExpr("CAST(value AS STRING)"))
counts = lines.select(F.explode(F.split("value", " ")).alias("word")).groupBy("word").count()
counts.writeStream.outputMode("complete").format("console").start().awaitTermination()
