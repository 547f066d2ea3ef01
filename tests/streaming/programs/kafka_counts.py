"""Counts equal messages of topics: kafka_counts.py BOOTSTRAP_SERVERS (subscribe|assign|subscribePattern) TOPICS"""
import sys

from pyspark.sql import SparkSession

spark = SparkSession.builder.appName("kafka_counts").getOrCreate()
messages = (spark.readStream.format("kafka").option("kafka.bootstrap.servers", sys.argv[1]).option(sys.argv[2], sys.argv[3])
            .option("startingOffsets", "earliest").load().selectExpr("CAST(value AS STRING) AS word"))
query = messages.groupBy("word").count().writeStream.outputMode("complete").format("console").start()
query.awaitTermination()
